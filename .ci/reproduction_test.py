"""The reproduction's verdicts and counts: worked cases, every page held against its rows, pages that are wrong on purpose, and rows
of public graphs. Usage: reproduction_test.py PROGRAM [DIR]. One line at the end: N passed, M failed."""
import os
import re
import subprocess
import sys
import tempfile
from types import SimpleNamespace

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reproduction"))
sys.dont_write_bytecode = True
import pages  # noqa: E402
import verdict  # noqa: E402
from verdict import Published  # noqa: E402

# published, ours, verdict: side and inequality come before bands
CASES = ((Published(1, relation=">"), 0.973, "does not hold"), (Published(25, relation=">"), 24.87, "does not hold"), (Published(500, relation="<"), 494.6, "holds"),
         (Published(35, relation=">="), 35, "holds"), (Published(1.31, relation="<="), 1.32, "does not hold"),
         (Published(45, 50, unit=" %"), 55.3, "other side"), (Published(45, 50, unit=" %"), 47, "within 5 %"), (Published(1.02, 1), 0.99, "other side"),
         (Published(-54.6, 0, unit=" %"), 3.0, "other side"), (Published(-54.6, 0, unit=" %"), -4.2, "same direction"), (Published(2.9, 0), 1.8, "same direction"),
         (Published(2.2, 1), 1.66, "within 25 %"), (Published(0.2), 0.25, "within 25 %"), (Published(0.2), 0.26, "outside"), (Published(100), 109.9, "within 10 %"),
         (Published(low=1.0, high=1.6), 1.58, "holds"), (Published(low=1.0, high=1.6), 1.72, "does not hold"), (Published(low=4.7, high=4.8), 4.75, "within 5 %"),
         (Published(low=4.7, high=4.8), 4.5, "within 5 %"), (Published(low=4.7, high=4.8), 3.9, "within 25 %"), (Published(low=87, high=95, neutral=0, unit=" %"), 45.9, "same direction"))


def cases():
    """Each case, and that a page's cells give the same verdict."""
    for published, ours, want in CASES:
        printed = verdict.number(ours) + published.unit
        yield f"{published.text()} against {printed} is {want}", published.judge(ours)[0] == want
        yield f"{published.text()} against {printed}, read back, can be {want}", want in verdict.possible(published.text(), printed)


def page(name, text):
    """A page is what its rows say, and would be refused if a count, a verdict or a sign were another."""
    wrong = pages.faults(name, text)
    yield "; ".join(wrong) or f"{name}: counts and verdicts follow from its rows", not wrong
    judged = [r for r in pages.rows(text) if r.verdict not in ("not covered", "not run")]
    changed = lambda line, **to: SimpleNamespace(**{**line.__dict__, "sort": line.sort, **to})  # noqa: E731
    flipped = [changed(r, verdict=next(v for v in ("does not hold", "outside", "within 5 %", "holds") if v not in (verdict.possible(r.published, r.ours) or ("holds", "does not hold")))) for r in judged]
    yield f"{name}: no verdict of {len(flipped)} could be another", all(pages.fault_of(r) for r in flipped)
    yield f"{name}: no prediction or bound without a command", all(pages.fault_of(changed(r, source="")) for r in judged if r.sort in ("prediction", "bound"))
    signed = [r for r in judged if re.match(verdict.FIGURE, r.ours) and re.search(r"\((over|under) 0\)", r.published) and r.verdict != "other side" and float(re.match(verdict.FIGURE, r.ours)[0].replace(",", "")) != 0]
    turned = [changed(r, ours=r.ours[1:] if r.ours.startswith("-") else "-" + r.ours) for r in signed]
    yield f"{name}: no sign of {len(turned)} could be another", all(pages.fault_of(r) for r in turned)
    row = next(line for line in text.splitlines() if line.startswith('| <a id="r'))
    yield f"{name}: a row taken away is missed by the count", bool(pages.faults(name, text.replace(row + "\n", "", 1)))


def graphs(program, folder):
    """A graph under the name that docs/graphs.md gives it fills its rows; ROW runs them alone."""
    with tempfile.TemporaryDirectory() as there:
        subprocess.run([program, "graph", "convert", "synth:kron,scale=10", "-o", os.path.join(there, "GAP-kron.bel")], check=True, capture_output=True)
        run = [sys.executable, os.path.join(os.path.dirname(os.path.abspath(__file__)), "reproduce.py"), program, folder, "--paper", "min-2022", "--row", "G[KU] itself: BFS, V100|G[KU] itself: CC|GU itself: BFS over uvm"]
        without, given = (subprocess.run(run + more, capture_output=True, text=True, check=False) for more in ([], ["--graphs", there]))
    yield "without GRAPHS the rows of graphs are not covered", without.returncode == 0 and without.stdout.count("not covered") == 3 and "GRAPHS=DIR with GAP-kron.bel" in without.stdout
    yield "with GRAPHS the rows of the graph that is there are filled", given.returncode == 0 and given.stdout.count("not covered") == 1 and len(re.findall(r"published [\d.]+, ours [\d.e-]+: ", given.stdout)) == 2


def main():
    program, folder = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "docs/reproduction"
    results = list(cases()) + list(graphs(program, folder))
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as f:
            text = f.read()
        results += page(name, text)
    failed = [claim for claim, ok in results if not ok]
    for claim in failed:
        print(f"FAIL {claim}")
    print(f"{len(results) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
