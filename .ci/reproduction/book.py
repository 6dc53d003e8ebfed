"""Rows, verdicts and commands of the reproduction book."""
import json
import re
import subprocess
import sys

TOLERANCE = 1.15  # within this factor of the published value: reproduced

HEAD = """# Reproduction

Written by `{make}` (offchip {version}; {mode}), not by hand: every number in a column "ours" was computed by the command
that its row names. `make reproduce` runs everything, `make reproduce QUICK=1` leaves out the long runs and says so row by row.
Two runs of one mode write the same bytes.

Papers are cited by the keys of [papers.md](papers.md). How a verdict is found, the same way for all rows:

- **reproduced**: ours is within 15 % of the published value, or inside the published range, or the same statement holds;
- **direction only**: the size differs, but ours lies on the same side of the neutral value (1 for a ratio, 0 for a change);
- **not reproduced**: neither; the last column says why, as far as it is known;
- **not covered**: offchip has no model for it; the last column says why.

Changes in percent are compared as changes: +2.9 % against +1.8 % is "direction only". No model number was set to make a row
agree; numbers that were fitted to a row's source, and streams that were made to a paper's description, are named as such.

{tally}
"""


class NotRun(Exception):
    pass


class Failed(Exception):
    pass


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def number(v):
    if v is None or isinstance(v, str):
        return v or ""
    if isinstance(v, bool):
        return "yes" if v else "no"
    if isinstance(v, int):
        return f"{v:,}"
    a = abs(v)
    return f"{v:,.0f}" if a >= 1000 else f"{v:.1f}" if a >= 100 else f"{v:.2f}" if a >= 1 else f"{v:.3g}"


class Book:
    def __init__(self, prog, quick, scratch):
        self.prog, self.quick, self.scratch = prog, quick, scratch
        self.cache, self.parts, self.tally, self.failed = {}, [], {}, 0
        self.open_table = False
        with open("cmd/cmd.h", encoding="utf-8") as f:
            self.version = re.search(r'OFFCHIP_VERSION "([^"]+)"', f.read()).group(1)

    # --- commands ---
    def call(self, args, json_out=True):
        key = tuple(args)
        if key not in self.cache:
            print("offchip " + " ".join(args), file=sys.stderr)
            r = subprocess.run([self.prog, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
            if r.returncode:
                lines = r.stderr.strip().splitlines() or [f"status {r.returncode}"]
                self.cache[key] = Failed(lines[0].replace(self.scratch, "DIR"))
            else:
                self.cache[key] = json.loads(r.stdout) if json_out else r.stdout
        if isinstance(self.cache[key], Failed):
            raise self.cache[key]
        return self.cache[key]

    def replay(self, command, full=False):
        """The metrics of each policy of 'ENGINE INPUT...' in order."""
        if full and self.quick:
            raise NotRun
        return [r["metrics"] for r in self.call(["replay", *command.split(), "--format", "json"])["runs"]]

    # --- the page ---
    def section(self, title, text=""):
        self.parts.append(f"\n## {title}\n" + (f"\n{text.strip()}\n" if text else ""))
        self.open_table = False

    def subsection(self, title, text=""):
        self.parts.append(f"\n### {title}\n" + (f"\n{text.strip()}\n" if text else ""))
        self.open_table = False

    def line(self, *cells):
        self.parts.append("| " + " | ".join(cell(c) for c in cells) + " |\n")

    def table(self, *header):
        self.parts.append("\n")
        self.line(*header)
        self.parts.append("|" + " --- |" * len(header) + "\n")

    def row(self, place, claim, paper, ours, command, why="", neutral=None, low=None, high=None, shown=None, unit=""):
        """ours: a function; paper: a number, None (no single value, then low..high), or a text with 'ours' a bool."""
        if not self.open_table:
            self.table("place", "claim", "paper", "ours", "ratio", "verdict", "where it differs, why", "command")
            self.open_table = True
        ratio, value, error = "", None, ""
        try:
            value = ours() if callable(ours) else ours
            if isinstance(value, tuple):
                value, shown_ours = value
            else:
                shown_ours = number(value) + (unit if value is not None else "")
            if value is None:
                verdict, shown_ours = "not covered", ""
            elif isinstance(value, bool):
                verdict = "reproduced" if value else "not reproduced"
            else:
                verdict, ratio = self.judge(paper, value, neutral, low, high)
        except NotRun:
            verdict, shown_ours = "not run in quick mode", ""
        except (Failed, TypeError, ZeroDivisionError, KeyError, IndexError) as e:
            verdict, shown_ours, error = "not reproduced", "", f"no result: {e}. "
            self.failed += 1
            print(f"reproduce: {place}: {claim}: {e!r}", file=sys.stderr)
        self.tally[verdict] = self.tally.get(verdict, 0) + 1
        if shown is None:
            shown = paper if isinstance(paper, str) else number(paper) + unit if paper is not None else f"{number(low)} to {number(high)}{unit}"
        if verdict in ("reproduced", "not run in quick mode") and not why.startswith("!"):
            why = ""
        self.line(place, claim, shown, shown_ours, ratio, verdict, error + why.lstrip("!"), f"`{command}`" if command else "")

    @staticmethod
    def judge(paper, ours, neutral, low, high):
        """The rule that the page's head states."""
        ratio = ours / paper if paper and not isinstance(paper, str) else None
        text = f"{ratio:.2f}" if ratio is not None else ""
        if low is not None and low <= ours <= high:
            return "reproduced", text
        if ratio is not None and 1 / TOLERANCE <= ratio <= TOLERANCE:
            return "reproduced", text
        at = paper if paper is not None else low if low is not None else None
        if neutral is not None and at is not None and (ours - neutral) * (at - neutral) > 0:
            return "direction only", text
        return "not reproduced", text

    def none(self, place, claim, paper, why):
        self.row(place, claim, paper, None, "", why)

    def summary(self):
        order = ("reproduced", "direction only", "not reproduced", "not covered", "not run in quick mode")
        return ", ".join(f"{v}: {self.tally[v]}" for v in order if v in self.tally)

    def text(self):
        head = HEAD.format(version=self.version, make="make reproduce" + (" QUICK=1" if self.quick else ""),
                           mode="quick mode" if self.quick else "full mode", tally="Rows: " + self.summary() + ".")
        return head + "".join(self.parts)
