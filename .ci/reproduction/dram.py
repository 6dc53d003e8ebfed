"""gupta-2025-f3fs: MEM and PIM requests through one controller."""
from math import exp, log
from statistics import mean

KERNELS = ("add", "copy", "daxpy", "scale", "bn-fwd", "bn-bwd", "fc", "kmeans", "grim")
POLICIES = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,gather-issue,f3fs,f3fs:count=requests"
METRICS = ("fairness_index,system_throughput,mem_speedup_ratio,pim_speedup_ratio,mem_arrival_ratio,mode_switches,"
           "conflicts_per_switch,drain_cycles_per_switch,pim_row_hit_ratio,starved")
NAMES = POLICIES.split(",")
LEVEL = "the MEM streams are ours, made to the paper's description; levels hinge on their windows (dram-engine.md)"
PAIRS = "sweep dram --mem synth:gpu-gN --pim synth:pim-P,ops=900 --policy ... --grid vcs=1|2; report"


def geomean(v):
    v = [max(x, 1e-12) for x in v]
    return exp(sum(map(log, v)) / len(v))


def load(b):
    out = b.scratch + "/pairs.results"
    args = ["sweep", "dram"]
    for g in range(1, 21):
        args += ["--mem", f"synth:gpu-g{g}"]
    for p in KERNELS:
        args += ["--pim", f"synth:pim-{p},ops=900"]
    b.call(args + ["--policy", POLICIES, "--grid", "vcs=1|2", "-q", "-o", out], json_out=False)
    table = {}
    for r in b.call(["report", out, "--no-best", "--metric", METRICS, "--format", "json"])["rows"]:
        gpu = r["workload"].split("synth:gpu-g")[1].split()[0].split(",")[0]
        pim = r["workload"].split("synth:pim-")[1].split(",")[0]
        policy = "f3fs:count=requests" if r["policy"].startswith("f3fs") and "requests" in str(r) else r["policy"].split(":")[0]
        table[policy, int(r["vcs"]), int(gpu), pim] = r
    return table


def write(b):
    state = {}

    def pairs(policy, vcs, metric):
        if not state:
            state.update(load(b))
        rows = [state[policy, vcs, g, p] for g in range(1, 21) for p in KERNELS]
        if metric == "system_throughput":
            return [(r["mem_speedup_ratio"] or 0.05) + (r["pim_speedup_ratio"] or 0.05) for r in rows]
        floor = 0.05 if metric in ("fairness_index", "mem_speedup_ratio", "pim_speedup_ratio") else 0
        return [r[metric] or floor for r in rows]

    def fi(p, v):
        return geomean(pairs(p, v, "fairness_index"))

    def st(p, v):
        return mean(pairs(p, v, "system_throughput"))

    def drop(p, v):
        return 100 * (1 - geomean(pairs(p, v, "mem_arrival_ratio")))

    def change(a, c):
        return 100 * (a / c - 1)

    def llm(policies, vcs, window=320, key="concurrent_speedup_ratio"):
        return [r[key] for r in b.replay(f"dram synth:llm,window={window} --policy {policies} --set vcs={vcs}")]

    def alone(spec, key):
        return b.replay(f"dram --mem synth:{spec} --policy f3fs --set vcs=1" if spec.startswith("gpu") else
                        f"dram --pim synth:{spec},ops=900 --policy f3fs --set vcs=1")[0][key]

    def rate(key, sms):
        return mean(alone(f"pim-{p}", key) for p in KERNELS) / mean(alone(f"gpu-g{i},sms={sms}", key) for i in range(1, 21))

    one = "replay dram --mem synth:gpu-gN,sms=S --policy f3fs; replay dram --pim synth:pim-P,ops=900 --policy f3fs"
    b.section("MEM and PIM in one controller: gupta-2025-f3fs", """
180 pairs (20 GPU kernels x 9 PIM kernels), nine policies, F3FS's caps counted in cycles as the published simulator does (cyc)
and in requests as the paper's text says (req), one and two virtual channels (VC1, VC2). **The GPU kernels' streams are synthetic**:
nothing published records the programs' traffic. A side that made no end counts as a speed-up of 0.05, its pair as fairness 0.05. FI geometric, ST arithmetic means.""")
    b.row("III-A", "combinations of GPU and PIM kernels", 180, lambda: len(pairs("f3fs", 1, "system_throughput")), PAIRS)
    for key, name, fig, v80, v8 in (("noc_arrival_per_kcycle", "interconnect", "Fig. 4a", 0.822, 3.95), ("dram_arrival_per_kcycle", "DRAM", "Fig. 4b", 2.07, 8.33)):
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 8 SMs", v8, lambda key=key: rate(key, 8), one, LEVEL + "; input level", neutral=1)
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 80 SMs", v80, lambda key=key: rate(key, 80), one, LEVEL + "; input level", neutral=1)
    b.row("IV, Fig. 4c", "bank parallelism of PIM alone", 16, lambda: min(alone(f"pim-{p}", "bank_parallelism") for p in KERNELS), one,
          "!by construction: PIM commands go to all banks")
    b.row("IV, Fig. 5", "slowdown of GPU kernels beside P1, average", 60,
          lambda: 100 * (1 - mean(r["mem_speedup_ratio"] for g in range(1, 21) for r in
                                  b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-add,ops=900 --policy frfcfs --set vcs=1"))),
          "replay dram --mem synth:gpu-gN --pim synth:pim-add,ops=900 --policy frfcfs --set vcs=1", LEVEL, neutral=0, unit=" %")
    b.row("IV, Fig. 5", "slowdown of GPU kernels beside the worst other GPU kernel on 8 SMs (of G4, G6, G15, G17)", 30,
          lambda: max(100 * (1 - mean(b.replay(f"dram --mem synth:gpu-g{g},sms=72 --mem synth:gpu-g{o},sms=8 --policy frfcfs --set vcs=1")[0]["mem_speedup_ratio"]
                                      for g in range(1, 21))) for o in (4, 6, 15, 17)),
          "replay dram --mem synth:gpu-gN,sms=72 --mem synth:gpu-gM,sms=8 --policy frfcfs --set vcs=1", LEVEL + "; two GPU kernels seldom fill one channel's queues here", neutral=0, unit=" %")
    b.row("V, Fig. 6", "fall of MEM arrivals, FR-FCFS, VC1", 41, lambda: drop("frfcfs", 1), PAIRS, LEVEL, neutral=0, unit=" %")
    b.row("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC1", 68, lambda: drop("mem-first", 1), PAIRS, LEVEL, neutral=0, unit=" %")
    b.row("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC2", 9, lambda: drop("mem-first", 2), PAIRS, LEVEL, neutral=0, unit=" %")
    b.row("V, Fig. 6", "the same as a growth of the rate, VC1 to VC2", 2.87, lambda: (100 - drop("mem-first", 2)) / (100 - drop("mem-first", 1)), PAIRS, LEVEL, neutral=1)
    b.row("V, Fig. 6", "worst fall of MEM arrivals, any policy, VC1 (up to)", 95,
          lambda: max(100 * (1 - min(pairs(p, 1, "mem_arrival_ratio"))) for p in NAMES), PAIRS, LEVEL, neutral=0, unit=" %")

    def mem_share(p, v):
        return 100 * mean(pairs(p, v, "mem_speedup_ratio")) / (mean(pairs(p, v, "mem_speedup_ratio")) + mean(pairs(p, v, "pim_speedup_ratio")))

    def kernel_share(vcs):
        pairs("frfcfs", vcs, "fairness_index")
        shares = []
        for p in KERNELS:
            m = mean(state["frfcfs", vcs, g, p]["mem_speedup_ratio"] for g in range(1, 21))
            q = mean(state["frfcfs", vcs, g, p]["pim_speedup_ratio"] for g in range(1, 21))
            shares.append(100 * m / (m + q))
        return min(shares)

    for v, paper in ((1, 41), (2, 45)):
        b.row("VI-A, Fig. 8b", f"MEM share of ST, FR-FCFS, VC{v}", paper, lambda v=v: mem_share("frfcfs", v), PAIRS, LEVEL, neutral=50, unit=" %")
    b.row("VI-A, Fig. 8b", "least MEM share of a PIM kernel, FR-FCFS, VC1 (P5, P6)", 35, lambda: kernel_share(1), PAIRS, LEVEL, neutral=50, unit=" %")
    for v, paper in ((1, -3.7), (2, -2.8)):
        b.row("VI-A", f"ST, FR-FCFS-Cap(32) against FR-FCFS, VC{v}", paper, lambda v=v: change(st("frfcfs-cap", v), st("frfcfs", v)), PAIRS, LEVEL, neutral=0, unit=" %")
    starved = lambda p, v: sum(1 for x in pairs(p, v, "starved") if x)  # noqa: E731
    b.row("VI-A, Fig. 8a", "FR-FCFS-Cap starves (P3, P6) in VC1, not in VC2", "yes",
          lambda: (starved("frfcfs-cap", 1) > 0 and starved("frfcfs-cap", 2) == 0, f"{starved('frfcfs-cap', 1)} and {starved('frfcfs-cap', 2)} pairs"), PAIRS,
          "starvation is a property of relaunch gap and run limit, which the paper does not give")
    b.none("VI-A", "BLISS: time as MEM-first / PIM-first / FR-FCFS, VC2", "20 / 20 / 60 %",
           "the split of time by blacklist state is no metric of ours; BLISS below FR-FCFS in ST stands in the table below")
    for v, paper in ((1, 0.55), (2, 0.77)):
        b.row("VI-A, Fig. 8a", f"mean FI of FR-RR-FCFS, VC{v}", paper, lambda v=v: fi("frrr-fcfs", v), PAIRS, LEVEL)
    b.row("VI-A", "row hits of Scale (P4), alone", 99.6, lambda: 100 * alone("pim-scale", "pim_row_hit_ratio"), one,
          "operations were cut to 900", unit=" %")

    def scale_share():
        pairs("frrr-fcfs", 2, "fairness_index")
        m, q = (mean(state["frrr-fcfs", 2, g, "scale"][k] for g in range(1, 21)) for k in ("mem_speedup_ratio", "pim_speedup_ratio"))
        return 100 * q / (m + q)

    b.row("VI-A", "PIM share of ST, P4, FR-RR-FCFS, VC2", 60, scale_share, PAIRS, LEVEL, neutral=50, unit=" %")
    for name, f in (("cyc", "f3fs"), ("req", "f3fs:count=requests")):
        b.row("VII-B", f"F3FS ({name}) ST against FR-FCFS, VC1", 1.8, lambda f=f: change(st(f, 1), st("frfcfs", 1)), PAIRS, LEVEL, neutral=0, unit=" %")
        b.row("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC1", 5.1, lambda f=f: change(st(f, 1), st("frrr-fcfs", 1)), PAIRS, LEVEL, neutral=0, unit=" %")
        b.row("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC1: comparable (here: within 15 %)", "comparable",
              lambda f=f: (lambda x: (abs(x) <= 15, f"{x:+.1f} %"))(change(fi(f, 1), fi("frrr-fcfs", 1))), PAIRS, LEVEL)
        b.row("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC2", 4.7, lambda f=f: change(fi(f, 2), fi("frrr-fcfs", 2)), PAIRS, LEVEL, neutral=0, unit=" %")
        b.row("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC2", 2.6, lambda f=f: change(st(f, 2), st("frrr-fcfs", 2)), PAIRS, LEVEL, neutral=0, unit=" %")
        for v, a, c in ((1, 76.76, 28.98), (2, 146.22, 29.84)):
            for key, paper, short in (("fairness_index", a, "FI"), ("system_throughput", c, "ST")):
                b.row("VII-B", f"worst pair, F3FS ({name}) {short} against FR-RR-FCFS, VC{v}", paper,
                      lambda f=f, v=v, key=key: change(min(pairs(f, v, key)), min(pairs("frrr-fcfs", v, key))), PAIRS, LEVEL, neutral=0, unit=" %")
        b.row("IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, FI", 48, lambda f=f: change(fi(f, 2), fi("frrr-fcfs", 1)), PAIRS, LEVEL, neutral=0, unit=" %")
        b.row("IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, ST", 13, lambda f=f: change(st(f, 2), st("frrr-fcfs", 1)), PAIRS, LEVEL, neutral=0, unit=" %")
    b.none("IX", "the same, best FI / ST", "+72 / +22 %", "the paper does not say over what the best is taken")
    b.row("VI-A, Fig. 8a", "G&I starves in VC2 (P5)", "yes", lambda: (starved("gather-issue", 2) > 0, f"{starved('gather-issue', 2)} pairs"), PAIRS,
          "a property of relaunch gap and run limit, which the paper does not give")
    caps = ((1, "mem_cap=256,pim_cap=128", 11.23), (2, "mem_cap=64,pim_cap=64", 7.37))
    for unit_name, suffix in (("cyc", ""), ("req", ",count=requests")):
        for v, cap, paper in caps:
            pol = f"frrr-fcfs,f3fs:{cap}{suffix}"
            b.row("VII-B, Fig. 11", f"LLM, F3FS ({unit_name}, {cap}) against FR-RR-FCFS, VC{v}", paper,
                  lambda pol=pol, v=v: (lambda r: change(r[1], r[0]))(llm(pol, v)), f"replay dram synth:llm,window=320 --policy {pol} --set vcs={v}",
                  "the GPU side of the LLM is ours; VC1 hinges on its window", neutral=0, unit=" %")
        pol = f"frrr-fcfs,f3fs:mem_cap=64,pim_cap=64{suffix}"
        b.row("IX", f"LLM, F3FS ({unit_name}, 64/64) VC2 against FR-RR-FCFS VC1", 13.14,
              lambda pol=pol: change(llm(pol, 2)[1], llm(pol, 1)[0]), f"replay dram synth:llm,window=320 --policy {pol} --set vcs=1 (and 2)",
              "the GPU side of the LLM is ours", neutral=0, unit=" %")
    base = ",".join(NAMES[:8])
    for v, paper in ((1, "gather-issue"), (2, "frfcfs")):
        for w in (320, 80):
            b.row("VII-B, Fig. 11", f"LLM, best baseline, VC{v}, window {w}", paper,
                  lambda v=v, w=w, paper=paper: (lambda best: (best == paper, best))((lambda r: NAMES[r.index(max(r))])(llm(base, v, w))),
                  f"replay dram synth:llm,window={w} --policy {base} --set vcs={v}", "hinges on the window of the GPU side, which the paper does not give")
    for unit_name, suffix in (("cyc", ""), ("req", ",count=requests")):
        pol = f"f3fs:mem_cap=64,pim_cap=64{suffix}"
        b.row("VII-B", f"LLM, MEM to PIM switches due to the cap ({unit_name}), VC2, 64", 8,
              lambda pol=pol: 100 * llm(pol, 2, 320, "switches_by_cap_ratio")[0], f"replay dram synth:llm,window=320 --policy {pol} --set vcs=2",
              "counting requests, as the text says, comes near" if not suffix else "", unit=" %")
    both = "pim-first,gather-issue"
    for key, paper, name in (("mode_switches", 2, "switches"), ("drain_cycles_per_switch", 6, "drain latency")):
        b.row("VI-B", f"LLM, PIM-First over G&I, {name}, VC1", paper, lambda key=key: (lambda r: r[0] / r[1])(llm(both, 1, 320, key)),
              f"replay dram synth:llm,window=320 --policy {both} --set vcs=1", "hinges on the GPU side, which is ours", neutral=1)

    def ablation(policy):
        return geomean([b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-copy,ops=900 --policy frfcfs-cap,frfcfs-modecap --set vcs=2")[policy]["fairness_index"]
                        or 0.05 for g in range(1, 21) if g != 11])

    abl = "replay dram --mem synth:gpu-gN --pim synth:pim-copy,ops=900 --policy frfcfs-cap,frfcfs-modecap --set vcs=2"
    b.row("VII-C, Fig. 14a", "ablation, P2 without kmeans, FI of FR-FCFS-Cap, VC2", 0.73, lambda: ablation(0), abl, LEVEL)
    b.row("VII-C, Fig. 14a", "the same with the cap on modes", 0.80, lambda: ablation(1), abl, LEVEL)
    pol = "frfcfs-cap,frfcfs-modecap,f3fs:mem_cap=256,pim_cap=256,f3fs:mem_cap=256,pim_cap=128,f3fs:mem_cap=256,pim_cap=256,count=requests,f3fs:mem_cap=256,pim_cap=128,count=requests"
    lab = f"replay dram synth:llm,window=320 --policy {pol} --set vcs=2"
    b.row("VII-C, Fig. 14a", "ablation, LLM, cap on modes against FR-FCFS-Cap, VC2", -4, lambda: (lambda r: change(r[1], r[0]))(llm(pol, 2)), lab, "the GPU side of the LLM is ours", neutral=0, unit=" %")
    b.row("VII-C, Fig. 14a", "ablation, LLM speed-up with the current mode first (cyc, 256), VC2", 1.04, lambda: llm(pol, 2)[2], lab, "the GPU side of the LLM is ours", neutral=1)
    b.row("VII-C, Fig. 14a", "the same (req)", 1.04, lambda: llm(pol, 2)[4], lab, "the GPU side of the LLM is ours", neutral=1)
    b.row("VII-C, Fig. 14a", "asymmetric caps 256/128 beat 256/256 (cyc), VC2", "yes", lambda: (lambda r: (r[3] > r[2], f"{r[2]:.2f} to {r[3]:.2f}"))(llm(pol, 2)), lab, "hinges on the window of the GPU side")
    b.row("VII-C, Fig. 14a", "the same (req)", "yes", lambda: (lambda r: (r[5] > r[4], f"{r[4]:.2f} to {r[5]:.2f}"))(llm(pol, 2)), lab, "hinges on the window of the GPU side")
    def queue(size):
        return mean(b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-add,ops=900 --policy f3fs --set vcs=2 --set noc_queue={size}")[0]["system_throughput"]
                    for g in (2, 8, 15, 20))

    b.row("VII-C, Fig. 14b", "interconnect queue of 256, 512, 1024, VC2, F3FS: ST", "no visible change",
          lambda: (lambda s: (max(s) / min(s) < 1.01, " / ".join(f"{x:.4f}" for x in s)))([queue(n) for n in (256, 512, 1024)]),
          "replay dram --mem synth:gpu-gN --pim synth:pim-add,ops=900 --policy f3fs --set vcs=2 --set noc_queue=Q (N = 2, 8, 15, 20)")
    b.none("VII-A, Fig. 12", "area: F3FS 275 LUT and 143 FF, FR-FCFS 377 and 88", "275/143; 377/88", "hardware area is not modelled")
    b.none("V", "area of the second virtual channel", "about 5 %", "hardware area is not modelled")
    order = lambda v: sorted(NAMES, key=lambda p: -mean(pairs(p, v, "mode_switches")))  # noqa: E731
    b.row("VI-A, Fig. 10a", "FCFS, MEM-First and PIM-First switch most, VC1", "yes",
          lambda: (set(order(1)[:3]) == {"fcfs", "mem-first", "pim-first"}, " > ".join(order(1))), PAIRS, "order among the others depends on the streams")
    b.row("VI-A, Fig. 10a", "F3FS switches least among the fair ones (FR-FCFS, Cap, BLISS, FR-RR-FCFS), VC1", "yes",
          lambda: (lambda s: (s[0] == min(s), "FR-FCFS, Cap, BLISS, FR-RR over F3FS: " + ", ".join(f"{x / s[0]:.1f}" for x in s[1:])))(
              [mean(pairs(p, 1, "mode_switches")) for p in ("f3fs", "frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs")]), PAIRS)
    b.subsection("All policies", "Source of figures 8 and 10; fall = of MEM arrivals against alone; switches relative to FCFS in VC1.")
    b.table("policy", "VC", "FI", "ST", "MEM", "PIM", "fall %", "switches", "conflicts per switch", "drain cycles", "starved pairs")
    for p in NAMES:
        for v in (1, 2):
            b.line(p, v, f"{fi(p, v):.2f}", f"{st(p, v):.3f}", f"{mean(pairs(p, v, 'mem_speedup_ratio')):.2f}", f"{mean(pairs(p, v, 'pim_speedup_ratio')):.2f}",
                   f"{drop(p, v):.0f}", f"{mean(pairs(p, v, 'mode_switches')) / mean(pairs('fcfs', 1, 'mode_switches')):.3f}",
                   f"{mean(pairs(p, v, 'conflicts_per_switch')):.2f}", f"{mean(pairs(p, v, 'drain_cycles_per_switch')):.1f}", starved(p, v))
