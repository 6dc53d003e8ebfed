"""Pages read back: their rows, what is counted from them, and whether each verdict follows from its row."""
import re
from collections import Counter

import verdict
from verdict import APART, HELD, KINDS, MISSES, NUMBERS, ORDER, PLAIN

HEADS = ["row", "place", "claim", "kind"]
# The claims that each paper's abstract, contributions and conclusion rest on: 'place: claim'.
HEADLINES = {"lee-2026": r"^Fig\. 3[ab]: .* average|best of 4 KiB, tree and 2 MiB, over|^contributions: adaptive against .* average|adaptive as a share of the better of 4 KiB and 2 MiB, average",
             "min-2022": r"Fig\. 2\.8: fewer|bandwidth of BFS, merged|Fig\. 2\.10: BFS.* mean|Fig\. 2\.12: aligned over uvm|rows of 1,028 B|Fig\. 3\.14: optimised zero-copy over|Fig\. 4\.9: |Fig\. 4\.11: fall",
             "gupta-2025-f3fs": r"^VII-B: (worst pair, )?F3FS \(cyc\) (ST|FI)|F3FS \(cyc\) VC2 against FR-RR-FCFS VC1, |: LLM, F3FS \(cyc, mem|FR-RR-FCFS is the fairest|F3FS is at least",
             "bateni-2020": r"CO against (D|MO), (mean response, )?TX2, programs, side|summary: CO improves|drone, CO against D|Autoware, (time, CO against D$|memory, CO)|CO against MO, best", "wilt-2017": r"^text: (?!launch|CUDA 6)"}

INDEX = """# Reproduction

`make reproduce` runs every experiment of five papers and writes its numbers beside the published ones. One page for each source
shows row by row what holds and what does not. A summary:

{summary}

- `make reproduce PAPER=lee-2026` writes one page anew. With `ROW='Fig. 1'` it prints the rows whose number, place or claim match;
  those of gupta-2025-f3fs use a share of its pairs (`WHOLE=1`: all).
- `QUICK=1` leaves out long runs and says so row by row. `GRAPHS=DIR` fills the rows of public graphs ([graphs.md](graphs.md)).
- Each row names the commands behind "ours": c7 is the seventh of the list at the page's end, with the metrics that it reads.

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
- **not covered**: no model of it, or an input that the row names is not at hand or not published.

A row that is further off than 10 % says why; each page begins with its misses. No count is a goal.
"""


class Line:
    """One row as its page has it."""

    def __init__(self, cells):
        self.row = re.sub("<[^>]*>", "", cells[0])
        self.place, self.claim, self.kind, self.published, self.ours, said = cells[1:7]
        m = re.fullmatch(r"([a-z0-9 %]+?)(?: \(([-\d.,]+)\))?", said)
        self.verdict, self.source = m[1] if m else said, cells[8]

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


def tally(lines):
    """{kind: {verdict: count}}; rows of other readings apart."""
    out = {kind: Counter() for kind in (*KINDS, "other reading", "none")}
    for r in lines:
        out["other reading" if r.kind.endswith(APART) else r.sort if r.kind else "none"][r.verdict] += 1
    return out


def statements(counts):
    return counts["holds"] + counts["does not hold"]


def predictions(t):
    """What the predicted numbers and statements came to, in words."""
    counts = t["prediction"]
    near = [sum(counts[v] for v in ORDER[:bands]) for bands in (1, 2, 3)]
    text = (f"of {sum(counts[v] for v in NUMBERS)} predicted numbers {near[2]} are within 25 % of the published one ({near[1]} of them within 10 %, {near[0]} within 5 %). "
            f"Further off, {counts['same direction']} have the same direction, {counts['other side']} contradict it, and {counts['outside']} have no direction to compare")
    return text + (f". Of {statements(counts)} predicted statements {counts['holds']} hold" if statements(counts) else "")


def bounds(t):
    return f"{t['bound']['holds']} of {statements(t['bound'])}" if t["bound"] else ""


def of_verdict(t, verdict_):
    return sum(c[verdict_] for c in t.values())


def others(t):
    """The other kinds, in words."""
    counts = [(bounds(t), "bounds hold")] + [(t[k].total(), word) for k, word in (("fit", "rows are fits"), ("input", "inputs"), ("definition", "definitions"), ("other reading", "other readings"))]
    counts += [(of_verdict(t, "not covered"), "are not covered"), (of_verdict(t, "not run"), "were not run in this mode")]
    return ", ".join(f"{n} {words}" for n, words in counts if n)


def summary(page):
    """The sentences at a page's head."""
    lines = rows(page)
    t, held = tally(lines), [r for r in lines if HELD in r.kind]
    counts = predictions(t)
    text = f"**{len(lines)} rows.** {counts[0].upper() + counts[1:]}. {others(t)}.\n"
    return text + (f"\nHeld out: {predictions(tally(held))}.\n" if held else "")


def headlines(pages):
    """How many of each paper's headline claims hold: one sentence for whoever reads no more. A claim that a constant was fitted to, or that is not covered, does not."""
    said = []
    for name, pattern in HEADLINES.items():
        lines = [r for link in pages if f"[{name}]" in link for r in rows(pages[link][0]) if re.search(pattern, f"{r.place}: {r.claim}") and not r.kind.endswith(APART) and "itself" not in r.claim]
        said.append(f"{name} {sum(r.verdict in PLAIN and r.sort in ('prediction', 'bound') for r in lines)} of {len(lines)}")
    return f"Headline claims that hold, by paper: {', '.join(said)}. A number holds within 10 % of the published; fitted claims count as failed."


def index(pages):
    """pages: {link: (text, whether a paper)}; the index above the figures' table."""
    lines = {link: rows(text) for link, (text, _) in pages.items()}
    papers = tally([r for k in pages if pages[k][1] for r in lines[k]])
    hardware = [r for k in pages if not pages[k][1] for r in lines[k]]
    given, held = tally([r for r in hardware if HELD not in r.kind]), tally([r for r in hardware if HELD in r.kind])
    text = [headlines(pages) + f"\n\n**Papers**: {predictions(papers)}. Beside them {others(papers)}.\n\n"]
    if hardware:
        text += [f"**Hardware, measurements that were given**: {predictions(given)}. Beside them {others(given)}.\n\n", f"**Hardware, held out**: {predictions(held)}.\n\n"]
    used = [v for v in ORDER[:-2] if any(tally(x)["prediction"][v] for x in lines.values())]
    text.append("| predictions | " + " | ".join(used) + " | fits | inputs | definitions | bounds that hold | other readings | not covered |\n|" + " --- |" * (len(used) + 7) + "\n")
    for link in pages:
        t = tally(lines[link])
        cells = [t["prediction"][v] for v in used] + [t[k].total() for k in ("fit", "input", "definition")] + [bounds(t), t["other reading"].total(), of_verdict(t, "not covered")]
        text.append(f"| {link} | " + " | ".join(str(c or "") for c in cells) + " |\n")
    return INDEX.format(summary="".join(text).strip())


def fault_of(r):
    """What contradicts a row's verdict; or nothing."""
    if r.verdict not in ORDER:
        return f"no verdict: {r.verdict}"
    if not r.sort and r.verdict != "not covered":
        return f"no kind: {r.kind}"
    if r.verdict in ("not covered", "not run"):
        return ""
    if r.sort in ("prediction", "bound") and not r.source:
        return f"a {r.sort} that names no command is a definition"
    number = verdict.possible(r.published, r.ours)
    could = number or {"holds", "does not hold"}  # a statement
    if r.verdict not in could:
        return f"{r.ours} against {r.published} is {' or '.join(sorted(could))}, the page says {r.verdict}"
    return "a bound is called a prediction" if number and r.sort == "prediction" and verdict.read(r.published).is_bound else ""


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
