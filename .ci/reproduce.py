"""make reproduce: the reproduction book from real runs. Usage: reproduce.py PROGRAM OUT.md [--quick] [--keep DIR]

Figures are drawn into the folder figures beside OUT. With --keep an interrupted run goes on where it stopped: what commands
printed is kept in DIR, by program and command line. Python 3 standard library only. Each command runs once. No dates, no
wall times: two runs give the same bytes. The experiments stand in reproduction/*.py, one file per paper. Status 1: a
command failed, or a row that is off gives no reason."""
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


def main():
    p = argparse.ArgumentParser()
    p.add_argument("program")
    p.add_argument("out")
    p.add_argument("--quick", action="store_true")
    p.add_argument("--keep")
    a = p.parse_args()
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        b = book.Book(a.program, a.quick, scratch, os.path.join(os.path.dirname(a.out), "figures"), a.keep)
        for part in (uvm, zerocopy, dram, placement, measured, figures):
            part.write(b)
        text = b.text()
    with open(a.out + ".part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(a.out + ".part", a.out)
    print(b.one_line())
    return 1 if b.failed else 0


sys.exit(main())
