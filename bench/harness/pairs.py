# SPDX-License-Identifier: Apache-2.0
"""Rates of two programs, held against each other by turns: what a machine does meanwhile, it does to both.

Each turn measures the reference, the program and the reference again. A ratio is made within its turn; what counts is the
median of all turns, with its interval. The two runs of the reference are the control: where they differ, by the same
reckoning, the machine was not quiet enough to tell anything.
"""

import dataclasses
import math
import statistics

from .rows import Figure

TURNS = 10
CONFIDENCE = 0.95
CONTROL_TOLERANCE = 0.05


def interval(values):
    """Bounds of the median: the closest two of the sorted values that enclose it with that confidence, or all of them."""
    ordered, count = sorted(values), len(values)
    outside, skipped = 0.0, 0
    while skipped < count // 2:
        outside += 2 * math.comb(count, skipped) / 2**count
        if outside > 1 - CONFIDENCE:
            break
        skipped += 1
    left = max(skipped - 1, 0)
    return ordered[left], ordered[count - 1 - left]


def why_void(controls):
    low, high = interval(controls)
    if low >= 1 - CONTROL_TOLERANCE and high <= 1 + CONTROL_TOLERANCE:
        return ""
    return f"void: control {low:.2f} to {high:.2f}"


def by_turns(round_, program, reference, more=None):
    """The figure of two functions that measure calls per second once."""
    rates, references, controls = [], [], []
    for _ in range(2 if round_.quick else TURNS):
        before, rate, after = reference(), program(), reference()
        rates.append(rate)
        references.append((before + after) / 2)
        controls.append(after / before)
    ratios = [rate / other for rate, other in zip(rates, references)]
    return Figure(
        statistics.median(rates),
        statistics.median(references),
        {"ratios": ratios, "controls": controls, **(more or {})},
        statistics.median(ratios),
        interval(ratios),
        why_void(controls),
    )


def turned(figure):
    """The reference by the program, where the program is so slow that its runs are not to be doubled."""
    low, high = figure.interval
    return dataclasses.replace(
        figure, value=figure.reference, reference=figure.value, ratio=1 / figure.ratio, interval=(1 / high, 1 / low)
    )
