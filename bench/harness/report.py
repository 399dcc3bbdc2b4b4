# SPDX-License-Identifier: Apache-2.0
"""What a run leaves: a table for people, the numbers for programs, and a picture."""

import html
import json
import math
import platform
import statistics

from .programs import ROOT


def number(value):
    if value is None:
        return ""
    if value == 0 or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.{max(0, 2 - int(math.floor(math.log10(abs(value)))))}f}"


class Outcome:
    """A row, and what its rounds found."""

    def __init__(self, row):
        self.row, self.figures = row, []
        self.skipped, self.failed = "", False  # why it has no figures

    def median(self, what):
        values = [getattr(figure, what) for figure in self.figures]
        return None if not values or values[0] is None else statistics.median(values)

    @property
    def judged(self):
        return self.median("judged")

    @property
    def void(self):
        return next((figure.void for figure in self.figures if figure.void), "")

    @property
    def reached(self):
        return None if not self.figures or self.void else self.row.reached(self.judged)

    def spread(self):
        values = [figure.judged for figure in self.figures]
        if self.figures and self.figures[0].interval:
            return f"{number(self.figures[0].interval[0])} to {number(self.figures[0].interval[1])}"
        return f"{number(min(values))} to {number(max(values))}" if len(values) > 1 else ""

    def as_json(self):
        return {
            "name": self.row.name,
            "what": self.row.what,
            "unit": self.row.unit,
            "against": self.row.against,
            "bar": self.row.bar(),
            "payload": self.row.payload,
            "skipped": self.skipped,
            "void": self.void,
            "reached": self.reached,
            "value": self.median("value"),
            "reference": self.median("reference"),
            "judged": self.judged,
            "rounds": [
                {"value": one.value, "reference": one.reference, "interval": one.interval, "more": one.more}
                for one in self.figures
            ],
        }


def cells(outcome):
    row = outcome.row
    if not outcome.figures:
        return [row.what, row.payload, "", "", "", "", row.bar(), outcome.skipped.splitlines()[0][:80]]
    reference = outcome.median("reference")
    return [
        row.what,
        row.payload,
        f"{number(outcome.median('value'))} {row.unit}".strip(),
        f"{number(reference)} ({row.against})" if reference else "",
        number(outcome.judged) if reference else "",
        outcome.spread(),
        row.bar(),
        outcome.void or {True: "yes", False: "NO", None: ""}[outcome.reached],
    ]


HEAD = ["what", "payload", "measured", "against", "ratio", "from … to", "bar", "reached"]


def table(outcomes):
    lines = [HEAD] + [cells(outcome) for outcome in outcomes]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD) - 1)] + [0]
    lines.insert(1, ["-" * width for width in widths])
    text = "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
    for outcome in outcomes:
        if outcome.row.name == "syscalls" and outcome.figures:
            by_name = ", ".join(f"{name} {number(count)}" for name, count in sorted(outcome.figures[0].more.items()))
            text += f"\n\nSystem calls per proxied call by name: {by_name}"
    return text + "\n"


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        model = next((line.partition(":")[2].strip() for line in info if line.startswith("model name")), "unknown")
    with open("/proc/loadavg", encoding="utf-8") as load:
        busy = load.read().split()[0]
    return {"processor": model, "kernel": platform.release(), "architecture": platform.machine(), "load": float(busy)}


# ---- the picture: how far each judged row is from its bar

WIDTH, LINE, LEFT, SCALE = 1000, 22, 480, 150


def plot(outcomes):
    """One bar per row that has one: the line is the bar to reach, left of it is better. Logarithmic."""
    judged = [outcome for outcome in outcomes if outcome.reached is not None]
    height = LINE * (len(judged) + 2)
    middle = LEFT + 230
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{middle}" y="14" text-anchor="middle">better, the bar, worse (each step of {SCALE} points: a factor of 10)</text>',
    ]
    for index, outcome in enumerate(judged):
        row, y = outcome.row, LINE * (index + 1) + 4
        bar = row.at_most if row.at_most is not None else row.at_least
        ratio = max(outcome.judged, 1e-3) / bar
        distance = math.log10(ratio if row.at_most is not None else 1 / ratio)
        length = max(-220, min(220, distance * SCALE))
        colour = "#3a8f4d" if outcome.reached else "#c0392b"
        label = html.escape(row.what + (f" / {row.against}" if row.against else ""))
        parts += [
            f'<text x="{LEFT - 8}" y="{y + 13}" text-anchor="end">{label}</text>',
            f'<rect x="{middle + min(0, length):.1f}" y="{y + 3}" width="{max(1.0, abs(length)):.1f}" height="14" fill="{colour}"/>',
            f'<text x="{middle + 226}" y="{y + 13}">{number(outcome.judged)} (bar {html.escape(row.bar())})</text>',
        ]
    parts.append(f'<line x1="{middle}" x2="{middle}" y1="20" y2="{height}" stroke="black"/></svg>')
    return "\n".join(parts) + "\n"


def write(outcomes, rounds, folder=ROOT / "bench/results"):
    folder.mkdir(exist_ok=True)
    text = table(outcomes)
    (folder / "table.txt").write_text(text)
    (folder / "results.json").write_text(
        json.dumps({"machine": machine(), "rounds": rounds, "rows": [one.as_json() for one in outcomes]}, indent=1) + "\n"
    )
    (folder / "plot.svg").write_text(plot(outcomes))
    return text
