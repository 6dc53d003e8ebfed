"""Rows, verdicts and commands of the reproduction book."""
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys

BANDS = ((0.05, "within 5 %"), (0.10, "within 10 %"), (0.25, "within 25 %"))
ORDER = ("within 5 %", "within 10 %", "within 25 %", "holds", "same direction", "outside", "does not hold", "not covered", "not run")
PLAIN = ("within 5 %", "within 10 %", "holds", "not run")  # verdicts that need no reason

HEAD = """# {title}

A page of [the reproduction](../reproduction.md), where verdicts and columns are explained; papers are cited by the keys of
[papers.md](../papers.md). Written by `{make}` (offchip {version}, {mode}), not by hand.

{summary}
"""

INDEX = """# Reproduction

Published and measured numbers beside ours, one page for each source, written by `make reproduce`, not by hand; `make reproduce
PAPER=gupta-2025-f3fs` writes one page anew. Every number under "ours" was computed by the commands that its row names: c7 is the
seventh of the list at the page's end, and the names after it are the metrics that the row reads (`--format json` prints all
metrics of a run). `make reproduce QUICK=1` leaves out the long runs and says so row by row. Two runs of one mode write the same
bytes: no clock, path, processor count or state of the checkout enters a page; the version is that of the source.

{summary}

Verdicts, found the same way for all rows and counted from the pages:

- **within 5, 10, 25 %**: ours over the published number; inside a published range counts as within 5 %, outside it the nearer
  end is compared. Changes in percent are compared as changes: +2.9 % against +1.8 % is a ratio of 1.61;
- **holds**, **does not hold**: a statement without a number;
- **same direction**: further off than 25 %, but on the same side of the neutral value (1 for a ratio, 0 for a change);
- **outside**: further off, and no such side;
- **not covered**: offchip has no model for it, or its input is not published.

Every row that is further off than 10 % says why. No model number was set to make a row agree. Numbers that were fitted to a
row's source, and streams that were made to a paper's description, are named as such where they stand.
"""


def verdicts(page):
    """The verdicts of a page's rows: the sixth cell of each line of a table whose head has one there."""
    counts, rows = {}, False
    for line in page.splitlines():
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            rows = False
        elif cells[:3] == ["place", "claim", "paper"]:
            rows = True
        elif rows and len(cells) == 8 and cells[5] in ORDER:
            counts[cells[5]] = counts.get(cells[5], 0) + 1
    return counts


def summary(tally):
    """A sentence and, of several pages, a table. tally: {label: verdicts}."""
    total = {v: sum(t.get(v, 0) for t in tally.values()) for v in ORDER}
    used = [v for v in ORDER if total[v]]
    near = sum(total[v] for v in ORDER[:3])
    numbers = near + total["same direction"] + total["outside"]
    said = total["holds"] + total["does not hold"]
    text = [f"**{sum(total.values())} rows.** Of {numbers} numbers {total['within 5 %']} are within 5 % of the published one, ",
            f"{sum(total[v] for v in ORDER[:2])} within 10 %, {near} within 25 %; {total['same direction']} are further off in the same ",
            f"direction and {total['outside']} outside. Of {said} statements {total['holds']} hold. {total['not covered']} rows are not covered",
            f", {total['not run']} were not run in this mode" if total["not run"] else "", ".\n"]
    if len(tally) > 1:
        text.append("\n| rows | " + " | ".join(used) + " |\n|" + " --- |" * (len(used) + 1) + "\n")
        for label, t in tally.items():
            text.append(f"| {label} | " + " | ".join(str(t.get(v, "")) for v in used) + " |\n")
        text.append("| **all** | " + " | ".join(f"**{total[v]}**" for v in used) + " |\n")
    return "".join(text)


class NotRun(Exception):
    pass


class Failed(Exception):
    pass


class Metrics(dict):
    """The metrics of one run; remembers which of them a row read."""

    def __init__(self, read, values):
        super().__init__(values)
        self.read = read

    def __getitem__(self, key):
        if key not in self.read:
            self.read.append(key)
        return super().__getitem__(key)


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


def judge(paper, ours, neutral=None, low=None, high=None):
    """Verdict and ratio, by the rule that the page's head states."""
    if low is not None and low <= ours <= high:
        return ORDER[0], ""
    base = paper if paper is not None else low if ours < low else high
    ratio = ours / base
    for width, name in BANDS:
        if abs(ratio - 1) <= width:
            return name, f"{ratio:.2f}"
    if neutral is not None and (ours - neutral) * (base - neutral) > 0:
        return "same direction", f"{ratio:.2f}"
    return "outside", f"{ratio:.2f}"


def spans(numbers):
    """[1, 2, 3, 7] as links: c1 to c3, c7."""
    numbers, out = sorted(set(numbers)), []
    for n in numbers:
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    link = "[c{0}](#c{0})".format
    return ", ".join(link(a) if a == z else link(a) + (" to " if z - a > 1 else ", ") + link(z) for a, z in out)


class Book:
    def __init__(self, prog, quick, scratch, figures, keep=None):
        self.prog, self.quick, self.scratch, self.figures, self.keep = prog, quick, scratch, figures, keep
        self.cache, self.parts, self.failed = {}, [], 0
        self.commands, self.used, self.read = {}, [], []
        self.tally = {}
        self.open_table = False
        with open("Makefile", encoding="utf-8") as f:  # the release: what git calls the sources would name this page's own commit
            self.version = re.search(r"^VERSION := *([0-9.]+)$", f.read(), re.M).group(1)
        if keep:
            with open(prog, "rb") as f:
                self.program = hashlib.sha256(f.read()).hexdigest()

    # --- commands ---
    def path(self, name):
        """A file of the scratch folder; commands are shown with its bare name."""
        return os.path.join(self.scratch, name)

    def stored(self, name):
        """A results file; with --keep it stays, and a sweep goes on where it stopped."""
        return os.path.join(self.keep, self.program[:16] + "-" + name) if self.keep else self.path(name)

    def write_file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def shown(self, args):
        text = shlex.join(["offchip", *args]).replace(self.scratch + "/", "")
        if self.keep:
            text = text.replace(os.path.join(self.keep, self.program[:16] + "-"), "")
        return text.replace(" --format json", "")

    def mention(self, shown):
        """Give the command its number and let the row in work name it."""
        n = self.commands.setdefault(shown, len(self.commands) + 1)
        if n not in self.used:
            self.used.append(n)

    def run(self, args):
        kept = None
        if self.keep and args[0] not in ("plot", "sweep") and not any(self.scratch in a for a in args):
            kept = os.path.join(self.keep, hashlib.sha256("\0".join([self.program, *args]).encode()).hexdigest())
            if os.path.exists(kept):
                with open(kept, encoding="utf-8") as f:
                    return f.read()
        print(self.shown(args), file=sys.stderr, flush=True)
        r = subprocess.run([self.prog, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if r.returncode:
            lines = r.stderr.strip().splitlines() or [f"status {r.returncode}"]
            raise Failed(lines[0].replace(self.scratch + "/", ""))
        if kept:
            with open(kept, "w", encoding="utf-8") as f:
                f.write(r.stdout)
        return r.stdout

    def call(self, args, json_out=True, full=False, shown=None):
        key = tuple(args)
        self.mention(shown or self.shown(args))
        if key not in self.cache:
            if full and self.quick:
                raise NotRun
            try:
                out = self.run(args)
                self.cache[key] = json.loads(out) if json_out else out
            except Failed as e:
                self.cache[key] = e
        if isinstance(self.cache[key], Failed):
            raise self.cache[key]
        return self.cache[key]

    def replay(self, command, full=False):
        """The metrics of each policy of 'ENGINE INPUT...' in order."""
        return [Metrics(self.read, r["metrics"]) for r in self.outcome(command, full)["runs"]]

    def outcome(self, command, full=False):
        """Runs with their notes."""
        return self.call(["replay", *command.split(), "--format", "json"], full=full)

    def picture(self, name, figure, inputs, caption, full=False, arguments=(), only=None):
        """Draw a figure from runs ('ENGINE INPUT...') or files; what stands in the page for it. only: of each command's
        policies, by their places."""
        if full and self.quick:
            return f"(Figure {name}: not run in quick mode.)"
        files = []
        for i, command in enumerate(inputs):
            if " " in command:
                outcome = self.outcome(command, full)
                drawn = outcome["runs"] if only is None else [outcome["runs"][k] for k in only]
                command = self.write_file(f"{name}-{i}.json", json.dumps({**outcome, "runs": drawn}))
            files.append(command)
        out = os.path.join(self.figures, name + ".svg")
        os.makedirs(self.figures, exist_ok=True)
        self.run(["plot", figure, *files, *arguments, "-o", out, "--force"])
        return f"![{caption}](../figures/{name}.svg)\n{caption[0].upper() + caption[1:]}: `plot {figure}` of {self.source() or 'files'}."

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

    def source(self):
        """What the row in work ran and read; forgets it."""
        metrics = ", ".join(f"`{m}`" for m in self.read)
        text = spans(self.used) + (" " + metrics if metrics else "")
        self.used.clear()
        self.read.clear()
        return text

    def row(self, place, claim, paper, ours, why="", neutral=None, low=None, high=None, shown=None, unit="", form=None, always=False):
        """ours: a function. paper: a number; None (low..high, or nothing printed); or a text with 'ours' a bool, or a pair
        of a bool and what to show. why: shown where the row is off, always with
        a leading '!'; a function is called only then, or always. form: how to print ours."""
        if not self.open_table:
            self.table("place", "claim", "paper", "ours", "ratio", "verdict", "where it differs, why", "from")
            self.open_table = True
        ratio, error, shown_ours = "", "", ""
        try:
            value = ours() if callable(ours) else ours
            if isinstance(value, tuple):
                value, shown_ours = value
            elif value is not None:
                shown_ours = (form or number)(value) + unit
            if value is None:
                verdict, shown_ours = "not covered", ""
            elif isinstance(value, bool):
                verdict = "holds" if value else "does not hold"
            else:
                verdict, ratio = judge(paper, value, neutral, low, high)
        except NotRun:
            verdict, shown_ours = "not run", ""
        except (Failed, TypeError, ZeroDivisionError, KeyError, IndexError, ValueError) as e:
            verdict, shown_ours, error = "does not hold", "", f"no result: {e}. "
            self.failed += 1
            print(f"reproduce: {place}: {claim}: {e!r}", file=sys.stderr)
        self.tally[verdict] = self.tally.get(verdict, 0) + 1
        if shown is None:
            shown = paper if isinstance(paper, str) else number(paper) + unit if paper is not None else f"{number(low)} to {number(high)}{unit}"
        if callable(why):
            if verdict in PLAIN and not always:
                why = ""
            else:
                used, read = list(self.used), list(self.read)  # a reason's runs are not the row's
                try:
                    why = why()
                except NotRun:
                    why = ""
                self.used, self.read = used, read
        if verdict not in PLAIN and not why and not error:
            self.failed += 1
            print(f"reproduce: {place}: {claim}: {verdict}, and no reason is given", file=sys.stderr)
        if verdict in PLAIN and not why.startswith("!"):
            why = ""
        self.line(place, claim, shown, shown_ours, ratio, verdict, error + why.lstrip("!"), self.source())

    def none(self, place, claim, paper, why):
        self.row(place, claim, paper, None, why)

    # --- the whole ---
    def one_line(self):
        return ", ".join(f"{v}: {self.tally[v]}" for v in ORDER if v in self.tally)

    def list_of_commands(self):
        text = ["\n## Commands\n\nRun from the root of the source tree; `offchip` is build/offchip.\n\n| | command |\n| --- | --- |\n"]
        for command, n in self.commands.items():
            text.append(f'| <a id="c{n}"></a>c{n} | `{cell(command)}` |\n')
        return "".join(text)

    def text(self, title, make):
        head = HEAD.format(title=title, version=self.version, make=make, mode="quick mode" if self.quick else "full mode", summary=summary({title: self.tally}).strip())
        return head + "".join(self.parts) + self.list_of_commands()
