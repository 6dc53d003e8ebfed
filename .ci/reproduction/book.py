"""The rows of one page and the commands that they run."""
import json
import os
import re
import shlex
import subprocess
import sys
import time

from verdict import APART, HELD, MISSES, PLAIN, Published, number, read

HEAD = """# {title}

A page of [the reproduction](../reproduction.md), where kinds, verdicts and columns are explained; papers are cited by the keys
of [papers.md](../papers.md). Written by `{make}` (offchip {version}, {mode}), not by hand.

{summary}
"""
COLUMNS = ("row", "place", "claim", "kind", "published", "ours", "verdict", "where it differs, why", "from")


class NotRun(Exception):
    pass


class NotHere(Exception):
    """An input that only some people have."""


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


class Row:
    def __init__(self, number, place, claim):
        self.number, self.place, self.claim = number, place, claim
        self.kind = self.published = self.ours = self.verdict = self.ratio = self.why = self.source = ""


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def spans(numbers, letter="c"):
    """[1, 2, 3, 7] as links: c1 to c3, c7."""
    numbers, out = sorted(set(numbers)), []
    for n in numbers:
        if out and out[-1][1] == n - 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    link = ("[" + letter + "{0}](#" + letter + "{0})").format
    return ", ".join(link(a) if a == z else link(a) + (" to " if z - a > 1 else ", ") + link(z) for a, z in out)


class Book:
    """select: a function of (number, place, claim); only rows for which it is true are run, and no page is made. graphs: a
    folder of public graphs."""

    def __init__(self, prog, quick, scratch, figures, graphs=None, select=None):
        self.prog, self.quick, self.scratch, self.figures, self.graphs = prog, quick, scratch, figures, graphs
        self.select, self.reasons, self.part, self.simulated, self.takes = select, True, False, "", ""  # part: of a long run only some, named in `simulated`
        self.cache, self.parts, self.failed = {}, [], 0
        self.commands, self.used, self.read = {}, [], []
        self.rows, self.named, self.mechanisms = [], {}, {}
        self.open_table = False
        with open("Makefile", encoding="utf-8") as f:  # the release: what git calls the sources would name this page's own commit
            self.version = re.search(r"^VERSION := *([0-9.]+)$", f.read(), re.M).group(1)

    # --- commands ---
    def path(self, name):
        """A file of the scratch folder; commands are shown with its bare name."""
        return os.path.join(self.scratch, name)

    def graph(self, name):
        """A public graph, under the name that docs/graphs.md gives it."""
        path = self.graphs and os.path.join(self.graphs, name)
        if not path or not any(os.path.exists(path + end) for end in ("", ".col")):
            raise NotHere(f"the graph is not at hand: GRAPHS=DIR with {name} ([graphs.md](../graphs.md)) fills this row")
        return path

    def write_file(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def shown(self, args):
        text = shlex.join(["offchip", *args]).replace(self.scratch + "/", "")
        if self.graphs:
            text = text.replace(self.graphs.rstrip("/") + "/", "GRAPHS/")
        return text.replace(" --format json", "")

    def mention(self, shown):
        """Give the command its number and let the row in work name it."""
        n = self.commands.setdefault(shown, len(self.commands) + 1)
        if n not in self.used:
            self.used.append(n)

    def run(self, args):
        start = time.monotonic()
        r = subprocess.run([self.prog, *args], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if self.reasons:
            print(f"{time.monotonic() - start:6.1f} s  {self.shown(args)}", file=sys.stderr, flush=True)
        if r.returncode:
            lines = r.stderr.strip().splitlines() or [f"status {r.returncode}"]
            raise Failed(lines[0].replace(self.scratch + "/", ""))
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

    def picture(self, name, figure, inputs, caption, full=False, only=None):
        """Draw a figure ('NAME --metric M') from runs ('ENGINE INPUT...') or files; what stands in the page for it. only: of each command's
        policies, by their places."""
        if self.select:
            return ""
        if full and self.quick:
            return f"(Figure {name}: not run in quick mode.)"
        files = []
        try:
            for i, command in enumerate(inputs):
                if " " in command:
                    outcome = self.outcome(command, full)
                    drawn = outcome["runs"] if only is None else [outcome["runs"][k] for k in only]
                    command = self.write_file(f"{name}-{i}.json", json.dumps({**outcome, "runs": drawn}))
                files.append(command)
        except NotRun:
            return f"(Figure {name}: not run in quick mode.)"
        out = os.path.join(self.figures, name + ".svg")
        os.makedirs(self.figures, exist_ok=True)
        words = figure.split()
        self.run(["plot", words[0], *files, *words[1:], "-o", out, "--force"])
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

    def mechanism(self, why):
        """The number of a reason; the same words have the same one."""
        return self.mechanisms.setdefault(why, len(self.mechanisms) + 1)

    def kind(self, fit, given, definition, bound, apart, held):
        """As the page's head states; the first that is true. fit and given name what was set: 'PLATFORM KEY' is looked up."""
        for word, what in (("fit", fit), ("input", given)):
            if what:
                platform, _, key = what.partition(" ")
                if os.path.exists(f"models/platforms/{platform}.ini"):
                    with open(f"models/platforms/{platform}.ini", encoding="utf-8") as f:
                        found = re.search(rf"^{re.escape(key)} = [^|\n]*\|(.*)$", f.read(), re.M)
                    if not found or (word == "fit") != found[1].strip().startswith("fitted"):
                        raise ValueError(f"{platform}.ini does not state {key} as {'fitted' if word == 'fit' else 'given'}")
                    what = f"{platform} `{key}`"
                return f"{word}: {what}"
        return ("definition" if definition else "bound" if bound else "prediction") + (HELD if held else "") + (APART if apart else "")

    def value(self, row, published, ours, unit, form):
        """Fills in ours, verdict and ratio."""
        value = ours() if callable(ours) else ours
        if value is None:
            row.verdict = "not covered"
        elif isinstance(value, tuple):
            row.verdict, row.ours = ("holds" if value[0] else "does not hold"), value[1]
        elif isinstance(value, bool):
            row.verdict, row.ours = ("holds" if value else "does not hold"), number(value)
        else:
            row.ours = (form or number)(value) + unit
            row.verdict, row.ratio = published.judge(value)

    def reason(self, row, why, always):
        if not callable(why):
            return why
        if row.verdict in PLAIN and not always:
            return ""
        used, read = list(self.used), list(self.read)  # a reason's runs are not the row's
        try:
            return why()
        except NotRun:
            return ""
        finally:
            self.used, self.read = used, read

    def row(self, place, claim, paper, ours, why="", neutral=None, low=None, high=None, relation=None, unit="", form=None, always=False, fit=None, given=None, definition=False, bound=False, apart=False, held=False):
        """ours: a function or a value. paper: a number, with `relation` (> >= < <=) a bound; None (low..high); or a text, with
        ours a bool, or a pair of a bool and what to show. why: shown where the row is off, always with a leading '!'; a function
        is called only then, or `always`. form: how to print ours. fit, given: what was set to this number, 'PLATFORM KEY' or
        words. definition: true whatever the model says. bound: ours is a range. apart: another reading of a number that has its row. held: measured,
        and nothing was fitted to it or chosen by it."""
        r = Row(len(self.named) + 1, place, claim)
        if (place, claim) in self.named:
            raise ValueError(f"two rows are called {place}: {claim}")
        self.named[place, claim] = r.number
        if self.select and not self.select(r.number, place, claim):
            return
        if low is not None and low == high:
            paper, low, high = low, None, None
        published, error = Published(paper, neutral, low, high, relation, unit), ""
        r.published = published.text()
        try:
            self.value(r, published, ours, unit, form)
        except NotRun:
            r.verdict, why = "not run", f"!not in this mode: the page takes {self.takes}" if self.takes else ""
        except NotHere as e:
            r.verdict, why = "not covered", str(e)
        except (Failed, TypeError, ZeroDivisionError, KeyError, IndexError, ValueError) as e:
            r.verdict, r.ours, error = "does not hold", "", f"no result: {e}. "
            self.failed += 1
            print(f"reproduce: {place}: {claim}: {e!r}", file=sys.stderr)
        r.kind = "" if ours is None else self.kind(fit, given, definition, bound or published.is_bound, apart, held)
        if self.reasons:
            why = self.reason(r, why, always)
            if r.verdict not in PLAIN and not why and not error:
                self.failed += 1
                print(f"reproduce: {place}: {claim}: {r.verdict}, and no reason is given", file=sys.stderr)
            if r.verdict not in PLAIN or why.startswith("!"):
                r.why = error + why.lstrip("!")
        r.source = self.source()
        self.rows.append(r)
        if not self.open_table:
            self.table(*COLUMNS)
            self.open_table = True
        why = f"[m{self.mechanism(r.why)}](#m{self.mechanism(r.why)})" if r.why else ""
        self.line(f'<a id="r{r.number}"></a>r{r.number}', r.place, r.claim, r.kind, r.published, r.ours, r.verdict + (f" ({r.ratio})" if r.ratio else ""), why, r.source)

    def none(self, place, claim, paper, why):
        self.row(place, claim, paper, None, why)

    # --- the whole ---
    def one_line(self):
        verdicts = [r.verdict for r in self.rows]
        return ", ".join(f"{v}: {verdicts.count(v)}" for v in dict.fromkeys(verdicts))

    def reasons_of(self, missed):
        """A table of the reasons of missed rows, those of predictions first, or of the others."""
        lines = []
        for why, n in self.mechanisms.items():
            rows = [r for r in self.rows if r.why == why]
            if missed == any(r.verdict in MISSES for r in rows):
                off = [r for r in rows if r.verdict in MISSES]
                said = "; ".join(f"[r{r.number}](#r{r.number}) {r.place}: {r.published if read(r.published) else r.claim}, ours {r.ours}" for r in off)
                lines.append((missed and not any(r.kind == "prediction" for r in off), f'| <a id="m{n}"></a>m{n} | {cell(why)} | {cell(said) if missed else spans([r.number for r in rows], "r")} |\n'))
        return "".join(line for _, line in sorted(lines, key=lambda x: x[0]))

    def misses(self):
        text = self.reasons_of(True)
        return ("\n## Misses\n\nEach reason with the rows that it makes miss, those of predictions first: published, ours.\n\n" "| | why | rows |\n| --- | --- | --- |\n" + text) if text else ""

    def remarks(self):
        text = self.reasons_of(False)
        return "\n## Remarks\n\nOn rows that do not miss, or that are not covered.\n\n| | | rows |\n| --- | --- | --- |\n" + text if text else ""

    def list_of_commands(self):
        text = ["\n## Commands\n\nRun from the root of the source tree; `offchip` is build/offchip.\n\n| | command |\n| --- | --- |\n"]
        for command, n in self.commands.items():
            text.append(f'| <a id="c{n}"></a>c{n} | `{cell(command)}` |\n')
        return "".join(text)

    def text(self, title, make, summary):
        """summary: a function of the page's text."""
        body = self.misses() + "".join(self.parts) + self.remarks() + self.list_of_commands()
        head = HEAD.format(title=title, version=self.version, make=make, mode="quick mode" if self.quick else "full mode", summary=summary(body).strip())
        return head + body
