"""gupta-2025-f3fs: MEM and PIM requests through one controller, the GPU side from programs of Rodinia."""
import random
from math import exp, log
from statistics import mean
from zlib import crc32

from book import NotRun

KERNELS = ("add", "copy", "daxpy", "scale", "bn-fwd", "bn-bwd", "fc", "kmeans", "grim")
RODINIA = ("btree", "backprop", "bfs", "cfd", "dwt2d", "gaussian", "heartwall", "hotspot", "hotspot3d", "huffman", "kmeans", "lavamd", "lud", "mummergpu", "nn", "nw", "pathfinder", "srad-v1", "srad-v2", "streamcluster")
POLICIES = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,gather-issue,f3fs,f3fs:count=requests"
METRICS = ("fairness_index,system_throughput,mem_speedup_ratio,pim_speedup_ratio,mem_arrival_ratio,mode_switches," "conflicts_per_switch,drain_cycles_per_switch,pim_row_hit_ratio,mem_favoured_ratio,pim_favoured_ratio,starved")
NAMES = POLICIES.split(",")
FAIRER = POLICIES.replace("fcfs,", "", 1).replace("pim-first,", "").replace("gather-issue,", "")  # who starves takes longest
DRAWS = 4
# What is assumed, or could be read otherwise: where it stands, and where else it is tried.
ASSUMED = (("mem_share", 1, 0.28), ("noc_queue", 512, 64, 2048), ("queue", 64, 16), ("rop_latency", 160, 320), ("pim_sms", 8, 4), ("launch_gap", -1, 3754), ("order", "ptx", "hoisted"), ("per_k", 66, 64, 65), ("scale", 16, 8, 32), ("channel_hash", "none", "xor"), ("refresh", "none", "all"),
           ("map", "row:13 bank:3 col:3 bank:1 ch:5 col:3 byte:5", "row:13 col:3 bank:4 ch:5 col:3 byte:5"), ("cut", 30000, 60000))
BETWEEN = (("mem_share", 0.6, 0.4), ("launch_gap", 1000, 2500), ("run_limit_factor", 5))  # on the way there, and a number of the run: each alone
REFRESH = ("--set", "refi=3315", "--set", "rfc=221")  # 3.9 us and 260 ns
MOVED_GPUS = (2, 6, 15, 17, 19, 20)
OVER = "make reproduce PAPER=gupta-2025-f3fs ROW='claims over what is assumed'"
DRAWN_GPUS, DRAWN_PIMS = (3, 4, 6, 10, 11, 15, 17, 19), ("add", "scale", "bn-fwd")  # 24 of the 180 pairs
NEW = "not explained; the table of all policies has the numbers"
ON24 = "on 24 pairs, cut=100000"
QUEUE = f"it follows the queue before the controller, and how many multiprocessors: {ON24}, "
FALLS = {("frfcfs", 1): "59 % with dram.noc_queue=512, 53 % with 64, 63 % with 2048, 58 % with mem_share=0.25", ("mem-first", 1): "78 % with dram.noc_queue=512, 77 % with 64, 81 % with 2048, 75 % with mem_share=0.25",
         ("mem-first", 2): "7 % with dram.noc_queue=512, 11 % with 64, 12 % with 2048, 12 % with mem_share=0.25"}
GROWTH = "4.30 with dram.noc_queue=512, 3.82 with 64, 4.71 with 2048, 3.56 with mem_share=0.25"
GROW = f"none do, whatever was changed: {ON24}, at most 0.79 (G6 beside G&I), 0.90 with dram.noc_queue=64, 0.66 with 2048, 0.89 with dram.queue=16, 0.83 with columns above banks in the address map"
SUSTAINS = f"FR-FCFS and FR-RR-FCFS are a tie: {ON24}, 59.4 and 59.1 %, 52.8 and 52.2 % with dram.noc_queue=64; it holds with 2048 (62.9, 63.2 %), with mem_share=0.25 (58.3, 59.7 %), with dram.l2_misses=48 (57.7, 59.1 %) and with columns above banks in the address map (59.3, 59.5 %)"
CAP_FAIR = f"a tie in VC1 that follows the queue before the controller: {ON24}, +0.1 % with dram.noc_queue=512, +1.9 % with 64, -2.3 % with 2048, -3.4 % with mem_share=0.25"
WORST = f"it follows the queue before the controller: {ON24}, -11 % with dram.noc_queue=512, 3 % with 64, -5 % with 2048"
FAIREST = {1: f"what stands before the controller decides: {ON24}, MEM-First 0.62 and FR-RR-FCFS 0.61, with dram.noc_queue=64 0.68 and 0.69, and then, as with 2048 and " "with mem_share=0.25 (0.51 both), it is the fairest",
           2: f"FR-FCFS-Cap is the fairest, {ON24}, too (0.77, FR-RR-FCFS 0.57): FR-RR-FCFS serves MEM while rows are open; not by intensity alone (dram-engine.md); see claims over what is assumed"}
ASYMMETRIC, SYMMETRIC, REQ = "f3fs:mem_cap=256,pim_cap=128", "f3fs:mem_cap=64,pim_cap=64", ",count=requests"
LLM = [*NAMES, ASYMMETRIC, ASYMMETRIC + REQ, SYMMETRIC, SYMMETRIC + REQ, "frfcfs-modecap"]  # one run for each VC
SLICE = "all blocks wait for one slice of L2, and whether they keep in step is chance"
CAPS = {1: f"+10.4 % whole (scale=1), -12.7 % with scale=16, +10.4 % with 32: {SLICE}; with rows of X in eight slices, 2 KiB apart (tried), -0.2 %, there +0.1 % with per_k=34, -0.8 % with 72, -1.1 % with order=hoisted",
        2: f"-8.2 % whole (scale=1), -1.4 % with scale=16, -5.1 % with 32: {SLICE}; with rows of X in eight slices, 2 KiB apart (tried), -5.0 %, there -4.2 % with per_k=34, -3.5 % with 72, -1.2 % with order=hoisted"}
BEST = {1: "whole (scale=1) it is, of those run: 1.24, FR-FCFS 1.13, FR-RR-FCFS 1.07", 2: f"whole (scale=1), of those run, FR-RR-FCFS 1.36, FR-FCFS 1.31, MEM-First 1.13: {SLICE}"}
NONE = "G&I 1.24 whole (scale=1), above the ideal of 1.12: beside PIM, on 72 multiprocessors, the products take 12.6 million cycles, alone, on 80, 13.9; with rows of X in eight slices, 2 KiB apart (tried), at most 1.08"
TOLD = "policies within a fifth of each other are not told apart: see claims over what is assumed"
FEW = "products wait for each load, so that MEM runs out before the cap: with rows of X in eight slices, 2 KiB apart (tried), 1.8 %, and 34 % where loads of a tile go together (order=hoisted,scale=32)"
TAKES = "one to two hours on two cores"
PART = f"24 of the 180 pairs, each cut to 60,000 of 300,000 requests: 2.7 % of what the page simulates; WHOLE=1 runs all of it, {TAKES}"
OVER_TEXT = f"""
`{OVER}` makes this table. Six GPU kernels (G2, G6, G15, G17, G19, G20) beside P2, cut=30000, and the language model at scale=16, so that each number is quick to move; the first line is where they stand. Assumed are mem_share, launch_gap, the run limit and the cuts (scale, cut); per_k and the order of loads are counted in compiled code of the product's shape (trace/workloads/ml/llm.c: 64 to 66, one by one); the others the paper or its artifact prints, and are read otherwise here. FR-RR-FCFS: its FI over that of the fairest of MEM-First, FR-FCFS, FR-FCFS-Cap and BLISS (paper: over 1). BLISS: FI, ST against FR-FCFS in VC1, then VC2, percent (none over 0). kmeans: FI under FR-FCFS-Cap, VC2 (starved). LLM: F3FS (cyc) against FR-RR-FCFS (over 0); the best speed-up of FR-FCFS, FR-RR-FCFS and G&I in VC1, and G&I's (at most 1.12; within 0.03). Bold: as the paper has it.

So kmeans starves with none of them. Two claims turn with launch_gap alone, what a launch that is cut still waits (here cut as its blocks are; 3,754 is whole): FR-RR-FCFS is the fairest in VC2 at 2,500 and 3,754, BLISS is below FR-FCFS at 2,500. What decides is the pairs run whole (cut=none). Two of them, nn and pathfinder: in VC1 FI 0.76 and 0.35 under FR-FCFS, 0.72 and 0.35 under BLISS, 0.78 and 0.41 under FR-RR-FCFS; in VC2 0.68 and 0.85, 0.71 and 0.87, 0.62 and 0.93. Over both BLISS has FI -3 and +3 %, ST -3 and -0 % of FR-FCFS (VC1, VC2): lower in VC1, not in VC2. mem_share at 0.28, 0.4, 0.6 and 1 gives neither. In VC1 FR-RR-FCFS is a tie. The language model turns with nearly all, in VC1 with one instruction of 66, cut or whole: with per_k=64, 65, 66 whole (scale=1) the most is 1.26, 1.09, 1.24, G&I 1.26, 1.00, 1.24, F3FS +0.1, -1.4, +10.4 %: its products wait in step for one slice of L2, so VC1 is told by none of them. Whole, with mem_share=0.28, the most is 1.05, G&I 1.00, F3FS -1.7 %: that number would bring VC1 under 1.12, not G&I to the front. In VC2 F3FS stays below FR-RR-FCFS with each, whole: -8.5, -9.7, -8.2 % with per_k=64, 65, 66, -8.4 and -0.3 % with mem_share=0.6, 0.28. mem_share would be known from requests to DRAM by kernel, each alone, of the published simulator (figure 4b has their mean): no GPU needed."""
BLISSES = "bliss:threshold=2,bliss:threshold=4,bliss:threshold=8,bliss:threshold=16"
STARVES = "whether a side starves hinges on the run limit (20 times the longer time alone), which the paper does not give"
BELOW = "a tie, whose sign follows the cut: on 24 pairs, cut=30000, FI -2.2 and -2.0 %, ST -3.2 and +0.3 % (VC1, VC2); with the state that the artifact leaves at forced switches (bliss:bug=1) FI -53 and -2.8 %, ST -16 and +0.1 %"
KMEANS = "it does not whatever was changed (claims over what is assumed), nor with run_limit_factor=10 or 4 iterations (FI 0.81, 0.83, cut=60000)"


class Moved:
    """Some of what is assumed, elsewhere: settings of the run, keys of the programs."""

    def __init__(self, **to):
        self.order = to.pop("order", "ptx")
        self.llm = f"synth:llm,order={self.order},per_k={to.pop('per_k', 66)},scale={to.pop('scale', 16)}"
        self.cut = ["--set", f"cut={to.pop('cut', 30000)}"]
        self.sets = [x for key, value in to.items() for x in ("--set", f"{key}={value}", *(REFRESH if key == "refresh" else ()))]

    def gpu(self, g):
        return f"synth:rodinia-{RODINIA[g - 1]},order={self.order}"


def drawn(number):
    r = random.Random(1)  # each value as often
    return Moved(**{key: r.sample((values * DRAWS)[:DRAWS], DRAWS)[number] for key, *values in ASSUMED})


def geomean(v):
    v = [max(x, 1e-12) for x in v]
    return exp(sum(map(log, v)) / len(v))


def load(b, moved=None):
    """Pairs: {(policy, vcs, gpu, pim): metrics}; all 180, or those of rows that are to be quick, or of what is moved."""
    gpus, pims = (MOVED_GPUS, ("copy",)) if moved else (DRAWN_GPUS, DRAWN_PIMS) if b.part else (range(1, 21), KERNELS)
    b.simulated = PART if b.part else ""
    mems = [moved.gpu(g) if moved else f"synth:gpu-g{g}" for g in gpus]
    args = ["sweep", "dram", *(x for m in mems for x in ("--mem", m)), *(x for p in pims for x in ("--pim", f"synth:pim-{p}")), "--policy", FAIRER if moved else POLICIES, "--grid", "vcs=1|2", *(moved.sets + moved.cut if moved else ("--set", "cut=60000") if b.part else ()), "-q", "-o"]
    name = f"moved-{crc32(' '.join(args).encode())}.results" if moved else "pairs.results"
    args.append(b.path(name))
    shown = OVER if moved else None if b.part else ("offchip sweep dram $(for g in $(seq 20); do echo --mem synth:gpu-g$g; done) $(for p in " + " ".join(KERNELS) + f"; do echo --pim synth:pim-$p; done) --policy {POLICIES} --grid 'vcs=1|2' -o pairs.results")
    b.call(args, json_out=False, full=True, shown=shown)
    table = {}
    for r in b.call(["report", b.path(name), "--no-best", "--metric", METRICS, "--format", "json"], shown=OVER if moved else None)["rows"]:
        gpu = gpus[[m for m in range(len(mems)) if r["mem"].startswith(mems[m]) and r["mem"][len(mems[m]):][:1] in ("", ",")][-1]]
        pim = r.get("pim", "synth:pim-copy").split("synth:pim-")[1].split(",")[0]
        policy = "f3fs:count=requests" if r["policy"].startswith("f3fs") and "requests" in r["policy"] else r["policy"].split(":")[0]
        table[policy, int(r["vcs"]), gpu, pim] = r
    return table


def pictures(b):
    pairs = [b.path("pairs.results")]
    kernels = [f"dram --mem synth:gpu-g{g} --policy f3fs --set vcs=1" for g in range(1, 21)] + [f"dram --pim synth:pim-{p} --policy f3fs --set vcs=1" for p in KERNELS]
    return "\n".join((b.picture("f3fs-character", "bars --metric noc_packets_per_kcycle,dram_arrival_per_kcycle,bank_parallelism,mem_row_hit_ratio,pim_row_hit_ratio", kernels, "each kernel alone, figure 4"), b.picture("f3fs-fairness", "bars --metric fairness_index --over vcs --aggregate declared", pairs, "fairness by policy, figure 8a"),
                      b.picture("f3fs-throughput", "stacked --metric mem_speedup_ratio,pim_speedup_ratio --aggregate declared", pairs, "throughput by policy, figure 8b"), b.picture("f3fs-switches", "bars --metric mode_switches --over vcs --aggregate declared", pairs, "mode switches by policy, figure 10a"),
                      b.picture("f3fs-llm", "bars --metric concurrent_speedup_ratio,ideal_speedup_ratio --over vcs", [f"dram synth:llm --policy {','.join(LLM)} --set vcs={v}" for v in (1, 2)], "language model, figure 11", only=range(len(NAMES)))))


def write(b):
    tables, b.takes = {}, TAKES

    def draws():
        return [] if b.quick or b.part else [drawn(i) for i in range(DRAWS)]

    def state(draw=None):
        key = draw and (*draw.sets, *draw.cut, draw.order)
        if key not in tables:
            tables[key] = load(b, draw)
        if draw is None:
            b.call(["report", b.path("pairs.results"), "--no-best", "--metric", METRICS, "--format", "json"])
        return tables[key]

    def pairs(policy, vcs, metric, draw=None, gpus=None, pims=None):
        table = state(draw)
        gpus = gpus or (MOVED_GPUS if draw else DRAWN_GPUS if b.part else range(1, 21))
        pims = pims or (("copy",) if draw else DRAWN_PIMS if b.part else KERNELS)
        if metric not in b.read:
            b.read.append(metric)
        rows = [table[k] for k in ((policy, vcs, g, p) for g in gpus for p in pims) if k in table or not b.part]
        if len(rows) < len(gpus) * len(pims):  # not among the share of a row alone
            raise NotRun
        if metric == "system_throughput":
            return [(r["mem_speedup_ratio"] or 0.05) + (r["pim_speedup_ratio"] or 0.05) for r in rows]
        floor = 0.05 if metric in ("fairness_index", "mem_speedup_ratio", "pim_speedup_ratio") else 0
        # A kernel that asks DRAM for nothing when alone has no rate of arrivals to fall.
        return [r[metric] or floor for r in rows if metric != "mem_arrival_ratio" or r[metric] is not None]

    def fi(p, v, draw=None):
        return geomean(pairs(p, v, "fairness_index", draw))

    def st(p, v, draw=None):
        return mean(pairs(p, v, "system_throughput", draw))

    def drop(p, v, draw=None):
        return 100 * (1 - geomean(pairs(p, v, "mem_arrival_ratio", draw)))

    def switches(p, v):
        """As figure 10a: relative to FCFS in VC1, pair by pair, geometric mean."""
        return geomean(max(1, x) / f for x, f in zip(pairs(p, v, "mode_switches"), pairs("fcfs", 1, "mode_switches")))

    def silent():
        """Kernels that ask DRAM for nothing when alone."""
        return [g for g in range(1, 21) if all(r["mem_arrival_ratio"] is None for k, r in state().items() if k[:3] == ("fcfs", 1, g))]

    def change(a, c):
        return 100 * (a / c - 1)

    def over_draws(f, neutral, paper, unit):
        """What the draws of what is assumed make of a number: its range, and how often it lies on the paper's side."""
        values = [f(d) for d in draws()]
        if not values:
            return f"not run in this mode: the range over draws of what is assumed (the page takes {TAKES})"
        text = f"over {len(values)} draws of what is assumed (6 of the pairs): {min(values):.2f} to {max(values):.2f}{unit}"
        if neutral is not None and paper is not None:
            same = sum((v - neutral) * (paper - neutral) > 0 for v in values)
            text += f"; on the paper's side of {neutral} in {same}"
        return text

    def windowed(place, claim, paper, f, cause="", **kw):
        """A row that says its range over draws, and a cause: f(draw) gives its number."""
        text = cause if callable(cause) else lambda: cause
        b.row(place, claim, paper, lambda: f(None), lambda: (text() and text() + "; ") + over_draws(f, kw.get("neutral"), paper, kw.get("unit", "")), **kw)

    def llm(policies, vcs, draw=None, key="concurrent_speedup_ratio"):
        if draw is None:
            runs = b.replay(f"dram synth:llm --policy {','.join(LLM)} --set vcs={vcs}", full=True)
            return [runs[LLM.index(p)][key] for p in policies]
        return [r["metrics"][key] for r in b.call(["replay", "dram", draw.llm, "--policy", ",".join(policies), "--set", f"vcs={vcs}", *draw.sets, "--format", "json"], full=True, shown=OVER)["runs"]]

    def alone(spec, key):
        side = "mem" if spec.startswith("gpu") else "pim"
        return b.replay(f"dram --{side} synth:{spec} --policy f3fs --set vcs=1", full=True)[0][key]

    def rate(key, sms):
        return mean(alone(f"pim-{p}", key) for p in KERNELS) / mean(alone(f"gpu-g{i}" + (f",sms={sms}" if sms < 80 else ""), key) for i in range(1, 21))

    def slowdown(other):
        """Average loss of the 20 GPU kernels beside another, percent."""
        return 100 * (1 - mean(b.replay(f"dram --mem synth:gpu-g{g} {other} --policy frfcfs --set vcs=1", full=True)[0]["mem_speedup_ratio"] for g in range(1, 21)))

    def drawings():
        if b.select:
            return ""
        try:
            return state() and pictures(b)
        except NotRun:
            return "(Figures: not run in quick mode.)"

    b.section("MEM and PIM in one controller: gupta-2025-f3fs", f"""
180 pairs (20 GPU kernels x 9 PIM kernels), nine policies, F3FS's caps counted in cycles as the published simulator does (cyc)
and in requests as the paper's text says (req), one and two virtual channels (VC1, VC2). The GPU kernels are the programs
rodinia-*, as the artifact runs them, through multiprocessors, L1, interconnect and L2 of platform gv100
([dram-engine.md](dram-engine.md)); how many requests are in flight follows from that, and no number was set by a row. Each
kernel is cut to about 300,000 requests. A side that made no end counts as a speed-up of 0.05, its pair as fairness 0.05. FI
geometric, ST arithmetic means. Counted is F3FS as the published simulator counts (cyc), which gave the paper its numbers; rows of
the other count (req) are other readings. The language model's products are the artifact's own (cuda/gemm.cu of Sacusa/rodinia_3.1_pim), cut
to an eighth, outputs as inputs and weights. Rows of X are 16 KiB apart, so that all blocks wait for one slice of L2; whether they keep
in step is chance, and policies within a fifth of each other are not told apart: cut otherwise, or whole, they compare otherwise.

A row that is off says what it is over draws of what is assumed or can be read otherwise; the numbers, and what each does alone, stand under "claims over what is assumed".

{drawings()}""")
    b.row("III-A", "combinations of GPU and PIM kernels", 180, lambda: len(pairs("f3fs", 1, "system_throughput", gpus=range(1, 21), pims=KERNELS)), given="20 kernels and 9")
    for key, name, fig, v80, v8 in (("noc_packets_per_kcycle", "interconnect", "Fig. 4a", 0.822, 3.95), ("dram_arrival_per_kcycle", "DRAM", "Fig. 4b", 2.07, 8.33)):
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 8 SMs", v8, lambda key=key: rate(key, 8), "ours of the GPU kernels are higher, since what a cut leaves out has passed through L2; while it had not, L2 served more and the ratios were 2.81 and 8.10, near the paper's for the wrong reason", neutral=1)
        b.row(f"IV, {fig}", f"{name} arrival rate, PIM over GPU on 80 SMs", v80, lambda key=key: rate(key, 80), "caches and traffic are those of a GV100's counters, rates at most 1.3 times its (dram-engine.md); the published simulator's are lower, or its means are others", neutral=1)
    b.row("IV, Fig. 4c", "bank parallelism of PIM alone", 16, lambda: min(alone(f"pim-{p}", "bank_parallelism") for p in KERNELS), "!by construction: PIM commands go to all banks", definition=True)
    b.row("IV, Fig. 4d", "row hits of G6 alone, on 80 SMs", 32, lambda: 100 * alone("gpu-g6", "mem_row_hit_ratio"), "of the cut: 36 % when run whole (cut=none, frfcfs), 39 % with 1,000,000 requests", unit=" %")
    for metric, want, fig in (("noc_packets_per_kcycle", 4, "4a"), ("dram_arrival_per_kcycle", 15, "4b"), ("bank_parallelism", 6, "4c"), ("mem_row_hit_ratio", 17, "4d")):
        b.row(f"IV, Fig. {fig}", f"on 8 SMs the GPU kernel of the highest {metric} is", f"G{want}", lambda metric=metric, want=want: (lambda v: (max(v, key=v.get) == want, f"G{max(v, key=v.get)}"))({g: alone(f"gpu-g{g},sms=8", metric) or 0 for g in range(1, 21)}),
              "nn, mummergpu and kmeans send more; cfd is among the first seven" if want == 4 else "streaming kernels of few multiprocessors find their rows open, all alike")
    spreads = lambda v: max(v) / min(v)  # noqa: E731
    b.row("IV, Fig. 4", "PIM kernels vary very little (here: largest over least of the nine at most 1.5 in arrivals at interconnect and DRAM)", 1.5, lambda: max(spreads([alone(f"pim-{p}", k) for p in KERNELS]) for k in ("noc_packets_per_kcycle", "dram_arrival_per_kcycle")), NEW, relation="<=")
    b.row("IV, Fig. 4d", "PIM kernels have high row locality: least of the nine above the median of the GPU kernels on 80 SMs, percent", "yes",
          lambda: (lambda p, g: (p > g, f"{p:.1f} against {g:.1f} %"))(100 * min(alone(f"pim-{p}", "pim_row_hit_ratio") for p in KERNELS), 100 * sorted(alone(f"gpu-g{i}", "mem_row_hit_ratio") or 0 for i in range(1, 21))[10]), NEW)
    b.none("IV, Fig. 5", "GPU kernels on 72 SMs without contention", "a bar without a number", "a baseline of the figure")
    b.row("IV, Fig. 5", "slowdown of GPU kernels beside P1, average", 60, lambda: slowdown("--pim synth:pim-add"), "kernels that compute or hit in L2 (G7, G10, G18) lose little", neutral=0, unit=" %")
    b.row("IV, Fig. 5", "slowdown of GPU kernels on 72 SMs beside the worst of G4, G6, G15, G17 on 8 SMs", 30, lambda: max(slowdown(f"--mem synth:gpu-g{o},sms=8") for o in (4, 6, 15, 17)), "the paper took the four for what they do on 8 SMs, which it does not print", neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, FR-FCFS, VC1", 41, lambda h: drop("frfcfs", 1, h), QUEUE + FALLS["frfcfs", 1], neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC1", 68, lambda h: drop("mem-first", 1, h), QUEUE + FALLS["mem-first", 1], neutral=0, unit=" %")
    windowed("V, Fig. 6", "fall of MEM arrivals, MEM-First, VC2", 9, lambda h: drop("mem-first", 2, h), QUEUE + FALLS["mem-first", 2], neutral=0, unit=" %")
    windowed("V, Fig. 6", "MEM-First, growth of the rate, VC1 to VC2", 2.87, lambda h: (100 - drop("mem-first", 2, h)) / (100 - drop("mem-first", 1, h)), QUEUE + GROWTH, neutral=1)
    b.row("V, Fig. 6", "worst fall of MEM arrivals, any policy, VC1 (up to)", 95, lambda: max(100 * (1 - min(pairs(p, 1, "mem_arrival_ratio"))) for p in NAMES), neutral=0, unit=" %")

    b.row("V, Fig. 6a", "some GPU kernels' arrivals grow beside PIM, averaged over the PIM kernels (any policy, VC1): most, over alone", 1, lambda: max(mean(r) for p in NAMES for g in range(1, 21) if g not in silent() for r in [pairs(p, 1, "mem_arrival_ratio", gpus=(g,))]), GROW, relation=">")
    b.row("V, Fig. 6a", "FR-FCFS sustains a higher arrival rate than the others, VC1", "yes", lambda: (lambda v: (min(v, key=v.get) == "frfcfs", ", ".join(f"{k} {x:.0f} %" for k, x in sorted(v.items(), key=lambda i: i[1])[:4])))({p: drop(p, 1) for p in NAMES[:8]}), SUSTAINS)
    b.row("V, Fig. 6b", "most policies' arrivals rise with VC2 (here: more than half of the eight)", "yes", lambda: (lambda v: (sum(v) > 4, f"{sum(v)} of 8"))([drop(p, 2) < drop(p, 1) for p in NAMES[:8]]), NEW)
    b.row("V, Fig. 6b", "MEM-First's arrivals rise the most with VC2", "yes", lambda: (lambda v: (max(v, key=v.get) == "mem-first", ", ".join(f"{k} {x:.2f}" for k, x in sorted(v.items(), key=lambda i: -i[1])[:3])))({p: (100 - drop(p, 2)) / (100 - drop(p, 1)) for p in NAMES[:8]}), NEW)

    def mem_share(p, v, draw=None, pims=None):
        m, q = (mean(pairs(p, v, k, draw, pims=pims)) for k in ("mem_speedup_ratio", "pim_speedup_ratio"))
        return 100 * m / (m + q)

    for v, paper in ((1, 41), (2, 45)):
        windowed("VI-A, Fig. 8b", f"MEM share of ST, FR-FCFS, VC{v}", paper, lambda h, v=v: mem_share("frfcfs", v, h), neutral=50, unit=" %")
    windowed("VI-A, Fig. 8b", "least MEM share of a PIM kernel, FR-FCFS, VC1 (P5, P6)", 35, lambda h: min(mem_share("frfcfs", 1, h, (p,)) for p in (KERNELS if h is None else ("copy",))), neutral=50, unit=" %")
    for v, paper in ((1, -3.7), (2, -2.8)):
        windowed("VI-A", f"ST, FR-FCFS-Cap(32) against FR-FCFS, VC{v}", paper, lambda h, v=v: change(st("frfcfs-cap", v, h), st("frfcfs", v, h)), neutral=0, unit=" %")
    starved = lambda p, v: sum(1 for x in pairs(p, v, "starved") if x)  # noqa: E731
    b.row("VI-A", "FR-FCFS-Cap is fairer than FR-FCFS: FI, VC1 and VC2", "yes", lambda: (lambda v: (min(v) > 0, ", ".join(f"{x:+.1f} %" for x in v)))([change(fi("frfcfs-cap", v), fi("frfcfs", v)) for v in (1, 2)]), CAP_FAIR)
    b.row("VI-A, Fig. 10a", "FR-FCFS-Cap switches more than FR-FCFS, VC1 and VC2: least ratio", 1, lambda: min(switches("frfcfs-cap", v) / switches("frfcfs", v) for v in (1, 2)), NEW, relation=">")
    b.row("VI-A", "switching helps FCFS's fairness especially in VC2: FI, VC2 over VC1", 1, lambda: fi("fcfs", 2) / fi("fcfs", 1), NEW, relation=">")
    b.row("VI-A, Fig. 8a", "under MEM-First and PIM-First fairness of 0 is common: pairs that starve, each and VC, at least (here: 1 of 10)", 18, lambda: min(starved(p, v) for p in ("mem-first", "pim-first") for v in (1, 2)), STARVES, relation=">=")
    b.row("VI-A, Fig. 10a", "MEM-First and PIM-First switch more in VC1 than in VC2", "yes", lambda: (lambda v: (all(x > y for x, y in v), ", ".join(f"{x:.2f}, {y:.2f}" for x, y in v)))([(switches(p, 1), switches(p, 2)) for p in ("mem-first", "pim-first")]), NEW)
    b.row("VI-A", "G&I favours PIM: PIM share of ST, VC1 and VC2, least", 50, lambda: min(100 - mem_share("gather-issue", v) for v in (1, 2)), NEW, relation=">", unit=" %")
    both = "both classes keep their queues full, so soon after a clearing both are blacklisted, and then the rules are FR-FCFS's"
    b.row("VI-A", "BLISS performs best with a low threshold: FI of thresholds 2, 4, 8, 16 falls, VC2, eight kernels beside P1", "yes", lambda: (lambda v: (v == sorted(v, reverse=True), " / ".join(f"{x:.3f}" for x in v)))(
        [geomean(b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-add --policy {BLISSES} --set vcs=2", full=True)[i]["fairness_index"] or 0.05 for g in DRAWN_GPUS) for i in range(4)]), both)
    b.row("VI-A, Fig. 8a", "FR-FCFS-Cap starves (P3, P6) in VC1, not in VC2", "yes", lambda: (starved("frfcfs-cap", 1) > 0 and starved("frfcfs-cap", 2) == 0, f"{starved('frfcfs-cap', 1)} and {starved('frfcfs-cap', 2)} pairs"), STARVES)
    for name, paper, f in (("MEM-First", 20, lambda: 100 * mean(pairs("bliss", 2, "mem_favoured_ratio"))), ("PIM-First", 20, lambda: 100 * mean(pairs("bliss", 2, "pim_favoured_ratio"))),
                           ("FR-FCFS", 60, lambda: 100 * (1 - mean(pairs("bliss", 2, "mem_favoured_ratio")) - mean(pairs("bliss", 2, "pim_favoured_ratio"))))):
        b.row("VI-A", f"time of BLISS as {name}, VC2 (around)", paper, f, both, unit=" %")
    b.row("VI-A", "BLISS below FR-FCFS in FI and ST, VC1 and VC2", "yes", lambda: (lambda v: (max(v) <= 0, "FI, ST by " + ", ".join(f"{x:+.1f} %" for x in v)))([change(f("bliss", v), f("frfcfs", v)) for v in (1, 2) for f in (fi, st)]), BELOW)
    for v, paper in ((1, 0.55), (2, 0.77)):
        windowed("VI-A, Fig. 8a", f"mean FI of FR-RR-FCFS, VC{v}", paper, lambda h, v=v: fi("frrr-fcfs", v, h))
    b.row("VI-A", "row hits of Scale (P4), alone", 99.6, lambda: 100 * alone("pim-scale", "pim_row_hit_ratio"), unit=" %")
    windowed("VI-A", "PIM share of ST, P4, FR-RR-FCFS, VC2", 60, lambda h: 100 - mem_share("frrr-fcfs", 2, h, ("scale",) if h is None else None), neutral=50, unit=" %")
    for name, f in (("cyc", "f3fs"), ("req", "f3fs:count=requests")):
        req = {"apart": name == "req"}
        windowed("VII-B", f"F3FS ({name}) ST against FR-FCFS, VC1", 1.8, lambda h, f=f: change(st(f, 1, h), st("frfcfs", 1, h)), neutral=0, unit=" %", **req)
        windowed("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC1", 5.1, lambda h, f=f: change(st(f, 1, h), st("frrr-fcfs", 1, h)), neutral=0, unit=" %", **req)
        b.row("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC1: comparable (here: within 15 %)", "comparable", lambda f=f: (lambda x: (abs(x) <= 15, f"{x:+.1f} %"))(change(fi(f, 1), fi("frrr-fcfs", 1))), lambda f=f: over_draws(lambda d: change(fi(f, 1, d), fi("frrr-fcfs", 1, d)), None, None, " %"), **req)
        windowed("VII-B", f"F3FS ({name}) FI against FR-RR-FCFS, VC2", 4.7, lambda h, f=f: change(fi(f, 2, h), fi("frrr-fcfs", 2, h)), neutral=0, unit=" %", **req)
        windowed("VII-B", f"F3FS ({name}) ST against FR-RR-FCFS, VC2", 2.6, lambda h, f=f: change(st(f, 2, h), st("frrr-fcfs", 2, h)), neutral=0, unit=" %", **req)
        for v, a, c in ((1, 76.76, 28.98), (2, 146.22, 29.84)):
            for key, paper, short in (("fairness_index", a, "FI"), ("system_throughput", c, "ST")):
                windowed("VII-B", f"worst pair, F3FS ({name}) {short} against FR-RR-FCFS, VC{v}", paper, lambda h, f=f, v=v, key=key: change(min(pairs(f, v, key, h)), min(pairs("frrr-fcfs", v, key, h))), WORST if (name, v, short) == ("cyc", 1, "FI") else "", neutral=0, unit=" %", **req)
        windowed("VII-B, IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, FI", 48, lambda h, f=f: change(fi(f, 2, h), fi("frrr-fcfs", 1, h)), neutral=0, unit=" %", **req)
        windowed("VII-B, IX", f"F3FS ({name}) VC2 against FR-RR-FCFS VC1, ST", 13, lambda h, f=f: change(st(f, 2, h), st("frrr-fcfs", 1, h)), neutral=0, unit=" %", **req)
    b.none("VII-B, IX", "F3FS VC2 against FR-RR-FCFS VC1, best FI / ST", "+72 / +22 %", "the paper does not say over what the best is taken")
    b.row("implied", "FI of F3FS, VC2: 0.77 x 1.047", 0.81, lambda: fi("f3fs", 2), lambda: over_draws(lambda d: fi("f3fs", 2, d), None, 0.81, ""), apart=True)
    b.row("VI-A, Fig. 8a", "G&I starves in VC2 (P5)", "yes", lambda: (starved("gather-issue", 2) > 0, f"{starved('gather-issue', 2)} pairs"), STARVES)
    for unit_name, suffix in (("cyc", ""), ("req", REQ)):
        for v, pol, paper in ((1, ASYMMETRIC, 11.23), (2, SYMMETRIC, 7.37)):
            b.row("VII-B, Fig. 11", f"LLM, F3FS ({unit_name}, {pol[5:]}) against FR-RR-FCFS, VC{v}", paper, lambda pol=pol + suffix, v=v: (lambda r: change(r[1], r[0]))(llm(["frrr-fcfs", pol], v)), TOLD if suffix else CAPS[v], neutral=0, unit=" %", apart=bool(suffix))
        b.row("IX", f"LLM, F3FS ({unit_name}, 64/64) VC2 against FR-RR-FCFS VC1", 13.14, lambda pol=SYMMETRIC + suffix: change(llm([pol], 2)[0], llm(["frrr-fcfs"], 1)[0]), TOLD, neutral=0, unit=" %", apart=bool(suffix))
    base = NAMES[:8]
    for v, paper in ((1, "gather-issue"), (2, "frfcfs")):
        b.row("VI-B, Fig. 11", f"LLM, best baseline, VC{v}", paper, lambda v=v, paper=paper: (lambda r: (base[r.index(max(r))] == paper, f"{base[r.index(max(r))]} {max(r):.2f}, {paper} {r[base.index(paper)]:.2f}"))(llm(base, v)),
              BEST[v])
    b.row("VI-B, Fig. 11", "LLM, VC1: no policy gives a speed-up (here: at most 1.05)", "yes", lambda: (lambda v: (max(v) <= 1.05, f"at most {max(v):.2f}"))(llm(NAMES, 1)),
          NONE)
    for unit_name, suffix in (("cyc", ""), ("req", REQ)):
        b.row("VII-B", f"LLM, MEM to PIM switches due to the cap ({unit_name}), VC2, 64", 8, lambda pol=SYMMETRIC + suffix: 100 * llm([pol], 2, None, "switches_by_cap_ratio")[0], FEW, unit=" %", apart=bool(suffix))
    for key, paper, name in (("mode_switches", 2, "switches"), ("drain_cycles_per_switch", 6, "drain latency")):
        b.row("VI-B", f"LLM, PIM-First over G&I, {name}, VC1", paper, lambda key=key: (lambda r: r[0] / r[1])(llm(["pim-first", "gather-issue"], 1, None, key)), TOLD, neutral=1)
    b.row("VI-B", "LLM, G&I, VC2: close to sequential", 1, lambda: llm(["gather-issue"], 2)[0], TOLD)
    b.row("VI-B", "LLM, MEM-First, VC2: a speed-up", 1, lambda: llm(["mem-first"], 2)[0], TOLD, relation=">")
    b.row("VII-B, Fig. 11", "LLM, F3FS (cyc, 256/128) matches the best baseline (G&I), VC1: over the best", 1, lambda: llm([ASYMMETRIC], 1)[0] / max(llm(base, 1)), "see the rows of Fig. 11: which is best differs from the paper")
    b.row("VII-B, Fig. 11", "LLM, F3FS (cyc, 64/64) matches the best baseline (FR-FCFS), VC2: over the best", 1, lambda: llm([SYMMETRIC], 2)[0] / max(llm(base, 2)), "see the rows of Fig. 11: which is best differs from the paper")
    b.row("VI-B", "LLM: QKV generation, on the GPU, is the longer of the two: cycles alone over the PIM side's", 1, lambda: llm(["frfcfs"], 1, None, "mem_alone_cycles")[0] / llm(["frfcfs"], 1, None, "pim_alone_cycles")[0], "follows the sizes of its kernels", relation=">")

    def ablated(policy, key):
        return [b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-copy --policy frfcfs-cap,frfcfs-modecap --set vcs=2", full=True)[policy][key] or 0.05 for g in range(1, 21) if g != 11]

    def ablation(policy):
        return geomean(ablated(policy, "fairness_index"))

    cap_why = "caps as the paper lists them (32, 64); kernels cut to 300,000 requests"
    b.row("VII-C, Fig. 14a", "ablation, P2 without kmeans, FI of FR-FCFS-Cap, VC2", 0.73, lambda: ablation(0), cap_why)
    b.row("VII-C, Fig. 14a", "the same with the cap on modes", 0.80, lambda: ablation(1), cap_why)
    b.row("VII-C, Fig. 14a", "growth of FI by the cap on modes", 0.80 / 0.73, lambda: ablation(1) / ablation(0), neutral=1)
    b.row("VII-C, Fig. 14a", "ablation, LLM, cap on modes against FR-FCFS-Cap, VC2", -4, lambda: (lambda r: change(r[1], r[0]))(llm(["frfcfs-cap", "frfcfs-modecap"], 2)), TOLD, neutral=0, unit=" %")
    for unit_name, suffix in (("cyc", ""), ("req", REQ)):
        plain = "f3fs:count=requests" if suffix else "f3fs"
        b.row("VII-C, Fig. 14a", f"ablation, LLM speed-up with the current mode first ({unit_name}, 256), VC2", 1.04, lambda plain=plain: llm([plain], 2)[0], TOLD, neutral=1, apart=bool(suffix))
    for unit_name, suffix in (("cyc", ""), ("req", REQ)):
        pol = ["f3fs:count=requests" if suffix else "f3fs", ASYMMETRIC + suffix]
        b.row("VII-C, Fig. 14a", f"ablation, LLM, asymmetric caps 256/128 against 256/256 ({unit_name}), VC2", 10, lambda pol=pol: (lambda r: change(r[1], r[0]))(llm(pol, 2)), TOLD, neutral=0, unit=" %", apart=bool(suffix))
    copies = dict(gpus=[g for g in range(1, 21) if g != 11], pims=("copy",))
    b.row("VII-C, Fig. 14a", "ablation, LLM: asymmetric caps (cyc) beat FR-FCFS-Cap, VC2: speed-up over its", 1, lambda: (lambda r: r[1] / r[0])(llm(["frfcfs-cap", ASYMMETRIC], 2)), TOLD, relation=">")
    b.row("VII-C, Fig. 14a", "ablation, P2 without kmeans: current mode first (cyc, 256) raises ST over the cap on modes", 1, lambda: mean(pairs("f3fs", 2, "system_throughput", **copies)) / mean(ablated(1, "system_throughput")), NEW, relation=">")
    b.row("VII-C, Fig. 14a", "the same keeps nearly the same FI (here: within 10 %): FI over that of the cap on modes", None, lambda: geomean(pairs("f3fs", 2, "fairness_index", **copies)) / ablation(1), NEW, low=0.9, high=1.1)
    b.row("VII-C, Fig. 14a", "ablation, P2 without kmeans: asymmetric caps (cyc, 256/128) lower the fairness: FI over that of 256/256", 1, lambda: geomean(
        b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-copy --policy f3fs:mem_cap=256,pim_cap=128 --set vcs=2", full=True)[0]["fairness_index"] or 0.05 for g in copies["gpus"]) / geomean(pairs("f3fs", 2, "fairness_index", **copies)), NEW, relation="<")
    b.row("VII-C", "kmeans (G11) starves under FR-FCFS-Cap with P2, VC2", "yes", lambda: (lambda starved, fair: (starved > 0, f"FI {fair:.2f}"))(*(pairs("frfcfs-cap", 2, key, gpus=(11,), pims=("copy",))[0] for key in ("starved", "fairness_index"))), KMEANS)

    def queue(size, vcs=2, key="system_throughput"):
        return mean(b.replay(f"dram --mem synth:gpu-g{g} --pim synth:pim-add --policy f3fs --set vcs={vcs} --set noc_queue={size}", full=True)[0][key] for g in (2, 8, 15, 20))

    b.row("VII-C, Fig. 14b", "interconnect queue of 256, 512, 1024, VC2, F3FS: ST", "no visible change", lambda: (lambda s: (max(s) / min(s) < 1.01, " / ".join(f"{x:.4f}" for x in s)))([queue(n) for n in (256, 512, 1024)]), "of the cut, by nn (G15) alone: 1.1321 / 1.1321 / 1.1350 with cut=1000000")
    b.row("VII-C, Fig. 14b", "interconnect queue of 256, 512, 1024, VC1, F3FS: fairness (the paper shows VC2 only)", "no visible change",
          lambda: (lambda s: (max(s) / min(s) < 1.01, " / ".join(f"{x:.3f}" for x in s)))([queue(n, 1, "fairness_index") for n in (256, 512, 1024)]), "in VC1 what stands before the memory controller is what MEM requests wait behind", apart=True)

    def split(g, vcs=2, policy="f3fs"):
        return tuple(mean(pairs(policy, vcs, k, gpus=(g,))) for k in ("mem_speedup_ratio", "pim_speedup_ratio"))

    def spread(g, key="system_throughput"):
        v = [mean(pairs(p, c, key, gpus=(g,))) for p in ("frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs", "f3fs") for c in (1, 2)]
        return max(v) / min(v)

    b.row("VII-B, Fig. 13", "ST of G10 varies least over fair policies and VCs, of G6, G10, G11, G17, G19", "yes", lambda: (lambda v: (min(v, key=v.get) == 10, ", ".join(f"G{g} {x:.2f}" for g, x in v.items())))({g: spread(g) for g in (6, 10, 11, 17, 19)}))
    b.row("VII-B, Fig. 13a", "FI of G10 varies least over fair policies and VCs, of G6, G10, G11, G17, G19", "yes", lambda: (lambda v: (min(v, key=v.get) == 10, ", ".join(f"G{g} {x:.2f}" for g, x in v.items())))({g: spread(g, "fairness_index") for g in (6, 10, 11, 17, 19)}), NEW)
    b.row("VII-B, Figs. 10b, 10c", "F3FS pays comparable costs a switch to FR-RR-FCFS, VC1 (here: conflicts and drain within 25 %)", "comparable",
          lambda: (lambda v: (all(abs(x) <= 25 for x in v), ", ".join(f"{x:+.0f} %" for x in v)))([change(mean(pairs("f3fs", 1, k)), mean(pairs("frrr-fcfs", 1, k))) for k in ("conflicts_per_switch", "drain_cycles_per_switch")]), NEW)
    b.row("VII-B", "G6 drains longer under F3FS than under the other fair policies, VC2", "yes", lambda: (lambda v: (max(v, key=v.get) == "f3fs", ", ".join(f"{k} {x:.1f}" for k, x in v.items())))({p: mean(pairs(p, 2, "drain_cycles_per_switch", gpus=(6,))) for p in ("frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs", "f3fs")}), NEW)
    b.row("VII-B, Fig. 13a", "F3FS works well with G19: FI at least that of FR-RR-FCFS, VC2, over it", 1, lambda: geomean(pairs("f3fs", 2, "fairness_index", gpus=(19,))) / geomean(pairs("frrr-fcfs", 2, "fairness_index", gpus=(19,))), NEW, relation=">=")
    for g, who in ((6, "MEM"), (11, "MEM"), (17, "PIM")):
        b.row("VII-B, Fig. 13", f"F3FS favours the {'GPU' if who == 'MEM' else 'PIM'} side with G{g}, VC2", "yes", lambda g=g, who=who: (lambda m, p: ((m > p) == (who == "MEM"), f"MEM {m:.2f}, PIM {p:.2f}"))(*split(g)), lambda g=g: "counted in requests MEM {:.2f}, PIM {:.2f}".format(*split(g, 2, "f3fs:count=requests")))
    b.none("VII-A, Fig. 12", "area: F3FS 275 LUT and 143 FF, FR-FCFS 377 and 88", "275/143; 377/88", "hardware area is not modelled")
    b.none("V", "area of the second virtual channel", "about 5 %", "hardware area is not modelled")

    order = lambda v: sorted(NAMES, key=lambda p: -switches(p, v))  # noqa: E731
    b.row("VI-A, Fig. 10a", "FCFS, MEM-First and PIM-First switch most, VC1", "yes", lambda: (set(order(1)[:3]) == {"fcfs", "mem-first", "pim-first"}, " > ".join(order(1))))
    b.row("VI-A, Fig. 10a", "F3FS switches least among the fair ones (FR-FCFS, Cap, BLISS, FR-RR-FCFS), VC1", "yes", lambda: (lambda s: (s[0] == min(s), "FR-FCFS, Cap, BLISS, FR-RR over F3FS: " + ", ".join(f"{x / s[0]:.1f}" for x in s[1:])))(
              [switches(p, 1) for p in ("f3fs", "frfcfs", "frfcfs-cap", "bliss", "frrr-fcfs")]))
    b.row("VI-A", "FR-RR-FCFS is fairer with VC2 than with VC1", "yes", lambda: (lambda x, y: (y > x, f"{x:.2f}, {y:.2f}"))(fi("frrr-fcfs", 1), fi("frrr-fcfs", 2)),
          lambda: f"it holds in {sum(fi('frrr-fcfs', 2, d) > fi('frrr-fcfs', 1, d) for d in draws())} of {len(draws())} draws of what is assumed")
    for v in (1, 2):
        b.row("VI-A", f"FR-RR-FCFS is the fairest baseline, VC{v}", "yes", lambda v=v: (lambda x: (max(x, key=x.get) == "frrr-fcfs", ", ".join(f"{k} {y:.2f}" for k, y in sorted(x.items(), key=lambda i: -i[1])[:3])))({p: fi(p, v) for p in NAMES[:8]}),
            lambda v=v: FAIREST[v] + f"; it holds in {sum(max(FAIRER.split(',')[:5], key=lambda p: fi(p, v, d)) == 'frrr-fcfs' for d in draws())} of {len(draws())} draws of what is assumed")
    for v in (1, 2):
        b.row("VII-B", f"F3FS is at least as fair as the fairest baseline, VC{v}", "yes", lambda v=v: (lambda x: (x["f3fs"] >= max(x.values()), f"F3FS {x['f3fs']:.2f}, of the baselines {max((y, k) for k, y in x.items() if k != 'f3fs')[1]} {max(y for k, y in x.items() if k != 'f3fs'):.2f}"))(
            {p: fi(p, v) for p in NAMES[:9]}), "see the row before: which baseline is fairest differs from the paper")

    def claims(m):
        """What the claims of the paper that do not hold come to: cells, in bold where the paper has them."""
        fair = [{p: fi(p, v, m) for p in FAIRER.split(",")[:5]} for v in (1, 2)]
        ratios = [x["frrr-fcfs"] / max(y for p, y in x.items() if p != "frrr-fcfs") for x in fair]
        below = [change(f("bliss", v, m), f("frfcfs", v, m)) for v in (1, 2) for f in (fi, st)]
        kmeans = b.call(["replay", "dram", "--mem", m.gpu(11), "--pim", "synth:pim-copy", "--policy", "frfcfs-cap", "--set", "vcs=2", *m.sets, *m.cut, "--format", "json"], full=True, shown=OVER)["runs"][0]["metrics"]
        one, two = llm(["frfcfs", "gather-issue", "frrr-fcfs", ASYMMETRIC], 1, m), llm(["frrr-fcfs", SYMMETRIC], 2, m)
        f3fs, most, issue = (change(one[3], one[2]), change(two[1], two[0])), max(one[:3]), one[1]
        cells = [(f"{x:.2f}", x > 1) for x in ratios] + [(", ".join(f"{x:+.0f}" for x in below), max(below) <= 0), (f"{kmeans['fairness_index']:.2f}", bool(kmeans["starved"]))] + [(f"{x:+.1f}", x > 0) for x in f3fs]
        return [f"**{x}**" if holds else x for x, holds in cells + [(f"{most:.2f}, {issue:.2f}", most <= 1.12 and most - issue <= 0.03)]]

    def over_all():
        b.subsection("Claims over what is assumed", OVER_TEXT)
        first = len(b.parts)
        b.table("moved", "FR-RR-FCFS, VC1", "VC2", "BLISS", "kmeans", "LLM, VC1, %", "VC2, %", "most, G&I")
        for name, m in (("nothing", Moved()), *((f"{key}={value}", Moved(**{key: value})) for key, *ends in (*((k, *v) for k, _, *v in ASSUMED), *BETWEEN) for value in ends), *((f"all, draw {i + 1}", drawn(i)) for i in range(DRAWS))):
            b.line(name, *claims(m))
        if b.select:
            print("".join(b.parts[first:]))
        b.source()

    if b.select(0, "VI, VII", "claims over what is assumed") if b.select else not b.quick:
        over_all()
    if b.select:
        return
    b.subsection("All policies", "Source of figures 6, 8 and 10; fall = of MEM arrivals against alone; switches relative to FCFS in VC1, geometric.")
    b.table("policy", "VC", "FI", "ST", "MEM", "PIM", "fall %", "switches", "conflicts per switch", "drain cycles", "starved pairs")
    try:
        state()
    except NotRun:
        return
    for p in NAMES:
        for v in (1, 2):
            b.line(p, v, f"{fi(p, v):.2f}", f"{st(p, v):.3f}", f"{mean(pairs(p, v, 'mem_speedup_ratio')):.2f}", f"{mean(pairs(p, v, 'pim_speedup_ratio')):.2f}", f"{drop(p, v):.0f}", f"{switches(p, v):.3f}",
                   f"{mean(pairs(p, v, 'conflicts_per_switch')):.2f}", f"{mean(pairs(p, v, 'drain_cycles_per_switch')):.1f}", starved(p, v))
    b.source()
