"""make bench: docs/benchmarks.md from real runs. Usage: bench.py BUILD OUT [--quick]

What OUT has from its heading "## By hand" on stays. Nothing passes or fails by time; a command that fails ends the run.
--quick: smallest sizes, printed, no page written. Python 3 standard library only."""
import datetime
import json
import lzma
import math
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile

BUILD, OUT = os.path.abspath(sys.argv[1]), sys.argv[2]
QUICK = "--quick" in sys.argv[3:]
PROG, FIXTURES = BUILD + "/offchip", os.path.abspath("fixtures")
TIMES = 1, 4, 16  # the three sizes
BY_HAND = "\n## By hand\n"
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait take no processor time


def run(*args):
    """Wall s, processor s, peak MiB, stdout of a command."""
    p = subprocess.run(["/usr/bin/time", "-f", "%e %U %S %M", "-o", "measured", *map(str, args)], capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"bench: {' '.join(map(str, args))}: exit {p.returncode}: {p.stderr.strip()}")
    with open("measured") as f:
        wall, user, system, kib = map(float, f.read().split())
    return wall, user + system, kib / 1024, p.stdout


def exponent(sizes, times):
    """The slope of log time over log size, by least squares."""
    x, y = [math.log(s) for s in sizes], [math.log(max(t, 1e-4)) for t in times]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def rate(r):
    for by, name in (1e9, " G"), (1e6, " M"), (1e3, " k"):
        if r >= by:
            return f"{r / by:.3g}{name}"
    return f"{r:.3g}"


class Page:
    def __init__(self):
        self.lines = []

    def add(self, text=""):
        self.lines.append(text)
        print(text, flush=True)

    def table(self, title, unit):
        self.add(f"\n### {title}\n")
        self.add(f"| what | {unit}: n, 4 n, 16 n | processor s | {unit}/s | peak MiB | time grows as | memory, 16 n / n |")
        self.add("| --- | --- | --- | --- | --- | --- | --- |")

    def growth(self, what, measure):
        """measure(times) -> items, (wall, cpu, mib, ...): one row of three sizes."""
        rows = [measure(t) for t in (TIMES[:1] if QUICK else TIMES)]
        items, cpu, mib = [r[0] for r in rows], [r[1][1] for r in rows], [r[1][2] for r in rows]
        several = len(rows) > 1
        self.add(f"| {what} | {', '.join(f'{i:,.0f}' for i in items)} | {', '.join(f'{c:.2f}' for c in cpu)} | "
                 f"{', '.join(rate(i / max(c, 1e-4)) for i, c in zip(items, cpu))} | {', '.join(f'{m:.0f}' for m in mib)} | "
                 f"{f'n^{exponent(items, cpu):.2f}' if several else ''} | {f'{mib[-1] / mib[0]:.1f}' if several else ''} |")


# --- engines ---

def replay(*args):
    r = run(PROG, "replay", "-q", *args, "--format", "json")
    return json.loads(r[3])["runs"], r


def metric(runs, name):
    return sum(r["metrics"][name] for r in runs)


def touches(spec, policy, pct, *parameter):
    r = run(BUILD + "/bench/replay/uvm/uvm", spec, policy, pct, *parameter)
    return int(r[3]), r


def uvm(page):
    page.table("uvm: page touches, policy tree, memory sufficient", "touches")
    for name in "conv2d", "fdtd2d", "bicg", "nw":
        page.growth(name, lambda t, name=name: touches(f"{name},bytes={t * 512}MiB", "tree", 0))
    for title, pct in ("memory sufficient", 0), ("memory oversubscribed, 150 %", 150):
        page.table(f"uvm: policies on fdtd2d, {title}", "touches")
        for policy in "tree", "fixed 4KiB", "fixed 64KiB", "fixed 2MiB", "adaptive", "none":
            name, *size = policy.split()
            page.growth(policy, lambda t, name=name, size=size, pct=pct:
                        touches(f"fdtd2d,bytes={t * 64}MiB", name, pct, *(["granularity", *size] if size else [])))


def zerocopy(page):
    page.table("zerocopy: BFS over a stored kron graph, k 16, root auto, elements of the lists read", "elements")
    for t in TIMES:
        run(PROG, "synth", "-q", f"kron,scale={16 + TIMES.index(t) * 2},k=16", "-o", f"g{t}.bel")
        if QUICK:
            break
    for policy in "naive", "merged", "aligned", "uvm", "naive,merged,aligned,uvm":
        def measure(t, policy=policy):
            runs, r = replay("zerocopy", f"synth:bfs,graph=g{t}.bel,root=auto", "--policy", policy, "--set", "gpu_memory_ratio=2")
            return sum(x["metrics"]["edges_per_s"] * x["metrics"]["time_ns"] / 1e9 for x in runs), r
        page.growth(policy, measure)
    page.table("scores of a stored kron graph", "elements")
    for score in "degree", "reverse-pagerank":
        def measure(t, score=score):
            r = run(PROG, "graph", "score", "-q", f"g{t}.bel", "--score", score, "--format", "json")
            return json.loads(r[3])["elements"], r
        page.growth(f"graph score, {score}", measure)


def dram(page):
    page.table("dram: co-run of gpu-g1 and pim-add, all channels, checks on; both also run alone", "packets")
    for policy in "fcfs", "frfcfs", "f3fs", "bliss":
        def measure(t, policy=policy):
            runs, r = replay("dram", "--mem", f"synth:gpu-g1,cycles={t * 10000}", "--pim", f"synth:pim-add,ops={t * 100}",
                             "--set", "cut=none", "--policy", policy)
            return metric(runs, "noc_packets_per_kcycle") * metric(runs, "total_cycles") * 32 / 1000, r
        page.growth(policy, measure)


def placement(page):
    page.table("placement: tasks of a set under auto", "tasks")

    def measure(t):
        n = t * 1000
        with open("tasks.ini", "w") as f:
            for i in range(n):
                f.write(f"[t{i}]\nbytes_hd = {1 + i % 64}MiB\nbytes_dh = {1 + i % 16}MiB\ncopies = 3\nkernels = {1 + i % 9}\ndirty_kernels = 1\n"
                        f"kernel_bytes = {1 + i % 64}MiB\ncompute_ms = {1 + i % 50}\n")
        return n, run(PROG, "replay", "-q", "placement", "tasks.ini", "--policy", "auto", "--format", "json")
    page.growth("auto", measure)


def sweep(page):
    page.table("sweep: points of co-runs as above (20,000 cycles), two at once, results written", "points")

    def measure(t):
        n = 15 * t
        return n, run(PROG, "sweep", "-q", "dram", "--mem", "synth:gpu-g1,cycles=20000", "--pim", "synth:pim-add,ops=1000", "--policy",
                      "f3fs", "--grid", f"f3fs.mem_cap=1:{n}:1", "-j", 2, "-o", "r.db", "--force")
    page.growth("f3fs", measure)


# --- readers ---

def migration(i):
    """Start, end and address of migration i of a sweep: 40 a service, 20 services a batch."""
    start = i * 2600 + i // 40 * 2000 + i // 800 * 30000
    return start, start + 2600, 0x7F0000000000 + i // 40 * 2097152 + i % 40 * 32768


def make(name, t):
    """The input of a reader; its path and what it holds."""
    n, path = 100000 * t, "in." + name
    if name == "nettlp":
        subprocess.run([BUILD + "/bench/trace/import/nettlp", path, str(n)], check=True)
        return path, 3 * n
    if name == "accelsim":
        path = "kernel-1.traceg"
        subprocess.run([BUILD + "/bench/trace/import/accelsim", path, str(n)], check=True)
        return path, n
    if name == "nsys":
        path = "in.sqlite"
        if os.path.exists(path):
            os.remove(path)
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER, end INTEGER, deviceId INTEGER, globalPid INTEGER, bytes INTEGER, "
                   "copyKind INTEGER, migrationCause INTEGER, virtualAddress INTEGER)")
        db.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,0,704643072,?,11,2,?)",
                       ((a, b, 32768, addr) for a, b, addr in map(migration, range(n))))
        db.commit()
        db.close()
        return path, n
    if name == "accesses":
        with lzma.open(FIXTURES + "/traces/accesses_h200.txt.xz", "rt") as f:
            text = f.read()
        with open(path, "w") as f:
            for _ in range(t):
                f.write(text)
        return path, t * (text.count("\n") - text.count("#"))
    lines = {"cupti-csv": ("", lambda i: "1,{},{},{:x},32768,0,1,0,767,2\n".format(*migration(i))),
        "csv": ("kind,time_ns,addr,bytes,flags,id\n", lambda i: f"TOUCH,{i * 32},{0x7F0000000000 + i * 7919 % 262144 * 4096},4096,1,{i % 80}\n"),
        "uvmeval": ("s,\n", lambda i: ("b,\ns,\n" if i % 256 == 255 else "") + f"f,{0x7FB144000000 + i * 4096:x},{i * 32},0,1,2,1,0,0,0,127,{i % 40},0,1,63\n"),
        "dram-csv": ("id,arrival_cycle,kind,bank,row,col\n", lambda i: f"{i},{i},{'WR' if i % 3 == 0 else 'RD'},{i % 16},{i // 64 % 8192},{i % 64}\n"),
        "dramsim3": ("", lambda i: f"0x{i * 7919 % 16777216 * 64:X} {'WRITE' if i % 3 == 0 else 'READ'} {i}\n"),
        "ramulator": ("", lambda i: f"{'ST' if i % 3 == 0 else 'LD'} 0x{i * 7919 % 16777216 * 64:x}\n"),}
    head, line = lines[name]
    with open(path, "w") as f:
        f.write(head)
        f.writelines(map(line, range(n)))
    return path, n


def readers(page):
    page.table("import: items of a file to a finished trace", "items")
    for name in "cupti-csv", "csv", "nsys", "uvmeval", "accesses", "accelsim", "nettlp", "dram-csv", "dramsim3", "ramulator":
        def measure(t, name=name):
            path, n = make(name, t)
            r = run(PROG, "import", "-q", "--format", name, path, "-o", f"{name}{t}.db", "--force")
            os.remove(path)
            return n, r
        page.growth(name, measure)
    page.table("derive: accesses to what an engine replays", "accesses")
    for what in "touches", "requests", "dram":
        def measure(t, what=what):
            with sqlite3.connect(f"accesses{t}.db") as db:
                n = db.execute("SELECT sum(records) FROM chunks").fetchone()[0]
            return n, run(PROG, "derive", "-q", what, f"accesses{t}.db", "-o", "d.db", "--force")
        page.growth(what, measure)


def store(page):
    page.add("\n### The store: append, read, size (processor time, one core)\n")
    page.add("| stream | M records | append M/s | read M/s | bytes a record | peak MiB |")
    page.add("| --- | --- | --- | --- | --- | --- |")
    for t in (TIMES[:1] if QUICK else TIMES):
        r = run(BUILD + "/bench/trace/store/store", t)
        for line in r[3].splitlines()[1:]:
            name, append, read, size = line.split()
            page.add(f"| {name} | {t} | {append} | {read} | {size} | {r[2]:.0f} |")


def loops(page):
    page.add("\n### Inner loops (processor time, one core)\n")
    for name, what in (("trace/program/walk", "the walk of generated programs: accesses of warps, one block after the other and in waves"),
                       ("models/uvm/uvm_policies", "plan() of every uvm policy, services a second"),
                       ("replay/zerocopy/zerocopy", "neighbour lists counted by each pattern"),
                       ("replay/dram/dram", "the controller of one channel, checks on: f3fs on each stream, then every policy on the mixed one")):
        page.add(f"{what}:\n")
        for line in run(BUILD + "/bench/" + name)[3].splitlines():
            page.add("    " + line)
        page.add()


# --- the page ---

def first(path, key):
    with open(path) as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith(key)), "unknown")


def machine(page):
    version = subprocess.run([PROG, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    compiler = subprocess.run([os.environ.get("CC", "cc").split()[-1], "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    page.add(f"""# Benchmarks

Time grows about in proportion to the input, and memory hardly. `make bench` made these tables in a few minutes. Processor time is
user and system time of all threads, and rates are by it. A row's sizes are n, 4 n and 16 n; the exponent is fitted through the three
times. Start-up makes small sizes look slower and the exponent lower. Peaks are the process's largest resident memory.

| | |
| --- | --- |
| version | {version} |
| date | {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d} |
| processor | {first('/proc/cpuinfo', 'model name')}, {os.cpu_count()} in use |
| memory | {int(first('/proc/meminfo', 'MemTotal').split()[0]) / 1048576:.1f} GiB |
| system | {platform.system()} {platform.release()}, {platform.machine()} |
| compiler | {compiler}, {os.environ.get('BENCH_FLAGS', '')} |
| load before | {', '.join(f'{x:.2f}' for x in os.getloadavg())} (1, 5, 15 minutes) |""")


def by_hand(path):
    """What a page has that no run of this writes."""
    text = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    return "".join(text.partition(BY_HAND)[1:])


def main():
    page, out = Page(), os.path.abspath(OUT)
    kept = by_hand(out)
    machine(page)
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for title, parts in (("Engines", (uvm, zerocopy, dram, placement, sweep)), ("Readers", (readers,)), ("Store", (store,)), ("Loops", (loops,))):
            page.add(f"\n## {title}")
            for part in parts:
                part(page)
        os.chdir("/")
    if not QUICK:
        with open(out + ".part", "w", encoding="utf-8") as f:
            f.write("\n".join(page.lines).rstrip() + "\n" + kept)
        os.replace(out + ".part", out)


main()
