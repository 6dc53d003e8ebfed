"""bateni-2020: device, managed or pinned memory."""
import re

import igpu
import yolov2

TABLE4 = (("bfs", "M", "M", 24), ("pathfinder", "M", "D", 512), ("nw", "M", "D", 320), ("nn", "M", "M", 1), ("vect-add", "M", "M", 1), ("gaussian", "D", "D", 1024), ("hotspot", "M", "M", 1))
INPUTS = "the paper prints neither platform constants nor input sizes; on ours its copies cost more than managed or pinned memory would, by the margins shown"
HOST = "what the host does between launches beside its calls is not modelled, so the GPU is used more here"
DEVICE, MANAGED, PINNED, AUTO = range(4)
NAMES = {"D": "device", "M": "managed", "H": "pinned"}
GFLOPS = {"tx2": 665.6, "agx": 1410.0, "px2": 665.6}  # 2 x cores x clock: 256 at 1.3 GHz, 512 at 1.377
DRAWS = igpu.DRAWS
NOTE = re.compile(r"task \S+, from its program: (?P<kernels>\d+) kernels, (?P<dirty_kernels>\d+) of them after the CPU wrote, which touch (?P<dirty_bytes>\d+) bytes of "
                  r"pages; (?P<copies>\d+) copies; a kernel touches (?P<kernel_bytes>\d+) bytes of pages; (?P<l2_instructions>\d+) "
                  r"L2 instructions, hit rate (?P<l2_hit_ratio>[\d.]+).*; ILP (?P<ilp>[\d.]+), TLP (?P<tlp>[\d.]+); kernels take (?P<compute_ms>[\d.e+-]+) ms by the issue model and wait (?P<wait_ms>[\d.e+-]+) for")


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
        """Two of a task; source_policy gives the first device, the second managed memory."""
        text = yolov2.task("{}", GFLOPS[board], 0.6, 0.6) if task == "yolo" else "[{}]\n" + self.section(task, board)
        text = re.sub(r"source_policy = .*\n", "", text)
        return self.b.write_file(f"two-{task}-{board}.ini", "\n".join(text.replace("{}", n, 1) + f"source_policy = {p}\n" for n, p in (("a", "device"), ("b", "managed"))))

    def draws(self, kind, board):
        """As the draws take them: programs by name, since every drawn GPU runs them anew."""
        return self.example(board) if kind == "example" else "fixtures/tasks/table4-programs.ini"

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
        m = next(m for n in notes(kind, board) for m in [re.match(rf"task {task}: (\w+)[^;]*; (guideline .*?)(; its source|$)", n)] if m)
        moved = next((x.group(1) for n in notes(kind, board) for x in [re.match(rf"task {task}: (\w+), since it runs beside", n)] if x), None)
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
D = device, M = managed, H = pinned, MO = all managed, CO = co-optimised (policy `auto`). Counted are the tasks as programs, side by side: one set of
parameters. The examples, and one task after the other, are other readings. The paper prints neither platform
constants nor input sizes nor measured times. So there are two sets of table IV's tasks: the examples of fixtures/tasks, whose
times and hit rates are made up, and the same tasks as programs (fixtures/tasks/table4-programs.ini), whose bytes, hit rates and
times follow from the programs and the board. Constants of tx2, agx and px2 are from data sheets, most of them assumed with a
range; the rows of figure 9 say in what share of {DRAWS} draws from those ranges the paper's sign holds. YOLO is
darknet's yolov2.cfg at 608 x 608 from its layer table (.ci/reproduction/yolov2.py; the program yolov2 holds as much): bytes are exact, times are its 62.9 GFLOP at
30 to 90 % of the chip's peak. GPU utilisation is what the boards' load counter takes for busy: the graphics engine or a copy engine
("GR && CE2" in NVIDIA's nvgpu driver, for gp10b and gv11b). Copies on agx are a public run of bandwidthTest, on the other boards that share of their memory's rate.

{b.picture("igpu-overhead", "placement-overhead", [inputs.example("tx2")], "each task under the three policies, figures 2 and 8")}
{b.picture("igpu-timeline", "timeline", [inputs.example("tx2")], "the seven tasks under auto, figures 4 and 6")}""")
    motivation(b, inputs, run)
    for kind in ("example", "programs"):
        for p in ("tx2", "agx"):
            for task, tx2, agx, kernels in TABLE4:
                want = NAMES[tx2 if p == "tx2" else agx]
                b.row("V, Table IV", f"{task}, {kernels:,} kernels, {p.upper()}, {kind}", want, lambda p=p, task=task, want=want, kind=kind: (lambda got: (got[0] == want, f"{got[0]}; {got[1]}"))(chosen(kind, p, task)), INPUTS, apart=kind == "example")
    for rule in ("in-flight", "printed", "physical"):
        for p in ("tx2", "agx"):
            b.row("IV, eq. 7", f"of the seven as the paper places them, {p.upper()}, penalty_rule={rule}: examples", 7, lambda p=p, rule=rule: round(7 * b.replay(f"placement {inputs.example(p)} --platform {p} --policy auto --set mode=corun --set penalty_rule={rule}")[0]["source_agreement_ratio"]),
                  "margins in the rows above: nw and pathfinder leave device memory on AGX by 3 and 25 ms of copies; to the letter equation 7 charges a whole latency or nothing", apart=True)
    for p, m, d in (("tx2", 859, 1024), ("agx", 27, 1856)):
        b.row("IV, eq. 11", f"kernels under M or H never outnumber those under D over the seven, {p.upper()}: managed and device kernels", f"{m:,} / {d:,}",
              lambda p=p: (lambda n: (int(n[0]) <= int(n[1]), f"{int(n[0]):,} / {int(n[1]):,}"))(next(re.match(r"guideline \(11\), .*\((\d+)\).*\((\d+)\)", n).groups() for n in notes("example", p) if n.startswith("guideline (11)"))),
              "" if p == "tx2" else "!holds, with other tasks under D (rows above)", apart=True)
    figure_9(b, inputs, run, change, alone)
    studies(b, inputs, run)


def motivation(b, inputs, run):
    """Section III: figures 2 to 5, tables I and II; and the scheduler's example of section IV."""
    def times(task):
        r = b.replay(f"placement synth:{inputs.specs()[task]} --platform tx2 --policy device,managed,pinned --set cut=200000", full=True)
        return [x["time_ns"] / 1e6 for x in r], [x["gpu_utilization_ratio"] for x in r]

    def flushes(task):
        """c_gpu's share in O_M."""
        r = b.replay(f"placement synth:{inputs.specs()[task]} --platform tx2 --policy managed --set cut=200000", full=True)[0]
        return {"gaussian": 1022, "nw": 319}[task] * igpu.numbers(b, "tx2")["c_gpu"] * 1e6 / r["overhead_ns"]

    def text(v):
        return "D / M / H " + " / ".join(f"{x:.3g}" for x in v)

    for task, name, claim, holds in (("gaussian", "Gaussian", "D is the best", lambda t: t[0] < t[1]), ("gaussian", "Gaussian", "H is the worst", lambda t: t[2] == max(t)), ("nw", "NW", "of D and M, D is the worse", lambda t: t[0] > t[1])):
        b.row("III-A, Fig. 2", f"{name}, TX2, GPU time: {claim}", "yes", lambda task=task, holds=holds: (lambda t: (holds(t), text(t) + " ms"))(times(task)[0]), "the size of the input is not printed")
    for task, name in (("gaussian", "Gaussian"), ("nw", "NW")):
        b.row("III-A, Fig. 2", f"{name}, TX2: the GPU is used less under M than under H", "yes", lambda task=task: (lambda u: (u[1] < u[2], text(u)))(times(task)[1]), "equation 8 maps at every launch under H, equation 3 only where the CPU wrote")
    for task, name in (("gaussian", "Gaussian"), ("nw", "NW")):
        b.row("III-A, Fig. 2", f"{name}, TX2: the GPU is used less under M than under D", "yes", lambda task=task: (lambda u: (u[1] < u[0], text(u)))(times(task)[1]), HOST)
    b.row("III-A, Fig. 2", "NW, TX2: GPU utilisation under M is below 50 %", "yes", lambda: (lambda u: (u[1] < 0.5, f"{100 * u[1]:.0f} %"))(times("nw")[1]), HOST)

    def yolo(policy):
        return b.replay(f"placement {b.write_file('yolo.ini', yolov2.task('yolo', GFLOPS['tx2'], 0.6, 0.6))} --platform tx2 --policy {policy}")

    b.row("III-A, Fig. 2", "YOLO, TX2: M takes longer than D", "yes", lambda: (lambda r: (r[1]["time_ns"] > r[0]["time_ns"], f"D / M {r[0]['time_ns'] / 1e6:.0f} / {r[1]['time_ns'] / 1e6:.0f} ms"))(yolo("device,managed")),
          "from load: every array is copied once, 1.05 GB, which costs more than to map it; of a later frame only the image is")
    b.row("III-A, Fig. 2", "YOLO, TX2: H is the worst", "yes", lambda: (lambda t: (t[2] == max(t), text(t) + " ms"))([x["time_ns"] / 1e6 for x in b.replay("placement synth:yolov2 --platform tx2 --policy device,managed,pinned --set cut=1000", full=True)]), "copies cost more than misses in flight")
    b.row("III-A", "of what M costs, flushes behind kernels are the larger part in Gaussian, not in NW", "yes", lambda: (lambda g, n: (g > 0.5 > n, f"Gaussian {100 * g:.0f} %, NW {100 * n:.0f} %"))(*(flushes(t) for t in ("gaussian", "nw"))),
          "each of NW's 319 launches flushes too, at c_gpu, the worst case; its mapping at one launch is 1.2 ms")
    b.none("III-A, Fig. 2", "CLUSTER: D is worse than M, H the worst; under M less than 50 % used", "yes", "the clustering's sizes are not published")
    held = lambda policy: yolo("device,managed")[policy]["footprint_bytes"] / 1e6  # noqa: E731
    b.row("III-B", "one YOLO under D takes of the board's memory, more than", 38.6, lambda: 100e6 * held(DEVICE) / igpu.numbers(b, "tx2")["memory_bytes"],
          "of 8 GiB; the paper's 2,745 MB are that share of 7,111 MB, and hold CUDA's own context and libraries", unit=" %", relation=">")
    for count, d, m in ((1, 2745, 1311), (2, 5274, 2524), (3, None, 3779)):
        why = "CUDA's own context, its libraries and the image's copies are not counted"
        if d:
            b.row("III-B, Table I", f"footprint of YOLO under D, {count} at once, MB", d, lambda count=count: count * held(DEVICE), why)
        else:
            b.row("III-B, Table I", "three under D", "fails", lambda: (lambda need: (need > 0.386**-1 * 2745, f"{need:,.0f} MB"))(3 * held(DEVICE)), "of the 7,111 MB that 2,745 MB are 38.6 % of; " + why)
        b.row("III-B, Table I", f"footprint of YOLO under M, {count} at once, MB", m, lambda count=count: count * held(MANAGED), why)
    b.row("III-B, Table I", "YOLO under D over under M: the program yolov2", 2745 / 1311, lambda: (lambda r: r[0]["footprint_bytes"] / r[1]["footprint_bytes"])(b.replay("placement synth:yolov2 --platform tx2 --policy device,managed --set cut=1000", full=True)),
          "the paper's is more than twice: under D something beside the copies is there twice", neutral=1, apart=True)
    for task, name, best, dm, mm, dd in (("nw", "NW", "M/M", 77, 68, 81), ("gaussian", "Gaussian", "D/M", 71, 68, 78), ("yolo", "YOLO", "D/M", 92, 81, 92)):
        def pair(task=task):
            """D/D, D/M, M/M"""
            return b.replay(f"placement {inputs.twice(task)} --platform tx2 --set mode=corun --policy device,source,managed")

        def fastest(pair=pair):
            ms = [x["time_ns"] / 1e6 for x in pair()]
            return ("D/D", "D/M", "M/M")[ms.index(min(ms))], " / ".join(f"{x:.3g}" for x in ms) + " ms D/D, D/M, M/M"

        def spread(task=task):
            return ("the model is deterministic; if the driver's mapping and flushes took 0.5 to 1.5 times as long from run to run, times of D/D, D/M, M/M would spread over "
                    + " / ".join(f"{x:.1f}" for x in igpu.spread(b, inputs.twice(task))) + " %: that is what would have to vary")

        b.row("III-C, Fig. 3a", f"two of {name}: M/M holds less than D/D and D/M", "yes", lambda pair=pair: (lambda r: (r[2]["footprint_bytes"] < min(r[0]["footprint_bytes"], r[1]["footprint_bytes"]), " / ".join(f"{x['footprint_bytes'] / 1e6:.3g}" for x in r) + " MB D/D, D/M, M/M"))(pair()))
        b.row("III-C, Fig. 3b", f"two of {name}: the fastest is", best, lambda fastest=fastest, best=best: (lambda got: (got[0] == best, f"{got[0]}: {got[1]}"))(fastest()), "no kernel of the one fits into a mapping of the other, so nothing overlaps, and the better placement of one is that of both")
        if best == "D/M":
            b.row("III-C, Fig. 3", f"two of {name}: D/M holds less than D/D and takes less time", "yes", lambda pair=pair: (lambda r: (r[1]["footprint_bytes"] < r[0]["footprint_bytes"] and r[1]["time_ns"] < r[0]["time_ns"], f"{r[1]['footprint_bytes'] / r[0]['footprint_bytes']:.2f} times the memory, {r[1]['time_ns'] / r[0]['time_ns']:.2f} times the time"))(pair()),
                  "nothing overlaps, so the two run in turn and the larger one is the most that is held")
        for way, paper, index in (("D/D", dd, 0), ("D/M", dm, 1), ("M/M", mm, 2)):
            b.row("III, Table II", f"GPU utilisation, two of {name}, {way}", paper, lambda pair=pair, index=index: 100 * pair()[index]["gpu_utilization_ratio"], HOST, unit=" %")
        b.row("III-C, Table II", f"two of {name}: M/M uses the GPU least", "yes", lambda pair=pair: (lambda r: (r[2]["gpu_utilization_ratio"] <= min(r[0]["gpu_utilization_ratio"], r[1]["gpu_utilization_ratio"]), " / ".join(f"{100 * x['gpu_utilization_ratio']:.0f}" for x in r) + " % D/D, D/M, M/M"))(pair()), HOST)
        b.none("III-C, Fig. 5", f"two of {name}: M/M has the largest spread of ten runs", "yes", spread)
    b.row("III-C, Fig. 4", "while a kernel under M maps, one under D runs: the seven on TX2", "yes", lambda: (lambda x: (x["overlap_ns"] > 0, f"{x['overlap_ns'] / 1e6:.2f} ms in {x['pairs']} launches"))(run(inputs.example("tx2"), "tx2", "corun")[AUTO]))
    b.row("IV-B", "YOLO A alone gets D; followed by YOLO B, they get D and M", "yes", lambda: (lambda a, two: (a["tasks_device"] == 1 and two["tasks_device"] == two["tasks_managed"] == 1, f"alone {'D' if a['tasks_device'] else 'M'}, two: {two['tasks_device']} D, {two['tasks_managed']} M"))(
        yolo("auto")[0], b.replay(f"placement {inputs.twice('yolo')} --platform tx2 --set mode=corun --policy auto")[0]),
        "from load its copies cost more than managed memory does, so alone it is M already; the rule itself is tested with the source's example (placement_schedule_test.c)")


def figure_9(b, inputs, run, change, alone):
    """Section V-B: the seven side by side and one after the other, both boards, both sets."""
    modes = (("corun", "side by side"), ("serial", "one after the other"))
    for p, panel in (("tx2", "9b"), ("agx", "9d")):
        for kind in ("example", "programs"):
            for mode, words in modes:
                for over, index, paper in (("D", DEVICE, -54.6), ("MO", MANAGED, -10.0)):
                    def why(p=p, kind=kind, mode=mode, over=over):
                        said = "!" + igpu.sign(b, inputs.draws(kind, p), p, mode, over, kind == "programs")
                        if p == "agx":
                            return said + "; the paper prints no number for AGX, the same principle as TX2"
                        return said + ("; " + igpu.needed(b, inputs.file(kind, p), paper) if over == "D" and mode == "corun" else "")

                    b.row(f"V-B, Fig. {panel}", f"CO against {over}, mean response, {p.upper()}, {kind}, {words}", paper if p == "tx2" else 0, lambda p=p, kind=kind, mode=mode, index=index: change(run(inputs.file(kind, p), p, mode), index),
                          why, neutral=0, unit=" %", always=True, relation=None if p == "tx2" else "<", apart=kind == "example" or mode == "serial")
    for kind in ("example", "programs"):
        for over, index, policy, least, most in (("D", DEVICE, "device", -92.2, -21.2), ("MO", MANAGED, "managed", -18.7, 5.5)):
            def tasks(kind=kind, policy=policy, index=index):
                """Every task within the paper's range; the mean is the engine's own."""
                v, over_all = igpu.by_task(b, inputs.file(kind, "tx2"), policy)
                if abs(over_all - change(run(inputs.file(kind, "tx2"), "tx2", "corun"), index)) > 0.01:
                    raise ValueError("the tasks' mean is not the engine's")
                return v

            b.row("V-B, Fig. 9b", f"CO against {over}, TX2, {kind}, side by side, every task", f"{least} to {most} %", lambda tasks=tasks, least=least, most=most: (lambda v: (all(least <= x <= most for x in v.values()), ", ".join(f"{t} {x:+.0f} %" for t, x in v.items())))(tasks()),
                  "a task waits for the shorter ones before it, so what those save or lose is its own too; under CO device kernels of longer tasks run first" if over == "MO" else "the last task's own kernels are the larger part of what it waits for, so the others' copies count less", apart=kind == "example")
            b.row("V-B, Fig. 9b", f"CO against {over}, TX2, {kind}, side by side, mean of the tasks' own changes", -54.6 if over == "D" else -10.0, lambda tasks=tasks: igpu.mean(tasks()),
                  "the paper's average may be this or that of the times, see the first rows; short tasks that wait weigh as much as long ones", neutral=0, unit=" %", apart=True)
        b.row("V-B, Fig. 9b", f"Gaussian, CO against D, {kind}, side by side", -75, lambda kind=kind: igpu.by_task(b, inputs.file(kind, "tx2"), "device")[0]["gaussian"], "it stays under D in both and waits for the others' copies no more; see what the mean would need", neutral=0, unit=" %", apart=kind == "example")
        b.row("V-B, Fig. 9b", f"Gaussian does not take longer under CO than under MO, {kind}, side by side", "yes", lambda kind=kind: (lambda x: (x <= 0.05, f"{x:+.1f} %"))(igpu.by_task(b, inputs.file(kind, "tx2"), "managed")[0]["gaussian"]), apart=kind == "example")
    b.none("V-B, Fig. 9b", "the queue: D and MO in order of deadline, as CO is", "", lambda: "the paper does not say whether D and MO are scheduled too; " + igpu.without_queue(b, inputs.example("tx2")) + ": both numbers cannot come from the order alone")
    b.row("V-B, Fig. 9b", "CO against D, TX2, each task alone: most and least saved", "-21.2 to -92.2 %", lambda: (lambda v: (min(v.values()) < -15 and max(v.values()) < 0, " / ".join(f"{t} {x:.0f} %" for t, x in v.items())))(alone(DEVICE)),
          "guideline 1 counts the mapping as overlapped, which alone it is not", apart=True)
    for p, panel in (("tx2", "9a"), ("agx", "9c")):
        def held(p=p):
            return [[x["footprint_bytes"] for x in run(inputs.scaled(p, step), p, "corun")] for step in range(7, -1, -1)]

        b.row(f"V-B, Fig. {panel}", f"{p.upper()}: memory grows with the input, eight sizes, D, MO and CO", "yes", lambda held=held: (lambda v: (all(x[i] < y[i] for x, y in zip(v, v[1:]) for i in (DEVICE, MANAGED, AUTO)), f"CO {v[0][AUTO] / 2**20:.1f} to {v[-1][AUTO] / 2**20:.0f} MiB"))(held()), "CO places tasks otherwise as they shrink: what it takes back to D holds twice its bytes")
        b.row(f"V-B, Fig. {panel}", f"{p.upper()}: D holds the most, MO the least, at every size", "yes", lambda held=held: all(x[MANAGED] <= x[AUTO] <= x[DEVICE] for x in held()), "tasks side by side under CO hold their memory together, under D and MO one after the other")
    for p, paper in (("tx2", "yes"), ("agx", "no: noticeably more")):
        b.row(f"V-B, Fig. {'9a' if p == 'tx2' else '9c'}", f"{p.upper()}: the footprint of CO is almost that of MO, largest size", paper, lambda p=p: (lambda r: ((r[AUTO]["footprint_bytes"] / r[MANAGED]["footprint_bytes"] < 1.15) == (p == "tx2"), f"{r[AUTO]['footprint_bytes'] / r[MANAGED]['footprint_bytes']:.2f} times"))(run(inputs.example(p), p, "corun")),
              "the task that holds the most, pathfinder, is placed under M here")
    b.row("V-B, Fig. 9c", "AGX: the footprint of CO with the paper's own placements, against MO", "no: noticeably more", lambda: (lambda r: (r[1]["footprint_bytes"] / r[0]["footprint_bytes"] > 1.15, f"{r[1]['footprint_bytes'] / r[0]['footprint_bytes']:.2f} times"))(b.replay(f"placement {inputs.example('agx')} --platform agx --set mode=corun --policy managed,source")), apart=True)
    for what, key, paper in (("memory speed", "dram_bytes_per_s", 2.5), ("copies to the GPU", "l_hd", None)):
        b.row("V-B", f"{what} of AGX over TX2", paper or 1, lambda key=key: igpu.numbers(b, "agx")[key] / igpu.numbers(b, "tx2")[key] if key != "l_hd" else igpu.numbers(b, "tx2")[key] / igpu.numbers(b, "agx")[key], "", relation=None if paper else ">", given="both boards' data sheets")
    b.row("V-B, Fig. 9", "footprint of MO against D: each transferred buffer once instead of twice", 0.5, lambda: (lambda r: r[MANAGED]["footprint_bytes"] / r[DEVICE]["footprint_bytes"])(run(inputs.example("tx2"))), "!by definition, where all of a task's buffers are transferred", neutral=1, definition=True)
    b.row("V-B, Fig. 9d", "the average GPU time on AGX is much less than on TX2: programs, MO, AGX over TX2 (here: less than half)", 0.5, lambda: run(inputs.programs("agx"), "agx", "corun")[MANAGED]["mean_response_ns"] / run(inputs.programs("tx2"), "tx2", "corun")[MANAGED]["mean_response_ns"], "launches cost the same on both here; they were measured on no TX2, whose cores are slower", relation="<")
    b.row("V-B", "summary: CO improves on MO by up to, benchmarks, programs, TX2, side by side", -34.2, lambda: min(igpu.by_task(b, inputs.file("programs", "tx2"), "managed")[0].values()), "the paper's own section says 18.7 %", neutral=0, unit=" %")
    b.row("V-B", "summary: the same, examples, each task alone", -34.2, lambda: min(alone(MANAGED).values()), "alone nothing overlaps; the paper's own section says 18.7 %", neutral=0, unit=" %", apart=True)
    b.none("abstract", "prediction error of all policies, average, TX2 and AGX", "9.3 and 9.3 %", "as the errors by policy: the measured times are bars without numbers")

    def assumed(p):
        rows = igpu.draws(b, inputs.draws("example", p), p, False)
        return ", ".join(f"{k} {rows[('error', v)][0]:.1f} ({rows[('error', v)][2]:.1f})" for k, v in NAMES.items()) + " %"

    for platform, errors in (("TX2", "D 9.6 (14.9), M 11.8 (16.4), H 6.5 (23.1) %"), ("AGX", "D 10.9 (15.0), M 14.7 (24.3 or 14.3), H 2.39 %")):
        b.none("V-B, Fig. 8", f"prediction error, mean (worst), {platform}", errors, lambda platform=platform: "needs the measured times of eight input sizes, which the paper shows only as bars (`prediction_error_ratio` is computed where a task file gives measured_..._ms); the ranges of our assumed constants by themselves move a task's time by " + assumed(platform.lower()))
    for i, name, tx2, agx in ((DEVICE, "D", 74.6, 63.1), (MANAGED, "MO", 56.2, 57.3), (AUTO, "CO", 74.6, 63.0)):
        for p, paper in (("tx2", tx2), ("agx", agx)):
            for kind in ("example", "programs"):
                b.row("V, Table V", f"GPU utilisation, Rodinia, {p.upper()}, {name}, {kind}", paper, lambda i=i, p=p, kind=kind: 100 * run(inputs.file(kind, p), p, "corun")[i]["gpu_utilization_ratio"], HOST, unit=" %", apart=kind == "example")
    for kind in ("example", "programs"):
        b.row("V, Table V", f"MO uses the GPU less than D and CO, TX2, {kind}", "yes", lambda kind=kind: (lambda r: (r[MANAGED]["gpu_utilization_ratio"] < min(r[DEVICE]["gpu_utilization_ratio"], r[AUTO]["gpu_utilization_ratio"]), " / ".join(f"{100 * r[i]['gpu_utilization_ratio']:.0f}" for i in (DEVICE, MANAGED, AUTO)) + " % D, MO, CO"))(run(inputs.file(kind, "tx2"), "tx2", "corun")),
              "the copies cost more than the mapping on the assumed rates", apart=kind == "example")
    for kind in ("example", "programs"):
        b.row("IV-B", f"the schedule over a bound that no placements and no order beat, TX2, CO, {kind}", None, lambda kind=kind: run(inputs.file(kind, "tx2"), "tx2", "corun")[AUTO]["optimum_ratio"], "!the paper prints no such bound", low=1, high=1.2, definition=True, apart=True)


def studies(b, inputs, run):
    """Section V-C: the drone's YOLO, and Autoware."""
    t, rows = yolov2.totals(), yolov2.layers()[0]

    def yolo(board):
        path = b.write_file(f"yolo-{board}.ini", yolov2.task("yolo", GFLOPS[board], 0.6, 0.6, "managed"))
        return b.replay(f"placement {path} --platform {board} --policy device,managed,auto")

    b.row("V, Table IV", "YOLO's kernels, from its layer table", 180, lambda: t["kernels"], "!each convolution unrolled, without cuDNN, fills of gradients not counted: which fills count was chosen by this number", fit="the rule which kernels are counted")
    for p, memory, time in (("tx2", -69.0, -58.9), ("agx", -64.5, -11.2)):
        b.row("V, Table IV", f"drone (YOLO), 180 kernels, {p.upper()}", "managed", lambda p=p: (lambda r: (r[2]["tasks_managed"] == 1, "managed" if r[2]["tasks_managed"] else "device"))(yolo(p)), INPUTS)
        b.row("V-C, Fig. 11", f"drone, CO against D, memory, {p.upper()}", memory, lambda p=p: 100 * (yolo(p)[2]["footprint_bytes"] / yolo(p)[0]["footprint_bytes"] - 1), "the layers' arrays are there twice under D, once under M, so at most half is saved; the paper's own table I has 52 % less, and this would take three copies of each array under D", neutral=0, unit=" %")
        b.row("V-C, Fig. 11", f"drone, CO against D, time, {p.upper()}", time, lambda p=p: 100 * (yolo(p)[2]["time_ns"] / yolo(p)[0]["time_ns"] - 1), "from load to the first frame, kernels at 60 % of the peak (30 to 90 assumed); which times are in the paper's is not said", neutral=0, unit=" %")
    b.row("V-C, Fig. 11", "drone: CO against MO", "the same, almost", lambda: (lambda r: (abs(r[2]["time_ns"] / r[1]["time_ns"] - 1) < 0.081, f"{100 * (r[2]['time_ns'] / r[1]['time_ns'] - 1):+.1f} %"))(yolo("tx2")), definition=True)
    b.row("V-C, Fig. 10", "of YOLO's layers the first holds the most", "yes", lambda: (rows[0][1] == max(r[1] for r in rows), f"{rows[0][1] / 1e6:.0f} MB"), definition=True)
    b.none("V-C, Fig. 10", "each layer holds much less under CO (managed) than under D", "yes", "by definition here: its arrays once instead of twice")
    b.row("V-C, Fig. 10", "convolutions hold more than the maximum or route layer behind them", "yes", lambda: all(rows[i][1] < rows[i - 1][1] for i in range(1, 32) if yolov2.LAYERS[i][0] in "pr" and rows[i - 1][0] == "c"), "25 puts a layer's output where it is", definition=True)
    b.row("V-C, Fig. 10", "convolutions compute more than the others", "yes", lambda: (min(r[2] for r in rows if r[0] == "c") > max(r[2] for r in rows if r[0] != "c"), f"{t['flop'] / 1e9:.1f} GFLOP in all"), definition=True)
    for name, values in (("TX2", (70.6, 28.3, 29.1)), ("AGX", (26.2, 22.4, 23.3))):
        for i, (way, paper) in enumerate(zip(("D", "MO", "CO"), values)):
            b.row("V, Table V", f"GPU utilisation, drone, {name}, {way}", paper, lambda name=name, i=i: 100 * yolo(name.lower())[i]["gpu_utilization_ratio"], f"{HOST}; from load to the first frame, at 60 % of the peak", unit=" %")

    for board in ("tx2", "agx"):
        def layer_ms(policy, board=board):
            path = b.write_file(f"layers-{board}.ini", yolov2.by_layer(GFLOPS[board], 0.6))
            return list(igpu.alone(b, path, board, policy).values())

        def less(layer_ms=layer_ms):
            d, m = layer_ms("device"), layer_ms("managed")
            return all(y < x for x, y in zip(d, m)), f"{sum(y < x for x, y in zip(d, m))} of 32, {min(y / x for x, y in zip(d, m)):.2f} to {max(y / x for x, y in zip(d, m)):.2f} times"

        b.row("V-C, Fig. 10", f"every layer takes less time under CO (managed) than under D, {board.upper()}", "yes", less, "two small layers, whose flushes cost more than their copies")
        if board == "agx":
            b.row("V-C, Fig. 10", "AGX: the time of most layers under D is just a little worse than under CO: median of D over CO (here: 1 to 1.25)", None,
                  lambda layer_ms=layer_ms: sorted(x / y for x, y in zip(layer_ms("device"), layer_ms("managed")))[16], "copies of a layer's arrays take longer than its kernels on the assumed rates", low=1, high=1.25)
        b.row("V-C, Fig. 10", f"the first layer takes longest, D, {board.upper()}", "yes", lambda layer_ms=layer_ms: (lambda d: (d[0] == max(d), f"{d[0]:.3g} ms, the others {min(d[1:]):.2g} to {max(d[1:]):.3g}"))(layer_ms("device")), "no initialisation at the first launch is modelled, only its bytes and FLOP")

    def car(policies="device,managed,auto"):
        """Two YOLOs and a clustering: fixtures/tasks/autoware.ini."""
        return b.replay(f"placement fixtures/tasks/autoware.ini --platform px2 --set mode=corun,cut=1000 --policy {policies}", full=True)

    def loaded(*policies):
        """MB of all three together: each by itself under its policy."""
        with open("fixtures/tasks/autoware.ini", encoding="utf-8") as f:
            cluster = b.write_file("cluster.ini", "[cluster]\n" + f.read().split("[cluster]\n")[1])
        return sum(b.replay(f"placement {task} --platform px2 --set cut=1000 --policy device,managed", full=True)[policy]["footprint_bytes"] for task, policy in zip(("synth:yolov2", "synth:yolov2", cluster), policies))

    said = "the clustering's frame (2 MiB) and time (20 ms) are assumed, only its 239 kernels follow from the table"
    broken = "guideline (11) takes a YOLO back: 419 or 360 managed kernels would stand against 180 or 239"
    b.row("V, Table IV", "Autoware, 599 kernels, PX2: one under D, two under M", "D, M, M", lambda: (lambda x: (x["tasks_device"] == 1 and x["tasks_managed"] == 2, f"{x['tasks_device']} D, {x['tasks_managed']} M, {x['tasks_pinned']} H"))(car()[2]), broken)
    b.row("IV, eq. 11", "Autoware's D, M, M keeps guideline (11)", "yes", (False, "180 of 599 kernels under D, 239 at most"), "arithmetic of table IV: two YOLOs have 180 kernels each, so the largest task left has 239 of 599; the paper's own choice breaks its rule", definition=True)
    for way, paper, index in (("CO", -10, 2), ("MO", -6, 1)):
        b.row("V-C, Fig. 12b", f"Autoware, time, {way} against D", paper, lambda index=index: 100 * (car()[index]["mean_response_ns"] / car()[0]["mean_response_ns"] - 1), said, neutral=0, unit=" %")
    b.row("V-C, Fig. 12b", "Autoware, time, CO with the paper's own placements, against D", -10, lambda: (lambda r: 100 * (r[1]["mean_response_ns"] / r[0]["mean_response_ns"] - 1))(car("device,source")), said, neutral=0, unit=" %", apart=True)
    held = "all three loaded, one YOLO under D; CUDA's own is not counted"
    b.row("V-C, Fig. 12a", "Autoware, memory, MO against D", -50, lambda: 100 * (loaded(MANAGED, MANAGED, MANAGED) / loaded(DEVICE, DEVICE, DEVICE) - 1), held, neutral=0, unit=" %")
    b.row("V-C, Fig. 12a", "Autoware, memory, MO against CO", -34, lambda: 100 * (loaded(MANAGED, MANAGED, MANAGED) / loaded(DEVICE, MANAGED, MANAGED) - 1), held, neutral=0, unit=" %")
    b.row("abstract", "Autoware, memory, CO against D", -50, lambda: 100 * (loaded(DEVICE, MANAGED, MANAGED) / loaded(DEVICE, DEVICE, DEVICE) - 1), "the paper's own -50 % of MO against D and -34 % of MO against CO make this -24 %", neutral=0, unit=" %")
    b.none("V-C, Fig. 12a", "memory rises while the nodes are loaded, then stays", "yes", "loading is not modelled: a task holds its memory from start to end")
    for i, (way, paper) in enumerate((("D", 84.3), ("MO", 72.9), ("CO", 80.7))):
        b.row("V, Table V", f"GPU utilisation, car, {way}", paper, lambda i=i: 100 * car()[i]["gpu_utilization_ratio"], f"{said}; {HOST}", unit=" %")
    for name in ("tx2", "agx"):
        b.row("V-C, Table V", f"drone, {name.upper()}: D uses the GPU more than MO and CO", "yes", lambda name=name: (lambda u: (u[0] > max(u[1:]), " / ".join(f"{100 * x:.0f}" for x in u) + " % D, MO, CO"))([r["gpu_utilization_ratio"] for r in yolo(name)]),
              "from load to the first frame the copies take longer than the kernels, so D uses the GPU least")
    b.row("V-C, Table V", "car: CO uses the GPU more than MO", "yes", lambda: (lambda u: (u[2] > u[1], " / ".join(f"{100 * x:.0f}" for x in u) + " % D, MO, CO"))([r["gpu_utilization_ratio"] for r in car()]), said)
    for what, paper in (("drone", -8.06), ("Autoware", -20.06)):
        b.row("V-C, summary", f"CO against MO, best, {what}", paper, lambda what=what: (lambda r: 100 * (r[2]["mean_response_ns"] / r[1]["mean_response_ns"] - 1))(yolo("tx2") if what == "drone" else car()), "CO is MO where all of its tasks are managed" if what == "drone" else broken + ", which costs its copies", neutral=0, unit=" %")
