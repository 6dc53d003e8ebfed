"""make reproduce: the reproduction from real runs. Usage: reproduce.py PROGRAM DIR [--quick] [--paper NAME]
[--row PATTERN] [--graphs DIR] | --sample SEED N | --check

Writes DIR/NAME.md for each source, or for those of --paper, and DIR.md, which counts the rows of all pages that are there;
figures go to the folder figures beside DIR. --row runs and prints the rows that match, and writes nothing. --sample draws N rows
of DIR's pages by a seed, runs them and compares what it gets with what the page says. --check recomputes the pages' counts and
holds each verdict against its row. Python 3 standard library only. Each command runs once for a page. No dates, no wall times: two runs
give the same bytes. The experiments stand in reproduction/*.py. Status 1: a command failed, a row that is off gives no reason,
or a page is not what its rows say."""
import argparse
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reproduction"))
sys.dont_write_bytecode = True
import book  # noqa: E402
import dram  # noqa: E402
import figures  # noqa: E402
import measured  # noqa: E402
import pages  # noqa: E402
import placement  # noqa: E402
import uvm  # noqa: E402
import wilt  # noqa: E402
import zerocopy  # noqa: E402

PAGES = {"lee-2026": (uvm.write, "Unified memory"), "min-2022": (zerocopy.write, "Zero-copy, feature rows, hot rows"),
         "gupta-2025-f3fs": (dram.write, "MEM and PIM in one controller"), "bateni-2020": (placement.write, "Memory policies on integrated GPUs"),
         "wilt-2017": (wilt.write, "Managed memory before demand paging"), "h200": (measured.write, "Measured on an H200")}
HARDWARE = ("h200",)


def write(path, text):
    with open(path + ".part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".part", path)


def read(out, name):
    """A page's text; empty where it is not there."""
    path = os.path.join(out, name + ".md")
    return open(path, encoding="utf-8").read() if os.path.exists(path) else ""


def opened(a, scratch, select=None):
    return book.Book(a.program, a.quick, scratch, os.path.join(os.path.dirname(a.out), "figures"), a.graphs, select)


def page(a, name):
    """Whether all went well."""
    with tempfile.TemporaryDirectory() as scratch:
        b = opened(a, scratch)
        make, what = PAGES[name]
        make(b)
        made = f"make reproduce PAPER={name}" + (" QUICK=1" if a.quick else "") + (" GRAPHS=DIR" if a.graphs else "")
        write(os.path.join(a.out, name + ".md"), b.text(f"{what}: {name}", made, pages.summary))
    print(f"{name}: {b.one_line()}", flush=True)
    return not b.failed


def index(out):
    """The page that counts the rows of the others."""
    folder = os.path.basename(out)
    there = {f"[{name}]({folder}/{name}.md)": (read(out, name), name not in HARDWARE) for name in PAGES if read(out, name)}
    return pages.index(there) + figures.text()


def matching(a, name):
    """Rows that match, printed. Whether all went well, and how many."""
    with tempfile.TemporaryDirectory() as scratch:
        b = opened(a, scratch, lambda n, place, claim: re.search(a.row, f"r{n} {place}: {claim}"))
        b.part = not a.whole
        PAGES[name][0](b)
        for r in b.rows:
            print(f"{name} r{r.number} | {r.place} | {r.claim}\n    {r.kind or 'no row'}: published {r.published}, ours {r.ours}: {r.verdict}{f' ({r.ratio})' if r.ratio else ''}"
                  + (f"\n    why: {r.why}" if r.why else "") + (f"\n    simulated: {b.simulated}" if any(f"[c{n}]" in r.source for c, n in b.commands.items() if b.simulated and "pairs.results" in c) else ""))
        for command, n in b.commands.items():
            print(f"    c{n} {command}")
    return not b.failed, sum(part.startswith("| ") for part in b.parts)


def sample(a):
    """Draw rows until N short ones have been run; what differs from the page is said."""
    seed, n = a.sample[0], int(a.sample[1])
    drawn = [(name, r) for name in PAGES if a.paper in (None, name) for r in pages.rows(read(a.out, name)) if r.verdict not in ("not covered", "not run")]
    random.Random(seed).shuffle(drawn)
    a.quick, done, bad, open_books = True, 0, 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, said in drawn:
            if done == n:
                break
            b = open_books.setdefault(name, opened(a, scratch))
            b.reasons, b.rows, b.named = False, [], {}
            b.select = lambda _, place, claim, said=said: (book.cell(place), book.cell(claim)) == (book.cell(said.place), book.cell(said.claim))
            PAGES[name][0](b)
            got = b.rows[0] if b.rows else None
            if got and got.verdict == "not run":
                continue
            done += 1
            if not got or (got.ours, got.verdict, got.kind, got.published) != (said.ours, said.verdict, said.kind, said.published):
                bad += 1
                print(f"{name} {said.row}, {said.place}: {said.claim}: the page says {said.ours} ({said.kind}, {said.verdict}), "
                      + (f"now {got.ours} ({got.kind}, {got.verdict})" if got else "no script makes this row"), file=sys.stderr)
    print(f"sample {seed}: {done} rows run anew, {bad} differ from their page")
    return bad == 0 and done == n


def check(out):
    """Whether each page, and the index, is what its rows say."""
    bad = [f for name in PAGES for text in [read(out, name)] if text for f in pages.faults(name, text)]
    made = read(os.path.dirname(out) or ".", os.path.basename(out))
    if made != index(out):
        bad.append(f"{out}.md does not count the rows of its pages: reproduce.py PROGRAM {out} --paper none")
    bad += [] if index(out).split("**Kinds**")[0].partition("Headline claims")[2].partition("\n")[0] in " ".join(read(".", "README").split()) else ["README.md does not say which headline claims hold as the index does"]
    print(*bad, sep="\n", end="\n" if bad else "", file=sys.stderr)
    print(f"{sum(len(pages.rows(read(out, name))) for name in PAGES)} rows of the reproduction held against their verdicts, {len(bad)} faults")
    return not bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("out")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--paper", choices=(*PAGES, "none"), help="only this page; none: only the index")
    p.add_argument("--row", help="a regular expression: only the rows whose 'rN place: claim' it matches, printed")
    p.add_argument("--whole", action="store_true", help="with --row: as much as the page simulates, not the share that minutes allow")
    p.add_argument("--graphs", help="folder of public graphs, named as docs/graphs.md says")
    p.add_argument("--sample", nargs=2, metavar=("SEED", "N"))
    p.add_argument("--check", action="store_true")
    a = p.parse_args()
    names = [n for n in PAGES if a.paper in (None, n)]
    if a.check or a.sample:
        return check(a.out) if a.check else sample(a)
    if a.row:
        found = [matching(a, name) for name in names]
        if not sum(n for _, n in found):
            print(f"reproduce: no row matches {a.row}", file=sys.stderr)
        return all(well for well, _ in found) and sum(n for _, n in found) > 0
    os.makedirs(a.out, exist_ok=True)
    well = [page(a, name) for name in names]
    write(a.out + ".md", index(a.out))
    return all(well)


sys.exit(0 if main() else 1)
