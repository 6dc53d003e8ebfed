"""lee-2026: prefetch granularity in unified memory."""
from statistics import mean

LADDER = ("4KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB")
POLICIES = ",".join(("tree", *(f"fixed:granularity={g}" for g in LADDER), "adaptive", "adaptive-literal"))
TREE, K4, K64, M2, ADAPTIVE, LITERAL = 0, 1, 2, 7, 8, 9
RUNGS = range(K4, M2 + 1)
READINGS = ((ADAPTIVE, "adaptive"), (LITERAL, "adaptive-literal"))
DRAWN = (TREE, K4, K64, M2, ADAPTIVE, LITERAL)
FITTED = "adaptive (eq. 1 to 3, IV-C's gate; R_hi, A's lower bound fitted on these cases)"
PRINTED = "adaptive-literal (eq. 1 to 7 as printed; A's bounds, ladder, start: ours)"
REGULAR, RANDOM = ("conv2d", "fdtd2d"), ("bicg", "nw")
ALL = REGULAR + RANDOM
OVER = (110, 125, 150, 200)
BICG = "2 MiB is the faster one: kernel 1 sweeps, and kernel 2 keeps its 32 rows at hand. 4 KiB is ahead only with utlb=blocked, which nobody has measured (uvm-engine.md)"
CLOSED = "at 2 MiB a block faults once, so what is left to gain over tree is the cost of its smaller batches: twice as many in conv2d, a seventh more in nw"


def command(w, pct=0):
    return f"uvm synth:{w},bytes=8GiB --policy {POLICIES}" + (f" --set oversubscription_pct={pct}" if pct else "")


def write(b):
    def run(w, pct=0):
        return b.replay(command(w, pct), full=True)

    def speed(w, pct, policy):
        r = run(w, pct)
        return r[TREE]["time_ns"] / r[policy]["time_ns"]

    def speeds(ws, pcts, policy):
        return [speed(w, p, policy) for w in ws for p in pcts]

    def shares(pcts, among=(K4, M2), policy=ADAPTIVE):
        return [100 * min(r[i]["time_ns"] for i in among) / r[policy]["time_ns"] for w in ALL for p in pcts for r in [run(w, p)]]

    def span(v):
        return f"{min(v):.2f} to {max(v):.2f}"

    def most_and_least(ws, pcts, key):
        """In each case: 4 KiB the most of `key`, 2 MiB the least; and where not."""
        bad = []
        for w in ws:
            for p in pcts:
                r = run(w, p)
                if not r[K4][key] > r[TREE][key] > r[M2][key]:
                    bad.append(f"{w} {p} %" if p else w)
        return not bad, "in all cases" if not bad else "not in " + ", ".join(bad)

    def fewest_bytes(pcts):
        bad = [f"{w} {p} %" for w in RANDOM for p in pcts for r in [run(w, p)] if r[K4]["h2d_bytes"] != min(r[i]["h2d_bytes"] for i in (TREE, K4, K64, M2))]
        return not bad, "in all cases" if not bad else "not in " + ", ".join(bad)

    def ends(ws, pcts, want, policy=ADAPTIVE):
        sizes = {4096: "4 KiB", 65536: "64 KiB", 2**21: "2 MiB"}
        bad = [f"{w} {p} %: {sizes.get(g, str(g // 1024) + ' KiB')}" for w in ws for p in pcts for g in [run(w, p)[policy]["granularity_final_bytes"]] if g != want]
        return not bad, "in all cases" if not bad else "not in " + ", ".join(bad)

    b.section("Unified memory: lee-2026", f"""
TITAN V model, 8 GiB of managed memory per program, baseline = the stock tree prefetcher; values over 1 are speed-ups. The
paper does not print its oversubscription ratio: averages are over 110, 125, 150 and 200 %. The authors' benchmarks have one, 150 %
(oslab-ewha/uvm_benchmarks: ballast and sizes; the table below has 150 % by itself), not run at their sizes here. R_hi and the lower bound of A, which
the paper leaves open, were chosen on these same cases ([models-uvm.md](models-uvm.md)): rows about `adaptive` are a fit, not a
validation. Counted are R under tree with sufficient memory, and averages over the four ratios; R under 4 KiB and oversubscribed, the
kernel alone and 200 % alone are other readings. `adaptive-literal` follows equations 1 to 7 as printed, with nothing fitted: its bounds of A, the ladder between the
paper's ends and the start are ours, and not chosen by results. Both are held against every rung of the ladder, not only the
two that the paper compares with, and against tree.

{b.picture("lee-speedup", "bars --metric speedup_ratio", [command(w, p) for w in ALL for p in (0, *OVER)], "speed-up over tree, figures 3 and 4", full=True, only=DRAWN)}
{b.picture("lee-locality", "box --metric blocks_per_batch_median", [command(w) for w in ALL], "R by workload and policy, memory sufficient, figure 1", full=True, only=DRAWN)}""")
    b.row("II-A", "faults per batch, at most; batches per routine, at most", "256 and 20", lambda: (lambda r: (all(x["faults"] <= 256 * x["batches"] and x["batches"] <= 20 * x["fault_handler_runs"] for x in r), "kept in all runs"))([x for w in ALL for x in run(w)]), given="titanv batch_faults")
    full = "with sufficient memory tree fills a block before its neighbours are needed, so few blocks stand in a batch; the paper does not say under which policy and memory R was taken"
    tree = "R is blocks over batches: under tree a block is full after one or two batches, where 0.2 needs five, which is what 4 KiB gives (next rows)"
    page = {"conv2d": "a median over windows of 20 batches moves in steps of 0.05: 5 distinct blocks in 20 batches, where the paper has 4", "fdtd2d": "a median over windows of 20 batches moves in steps of 0.05: 6 distinct blocks in 20 batches, where the paper has 4",
            "bicg": "most windows are of kernel 1, where the four rows that a warp loads at once lie in one or two blocks; see kernel 2",
            "nw": "at 4 KiB every tile touches a page of each of its rows, so a batch reaches many blocks; under tree a block is soon full"}
    for w, paper in (("conv2d", 0.2), ("fdtd2d", 0.2), ("bicg", 24), ("nw", 11.1)):
        b.row("Fig. 1", f"median R, {w}, under tree (the stock driver), memory sufficient", paper, lambda w=w: run(w)[TREE]["blocks_per_batch_median"], tree if w in REGULAR else full, neutral=1)
        b.row("Fig. 1", f"median R, {w}, under 4 KiB, memory sufficient", paper, lambda w=w: run(w)[K4]["blocks_per_batch_median"], page[w], neutral=1, apart=True)
        for policy, name in ((TREE, "tree"), (K4, "4 KiB")):
            b.row("Fig. 1", f"median R, {w}, under {name}, oversubscribed, mean of four ratios", paper, lambda w=w, policy=policy: mean(run(w, p)[policy]["blocks_per_batch_median"] for p in OVER), "see the table at the end of the page: R by policy and memory", neutral=1, apart=True)
    b.row("Fig. 1", "median R, kernel 2 of bicg alone, under 4 KiB", 24, lambda: b.replay("uvm synth:bicg,bytes=8GiB,kernel=2 --policy fixed:granularity=4KiB", full=True)[0]["blocks_per_batch_median"],
          "a batch reaches the rows, 181 KiB apart, of so many warps; how many the paper's hold is not printed", neutral=1, apart=True)
    b.row("II-A", "R of the random programs is two orders of magnitude larger than of the regular ones: least over most, under tree", 11.1 / 0.2, lambda: min(run(w)[TREE]["blocks_per_batch_median"] for w in RANDOM) / max(run(w)[TREE]["blocks_per_batch_median"] for w in REGULAR), full, neutral=1)
    b.row("II-A", "the same, under 4 KiB", 11.1 / 0.2, lambda: min(run(w)[K4]["blocks_per_batch_median"] for w in RANDOM) / max(run(w)[K4]["blocks_per_batch_median"] for w in REGULAR), page["bicg"], neutral=1, apart=True)
    b.row("Fig. 3a", "4 KiB against tree, sufficient, average ('average slowdown of 0.2x', read as relative performance)", 0.2, lambda: mean(speeds(ALL, (0,), K4)), neutral=1, apart=True)
    b.row("Fig. 3a", "2 MiB against tree, sufficient, average", 1.5, lambda: mean(speeds(ALL, (0,), M2)), CLOSED, neutral=1)
    b.row("Fig. 3b", "2 MiB against tree, oversubscribed, regular programs, average", 1.3, lambda: mean(speeds(REGULAR, OVER, M2)), "what is gained is the cost of tree's smaller batches, as with sufficient memory; in fdtd2d at 150 % tree also brings a third more bytes", neutral=1)
    b.row("Fig. 3b", "4 KiB against tree, oversubscribed, random programs, average", 2.2, lambda: mean(speeds(RANDOM, OVER, K4)),
          "4 KiB is ahead only in bicg at 200 %: in nw it brings a seventh of tree's bytes or less, and its batches take longer than that saves; the paper does not print its one ratio, the authors' benchmarks have 150 % (oslab-ewha/uvm_benchmarks), where nw is at 0.90 and bicg at 0.09", neutral=1)
    b.row("Fig. 3b", "the same at 200 % only", 2.2, lambda: mean(speeds(RANDOM, (200,), K4)), "the paper prints no ratio, the authors' benchmarks have 150 %; at 200 % tree thrashes in both, and 4 KiB is ahead in bicg alone", neutral=1, apart=True)
    b.row("II-B, Fig. 3a", "every program gains from 2 MiB over tree, sufficient", 1, lambda: min(speeds(ALL, (0,), M2)), CLOSED, relation=">")
    b.row("II-B, Fig. 3b", "under oversubscription tree brings more bytes than 4 KiB, random programs, each ratio: bytes of tree over 4 KiB, least", 1, lambda: min(run(w, p)[TREE]["h2d_bytes"] / run(w, p)[K4]["h2d_bytes"] for w in RANDOM for p in OVER),
          "up to 150 % bicg thrashes under no policy: bytes differ by how often evicted pages come back, and at 4 KiB kernel 2 takes longest to pass", relation=">")
    b.row("III, Fig. 3a", "best fixed granularity, sufficient", "2 MiB for all four", lambda: (lambda g: (all(x == M2 for x in g), ", ".join(f"{w} {LADDER[x - K4]}" for w, x in zip(ALL, g))))([max(RUNGS, key=lambda i: speed(w, 0, i)) for w in ALL]),
          "at 1 GiB it is 2 MiB in all four (models-uvm.md); at 8 GiB a row of conv2d and of nw is 128 KiB, so that few rows lie in a block")
    for w in ALL:
        want = "2 MiB" if w in REGULAR else "4 KiB"
        b.row("IV-C", f"best of 4 KiB and 2 MiB, oversubscribed, {w}", want, lambda w=w, want=want: (lambda best: (all(x == want for x in best), ", ".join(f"{p} %: {x}" for p, x in zip(OVER, best))))(
                  ["2 MiB" if speed(w, p, M2) >= speed(w, p, K4) else "4 KiB" for p in OVER]), BICG if w == "bicg" else "4 KiB brings the fewest bytes and makes the most batches (see the table), and what a batch costs decides here")
    OSCILLATES = "as printed, R_hi = 1: a sweep over k arrays has R = k at 2 MiB, so the granularity shrinks, below 1 it grows again, and so on; in nw R stays above it down to 4 KiB (models-uvm.md)"
    BLIND = "while A is at a bound the granularity goes to that end of the ladder: rungs are not compared, so where one between or the other end is best, the rule cannot know"
    for policy, name in READINGS:
        fitted = policy == ADAPTIVE
        kind = {"fit": "`adaptive` r_hi, a_min, on these cases"} if fitted else {}
        other = kind or {"apart": True}
        for end, paper, f in (("lower", 1.24, min), ("upper", 1.90, max)):
            b.row("IV-C, Fig. 4a", f"{name} against tree, sufficient, {end} end (abstract: 1.2 to 1.9)", paper, lambda f=f, policy=policy: f(speeds(ALL, (0,), policy)), "nw: " + CLOSED if fitted else OSCILLATES, neutral=1, **kind)
        for end, paper, f, why in (("lower", 1.07, min, "nw at 110 %: R is large, so it goes down to 4 KiB, which loses to tree there (0.41)"), ("upper", 2.45, max, "bicg at 200 %: tree thrashes there (959 GiB in), 2 MiB does not; the others reach 1.67")):
            b.row("IV-C, Fig. 4b", f"{name} against tree, oversubscribed, {end} end (abstract: 1.1 to 2.5)", paper, lambda f=f, policy=policy: f(speeds(ALL, OVER, policy)), why if fitted else OSCILLATES, neutral=1, **kind)
        b.row("contributions", f"{name} against tree, sufficient, average", 1.5, lambda policy=policy: mean(speeds(ALL, (0,), policy)), CLOSED if fitted else OSCILLATES, neutral=1, **kind)
        b.row("contributions", f"{name} against tree, oversubscribed, average over four ratios", 1.8, lambda policy=policy: mean(speeds(ALL, OVER, policy)), "bicg at 200 % (79.7) lifts the mean; the other fifteen cases average 1.27" if fitted else OSCILLATES, neutral=1, **kind)
        b.row("contributions", f"{name}, the same at 200 % only", 1.8, lambda policy=policy: mean(speeds(ALL, (200,), policy)), "bicg (79.7), where tree thrashes and 2 MiB does not; the other three average 1.21" if fitted else OSCILLATES, neutral=1, **other)
        for among, against in (((K4, M2), "the better of 4 KiB and 2 MiB"), (RUNGS, "the best rung of the ladder")):
            for pcts, when in (((0,), "average, sufficient"), (OVER, "average, oversubscribed")):
                b.row("abstract, IV-C", f"{name} as a share of {against}, {when}", 98, lambda pcts=pcts, among=among, policy=policy: mean(shares(pcts, among, policy)), BLIND if fitted else OSCILLATES, unit=" %", **(kind if among == (K4, M2) else other))
            b.row("abstract, IV-C", f"{name} as a share of {against}, least of the 20 cases", 98, lambda among=among, policy=policy: min(shares((0, *OVER), among, policy)), BLIND if fitted else OSCILLATES, unit=" %", **other)

    b.row("IV-C", "4 KiB makes the most batches and 2 MiB the fewest of 4 KiB, tree, 2 MiB, sufficient", "implied", lambda: most_and_least(ALL, (0,), "batches"))
    b.row("IV-C", "the same, oversubscribed, regular programs", "implied", lambda: most_and_least(REGULAR, OVER, "batches"))
    b.row("IV-C", "the same, oversubscribed, random programs", "implied", lambda: most_and_least(RANDOM, OVER, "batches"), "there tree thrashes, and makes more batches than 4 KiB")
    b.row("IV-C", "4 KiB brings the fewest bytes, oversubscribed, random programs", "implied", lambda: fewest_bytes(OVER),
          "up to 150 % bicg thrashes under no policy: bytes differ by how often evicted pages come back, and at 4 KiB kernel 2 takes longest to pass; at 200 % it thrashes under tree, not at 2 MiB (see the table)")
    for policy, name in READINGS:
        b.row("IV-C", f"{name} ends at 2 MiB, regular programs, all ratios", "yes", lambda policy=policy: ends(REGULAR, (0, *OVER), 2**21, policy), "" if policy == ADAPTIVE else OSCILLATES, fit="`adaptive` r_hi" if policy == ADAPTIVE else None)
        b.row("IV-C", f"{name} ends at 4 KiB, random programs, oversubscribed", "yes", lambda policy=policy: ends(RANDOM, OVER, 4096, policy), "where 2 MiB is the faster one it stays there (bicg)" if policy == ADAPTIVE else OSCILLATES, fit="`adaptive` r_hi" if policy == ADAPTIVE else None)
    b.row("IV-C", "adaptive-literal prefetches at its largest, 2 MiB, where memory is abundant, all four programs", "yes", lambda: ends(ALL, (0,), 2**21, LITERAL), OSCILLATES)

    def settings(policy):
        found = next(e["parameters"] for e in b.call(["list", "policies", "--format", "json"]) if e["policy"] == policy)
        return dict(x.split("=", 1) for x in found.split(","))

    for claim, key, paper in (("R at or below which A jumps to its maximum (eq. 3)", "r_lo", 0.3), ("absolute z-score of an outlier", "z", 2), ("share of outliers above which D grows", "outlier", 0.1)):
        b.row("III", claim, paper, lambda key=key: float(settings("adaptive")[key]), given="`adaptive` " + key)
    b.row("III", "R above which A falls (eq. 3)", 1, lambda: float(settings("adaptive")["r_hi"]),
          "in a closed loop at 2 MiB k concurrent streams give R = k, so 1 shrinks regular programs; 4 was fitted. `adaptive-literal` has 1 (models-uvm.md)", fit="`adaptive` r_hi")
    b.row("III-B", "the fine stage: granularity grows at D = 1, shrinks at D = 0", "both", lambda: (lambda x: (x == "literal", f"fine={x}"))(settings("adaptive")["fine"]),
          "a setting; off, because it only ever shrinks: regular programs have no batch of six blocks or more, and five can hold no outlier. `adaptive-literal` has it", given="`adaptive` fine")
    b.row("II-B", "residency above which tree prefetches a region", 50, lambda: float(settings("tree")["threshold"]), "!the driver's number; for whole 64 KiB regions of a block the two are the same", unit=" %", given="`tree` threshold")
    def example():
        """Figure 2 as a recording: eight leaves brought by the program's own prefetch, then the two faults and what they bring."""
        db = b.path("figure2.db")
        b.call(["import", "fixtures/traces/lee_2026_figure2.csv", "-o", db], json_out=False)
        m = b.call(["verify", "--format", "json", db])["metrics"]
        return m["services_exact"] == m["services"] == 2, f"{m['services_exact']} of {m['services']} services are what the tree gives"

    b.row("II-B, Fig. 2", "the example: with 8 of 16 leaves resident a fault in l5 brings l3, l4, l7, l9, l10, l13, l14, the next one, in N1,1, all of it", "both", example)
    b.none("II-B", "blocks of 2 MiB, leaves of 64 KiB", "2 MB, 64 KB", "inputs: the driver's")
    b.none("III-A", "bounds of A, start, ladder between the ends", "not printed", "chosen here: for `adaptive` on these cases, for `adaptive-literal` not by results (models-uvm.md)")
    b.none("Figs. 3, 4", "each program's bar", "bars without numbers", "the table below has ours")
    if b.select:
        return
    tables(b, run, speed)


def tables(b, run, speed):
    """Each case, and R."""
    b.subsection("Each case: speed over tree, bytes and batches")
    b.table("program", "memory", "tree, s", *LADDER, FITTED, PRINTED, "best rung", "GiB in, tree / 4 KiB / 2 MiB / adaptive / literal", "batches, tree / 4 KiB / 2 MiB / adaptive / literal", "from")
    for w in ALL:
        for p in (0, *OVER):
            if b.quick:
                b.line(w, f"{p} %" if p else "sufficient", *["not run"] * 13, "")
                continue
            r = run(w, p)
            pick = (TREE, K4, M2, ADAPTIVE, LITERAL)
            best = min(RUNGS, key=lambda i: r[i]["time_ns"])
            b.line(w, f"{p} %" if p else "sufficient", f"{r[TREE]['time_ns'] / 1e9:.2f}", *(f"{speed(w, p, i):.2f}" for i in (*RUNGS, ADAPTIVE, LITERAL)), LADDER[best - K4],
                   " / ".join(f"{r[i]['h2d_bytes'] / 2**30:.1f}" for i in pick), " / ".join(f"{r[i]['batches']:,}" for i in pick), b.source())
    b.subsection("Median R by policy and memory", "Figure 1 prints 0.2, 0.2, 24 and 11.1, and neither policy nor memory.")
    names = ("tree", "4 KiB", "64 KiB", "2 MiB", "adaptive", "adaptive-literal")
    b.table("program", "memory", *names, "from")
    for w in ALL:
        for p in (0, *OVER):
            text = [f"{run(w, p)[i]['blocks_per_batch_median']:.3g}" for i in DRAWN] if not b.quick else ["not run"] * len(names)
            b.line(w, f"{p} %" if p else "sufficient", *text, b.source())
