"""bateni-2020: device, managed or pinned memory; wilt-2017: managed memory before demand paging."""
import random
import re
from math import exp, log

import yolov2

WILT = ((0, 47, 39), (4, 105, 47.15), (8, 104, 49.86), (16, 115, 57.84), (32, 134, 59.04), (64, 213, 64.73), (128, 381, 79.08), (256, 649, 98.41),
        (512, 1247, 137.15), (1024, 2221, 205.56), (2048, 4712, 391.91), (4096, 8458, 745.81), (8192, 17041, 1543.91), (16384, 33992, 3114.83))
TABLE4 = (("bfs", "M", "M", 24), ("pathfinder", "M", "D", 512), ("nw", "M", "D", 320), ("nn", "M", "M", 1), ("vect-add", "M", "M", 1), ("gaussian", "D", "D", 1024), ("hotspot", "M", "M", 1))
INPUTS = "the paper prints neither platform constants nor input sizes; ours are from data sheets and the programs' own loops"
DEVICE, MANAGED, PINNED, AUTO = range(4)
NAMES = {"D": "device", "M": "managed", "H": "pinned"}
GFLOPS = {"tx2": 665.6, "agx": 1410.0, "px2": 665.6}  # 2 x cores x clock: 256 at 1.3 GHz, 512 at 1.377
CLUSTER = 599 - 2 * 180  # kernels of Autoware that are not its two YOLOs'
DRAWS = 60
LONG = "the kernels' times are long against the copies, so little can be saved; the paper's copies must be the larger part"
NOTE = re.compile(r"task \S+, from its program: (?P<kernels>\d+) kernels, (?P<dirty_kernels>\d+) of them after the CPU wrote, which touch (?P<dirty_bytes>\d+) bytes of "
                  r"pages; (?P<copies>\d+) copies; a kernel touches (?P<kernel_bytes>\d+) bytes of pages and modifies (?P<written_bytes>\d+) of sectors; (?P<l2_instructions>\d+) "
                  r"L2 instructions, hit rate (?P<l2_hit_ratio>[\d.]+).*; ILP (?P<ilp>[\d.]+), TLP (?P<tlp>[\d.]+); kernels take (?P<compute_ms>[\d.e+-]+) ms")


class Inputs:
    """The task files: the examples of fixtures/tasks, and the same tasks as programs, worked out once for each board."""

    def __init__(self, b):
        self.b, self.made = b, {}

    def example(self, board):
        return f"fixtures/tasks/table4{'-agx' if board == 'agx' else ''}.ini"

    def specs(self):
        with open("fixtures/tasks/table4-programs.ini", encoding="utf-8") as f:
            return dict(re.findall(r"\[([\w-]+)\]\nprogram = (\S+)", f.read()))

    def section(self, task, board):
        """What the task's program says of itself on a board, as keys of a section."""
        r = self.b.outcome(f"placement synth:{self.specs()[task]} --platform {board} --policy device,managed --set cut=200000", full=True)
        device, managed = (x["metrics"] for x in r["runs"])
        keys = NOTE.search(" ".join(r["runs"][0]["notes"] + r.get("notes", []))).groupdict()
        shared = device["footprint_bytes"] - managed["footprint_bytes"]
        keys.update(bytes_hd=int(device["h2d_bytes"]), bytes_dh=int(device["d2h_bytes"]), shared_bytes=int(shared), private_bytes=int(managed["footprint_bytes"] - shared))
        column = 2 if board == "agx" else 1
        keys["source_policy"] = NAMES[next(t[column] for t in TABLE4 if t[0] == task)]
        return "".join(f"{k} = {v}\n" for k, v in keys.items())

    def programs(self, board):
        if board not in self.made:
            self.made[board] = self.b.write_file(f"programs-{board}.ini", "\n".join(f"[{t}]\n{self.section(t, board)}" for t, *_ in TABLE4))
        return self.made[board]

    def file(self, kind, board):
        return self.example(board) if kind == "example" else self.programs(board)

    def twice(self, task, board="tx2"):
        text = yolov2.task("{}", GFLOPS[board], 0.6, 0.6) if task == "yolo" else "[{}]\n" + self.section(task, board)
        return self.b.write_file(f"two-{task}-{board}.ini", "\n".join(text.replace("{}", n, 1) for n in ("a", "b")))

    def scaled(self, board, step):
        """The examples at 1 / 2^step of their bytes and times."""
        with open(self.example(board), encoding="utf-8") as f:
            text = f.read()
        factor = 0.5**step

        def shrink(m):
            unit = {"MiB": 1 << 20, "KiB": 1 << 10, None: 1}[m.group(3)]
            value = float(m.group(2)) * unit * factor
            return f"{m.group(1)} = {value if m.group(1) == 'compute_ms' else round(value)}"

        return self.b.write_file(f"table4-{board}-{step}.ini", re.sub(r"(bytes_hd|bytes_dh|kernel_bytes|compute_ms|l2_instructions) = ([\d.e]+)([KM]iB)?", shrink, text))


def draw(b, board, number):
    """One draw of the assumed numbers of a board's [placement]."""
    r, sets = random.Random(number), []
    for key, n in b.call(["list", "platforms", board, "--format", "json"])["sections"]["placement"].items():
        if n["kind"] == "sourced" or not isinstance(n["value"], (int, float)):
            continue
        low, high = float(n["low"]), float(n["high"])
        value = exp(r.uniform(log(low), log(high))) if low > 0 and high > 4 * low else r.uniform(low, high)
        sets += ["--set", f"placement.{key}={value:.6g}"]
    return sets


def shares(b, path, board, mode):
    """Over the draws: CO against D and MO, mean response in percent, least to most, and the share below 0."""
    out = {"D": [], "MO": []}
    shown = b.shown(["replay", "placement", path, "--platform", board, "--set", f"mode={mode}", "--policy", "device,managed,auto"]) + f" ({DRAWS} times, --set placement.KEY= drawn)"
    for i in range(DRAWS):
        args = ["replay", "placement", path, "--platform", board, "--set", f"mode={mode}", "--policy", "device,managed,auto", *draw(b, board, i), "--format", "json"]
        d, m, c = (r["metrics"]["mean_response_ns"] for r in b.call(args, shown=shown)["runs"])
        out["D"].append(100 * (c / d - 1))
        out["MO"].append(100 * (c / m - 1))
    if "mean_response_ns" not in b.read:
        b.read.append("mean_response_ns")
    return out


def write(b):
    inputs = Inputs(b)

    def command(path, board="tx2", mode="serial"):
        return f"placement {path} --platform {board} --set mode={mode} --policy device,managed,pinned,auto"

    def run(path, board="tx2", mode="serial", full=False):
        return b.replay(command(path, board, mode), full)

    def notes(kind, board):
        run(inputs.file(kind, board), board, "corun")
        return b.outcome(command(inputs.file(kind, board), board, "corun"))["runs"][AUTO]["notes"]

    def chosen(kind, board, task):
        """What auto gives a task in the set, and its margins."""
        m = next(m for n in notes(kind, board) for m in [re.match(rf"task {task}: (\w+); margins (.*?)(; its source|$)", n)] if m)
        moved = next((x.group(1) for n in notes(kind, board) for x in [re.match(rf"task {task}: (\w+) beside", n)] if x), None)
        return moved or m.group(1), m.group(2)

    def single(task):
        """The task alone, as a file."""
        with open(inputs.example("tx2"), encoding="utf-8") as f:
            part = f.read().split(f"[{task}]\n")[1].split("\n[")[0]
        return b.write_file(f"{task}.ini", f"[{task}]\n{part}")

    def change(r, over, metric="mean_response_ns"):
        return 100 * (r[AUTO][metric] / r[over][metric] - 1)

    def alone(over):
        return {t: change(run(single(t)), over) for t, *_ in TABLE4}

    b.section("Memory policies on integrated GPUs: bateni-2020", f"""
D = device, M = managed, H = pinned, MO = all managed, CO = co-optimised (policy `auto`). The paper prints neither platform
constants nor input sizes nor measured times. So there are two sets of table IV's tasks: the examples of fixtures/tasks, whose
times and hit rates are made up, and the same tasks as programs (fixtures/tasks/table4-programs.ini), whose bytes, hit rates and
times follow from the programs and the board. Constants of tx2, agx and px2 are from data sheets, most of them assumed with a
range; the rows of figure 9 say in what share of {DRAWS} draws from those ranges the paper's sign holds. YOLO is
darknet's yolov2.cfg at 608 x 608 from its layer table (.ci/reproduction/yolov2.py; the program yolov2 holds as much): bytes are exact, times are its 62.9 GFLOP at
30 to 90 % of the chip's peak.

{b.picture("igpu-overhead", "placement-overhead", [inputs.example("tx2")], "each task under the three policies, figures 2 and 8")}
{b.picture("igpu-timeline", "placement-timeline", [inputs.example("tx2")], "the seven tasks under auto, figures 4 and 6")}""")
    motivation(b, inputs, run)
    for kind in ("example", "programs"):
        for p in ("tx2", "agx"):
            for task, tx2, agx, kernels in TABLE4:
                want = NAMES[tx2 if p == "tx2" else agx]
                b.row("V, Table IV", f"{task}, {kernels:,} kernels, {p.upper()}, {kind}", want,
                      lambda p=p, task=task, want=want, kind=kind: (lambda got: (got[0] == want, f"{got[0]}; margins {got[1]}"))(chosen(kind, p, task)), INPUTS)
    for rule in ("in-flight", "printed", "physical"):
        for p in ("tx2", "agx"):
            b.row("IV, eq. 7", f"of the seven as the paper places them, {p.upper()}, penalty_rule={rule}: examples", 7,
                  lambda p=p, rule=rule: round(7 * b.replay(f"placement {inputs.example(p)} --platform {p} --policy auto --set mode=corun --set penalty_rule={rule}")[0]["source_agreement_ratio"]),
                  "margins of tenths of a millisecond decide, see the rows above; to the letter equation 7 charges a whole latency or nothing")
    for p, m, d in (("tx2", 859, 1024), ("agx", 27, 1856)):
        b.row("IV, eq. 11", f"kernels under M or H never outnumber those under D over the seven, {p.upper()}: managed and device kernels", f"{m:,} / {d:,}",
              lambda p=p: (lambda n: (int(n[0]) <= int(n[1]), f"{int(n[0]):,} / {int(n[1]):,}"))(next(re.match(r"guideline \(11\): (\d+) .* (\d+) device", n).groups() for n in notes("example", p) if n.startswith("guideline (11)"))),
              "" if p == "tx2" else "!holds, with other tasks under D (rows above)")
    figure_9(b, inputs, run, change, alone)
    studies(b, inputs, run)


def motivation(b, inputs, run):
    """Section III: figures 2 to 5, tables I and II; and the scheduler's example of section IV."""
    def times(task):
        r = b.replay(f"placement synth:{inputs.specs()[task]} --platform tx2 --policy device,managed,pinned --set cut=200000", full=True)
        return [x["time_ns"] / 1e6 for x in r], [x["gpu_utilization_ratio"] for x in r]

    def text(v):
        return "D / M / H " + " / ".join(f"{x:.3g}" for x in v)

    for task, name, claim, holds in (("gaussian", "Gaussian", "D is the best", lambda t: t[0] < t[1]), ("gaussian", "Gaussian", "H is the worst", lambda t: t[2] == max(t)), ("nw", "NW", "of D and M, D is the worse", lambda t: t[0] > t[1])):
        b.row("III-A, Fig. 2", f"{name}, TX2, GPU time: {claim}", "yes", lambda task=task, holds=holds: (lambda t: (holds(t), text(t) + " ms"))(times(task)[0]), "the size of the input is not printed")
    for task, name in (("gaussian", "Gaussian"), ("nw", "NW")):
        b.row("III-A, Fig. 2", f"{name}, TX2: the GPU is used less under M than under H", "yes", lambda task=task: (lambda u: (u[1] < u[2], text(u)))(times(task)[1]),
              "equation 8 maps at every launch under H, equation 3 only where the CPU wrote")
    b.row("III-A, Fig. 2", "NW, TX2: GPU utilisation under M is below 50 %", "yes", lambda: (lambda u: (u[1] < 0.5, f"{100 * u[1]:.0f} %"))(times("nw")[1]), "ours is kernels' time over all time; the paper's counter sees a launch that maps as idle")

    def yolo(policy, low=0.3, high=0.9):
        return b.replay(f"placement {b.write_file('yolo.ini', yolov2.task('yolo', GFLOPS['tx2'], low, high))} --platform tx2 --policy {policy}", full=False)

    b.row("III-A, Fig. 2", "YOLO, TX2: M takes longer than D", "yes", lambda: (lambda r: (r[1]["time_ns"] > r[0]["time_ns"], f"D / M {r[0]['time_ns'] / 1e6:.0f} / {r[1]['time_ns'] / 1e6:.0f} ms"))(yolo("device,managed", 0.6, 0.6)),
          "from load: every array is copied once, 1.05 GB, which costs more than to map it; of a later frame only the image is")
    b.none("III-A, Fig. 2", "CLUSTER: D is worse than M, H the worst; under M less than 50 % used", "yes", "the clustering's sizes are not published")
    for count, d, m in ((1, 2745, 1311), (2, 5274, 2524), (3, None, 3779)):
        t = yolov2.totals()
        why = "CUDA's own context, its libraries and the image's copies are not counted"
        if d:
            b.row("III-B, Table I", f"footprint of YOLO under D, {count} at once, MB", d, lambda count=count: count * (2 * (t["both"] + t["input"]) + t["workspace"]) / 1e6, why)
        else:
            b.row("III-B, Table I", "three under D", "fails", lambda: (lambda need: (need > 0.386 ** -1 * 2745, f"{need:,.0f} MB"))(3 * (2 * (t["both"] + t["input"]) + t["workspace"]) / 1e6),
                  "of the 7,111 MB that 2,745 MB are 38.6 % of; " + why)
        b.row("III-B, Table I", f"the same under M, {count} at once, MB", m, lambda count=count: count * (t["both"] + t["input"] + t["workspace"]) / 1e6, why)
    b.row("III-B, Table I", "YOLO under D over under M: the program yolov2", 2745 / 1311, lambda: (lambda r: r[0]["footprint_bytes"] / r[1]["footprint_bytes"])(b.replay("placement synth:yolov2 --platform tx2 --policy device,managed --set cut=1000", full=True)),
          "the paper's is more than twice: under D something beside the copies is there twice", neutral=1)
    for task, name, best, dm, mm, dd in (("nw", "NW", "M/M", 77, 68, 81), ("gaussian", "Gaussian", "D/M", 71, 68, 78), ("yolo", "YOLO", "D/M", 92, 81, 92)):
        def pair(task=task):
            return run(inputs.twice(task), "tx2", "corun")[:2] + run(inputs.twice(task), "tx2", "corun")[3:] if task != "yolo" else b.replay(f"placement {inputs.twice(task)} --platform tx2 --set mode=corun --policy device,managed,auto")

        def placed(pair=pair):
            r = pair()[2]
            return "/".join("D" * int(r["tasks_device"]) + "M" * int(r["tasks_managed"]) + "H" * int(r["tasks_pinned"]))

        b.row("III-C, Fig. 3a", f"two of {name}: M/M holds less than D/D", "yes", lambda pair=pair: (lambda r: (r[1]["footprint_bytes"] < r[0]["footprint_bytes"], f"{r[1]['footprint_bytes'] / r[0]['footprint_bytes']:.2f} times"))(pair()))
        b.row("III-C, Fig. 3b", f"two of {name}: the fastest is, and auto takes it", best, lambda placed=placed, best=best: (lambda got: (got == best, got))(placed()),
              "the idle period of the one is shorter than a kernel of the other, or what it hides is less than what M costs")
        for way, paper, index in (("D/D", dd, 0), ("M/M", mm, 1)):
            b.row("III, Table II", f"GPU utilisation, two of {name}, {way}", paper, lambda pair=pair, index=index: 100 * pair()[index]["gpu_utilization_ratio"], "ours is kernels' time over all time, the paper's a counter's samples", unit=" %")
        b.row("III, Table II", "the same, D/M", dm, lambda pair=pair, placed=placed: 100 * pair()[2]["gpu_utilization_ratio"] if placed() == "D/M" else None, "auto does not place them so, and only auto mixes", unit=" %")
        b.row("III-C, Table II", f"two of {name}: M/M uses the GPU least", "yes", lambda pair=pair: (lambda r: (r[1]["gpu_utilization_ratio"] <= min(r[0]["gpu_utilization_ratio"], r[2]["gpu_utilization_ratio"]), " / ".join(f"{100 * x['gpu_utilization_ratio']:.0f}" for x in r) + " % D/D, M/M, auto"))(pair()),
              "a mapping costs less than the copies it replaces on the assumed rates, so M leaves more of the time to kernels")
    b.row("III-C, Fig. 4", "while a kernel under M maps, one under D runs: the seven on TX2", "yes", lambda: (lambda x: (x["overlap_ns"] > 0, f"{x['overlap_ns'] / 1e6:.2f} ms in {x['pairs']} launches"))(run(inputs.example("tx2"), "tx2", "corun")[AUTO]))
    b.none("III-C, Fig. 5", "M/M has the largest spread of ten runs", "yes", "the model is deterministic; what the driver does under M/M is not disclosed, as the paper says")
    b.row("IV-B", "YOLO A alone gets D; followed by YOLO B, they get D and M", "yes", lambda: (lambda a, two: (a["tasks_device"] == 1 and two["tasks_device"] == two["tasks_managed"] == 1, f"alone {'D' if a['tasks_device'] else 'M'}, two: {two['tasks_device']} D, {two['tasks_managed']} M"))(
        yolo("auto", 0.6, 0.6)[0], b.replay(f"placement {inputs.twice('yolo')} --platform tx2 --set mode=corun --policy auto")[0]),
        "from load its copies cost more than managed memory does, so alone it is M already; the rule itself is tested with the source's example (placement_schedule_test.c)")


def figure_9(b, inputs, run, change, alone):
    """Section V-B: the seven side by side and one after the other, both boards, both sets."""
    modes = (("corun", "side by side"), ("serial", "one after the other"))
    for p, panel in (("tx2", "9b"), ("agx", "9d")):
        for kind in ("example", "programs"):
            for mode, words in modes:
                for over, index, paper in (("D", DEVICE, -54.6), ("MO", MANAGED, -10.0)):
                    def share(p=p, kind=kind, mode=mode, over=over):
                        v = shares(b, inputs.file(kind, p), p, mode)[over]
                        return f"paper's sign in {sum(x < 0 for x in v)} of {DRAWS} draws, {min(v):+.1f} to {max(v):+.1f} %"

                    b.row(f"V-B, Fig. {panel}", f"CO against {over}, mean response, {p.upper()}, {kind}, {words}", paper if p == "tx2" else None, lambda p=p, kind=kind, mode=mode, index=index: change(run(inputs.file(kind, p), p, mode), index),
                          lambda share=share, p=p: "!" + share() + ("" if p == "tx2" else "; the paper prints no number for AGX, the same principle as TX2") + (f"; {LONG}" if p == "tx2" else ""), neutral=0, unit=" %", always=True,
                          **({} if p == "tx2" else {"low": -100, "high": 0, "shown": "below 0"}))
    b.row("V-B, Fig. 9b", "CO against D, TX2, each task alone: most and least saved", "-21.2 to -92.2 %", lambda: (lambda v: (min(v.values()) < -15 and max(v.values()) < 0, " / ".join(f"{t} {x:.0f} %" for t, x in v.items())))(alone(DEVICE)),
          f"{LONG}; guideline 1 counts the mapping as overlapped, which alone it is not: bfs loses")
    b.row("V-B, Fig. 9b", "CO against MO, range over tasks, TX2", None, lambda: change(run(inputs.example("tx2"), "tx2", "corun"), MANAGED), low=-18.7, high=5.5, neutral=0, unit=" %")
    b.none("V-B, Fig. 9b", "Gaussian, CO against D", "-75 %", "it stays under D in both: what it gains is the queue of the paper's mix, whose arrival times are not printed")
    b.row("V-B, Fig. 9b", "Gaussian does not take longer under CO than under MO: alone", "yes", lambda: (lambda x: (x <= 0, f"{x:+.1f} %"))(change(run(b.write_file("gaussian.ini", "[gaussian]\n" + open(inputs.example("tx2"), encoding="utf-8").read().split("[gaussian]\n")[1].split("\n[")[0])), MANAGED)))
    for p, panel in (("tx2", "9a"), ("agx", "9c")):
        def held(p=p):
            return [[x["footprint_bytes"] for x in run(inputs.scaled(p, step), p, "corun")] for step in range(7, -1, -1)]

        b.row(f"V-B, Fig. {panel}", f"{p.upper()}: memory grows with the input, eight sizes, D, MO and CO", "yes", lambda held=held: (lambda v: (all(x[i] < y[i] for x, y in zip(v, v[1:]) for i in (DEVICE, MANAGED, AUTO)), f"CO {v[0][AUTO] / 2**20:.1f} to {v[-1][AUTO] / 2**20:.0f} MiB"))(held()), "CO places tasks otherwise as they shrink: what it takes back to D holds twice its bytes")
        b.row(f"V-B, Fig. {panel}", f"{p.upper()}: D holds the most, MO the least, at every size", "yes", lambda held=held: all(x[MANAGED] <= x[AUTO] <= x[DEVICE] for x in held()), "tasks side by side under CO hold their memory together, under D and MO one after the other")
    for p, paper in (("tx2", "yes"), ("agx", "no: noticeably more")):
        b.row(f"V-B, Fig. {'9a' if p == 'tx2' else '9c'}", f"{p.upper()}: the footprint of CO is almost that of MO, largest size", paper, lambda p=p: (lambda r: ((r[AUTO]["footprint_bytes"] / r[MANAGED]["footprint_bytes"] < 1.15) == (p == "tx2"), f"{r[AUTO]['footprint_bytes'] / r[MANAGED]['footprint_bytes']:.2f} times"))(run(inputs.example(p), p, "corun")),
              "the task that holds the most, pathfinder, is placed under M here")
    b.row("V-B, Fig. 9", "footprint of MO against D: each transferred buffer once instead of twice", 0.5, lambda: (lambda r: r[MANAGED]["footprint_bytes"] / r[DEVICE]["footprint_bytes"])(run(inputs.example("tx2"))), "!by definition, where all of a task's buffers are transferred", neutral=1)
    b.row("V-B, Fig. 9d", "the average GPU time on AGX is much less than on TX2: programs, MO, AGX over TX2", None, lambda: run(inputs.programs("agx"), "agx", "corun")[MANAGED]["mean_response_ns"] / run(inputs.programs("tx2"), "tx2", "corun")[MANAGED]["mean_response_ns"], low=0, high=0.5, shown="much less than 1")
    b.row("V-B", "summary: CO improves on MO by up to, benchmarks", -34.2, lambda: min(alone(MANAGED).values()), "the paper's own section says 18.7 %; each task alone, TX2", neutral=0, unit=" %")
    for platform, errors in (("TX2", "D 9.6 (14.9), M 11.8 (16.4), H 6.5 (23.1) %"), ("AGX", "D 10.9 (15.0), M 14.7 (24.3 or 14.3), H 2.39 %")):
        b.none("V-B, Fig. 8", f"prediction error, mean (worst), {platform}", errors, "needs the measured times of eight input sizes, which the paper shows only as bars; `prediction_error_ratio` is computed where a task file gives measured_..._ms")
    for i, name, tx2, agx in ((DEVICE, "D", 74.6, 63.1), (MANAGED, "MO", 56.2, 57.3), (AUTO, "CO", 74.6, 63.0)):
        for p, paper in (("tx2", tx2), ("agx", agx)):
            for kind in ("example", "programs"):
                b.row("V, Table V", f"GPU utilisation, Rodinia, {p.upper()}, {name}, {kind}", paper, lambda i=i, p=p, kind=kind: 100 * run(inputs.file(kind, p), p, "corun")[i]["gpu_utilization_ratio"],
                      "ours is kernels' time over all time; the paper samples a counter that sees a mapped kernel as idle", unit=" %")
    for kind in ("example", "programs"):
        b.row("V, Table V", f"MO uses the GPU less than D and CO, TX2, {kind}", "yes", lambda kind=kind: (lambda r: (r[MANAGED]["gpu_utilization_ratio"] < min(r[DEVICE]["gpu_utilization_ratio"], r[AUTO]["gpu_utilization_ratio"]), " / ".join(f"{100 * r[i]['gpu_utilization_ratio']:.0f}" for i in (DEVICE, MANAGED, AUTO)) + " % D, MO, CO"))(run(inputs.file(kind, "tx2"), "tx2", "corun")),
              "the example's copies cost more than its mapping on the assumed rates")
    for kind in ("example", "programs"):
        b.row("IV-B", f"the schedule over a bound that no placements and no order beat, TX2, CO, {kind}", None, lambda kind=kind: run(inputs.file(kind, "tx2"), "tx2", "corun")[AUTO]["optimum_ratio"], low=1, high=1.05, shown="not printed")


def studies(b, inputs, run):
    """Section V-C: the drone's YOLO, and Autoware."""
    t, rows = yolov2.totals(), yolov2.layers()[0]

    def yolo(board):
        path = b.write_file(f"yolo-{board}.ini", yolov2.task("yolo", GFLOPS[board], 0.6, 0.6, "managed"))
        return b.replay(f"placement {path} --platform {board} --policy device,managed,auto")

    b.row("V, Table IV", "YOLO's kernels, from its layer table", 180, lambda: t["kernels"], "!each convolution unrolled, without cuDNN, fills of gradients not counted")
    for p, memory, time in (("tx2", -69.0, -58.9), ("agx", -64.5, -11.2)):
        b.row("V, Table IV", f"drone (YOLO), 180 kernels, {p.upper()}", "managed", lambda p=p: (lambda r: (r[2]["tasks_managed"] == 1, "managed" if r[2]["tasks_managed"] else "device"))(yolo(p)), INPUTS)
        b.row("V-C, Fig. 11", f"drone, CO against D, memory, {p.upper()}", memory, lambda p=p: 100 * (yolo(p)[2]["footprint_bytes"] / yolo(p)[0]["footprint_bytes"] - 1), "the layers' arrays are there twice under D, once under M; the paper's own table I has 52 % less", neutral=0, unit=" %")
        b.row("V-C, Fig. 11", f"drone, CO against D, time, {p.upper()}", time, lambda p=p: 100 * (yolo(p)[2]["time_ns"] / yolo(p)[0]["time_ns"] - 1), "from load to the first frame, kernels at 60 % of the peak (30 to 90 assumed); which times are in the paper's is not said", neutral=0, unit=" %")
    b.row("V-C, Fig. 11", "drone: CO against MO", "the same, almost", lambda: (lambda r: (abs(r[2]["time_ns"] / r[1]["time_ns"] - 1) < 0.081, f"{100 * (r[2]['time_ns'] / r[1]['time_ns'] - 1):+.1f} %"))(yolo("tx2")))
    b.row("V-C, Fig. 10", "of YOLO's layers the first holds the most", "yes", lambda: (rows[0][1] == max(r[1] for r in rows), f"{rows[0][1] / 1e6:.0f} MB"))
    b.row("V-C, Fig. 10", "convolutions hold more than the maximum or route layer behind them", "yes", lambda: all(rows[i][1] < rows[i - 1][1] for i in range(1, 32) if yolov2.LAYERS[i][0] in "pr" and rows[i - 1][0] == "c"), "25 puts a layer's output where it is")
    b.row("V-C, Fig. 10", "convolutions compute more than the others", "yes", lambda: (min(r[2] for r in rows if r[0] == "c") > max(r[2] for r in rows if r[0] != "c"), f"{t['flop'] / 1e9:.1f} GFLOP in all"))
    for name, values in (("TX2", (70.6, 28.3, 29.1)), ("AGX", (26.2, 22.4, 23.3))):
        for i, (way, paper) in enumerate(zip(("D", "MO", "CO"), values)):
            b.row("V, Table V", f"GPU utilisation, drone, {name}, {way}", paper, lambda name=name, i=i: 100 * yolo(name.lower())[i]["gpu_utilization_ratio"], "ours is kernels' time over all time from load to the first frame, at 60 % of the peak", unit=" %")

    def car():
        """Two YOLOs and a clustering of the remaining kernels; its frame of points and its times are assumed."""
        cluster = f"[cluster]\nbytes_hd = 2MiB\nbytes_dh = 2MiB\ncopies = 4\nkernels = {CLUSTER}\ndirty_kernels = 1\nkernel_bytes = 2MiB\ncompute_ms = 20\n"
        path = b.write_file("autoware.ini", "\n".join(yolov2.task(f"yolo-{i}", GFLOPS["px2"], 0.6, 0.6) for i in (1, 2)) + "\n" + cluster)
        return b.replay(f"placement {path} --platform px2 --set mode=corun --policy device,managed,auto")

    said = "the clustering's frame (2 MiB) and time (20 ms) are assumed, only its 239 kernels follow from the table"
    b.row("V, Table IV", "Autoware, 599 kernels, PX2: one under D, two under M", "D, M, M", lambda: (lambda x: (x["tasks_device"] == 1 and x["tasks_managed"] == 2, f"{x['tasks_device']} D, {x['tasks_managed']} M, {x['tasks_pinned']} H"))(car()[2]), said)
    for over, paper, index in (("D", -10, 0), ("D, MO", -6, 0)):
        b.row("V-C, Fig. 12b", f"Autoware, time, {'MO' if 'MO' in over else 'CO'} against D", paper, lambda over=over: 100 * (car()[1 if "MO" in over else 2]["mean_response_ns"] / car()[0]["mean_response_ns"] - 1), said, neutral=0, unit=" %")
    b.row("V-C, Fig. 12a", "Autoware, memory, MO against D", -50, lambda: 100 * (car()[1]["footprint_bytes"] / car()[0]["footprint_bytes"] - 1), said, neutral=0, unit=" %")
    b.row("V-C, Fig. 12a", "Autoware, memory, MO against CO", -34, lambda: 100 * (car()[1]["footprint_bytes"] / car()[2]["footprint_bytes"] - 1), "a mixed set holds more where a large task stays under D; ours is the small one", neutral=0, unit=" %")
    for i, (way, paper) in enumerate((("D", 84.3), ("MO", 72.9), ("CO", 80.7))):
        b.row("V, Table V", f"GPU utilisation, car, {way}", paper, lambda i=i: 100 * car()[i]["gpu_utilization_ratio"], said, unit=" %")
    for what, paper in (("drone", -8.06), ("Autoware", -20.06)):
        b.row("V-C, summary", f"CO against MO, best, {what}", paper, lambda what=what: (lambda r: 100 * (r[2]["mean_response_ns"] / r[1]["mean_response_ns"] - 1))(yolo("tx2") if what == "drone" else car()), "CO is MO where all of its tasks are managed" if what == "drone" else said, neutral=0, unit=" %")


def wilt(b):
    launches = "uvm synth:launch-touch,pages={} --platform {} --policy tree"
    b.section("Managed memory before demand paging: wilt-2017", f"""
Both tables, microseconds per launch (their column is titled "ms"; 4,096 KB in 8,458 us is its own 496 MB/s). One set of
constants per board, fitted to the rows beyond 64 KB: those rows are a fit, the others are not. Board labels are the source's.

{b.picture("legacy-runs", "legacy-runs", ["gm200", "gp100"], "copy-back rate over pages per fault, the what-if that the source asks for")}""")

    def launch(board, kb, policy="tree", extra=""):
        r = b.replay(launches.format(kb // 4, board).replace("tree", policy) + extra)
        return r[0]["time_ns"] / 1000

    small = "one constant stands for the presence of managed memory at every size; the first pages cost less than it, the tables' slope begins at 64 KB"
    for n, board in ((1, "gm200"), (2, "gp100")):
        for kb, *us in WILT:
            b.row(f"Table {n}", f"{board.upper()}, {kb:,} KB, us" + ("" if kb <= 64 else " (fit)"), us[n - 1], lambda board=board, kb=kb: launch(board, kb), small)
        for kb, mbs in (((4, 39), (16384, 494)) if n == 1 else ((4, 87), (16384, 5386))):
            b.row(f"Table {n}", f"{board.upper()}, {kb:,} KB, MB/s" + (" (printed: 7; 4 KB in 47.15 us is 87)" if mbs == 87 else ""), mbs, lambda board=board, kb=kb: kb * 1024 / launch(board, kb), small)
    b.row("text", "GP100, best copy-back, GB/s", 5.4, lambda: max(kb * 1024 / launch("gp100", kb) / 1e3 for kb, *_ in WILT if kb))
    b.row("text", "GP100, less than half of a PCI Express 3.0 link", "yes", lambda: (lambda x: (x < 15.754 / 2, f"{x:.1f} of 15.8 GB/s"))(16384 * 1024 / launch("gp100", 16384) / 1e3))
    b.row("text", "GM200, MB/s, below", None, lambda: max(kb * 1024 / launch("gm200", kb) for kb, *_ in WILT if kb), low=0, high=500, shown="500")
    b.row("text", "GM200, times slower than the bus, more than", 25, lambda: 12.3e3 / (16384 * 1024 / launch("gm200", 16384)), neutral=1)
    b.none("text", "CUDA 6.0, MB/s", "512", "another release and machine; the tables are modelled")
    b.none("text", "launch, synchronous / asynchronous, us", "46.35 / 3.25", "the first is the constant of the model, not a result; asynchronous launches do not wait for pages")
    b.row("text", "mapped pinned memory would achieve much higher performance: 16 MiB, GM200, over managed", "yes", lambda: (lambda x: (x > 2, f"{x:.0f} times"))(launch("gm200", 16384) / launch("gm200", 16384, "mapped")))
    b.subsection("What if pages came back in longer runs", "16 MiB on GM200, microseconds per launch; `--set run_pages=S`.")
    b.table("pages per fault", "us", "MB/s", "from")
    for s in (1, 2, 4, 16, 64, 512):
        us = launch("gm200", 16384, "tree", f" --set run_pages={s}")
        b.line(s, f"{us:,.0f}", f"{16384 * 1024 / us:,.0f}", b.source())
