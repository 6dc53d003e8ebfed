"""gupta-2025-f3fs: MEM and PIM requests through one controller."""
from math import exp, log
from statistics import mean

KERNELS = ("add", "copy", "daxpy", "scale", "bn-fwd", "bn-bwd", "fc", "kmeans", "grim")
POLICIES = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,gather-issue,f3fs,f3fs:count=requests"
FEW = "mem-first,frfcfs,frfcfs-cap,frrr-fcfs,f3fs,f3fs:count=requests"  # those that rows about the window need
METRICS = ("fairness_index,system_throughput,mem_speedup_ratio,pim_speedup_ratio,mem_arrival_ratio,mode_switches,"
           "conflicts_per_switch,drain_cycles_per_switch,pim_row_hit_ratio,mem_favoured_ratio,pim_favoured_ratio,starved")
NAMES = POLICIES.split(",")
STARVES = "whether a side starves hinges on the gap before a kernel is launched again (560 cycles here) and on the run limit (20 times its time alone); the paper gives neither"


def geomean(v):
    v = [max(x, 1e-12) for x in v]
    return exp(sum(map(log, v)) / len(v))


def shown(half):
    """The sweep as a person would type it."""
    kernels = "$(for g in $(seq 20); do echo --mem synth:gpu-g$g; done) $(for p in " + " ".join(KERNELS) + "; do echo --pim synth:pim-$p,ops=900; done)"
    if half:
        return f"offchip sweep dram {kernels} --policy {FEW} --grid 'vcs=1|2' --set window_scale=0.5 -o half.results"
    return f"offchip sweep dram {kernels} --policy {POLICIES} --grid 'vcs=1|2' -o pairs.results"


def load(b, half):
    """The 180 pairs: {(policy, vcs, gpu, pim): metrics}; half: with half the kernels' window of outstanding requests."""
    name, policies = ("half.results", FEW) if half else ("pairs.results", POLICIES)
    args = ["sweep", "dram"]
    for g in range(1, 21):
        args += ["--mem", f"synth:gpu-g{g}"]
    for p in KERNELS:
        args += ["--pim", f"synth:pim-{p},ops=900"]
    args += ["--policy", policies, "--grid", "vcs=1|2", *(("--set", "window_scale=0.5") if half else ()), "-q", "-o", b.stored(name)]
    b.call(args, json_out=False, full=half, shown=shown(half))
    table = {}
    for r in b.call(["report", b.stored(name), "--no-best", "--metric", METRICS, "--format", "json"])["rows"]:
        gpu = r["mem"].split("synth:gpu-g")[1].split(",")[0]
        pim = r["pim"].split("synth:pim-")[1].split(",")[0]
        policy = "f3fs:count=requests" if r["policy"].startswith("f3fs") and "requests" in str(r) else r["policy"].split(":")[0]
        table[policy, int(r["vcs"]), int(gpu), pim] = r
    return table


def pictures(b):
    pairs = [b.stored("pairs.results")]
    llm = b.stored("llm.results")
    b.call(["sweep", "dram", "synth:llm,window=320", "--policy", POLICIES, "--grid", "vcs=1|2", "-q", "-o", llm], json_out=False)
    b.source()
    kernels = [f"dram --mem synth:gpu-g{g},sms=80 --policy f3fs --set vcs=1" for g in range(1, 21)] + [f"dram --pim synth:pim-{p},ops=900 --policy f3fs --set vcs=1" for p in KERNELS]
    return "\n".join((b.picture("f3fs-character", "dram-character", kernels, "each kernel alone, figure 4"), b.picture("f3fs-fairness", "dram-fairness", pairs, "fairness by policy, figure 8a"),
                      b.picture("f3fs-throughput", "dram-throughput", pairs, "throughput by policy, figure 8b"), b.picture("f3fs-switches", "dram-switches", pairs, "mode switches by policy, figure 10a"),
                      b.picture("f3fs-llm", "dram-llm", [llm], "language model, figure 11")))


def hinge(whose, what, ours, other, unit):
    """Why a row is off, by what the other window gives."""
    if abs(other - ours) <= 0.1 * abs(ours):
        return f"{whose}: their rates and phases, not the window ({what} gives {other:.2f}{unit})"
    return f"{whose}, and this hinges on requests in flight, which nothing published gives: {what} gives {other:.2f}{unit}"


def write(b):
    tables = {}

    def state(half=False):
        if half not in tables:
            tables[half] = load(b, half)
        b.mention(shown(half))
        return tables[half]

    def pairs(policy, vcs, metric, half=False, gpus=range(1, 21), pims=KERNELS):
        table = state(half)
        if metric not in b.read:
            b.read.append(metric)
        rows = [table[policy, vcs, g, p] for g in gpus for p in pims]
        if metric == "system_throughput":
            return [(r["mem_speedup_ratio"] or 0.05) + (r["pim_speedup_ratio"] or 0.05) for r in rows]
        floor = 0.05 if metric in ("fairness_index", "mem_speedup_ratio", "pim_speedup_ratio") else 0
        return [r[metric] or floor for r in rows]

    def fi(p, v, half=False):
        return geomean(pairs(p, v, "fairness_index", half))

    def st(p, v, half=False):
        return mean(pairs(p, v, "system_throughput", half))

    def drop(p, v, half=False):
        return 100 * (1 - geomean(pairs(p, v, "mem_arrival_ratio", half)))

    def change(a, c):
        return 100 * (a / c - 1)

    def windowed(place, claim, paper, f, **kw):
        """A row whose reason is the window: f(half) gives its number."""
        def why():
            if b.quick:
                return "the GPU kernels' streams are ours; the level hinges on their window of outstanding requests (dram-engine.md)"
            return hinge("the GPU kernels' streams are ours", "half their window of outstanding requests", f(False), f(True), kw.get("unit", ""))
        b.row(place, claim, paper, lambda: f(False), why, **kw)

    def llm(policies, vcs, window=320, key="concurrent_speedup_ratio"):
        return [r[key] for r in b.replay(f"dram synth:llm,window={window} --policy {policies} --set vcs={vcs}")]

    def llm_row(place, claim, paper, f, **kw):
        """f(window) gives the number; the paper does not give the GPU side's window."""
        b.row(place, claim, paper, lambda: f(320), lambda: hinge("the GPU side of the LLM is ours", "a window of 80 requests instead of 320", f(320), f(80), kw.get("unit", "")), **kw)

    def alone(spec, key):
        return b.replay(f"dram --mem synth:{spec} --policy f3fs --set vcs=1" if spec.startswith("gpu") else
                        f"dram --pim synth:{spec},ops=900 --policy f3fs --set vcs=1")[0][key]

    def rate(key, sms):
        return mean(alone(f"pim-{p}", key) for p in KERNELS) / mean(alone(f"gpu-g{i},sms={sms}", key) for i in range(1, 21))

    def slowdown(other, scale=""):
        """Average loss of the 20 GPU kernels beside another, percent."""
        return 100 * (1 - mean(b.replay(f"dram --mem synth:gpu-g{g} {other} --policy frfcfs --set vcs=1{scale}")[0]["mem_speedup_ratio"] for g in range(1, 21)))

    b.section("MEM and PIM in one controller: gupta-2025-f3fs", f"""
180 pairs (20 GPU kernels x 9 PIM kernels), nine policies, F3FS's caps counted in cycles as the published simulator does (cyc)
and in requests as the paper's text says (req), one and two virtual channels (VC1, VC2). **The GPU kernels' streams are
synthetic**: nothing published records the programs' traffic ([dram-engine.md](dram-engine.md) says how they were chosen). A side
that made no end counts as a speed-up of 0.05, its pair as fairness 0.05. FI geometric, ST arithmetic means.

{state() and pictures(b)}""", chapter="gupta-2025-f3fs")
    b.row("III-A", "combinations of GPU and PIM kernels", 180, lambda: len(pairs("f3fs", 1, "system_throughput")))
    for key, name, fig, v80, v8 in (("noc_arrival_per_kcycle", "interconnect", "Fig. 4a", 0.822, 3.95), ("dram_arrival_per_kcycle", "DRAM", "Fig. 4b", 2.07, 8.33)):
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 8 SMs", v8, lambda key=key: rate(key, 8),
              "rate and window of a stream go with (8/80)^0.6, a quarter; launch gaps and the wait for the last requests do not shrink, so arrivals fall to a third", neutral=1)
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 80 SMs", v80, lambda key=key: rate(key, 80),
              "an input: the streams were made to it, kernel by kernel from the text, not fitted", neutral=1)
    b.row("IV, Fig. 4c", "bank parallelism of PIM alone", 16, lambda: min(alone(f"pim-{p}", "bank_parallelism") for p in KERNELS), "!by construction: PIM commands go to all banks")
    b.row("IV, Fig. 4d", "row hits of G6 alone, on 80 SMs", 32, lambda: 100 * alone("gpu-g6,sms=80", "mem_row_hit_ratio"), "!an input: two columns a row visit", unit=" %")
    for metric, want, fig in (("noc_arrival_per_kcycle", 4, "4a"), ("dram_arrival_per_kcycle", 15, "4b"), ("bank_parallelism", 6, "4c"), ("mem_row_hit_ratio", 17, "4d")):
        b.row(f"IV, Fig. {fig}", f"on 8 SMs the GPU kernel of the highest {metric} is", f"G{want}",
              lambda metric=metric, want=want: (lambda v: (max(v, key=v.get) == want, f"G{max(v, key=v.get)}"))({g: alone(f"gpu-g{g},sms=8", metric) for g in range(1, 21)}),
              "!an input: the streams were made to it" if want != 4 else "at a quarter of the rate and window no stream is held up, and G11's fewer but longer launches arrive closer together")
    b.row("IV, Fig. 5", "slowdown of GPU kernels beside P1, average", 60, lambda: slowdown("--pim synth:pim-add,ops=900"),
          lambda: f"the GPU kernels' streams are ours: with half their window of outstanding requests it is {slowdown('--pim synth:pim-add,ops=900', ' --set window_scale=0.5'):.0f} %", neutral=0, unit=" %")
    b.row("IV, Fig. 5", "slowdown of GPU kernels on 72 SMs beside the worst of G4, G6, G15, G17 on 8 SMs", 30,
          lambda: max(slowdown(f"--mem synth:gpu-g{o},sms=8") for o in (4, 6, 15, 17)),
          "the paper took the four for what they do on 8 SMs, which it does not print; ours all fall to a quarter of their rate there. 6 % of it are the 8 SMs; next row", neutral=0, unit=" %")
    b.row("IV, Fig. 5", "the same with the other kernel at its rate of 80 SMs, the 8 SMs not counted", 30,
          lambda: max(slowdown(f"--mem synth:gpu-g{o}") for o in (4, 6, 15, 17)), "only G6 and G15 fill a channel's banks in our streams; G4 hits in L2 and G17 in open rows", neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, FR-FCFS, VC1", 41, lambda h: drop("frfcfs", 1, h), neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC1", 68, lambda h: drop("mem-first", 1, h), neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC2", 9, lambda h: drop("mem-first", 2, h), neutral=0, unit=" %")
    windowed("V, Fig. 6", "the same as a growth of the rate, VC1 to VC2", 2.87, lambda h: (100 - drop("mem-first", 2, h)) / (100 - drop("mem-first", 1, h)), neutral=1)
    b.row("V, Fig. 6", "worst fall of MEM arrivals, any policy, VC1 (up to)", 95,
          lambda: max(100 * (1 - min(pairs(p, 1, "mem_arrival_ratio"))) for p in NAMES), neutral=0, unit=" %")

    def mem_share(p, v, half=False, pims=KERNELS):
        m, q = (mean(pairs(p, v, k, half, pims=pims)) for k in ("mem_speedup_ratio", "pim_speedup_ratio"))
        return 100 * m / (m + q)

    for v, paper in ((1, 41), (2, 45)):
        windowed("VI-A, Fig. 8b", f"MEM share of ST, FR-FCFS, VC{v}", paper, lambda h, v=v: mem_share("frfcfs", v, h), neutral=50, unit=" %")
    windowed("VI-A, Fig. 8b", "least MEM share of a PIM kernel, FR-FCFS, VC1 (P5, P6)", 35, lambda h: min(mem_share("frfcfs", 1, h, (p,)) for p in KERNELS), neutral=50, unit=" %")
    for v, paper in ((1, -3.7), (2, -2.8)):
        windowed("VI-A", f"ST, FR-FCFS-Cap(32) against FR-FCFS, VC{v}", paper, lambda h, v=v: change(st("frfcfs-cap", v, h), st("frfcfs", v, h)), neutral=0, unit=" %")
    starved = lambda p, v: sum(1 for x in pairs(p, v, "starved") if x)  # noqa: E731
    b.row("VI-A, Fig. 8a", "FR-FCFS-Cap starves (P3, P6) in VC1, not in VC2", "yes",
          lambda: (starved("frfcfs-cap", 1) > 0 and starved("frfcfs-cap", 2) == 0, f"{starved('frfcfs-cap', 1)} and {starved('frfcfs-cap', 2)} pairs"), STARVES)
    both = "both classes keep their queues full, so soon after a clearing both are blacklisted, and then the rules are FR-FCFS's"
    for name, paper, f in (("MEM-First", 20, lambda: 100 * mean(pairs("bliss", 2, "mem_favoured_ratio"))), ("PIM-First", 20, lambda: 100 * mean(pairs("bliss", 2, "pim_favoured_ratio"))),
                           ("FR-FCFS", 60, lambda: 100 * (1 - mean(pairs("bliss", 2, "mem_favoured_ratio")) - mean(pairs("bliss", 2, "pim_favoured_ratio"))))):
        b.row("VI-A", f"time of BLISS as {name}, VC2 (around)", paper, f, both, unit=" %")
    b.row("VI-A", "BLISS below FR-FCFS in FI and ST, VC1 and VC2", "yes", lambda: (lambda v: (max(v) <= 0, "FI, ST by " + ", ".join(f"{x:+.1f} %" for x in v)))(
        [change(f("bliss", v), f("frfcfs", v)) for v in (1, 2) for f in (fi, st)]))
    for v, paper in ((1, 0.55), (2, 0.77)):
        windowed("VI-A, Fig. 8a", f"mean FI of FR-RR-FCFS, VC{v}", paper, lambda h, v=v: fi("frrr-fcfs", v, h))
    b.row("VI-A", "row hits of Scale (P4), alone", 99.6, lambda: 100 * alone("pim-scale", "pim_row_hit_ratio"), unit=" %")
    windowed("VI-A", "PIM share of ST, P4, FR-RR-FCFS, VC2", 60, lambda h: 100 - mem_share("frrr-fcfs", 2, h, ("scale",)), neutral=50, unit=" %")
    for name, f in (("cyc", "f3fs"), ("req", "f3fs:count=requests")):
        windowed("VII-B", f"F3FS ({name}) ST against FR-FCFS, VC1", 1.8, lambda h, f=f: change(st(f, 1, h), st("frfcfs", 1, h)), neutral=0, unit=" %")
        windowed("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC1", 5.1, lambda h, f=f: change(st(f, 1, h), st("frrr-fcfs", 1, h)), neutral=0, unit=" %")
        b.row("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC1: comparable (here: within 15 %)", "comparable",
              lambda f=f: (lambda x: (abs(x) <= 15, f"{x:+.1f} %"))(change(fi(f, 1), fi("frrr-fcfs", 1))))
        windowed("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC2", 4.7, lambda h, f=f: change(fi(f, 2, h), fi("frrr-fcfs", 2, h)), neutral=0, unit=" %")
        windowed("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC2", 2.6, lambda h, f=f: change(st(f, 2, h), st("frrr-fcfs", 2, h)), neutral=0, unit=" %")
        for v, a, c in ((1, 76.76, 28.98), (2, 146.22, 29.84)):
            for key, paper, short in (("fairness_index", a, "FI"), ("system_throughput", c, "ST")):
                windowed("VII-B", f"worst pair, F3FS ({name}) {short} against FR-RR-FCFS, VC{v}", paper,
                         lambda h, f=f, v=v, key=key: change(min(pairs(f, v, key, h)), min(pairs("frrr-fcfs", v, key, h))), neutral=0, unit=" %")
        windowed("VII-B, IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, FI", 48, lambda h, f=f: change(fi(f, 2, h), fi("frrr-fcfs", 1, h)), neutral=0, unit=" %")
        windowed("VII-B, IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, ST", 13, lambda h, f=f: change(st(f, 2, h), st("frrr-fcfs", 1, h)), neutral=0, unit=" %")
    b.none("VII-B, IX", "the same, best FI / ST", "+72 / +22 %", "the paper does not say over what the best is taken")
    b.row("implied", "FI of F3FS, VC2: 0.77 x 1.047", 0.81, lambda: fi("f3fs", 2), "FR-RR-FCFS's own level is lower here (above); counted in requests it is 0.80")
    b.row("VI-A, Fig. 8a", "G&I starves in VC2 (P5)", "yes", lambda: (starved("gather-issue", 2) > 0, f"{starved('gather-issue', 2)} pairs"), STARVES)
    caps = ((1, "mem_cap=256,pim_cap=128", 11.23), (2, "mem_cap=64,pim_cap=64", 7.37))
    for unit_name, suffix in (("cyc", ""), ("req", ",count=requests")):
        for v, cap, paper in caps:
            pol = f"frrr-fcfs,f3fs:{cap}{suffix}"
            llm_row("VII-B, Fig. 11", f"LLM, F3FS ({unit_name}, {cap}) against FR-RR-FCFS, VC{v}", paper,
                    lambda w, pol=pol, v=v: (lambda r: change(r[1], r[0]))(llm(pol, v, w)), neutral=0, unit=" %")
        pol = f"frrr-fcfs,f3fs:mem_cap=64,pim_cap=64{suffix}"
        llm_row("IX", f"LLM, F3FS ({unit_name}, 64/64) VC2 against FR-RR-FCFS VC1", 13.14, lambda w, pol=pol: change(llm(pol, 2, w)[1], llm(pol, 1, w)[0]), neutral=0, unit=" %")
    base = ",".join(NAMES[:8])
    for v, paper in ((1, "gather-issue"), (2, "frfcfs")):
        for w in (320, 80):
            b.row("VI-B, Fig. 11", f"LLM, best baseline, VC{v}, window {w}", paper,
                  lambda v=v, w=w, paper=paper: (lambda r: (NAMES[r.index(max(r))] == paper, f"{NAMES[r.index(max(r))]} {max(r):.2f}, {paper} {r[NAMES.index(paper)]:.2f}"))(llm(base, v, w)),
                  "with many requests in flight the GPU side keeps its queues full behind any policy; the paper does not give its window (next row: 80)")
    for unit_name, suffix in (("cyc", ""), ("req", ",count=requests")):
        pol = f"f3fs:mem_cap=64,pim_cap=64{suffix}"
        b.row("VII-B", f"LLM, MEM to PIM switches due to the cap ({unit_name}), VC2, 64", 8,
              lambda pol=pol: 100 * llm(pol, 2, 320, "switches_by_cap_ratio")[0], "64 cycles pass in fewer than 64 requests: the text counts requests (next row)", unit=" %")
    pims = "pim-first,gather-issue"
    for key, paper, name in (("mode_switches", 2, "switches"), ("drain_cycles_per_switch", 6, "drain latency")):
        llm_row("VI-B", f"LLM, PIM-First over G&I, {name}, VC1", paper, lambda w, key=key: (lambda r: r[0] / r[1])(llm(pims, 1, w, key)), neutral=1)
    llm_row("VI-B", "LLM, G&I, VC2: close to sequential", 1, lambda w: llm(base, 2, w)[NAMES.index("gather-issue")])
    llm_row("VI-B", "LLM, MEM-First, VC2: above 1, at least", None, lambda w: llm(base, 2, w)[NAMES.index("mem-first")], low=1.0, high=2.0, shown="> 1")

    def ablation(policy):
        return geomean([b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-copy,ops=900 --policy frfcfs-cap,frfcfs-modecap --set vcs=2")[policy]["fairness_index"]
                        or 0.05 for g in range(1, 21) if g != 11])

    cap_why = "the GPU kernels' streams are ours; caps as the paper lists them (32, 64)"
    b.row("VII-C, Fig. 14a", "ablation, P2 without kmeans, FI of FR-FCFS-Cap, VC2", 0.73, lambda: ablation(0), cap_why)
    b.row("VII-C, Fig. 14a", "the same with the cap on modes", 0.80, lambda: ablation(1), cap_why)
    b.row("VII-C, Fig. 14a", "growth of FI by the cap on modes", 0.80 / 0.73, lambda: ablation(1) / ablation(0), neutral=1)
    pol = "frfcfs-cap,frfcfs-modecap,f3fs:mem_cap=256,pim_cap=256,f3fs:mem_cap=256,pim_cap=128,f3fs:mem_cap=256,pim_cap=256,count=requests,f3fs:mem_cap=256,pim_cap=128,count=requests"
    llm_row("VII-C, Fig. 14a", "ablation, LLM, cap on modes against FR-FCFS-Cap, VC2", -4, lambda w: (lambda r: change(r[1], r[0]))(llm(pol, 2, w)), neutral=0, unit=" %")
    llm_row("VII-C, Fig. 14a", "ablation, LLM speed-up with the current mode first (cyc, 256), VC2", 1.04, lambda w: llm(pol, 2, w)[2], neutral=1)
    llm_row("VII-C, Fig. 14a", "the same (req)", 1.04, lambda w: llm(pol, 2, w)[4], neutral=1)
    for unit_name, i in (("cyc", 2), ("req", 4)):
        llm_row("VII-C, Fig. 14a", f"ablation, LLM, asymmetric caps 256/128 against 256/256 ({unit_name}), VC2", 10, lambda w, i=i: (lambda r: change(r[i + 1], r[i]))(llm(pol, 2, w)), neutral=0, unit=" %")

    def queue(size):
        return mean(b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-add,ops=900 --policy f3fs --set vcs=2 --set noc_queue={size}")[0]["system_throughput"]
                    for g in (2, 8, 15, 20))

    b.row("VII-C, Fig. 14b", "interconnect queue of 256, 512, 1024, VC2, F3FS: ST", "no visible change",
          lambda: (lambda s: (max(s) / min(s) < 1.01, " / ".join(f"{x:.4f}" for x in s)))([queue(n) for n in (256, 512, 1024)]))

    def split(g, vcs=2, policy="f3fs"):
        return tuple(mean(pairs(policy, vcs, k, gpus=(g,))) for k in ("mem_speedup_ratio", "pim_speedup_ratio"))

    def spread(g):
        v = [mean(pairs(p, c, "system_throughput", gpus=(g,))) for p in ("frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs", "f3fs") for c in (1, 2)]
        return max(v) / min(v)

    b.row("VII-B, Fig. 13", "ST of G10 varies least over fair policies and VCs, of G6, G10, G11, G17, G19", "yes",
          lambda: (lambda v: (min(v, key=v.get) == 10, ", ".join(f"G{g} {x:.2f}" for g, x in v.items())))({g: spread(g) for g in (6, 10, 11, 17, 19)}))
    for g, who in ((6, "MEM"), (11, "MEM"), (17, "PIM")):
        b.row("VII-B, Fig. 13", f"F3FS favours the {'GPU' if who == 'MEM' else 'PIM'} side with G{g}, VC2", "yes",
              lambda g=g, who=who: (lambda m, p: ((m > p) == (who == "MEM"), f"MEM {m:.2f}, PIM {p:.2f}"))(*split(g)),
              lambda: "about even: the stream's rows of 24 columns end MEM phases no sooner than PIM's blocks of 16; counted in requests MEM {:.2f}, PIM {:.2f}".format(*split(17, 2, "f3fs:count=requests")))
    b.none("VII-A, Fig. 12", "area: F3FS 275 LUT and 143 FF, FR-FCFS 377 and 88", "275/143; 377/88", "hardware area is not modelled")
    b.none("V", "area of the second virtual channel", "about 5 %", "hardware area is not modelled")

    def switches(p, v):
        """As figure 10a: relative to FCFS in VC1, pair by pair, geometric mean."""
        return geomean(max(1, x) / f for x, f in zip(pairs(p, v, "mode_switches"), pairs("fcfs", 1, "mode_switches")))

    order = lambda v: sorted(NAMES, key=lambda p: -switches(p, v))  # noqa: E731
    b.row("VI-A, Fig. 10a", "FCFS, MEM-First and PIM-First switch most, VC1", "yes", lambda: (set(order(1)[:3]) == {"fcfs", "mem-first", "pim-first"}, " > ".join(order(1))))
    b.row("VI-A, Fig. 10a", "F3FS switches least among the fair ones (FR-FCFS, Cap, BLISS, FR-RR-FCFS), VC1", "yes",
          lambda: (lambda s: (s[0] == min(s), "FR-FCFS, Cap, BLISS, FR-RR over F3FS: " + ", ".join(f"{x / s[0]:.1f}" for x in s[1:])))(
              [switches(p, 1) for p in ("f3fs", "frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs")]))
    b.subsection("All policies", "Source of figures 6, 8 and 10; fall = of MEM arrivals against alone; switches relative to FCFS in VC1, geometric.")
    b.table("policy", "VC", "FI", "ST", "MEM", "PIM", "fall %", "switches", "conflicts per switch", "drain cycles", "starved pairs")
    for p in NAMES:
        for v in (1, 2):
            b.line(p, v, f"{fi(p, v):.2f}", f"{st(p, v):.3f}", f"{mean(pairs(p, v, 'mem_speedup_ratio')):.2f}", f"{mean(pairs(p, v, 'pim_speedup_ratio')):.2f}",
                   f"{drop(p, v):.0f}", f"{switches(p, v):.3f}",
                   f"{mean(pairs(p, v, 'conflicts_per_switch')):.2f}", f"{mean(pairs(p, v, 'drain_cycles_per_switch')):.1f}", starved(p, v))
    b.source()
