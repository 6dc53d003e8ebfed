"""lee-2026: prefetch granularity in unified memory."""
from statistics import mean

POLICIES = "tree,fixed:granularity=4KiB,fixed:granularity=2MiB,adaptive,adaptive-literal"
NAMES = ("tree", "4 KiB", "2 MiB", "adaptive", "adaptive-literal")
TREE, K4, M2, ADAPTIVE, LITERAL = range(5)
READINGS = ((ADAPTIVE, "adaptive"), (LITERAL, "adaptive-literal"))
FITTED = "adaptive (eq. 1 to 3, IV-C's gate; R_hi, A's lower bound fitted on other sizes)"
PRINTED = "adaptive-literal (eq. 1 to 7 as printed; A's bounds, ladder, start: ours)"
REGULAR, RANDOM = ("conv2d", "fdtd2d"), ("bicg", "nw")
ALL = REGULAR + RANDOM
# Each program as the authors' benchmarks run it, the MiB that they take first, and a quarter of it: rows cut, or both sides halved.
AUTHORS = {"conv2d": ("n=61440,m=18016", 6424, "n=15360,m=18016"), "fdtd2d": ("n=36144,m=20416,steps=5", 6424, "n=9036,m=20416,steps=5"), "bicg": ("n=45970", 6373, "n=22985"), "nw": ("n=33520", 6339, "n=16752")}
RATIO = {"conv2d": 159, "fdtd2d": 159, "bicg": 150, "nw": 159}  # of the authors' sizes, in % of what ballast and reserve leave
SHORT, OVER = "short", (110, 125, 150, 200)  # with ballast; a quarter of the size at these ratios
# What the driver leaves of memory behind the ballast: as titanv.ini has it, and MiB that its range does not reach.
BLOCKED = ((5374, ()), (5100, ("uvm_reserve_bytes=814MiB",)), (5100, ("uvm_reserve_bytes=814MiB", "service_again_ns=470")))
DECIDES = "what decides is not measured: on a TITAN V under driver 545, the authors' {} under thresholds 51, 1 and 100 with their ballast, time of each kernel and batches by uvm_uXuA_printk or an nsys trace; {}"


def command(w, memory=0):
    whole, ballast, quarter = AUTHORS[w]
    return f"uvm synth:{w},{quarter if memory and memory != SHORT else whole} --policy {POLICIES}" + (f" --set ballast={ballast}MiB" if memory == SHORT else f" --set oversubscription_pct={memory}" if memory else "")


def label(memory):
    return "memory sufficient" if not memory else "memory short" if memory == SHORT else f"a quarter, {memory} %"


def write(b):
    b.takes = "20 minutes of one processor"
    def run(w, memory=0):
        return b.replay(command(w, memory), full=True)

    def speed(w, memory, policy):
        r = run(w, memory)
        return r[TREE]["time_ns"] / r[policy]["time_ns"]

    def speeds(ws, memories, policy):
        return [speed(w, m, policy) for w in ws for m in memories]

    def shares(memories, policy):
        return [100 * min(r[i]["time_ns"] for i in (K4, M2)) / r[policy]["time_ns"] for w in ALL for m in memories for r in [run(w, m)]]

    def said(bad):
        return not bad, "in all cases" if not bad else "not in " + ", ".join(bad)

    def most_and_least(ws, memory):
        """4 KiB makes the most batches, 2 MiB the fewest; and where not."""
        return said([w for w in ws for r in [run(w, memory)] if not r[K4]["batches"] > r[TREE]["batches"] > r[M2]["batches"]])

    def ends(ws, memory, want, policy):
        return said([f"{w}: {g // 1024} KiB" for w in ws for g in [run(w, memory)[policy]["granularity_final_bytes"]] if g != want])

    def order(r, times=False):
        """The three fixed policies, the fastest first."""
        return " < ".join(NAMES[i] + (f" {r[i]['time_ns'] / 1e9:.2f} s" if times else "") for i in sorted((TREE, K4, M2), key=lambda i: r[i]["time_ns"]))

    b.section("Unified memory: lee-2026", f"""
TITAN V model; baseline = the stock tree prefetcher; values over 1 are speed-ups. The programs are of the size that the authors' benchmarks
have (oslab-ewha/uvm_benchmarks b75bfb1, of which facts alone are taken): conv2d 61,440 x 18,016, fdtd2d 36,144 x 20,416 with 5 steps, bicg
45,970, nw 33,520. Memory is short by what they allocate first: 6,424, 6,424, 6,373 and 6,339 MiB of the card, which leaves 150 to 159 %
(`ballast`); their fixed policies are thresholds 51, 1 (2 MiB) and 100 (4 KiB) of the tree, and they time kernels and cudaFree, which is not
modelled. That is one case, and its rows are counted; a quarter of each size at 110, 125, 150 and 200 % is another reading. The costs of faults
were fixed before any row with memory short was run (titanv.ini: batch times of stock drivers). R_hi and the lower bound of A of `adaptive`, which
the paper leaves open, were chosen at other sizes of these programs ([models-uvm.md](models-uvm.md)): its rows are a fit. `adaptive-literal` follows
equations 1 to 7 as printed, with nothing fitted. The page takes 20 minutes of one processor.

{b.picture("lee-speedup", "bars --metric speedup_ratio", [command(w, m) for w in ALL for m in (0, SHORT)], "speed-up over tree, figures 3 and 4", full=True)}
{b.picture("lee-locality", "box --metric blocks_per_batch_median", [command(w) for w in ALL], "R by workload and policy, memory sufficient, figure 1", full=True)}""")
    b.row("II-A", "faults per batch, at most; batches per routine, at most", "256 and 20", lambda: (lambda r: (all(x["faults"] <= 256 * x["batches"] and x["batches"] <= 20 * x["fault_handler_runs"] for x in r), "kept in all runs"))([x for w in ALL for x in run(w)]), given="titanv batch_faults")
    where = "the paper does not say under which policy and memory R was taken; the table at the end of the page has ours for each"
    for w, paper in (("conv2d", 0.2), ("fdtd2d", 0.2), ("bicg", 24), ("nw", 11.1)):
        b.row("Fig. 1", f"median R, {w}, under tree (the stock driver), memory sufficient", paper, lambda w=w: run(w)[TREE]["blocks_per_batch_median"], where, neutral=1)
        for policy, memory in ((K4, 0), (TREE, SHORT), (K4, SHORT)):
            b.row("Fig. 1", f"median R, {w}, under {NAMES[policy]}, {label(memory)}", paper, lambda w=w, policy=policy, memory=memory: run(w, memory)[policy]["blocks_per_batch_median"], where, neutral=1, apart=True)
    for policy in (TREE, K4):
        b.row("II-A", "R of the random programs is two orders of magnitude larger than of the regular ones: least over most, under " + NAMES[policy], 11.1 / 0.2, lambda policy=policy: min(run(w)[policy]["blocks_per_batch_median"] for w in RANDOM) / max(run(w)[policy]["blocks_per_batch_median"] for w in REGULAR), where, neutral=1, apart=policy == K4)
    gains = "at 2 MiB a block faults once: what is left to gain over tree is the cost of its smaller batches, few in nw; what decides is not measured: on a TITAN V under driver 545, batches of the same nw under thresholds 51 and 1 with memory enough, and the time of each"
    b.row("Fig. 3a", "4 KiB against tree, sufficient, average ('average slowdown of 0.2x', read as relative performance)", 0.2, lambda: mean(speeds(ALL, (0,), K4)), "the reading of 0.2x as a speed is ours", neutral=1, apart=True)
    b.row("Fig. 3a", "2 MiB against tree, sufficient, average", 1.5, lambda: mean(speeds(ALL, (0,), M2)), gains, neutral=1)
    b.row("Fig. 3b", "2 MiB against tree, oversubscribed, regular programs, average", 1.3, lambda: mean(speeds(REGULAR, (SHORT,), M2)), gains, neutral=1)
    short = {"bicg": DECIDES.format("bicg", "and what cudaMemGetInfo leaves after the ballast, here 5,374 MiB. Where a micro-TLB full of faults stops accesses to resident pages too (utlb=blocked, not known), 2 MiB is the best of the three with 5,214 MiB left and the last with 5,157, and with 5,100 4 KiB is the best if a service of a block that was there before takes less than 5.5 us (rows of utlb=blocked)"), "nw": DECIDES.format("nw", "it tells what a service of a block that was there before costs, here 6 us of 0.47 to 13, and whether copies in and out overlap")}
    for m, apart in ((SHORT, False), (200, True)):
        b.row("Fig. 3b", f"4 KiB against tree, oversubscribed, random programs, average{'' if m == SHORT else ', ' + label(m)}", 2.2, lambda m=m: mean(speeds(RANDOM, (m,), K4)), short["bicg"], neutral=1, apart=apart)
    for w in RANDOM:
        b.row("II-B, Fig. 3b", f"4 KiB is faster than tree, oversubscribed, {w}", 1, lambda w=w: speed(w, SHORT, K4), short[w], relation=">")
    b.row("II-B, Fig. 3a", "every program gains from 2 MiB over tree, sufficient", 1, lambda: min(speeds(ALL, (0,), M2)), gains, relation=">")
    b.row("II-B, Fig. 3b", "under oversubscription tree brings more bytes than 4 KiB, random programs: bytes of tree over 4 KiB, least", 1, lambda: min(run(w, SHORT)[TREE]["h2d_bytes"] / run(w, SHORT)[K4]["h2d_bytes"] for w in RANDOM), short["bicg"], relation=">")
    b.row("III, Fig. 3a", "best of 4 KiB, tree and 2 MiB, sufficient", "2 MiB for all four", lambda: (lambda o: (all(x.startswith("2 MiB") for x in o), "; ".join(f"{w} {x}" for w, x in zip(ALL, o))))([order(run(w)) for w in ALL]), gains)
    for w in ALL:
        want = "2 MiB" if w in REGULAR else "4 KiB"
        b.row("IV-C", f"best of 4 KiB, tree and 2 MiB, oversubscribed, {w}", want, lambda w=w, want=want: (lambda o: (o.startswith(want), o))(order(run(w, SHORT))), short.get(w, gains))
        b.row("IV-C", f"the same, {w}, a quarter of the size at 110, 125, 150 and 200 %", want, lambda w=w, want=want: (lambda o: (all(x.startswith(want) for x in o), "; ".join(f"{p} %: {x}" for p, x in zip(OVER, o))))([order(run(w, p)) for p in OVER]), short.get(w, gains), apart=True)
    b.row("IV-C", "a quarter of the size at the same ratio: the same order of 4 KiB, tree and 2 MiB", "the same", lambda: (lambda v: (all(x == y for x, y in v.values()), "; ".join(f"{w} {x}" + ("" if x == y else f", whole {y}") for w, (x, y) in v.items())))(
        {w: (order(run(w, RATIO[w])), order(run(w, SHORT))) for w in ALL}), "rows are shorter or fewer, so that a VA block holds another number of them: another case", apart=True)
    def moved(w, case, *numbers):
        """4 KiB is the best of the three, with some numbers elsewhere in their ranges."""
        o = order(b.replay(f"uvm synth:{w},{case} --policy tree,fixed:granularity=4KiB,fixed:granularity=2MiB" + "".join(f" --set {n}" for n in numbers), full=True), True)
        return o.startswith("4 KiB"), o

    for left, more in BLOCKED:
        b.row("IV-C", f"best of the three, bicg, oversubscribed, with utlb=blocked, {left:,} MiB left" + "".join(f", {m}" for m in more[1:]), "4 KiB", lambda more=more: moved("bicg", AUTHORS["bicg"][0], f"ballast={AUTHORS['bicg'][1]}MiB", "utlb=blocked", *more), short["bicg"], apart=True)
    for number in ("utlb=blocked", "service_again_ns=470", "service_again_ns=13000", "copy_engines=2"):
        b.row("IV-C", f"best of the three, nw, a quarter of the size at {RATIO['nw']} %, with {number}", "4 KiB", lambda number=number: moved("nw", AUTHORS["nw"][2], f"oversubscription_pct={RATIO['nw']}", number), short["nw"], apart=True)
    OSCILLATES = "as printed, R_hi = 1: a sweep over k arrays has R = k at 2 MiB, so the granularity shrinks, below 1 it grows again, and so on; in nw R stays above it down to 4 KiB (models-uvm.md)"
    BLIND = "while A is at a bound the granularity goes to that end of the ladder: rungs are not compared, so where the other end is best, the rule cannot know"
    for policy, name in READINGS:
        fitted = policy == ADAPTIVE
        kind = {"fit": "`adaptive` r_hi, a_min, at other sizes"} if fitted else {}
        why = BLIND if fitted else OSCILLATES
        for end, paper, f in (("lower", 1.24, min), ("upper", 1.90, max)):
            b.row("IV-C, Fig. 4a", f"{name} against tree, sufficient, {end} end (abstract: 1.2 to 1.9)", paper, lambda f=f, policy=policy: f(speeds(ALL, (0,), policy)), gains if fitted else OSCILLATES, neutral=1, **kind)
        for end, paper, f in (("lower", 1.07, min), ("upper", 2.45, max)):
            b.row("IV-C, Fig. 4b", f"{name} against tree, oversubscribed, {end} end (abstract: 1.1 to 2.5)", paper, lambda f=f, policy=policy: f(speeds(ALL, (SHORT,), policy)), why, neutral=1, **kind)
        for w in ALL:
            b.row("IV-C, Fig. 4b", f"{name} against tree, oversubscribed, {w}", None, lambda w=w, policy=policy: speed(w, SHORT, policy), why, low=1.07, high=2.45, **(kind or {"apart": True}))
        b.row("contributions", f"{name} against tree, sufficient, average", 1.5, lambda policy=policy: mean(speeds(ALL, (0,), policy)), gains if fitted else OSCILLATES, neutral=1, **kind)
        b.row("contributions", f"{name} against tree, oversubscribed, average", 1.8, lambda policy=policy: mean(speeds(ALL, (SHORT,), policy)), why, neutral=1, **kind)
        for memory, when in ((0, "sufficient"), (SHORT, "oversubscribed")):
            b.row("abstract, IV-C", f"{name} as a share of the better of 4 KiB and 2 MiB, average, {when}", 98, lambda memory=memory, policy=policy: mean(shares((memory,), policy)), why, unit=" %", **kind)
        b.row("abstract, IV-C", f"{name} as a share of the better of 4 KiB and 2 MiB, least of the 8 cases", 98, lambda policy=policy: min(shares((0, SHORT), policy)), why, unit=" %", **(kind or {"apart": True}))
        b.row("IV-C", f"{name} ends at 2 MiB, regular programs, oversubscribed", "yes", lambda policy=policy: ends(REGULAR, SHORT, 2**21, policy), why, fit="`adaptive` r_hi" if fitted else None)
        b.row("IV-C", f"{name} ends at 4 KiB, random programs, oversubscribed", "yes", lambda policy=policy: ends(RANDOM, SHORT, 4096, policy), why, fit="`adaptive` r_hi" if fitted else None)
    b.row("IV-C", "adaptive-literal prefetches at its largest, 2 MiB, where memory is abundant, all four programs", "yes", lambda: ends(ALL, 0, 2**21, LITERAL), OSCILLATES)
    for ws, memory, claim in ((ALL, 0, "4 KiB makes the most batches and 2 MiB the fewest of 4 KiB, tree, 2 MiB, sufficient"), (REGULAR, SHORT, "the same, oversubscribed, regular programs"), (RANDOM, SHORT, "the same, oversubscribed, random programs")):
        b.row("IV-C", claim, "implied", lambda ws=ws, memory=memory: most_and_least(ws, memory), "where a policy thrashes it makes more batches; where none does, 2 MiB makes the fewest")
    b.row("IV-C", "4 KiB brings the fewest bytes, oversubscribed, random programs", "implied", lambda: said([w for w in RANDOM for r in [run(w, SHORT)] if r[K4]["h2d_bytes"] != min(r[i]["h2d_bytes"] for i in (TREE, K4, M2))]), short["bicg"])

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
    b.table("program", "memory", "tree, s", "4 KiB", "2 MiB", FITTED, PRINTED, "GiB in, tree / 4 KiB / 2 MiB / adaptive / literal", "batches, tree / 4 KiB / 2 MiB / adaptive / literal", "R, tree / 4 KiB / 2 MiB / adaptive / literal", "from")
    for w in ALL:
        for m in (0, SHORT, *OVER):
            if b.quick:
                b.line(w, label(m), *["not run"] * 8, "")
                continue
            r = run(w, m)
            b.line(w, label(m), f"{r[TREE]['time_ns'] / 1e9:.2f}", *(f"{speed(w, m, i):.2f}" for i in (K4, M2, ADAPTIVE, LITERAL)),
                   *(" / ".join(form.format(x[key] / by) for x in r) for key, form, by in (("h2d_bytes", "{:.1f}", 2**30), ("batches", "{:,.0f}", 1), ("blocks_per_batch_median", "{:.3g}", 1))), b.source())
