"""make reproduce: docs/reproduction.md from real runs. Usage: reproduce.py PROGRAM OUT [--quick]

Python 3 standard library only. Each command runs once, its JSON is kept in memory. No dates, no wall times: two runs give
the same bytes. The experiments stand in reproduction/*.py, one file per paper."""
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
    prog, out = sys.argv[1:3]
    quick = "--quick" in sys.argv[3:]
    with tempfile.TemporaryDirectory() as scratch:
        b = book.Book(prog, quick, scratch)
        for part in (uvm, zerocopy, dram, placement, measured, figures):
            part.write(b)
        text = b.text()
    with open(out + ".part", "w", encoding="utf-8") as f:
        f.write(text)
    os.replace(out + ".part", out)
    print(b.summary())
    return 1 if b.failed else 0


sys.exit(main())
