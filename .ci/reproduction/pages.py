"""Pages read back: their rows, what is counted from them, and whether each verdict follows from its row."""
import re

import verdict
from verdict import APART, HELD, KINDS, MISSES, NUMBERS, ORDER

HEADS = ["row", "place", "claim", "kind"]
OLD = ["place", "claim", "paper", "ours"]

INDEX = """# Reproduction

Published and measured numbers beside ours, one page for each source, written by `make reproduce`, not by hand. `make reproduce
PAPER=lee-2026` writes one page anew, `PAPER=lee-2026 ROW='Fig. 1'` runs and prints the rows whose number, place or claim match,
`GRAPHS=DIR` fills the rows of public graphs for whoever has them ([graphs.md](graphs.md)), `QUICK=1` leaves out long runs and
says so row by row. Every number under "ours" was computed by the commands that its row names: c7 is the seventh of the list at
the page's end, and the names after it are the metrics that the row reads. Two runs of one mode write the same bytes: no clock,
path, processor count or state of the checkout enters a page.

{summary}

**Kinds**, the first that is true:

- **fit**: a constant was fitted to this number, or chosen by it; the cell names the constant;
- **input**: this number is set, or the one that it follows from;
- **definition**: true whatever the model says;
- **bound**: the source gives one side or a range wider than 10 %: it holds or does not;
- **prediction**: all others. *Other reading*: a second setting or reading of a number that has its row; not counted again.
  *Held out*: measured, and nothing was fitted to it or chosen by it.

**Verdicts** follow from the row's own cells, in this order; a test holds every page to it:

- a bound, and a statement without a number: **holds** or **does not hold**;
- **other side**: published and ours lie on two sides of the neutral value that stands in brackets ("over 1");
- **within 5, 10, 25 %**: ours over the published number; of a narrow range the nearer end. Changes in percent are compared as
  changes: +2.9 % against +1.8 % is a ratio of 1.61;
- **same direction**: further off, on the neutral value's same side; **outside**: further off, and no such value;
- **not covered**: no model of it, or its input is not published.

A row that is further off than 10 % says why; each page begins with its misses. No count is a goal.
"""


class Line:
    """One row as its page has it."""

    def __init__(self, cells):
        self.row = re.sub("<[^>]*>", "", cells[0])
        self.place, self.claim, self.kind, self.published, self.ours, said = cells[1:7]
        m = re.fullmatch(r"([a-z0-9 %]+?)(?: \(([-\d.,]+)\))?", said)
        self.verdict = m[1] if m else said

    @property
    def sort(self):
        return next((k for k in KINDS if re.match(k + r"\b", self.kind)), "")


def cells_of(line):
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def rows(page):
    """The lines of all tables of rows."""
    out, inside = [], False
    for line in page.splitlines():
        cells = cells_of(line)
        if not cells:
            inside = False
        elif cells[:4] == HEADS:
            inside = True
        elif inside and len(cells) == 9 and not cells[0].startswith("---"):
            out.append(Line(cells))
    return out


def is_old(page):
    """A page of the form before kinds; it has no rows that can be counted."""
    return any(cells_of(line)[:4] == OLD for line in page.splitlines())


def tally(lines):
    """{kind: {verdict: count}}; rows of other readings apart."""
    out = {}
    for r in lines:
        kind = "other reading" if r.kind.endswith(APART) else r.sort if r.kind else "none"
        counts = out.setdefault(kind, {})
        counts[r.verdict] = counts.get(r.verdict, 0) + 1
    return out


def total(counts):
    return sum(counts.values())


def near(counts, bands):
    return sum(counts.get(v, 0) for v in ORDER[:bands])


def predictions(counts):
    """What the predicted numbers and statements came to, in words."""
    numbers, said = sum(counts.get(v, 0) for v in NUMBERS), counts.get("holds", 0) + counts.get("does not hold", 0)
    text = (f"of {numbers} predicted numbers {near(counts, 1)} are within 5 %, {near(counts, 2)} within 10 %, {near(counts, 3)} within 25 %; "
            f"{counts.get('same direction', 0)} are further off in the same direction, {counts.get('other side', 0)} on the other side, {counts.get('outside', 0)} outside")
    return text + (f". Of {said} predicted statements {counts.get('holds', 0)} hold" if said else "")


def others(t):
    """The other kinds, in words."""
    text = []
    b = t.get("bound", {})
    if b:
        text.append(f"{b.get('holds', 0)} of {b.get('holds', 0) + b.get('does not hold', 0)} bounds hold")
    text += [f"{total(t[k])} {word}" for k, word in (("fit", "rows are fits"), ("input", "inputs"), ("definition", "definitions"), ("other reading", "other readings")) if t.get(k)]
    gone = sum(c.get("not covered", 0) for c in t.values())
    idle = sum(c.get("not run", 0) for c in t.values())
    text += [f"{gone} are not covered"] if gone else []
    text += [f"{idle} were not run in this mode"] if idle else []
    return ", ".join(text)


def summary(page):
    """The sentences at a page's head."""
    lines = rows(page)
    t = tally(lines)
    counts = predictions(t.get("prediction", {}))
    text = f"**{len(lines)} rows.** {counts[0].upper() + counts[1:]}. {others(t)}.\n"
    held = [r for r in lines if HELD in r.kind]
    if held:
        counts = predictions(tally(held).get("prediction", {}))
        text += f"\nHeld out: {counts}.\n"
    return text


def add(*tallies):
    out = {}
    for t in tallies:
        for kind, counts in t.items():
            for v, n in counts.items():
                out.setdefault(kind, {})[v] = out.get(kind, {}).get(v, 0) + n
    return out


def index(pages):
    """pages: {link: (text, whether a paper)}; the index above the figures' table."""
    lines = {link: rows(text) for link, (text, _) in pages.items()}
    papers = add(*(tally(lines[k]) for k in pages if pages[k][1]))
    hardware = [r for k in pages if not pages[k][1] for r in lines[k]]
    given, held = tally([r for r in hardware if HELD not in r.kind]), tally([r for r in hardware if HELD in r.kind])
    text = [f"**Papers**: {predictions(papers.get('prediction', {}))}. Beside them {others(papers)}.\n\n"]
    if hardware:
        text += [f"**Hardware, measurements that were given**: {predictions(given.get('prediction', {}))}. Beside them {others(given)}.\n\n",
                 f"**Hardware, held out**: {predictions(held.get('prediction', {}))}.\n\n"]
    old = [k for k in pages if is_old(pages[k][0])]
    if old:
        text += [f"Not yet made anew in this form, and not counted: {', '.join(old)}.\n\n"]
    used = [v for v in ORDER[:-2] if any(tally(x).get("prediction", {}).get(v) for x in lines.values())]
    text.append("| predictions | " + " | ".join(used) + " | fits | inputs | definitions | bounds that hold | other readings | not covered |\n|" + " --- |" * (len(used) + 7) + "\n")
    for link in pages:
        t = tally(lines[link])
        cells = [t.get("prediction", {}).get(v, "") for v in used] + [total(t[k]) if t.get(k) else "" for k in ("fit", "input", "definition")]
        b = t.get("bound", {})
        cells += [f"{b.get('holds', 0)} of {b.get('holds', 0) + b.get('does not hold', 0)}" if b else "", total(t.get("other reading", {})) or "",
                  sum(c.get("not covered", 0) for c in t.values()) or ""]
        text.append(f"| {link} | " + " | ".join(str(c) for c in cells) + " |\n")
    return INDEX.format(summary="".join(text).strip())


def fault_of(r):
    """What contradicts a row's verdict; or nothing."""
    if r.verdict not in ORDER:
        return f"no verdict: {r.verdict}"
    if r.verdict == "not covered":
        return ""
    if not r.sort:
        return f"no kind: {r.kind}"
    if r.verdict == "not run":
        return ""
    could = verdict.possible(r.published, r.ours)
    if could is None:
        return "" if r.verdict in ("holds", "does not hold") else f"{r.verdict}, but '{r.published}' is a statement"
    if r.verdict not in could:
        return f"{r.ours} against {r.published} is {' or '.join(sorted(could))}, the page says {r.verdict}"
    if r.sort == "prediction" and verdict.read(r.published).is_bound:
        return "a bound is called a prediction"
    return ""


def faults(name, page):
    """What is wrong with a page: counts that are not those of its rows, and rows whose verdict does not follow from them."""
    lines, out, seen = rows(page), [], set()
    if summary(page).strip() not in page:
        out.append(f"{name}: the head does not count the page's rows: {summary(page).strip()}")
    for r in lines:
        at = f"{name}, {r.row}, {r.place}: {r.claim}"
        if (r.place, r.claim) in seen:
            out.append(f"{at}: a second row of that name")
        seen.add((r.place, r.claim))
        wrong = fault_of(r)
        out += [f"{at}: {wrong}"] if wrong else []
    if any(r.verdict in MISSES for r in lines) != ("\n## Misses\n" in page):
        out.append(f"{name}: misses do not stand first")
    return out
