"""Processor time of offchip compare for every program. Usage: compare_times.py OFFCHIP [--part N] [--rows] [--robust N]
[PROGRAM...]

Each program at about 1 GiB, or a 1/N of that (--part N; N a power of 4 keeps grids square); `x N` is what 1 GiB would
take if time grew as the footprint. --rows: what each row takes by itself, by replay: compare shares a program's steps
among its rows and takes less. --robust N: with so many draws. Nothing passes or fails by time. Python 3 standard
library only."""
import json
import os
import subprocess
import sys

# Program: keys with their values at 1 GiB; how they grow: 1 as the footprint, .5 as its root, 0 not; of what multiple.
GIB = {
    "conv2d": {"bytes": (2**30, 1, 4096)},
    "fdtd2d": {"bytes": (2**30, 1, 4096)},
    "bicg": {"bytes": (2**30, 1, 4096)},
    "nw": {"bytes": (2**30, 1, 4096)},
    "rodinia-nw": {"n": (11584, .5, 32)},
    "rodinia-lud": {"n": (16384, .5, 32), "steps": (2, 0, 1)},
    "rodinia-srad-v1": {"rows": (5888, .5, 16), "columns": (5888, .5, 16), "iterations": (2, 0, 1)},
    "rodinia-nn": {"n": (89_000_000, 1, 16)},
    "rodinia-pathfinder": {"cols": (2_650_000, 1, 16)},
    "rodinia-gaussian": {"n": (11584, .5, 16)},
    "rodinia-cfd": {"n": (8_000_000, 1, 192), "iterations": (1, 0, 1)},
    "rodinia-kmeans": {"n": (3_900_000, 1, 16), "iterations": (1, 0, 1)},
    "rodinia-huffman": {"blocks": (131072, 1, 8192), "runs": (1, 0, 1)},
    "rodinia-srad-v2": {"rows": (6656, .5, 16), "cols": (6656, .5, 16)},
    "rodinia-hotspot3d": {"nx": (3328, .5, 64), "ny": (3328, .5, 64), "iterations": (2, 0, 1)},
    "rodinia-hotspot": {"n": (9472, .5, 16)},
    "rodinia-bfs": {"n": (2**24, 1, 16)},
    "rodinia-streamcluster": {"n": (940_000, 1, 16)},
    "rodinia-btree": {"n": (32_000_000, 1, 16)},
    "rodinia-lavamd": {"boxes": (52, 1 / 3, 1)},
    "rodinia-backprop": {"n": (7_450_000, 1, 16)},
    "rodinia-dwt2d": {"width": (5888, .5, 16), "height": (5888, .5, 16)},
    "rodinia-heartwall": {},
    "rodinia-mummergpu": {"bases": (8_388_608, 1, 16)},
    "triad": {"bytes": (2**30, 1, 4096)},
    "strided": {"bytes": (2**30, 1, 4096)},
    "stencil": {"n": (11584, .5, 16)},
    "launch-touch": {"pages": (262144, 1, 1)},
    "array": {"bytes": (2**30, 1, 4096)},
    "bfs": {"scale": (22, "log", 1), "root": ("auto", 0, 1)},
    "cc": {"scale": (22, "log", 1)},
    "sssp": {"scale": (21, "log", 1), "roots": (4, 0, 1)},
    "pagerank": {"scale": (22, "log", 1), "iterations": (2, 0, 1)},
    "gather": {"count": (524288, 1, 16), "table_rows": (1048576, 1, 16)},
}
POLICIES = ["tree", "none", "fixed:granularity=64KiB", "fixed:granularity=2MiB", "adaptive"]


def spec(name, part):
    values = []
    for key, (full, grows, multiple) in GIB[name].items():
        if isinstance(full, str):
            values.append(f"{key}={full}")
            continue
        v = full - (part.bit_length() - 1) if grows == "log" else round(full / part**grows / multiple) * multiple
        values.append(f"{key}={max(v, multiple)}")
    return ",".join([f"synth:{name}"] + values)


def run(*args):
    """Processor s, wall s, MiB at most, exit code, stdout of a command."""
    start = os.times().elapsed
    child = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "OMP_WAIT_POLICY": "passive"})
    out = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime, os.times().elapsed - start, used.ru_maxrss / 1024, child.returncode, out


def rows(offchip, text):
    for policy in POLICIES:
        print(f"    {policy}: {run(offchip, 'replay', '-q', 'uvm', text, '--platform', 'h200', '--policy', policy)[0]:.2f}", flush=True)
    patterns = "naive,merged,aligned" if text.split(",")[0] in ("synth:bfs", "synth:cc", "synth:sssp", "synth:pagerank") else "own:reuse=l1"
    print(f"    zerocopy {patterns}: {run(offchip, 'replay', '-q', 'zerocopy', text, '--platform', 'h200', '--policy', patterns)[0]:.2f}", flush=True)


def main():
    args = sys.argv[1:]
    part = int(args.pop(args.index("--part") + 1)) if "--part" in args else 1
    draws = ("--robust", args.pop(args.index("--robust") + 1)) if "--robust" in args else ()
    if not args or part < 1:
        sys.exit(__doc__)
    offchip, names = args[0], [a for a in args[1:] if not a.startswith("--")] or GIB
    print(f"processor s, wall s, MiB at most, footprint MiB; x {part}: processor s at 1 GiB")
    for name in names:
        text = spec(name, part)
        cpu, wall, mib, code, out = run(offchip, "compare", "-q", text, "--platform", "h200", *draws, "--format", "json")
        if code:
            print(f"{text}: exit {code}, {cpu:.2f} s", flush=True)
            continue
        footprint = json.loads(out)["footprint_bytes"] / 2**20
        print(f"{text}: {cpu:.2f} {wall:.2f} {mib:.0f} {footprint:.0f}; x {part}: {cpu * 1024 / footprint:.1f}", flush=True)
        if "--rows" in args:
            rows(offchip, text)


main()
