# SPDX-License-Identifier: Apache-2.0
"""The table of rows: what is measured, against what, and which bar it has to reach."""

import dataclasses

ROWS = []


@dataclasses.dataclass
class Figure:
    """What one round of a row found. What is judged is value / reference, or value without one."""

    value: float
    reference: float | None = None
    more: dict = dataclasses.field(default_factory=dict)
    ratio: float | None = None  # where it is not that of the two above: the median of pairs, each with its own
    interval: tuple | None = None  # of the ratio
    void: str = ""  # why it says nothing

    @property
    def judged(self):
        if self.ratio is not None:
            return self.ratio
        return self.value / self.reference if self.reference else self.value


@dataclasses.dataclass
class Row:
    name: str
    what: str
    unit: str
    measure: object  # (Round) -> Figure
    against: str = ""  # what the reference is
    at_most: float | None = None
    at_least: float | None = None
    once: bool = False  # a count or a size, the same in every round; or one that repeats itself often enough
    payload: str = ""  # the kind of text that messages carry (harness/payloads.py)

    def reached(self, judged):
        if self.at_most is None and self.at_least is None:
            return None
        return (self.at_most is None or judged <= self.at_most) and (self.at_least is None or judged >= self.at_least)

    def bar(self):
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return f">= {self.at_least:g}" if self.at_least is not None else ""


def row(name, what, unit, **options):
    """Make a row of the function that measures it."""

    def add(measure):
        ROWS.append(Row(name, what, unit, measure, **options))
        return measure

    return add
