"""make reproduce: the reproduction from real runs. Usage: reproduce.py PROGRAM DIR [--quick] [--keep DIR] [--paper NAME]

Writes DIR/NAME.md for each source, or for those of --paper, and DIR.md, which counts the rows of all pages that are there;
figures go to the folder figures beside DIR. With --keep an interrupted run goes on where it stopped: what commands printed is
kept, by program and command line. Python 3 standard library only. Each command runs once for a page. No dates, no wall times:
two runs give the same bytes. The experiments stand in reproduction/*.py. Status 1: a command failed, or a row that is off gives
no reason."""
import argparse
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reproduction"))
sys.dont_write_bytecode = True
import book  # noqa: E402
import dram  # noqa: E402
import figures  # noqa: E402
import measured  # noqa: E402
import placement  # noqa: E402
import uvm  # noqa: E402
import zerocopy  # noqa: E402

PAGES = {"lee-2026": (uvm.write, "Unified memory"), "min-2022": (zerocopy.write, "Zero-copy, feature rows, hot rows"),
         "gupta-2025-f3fs": (dram.write, "MEM and PIM in one controller"), "bateni-2020": (placement.write, "Memory policies on integrated GPUs"),
         "wilt-2017": (placement.wilt, "Managed memory before demand paging"), "h200": (measured.write, "Measured on an H200")}


def write(path, text):
    with open(path + ".part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(path + ".part", path)


def page(a, name):
    """Whether all went well."""
    with tempfile.TemporaryDirectory() as scratch:
        b = book.Book(a.program, a.quick, scratch, os.path.join(os.path.dirname(a.out), "figures"), a.keep)
        make, what = PAGES[name]
        make(b)
        write(os.path.join(a.out, name + ".md"), b.text(f"{what}: {name}", f"make reproduce PAPER={name}" + (" QUICK=1" if a.quick else "")))
    print(f"{name}: {b.one_line()}", flush=True)
    return not b.failed


def index(out):
    """The page that counts the rows of the others."""
    tally, folder = {}, os.path.basename(out)
    for name in PAGES:
        if os.path.exists(os.path.join(out, name + ".md")):
            with open(os.path.join(out, name + ".md"), encoding="utf-8") as f:
                tally[f"[{name}]({folder}/{name}.md)"] = book.verdicts(f.read())
    write(out + ".md", book.INDEX.format(summary=book.summary(tally).strip()) + figures.text())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("out")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--keep")
    p.add_argument("--paper", choices=(*PAGES, "none"), help="only this page; none: only the index")
    a = p.parse_args()
    for folder in (a.keep, a.out):
        if folder:
            os.makedirs(folder, exist_ok=True)
    names = PAGES if not a.paper else [n for n in PAGES if n == a.paper]
    well = [page(a, name) for name in names]
    index(a.out)
    return 0 if all(well) else 1


sys.exit(main())
