"""What lies behind the rows of bateni-2020: draws of assumed numbers, times task by task, and what would have to change."""
import os
import re
import subprocess

import book

DRAWS = 24
TOOL = "bench/replay/placement/placement_draws"


def draws(b, path, board, full):
    """What draws of all of a board's assumed numbers, [placement] and [gpu], make of the tasks: {(what, of): numbers}."""
    shown = f"build/{TOOL} {board} {os.path.basename(path) if b.scratch in path else path} {DRAWS}"
    b.mention(shown)
    if shown not in b.cache:
        if full and b.quick:
            raise book.NotRun
        tool = os.path.join(os.path.dirname(b.prog), TOOL)
        r = subprocess.run([tool, board, path, str(DRAWS)], capture_output=True, text=True, stdin=subprocess.DEVNULL) if os.path.exists(tool) else None
        if r is None or r.returncode:
            raise book.Failed(r.stderr.strip() if r else f"{TOOL} is not built")
        b.cache[shown] = {tuple(c[:2]): [float(x) if x else None for x in c[2:]] for c in (line.split(",") for line in r.stdout.splitlines()[1:])}
    return b.cache[shown]


def sign(b, path, board, mode, over, full):
    """In what share of the draws the paper's sign holds."""
    _, least, most, below = draws(b, path, board, full)[(mode, {"D": "device", "MO": "managed"}[over])]
    return f"paper's sign in {below:.0f} of {DRAWS} draws, {least:+.1f} to {most:+.1f} %"


def numbers(b, board):
    """A board's numbers of [gpu] and [placement]."""
    sections = b.call(["list", "platforms", board, "--format", "json"])["sections"]
    return {k: n["value"] for s in ("gpu", "placement") for k, n in sections[s].items()}


def rewritten(b, path, name, change):
    """A copy of a task file in which each compute_ms is changed."""
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"(?m)^compute_ms = (\S+)$", lambda m: f"compute_ms = {change(float(m.group(1))):.9g}", f.read())
    return b.write_file(name, text)


# --- times task by task ---
def alone(b, path, board, policy):
    """{task: ms by itself} under a policy."""
    with open(path, encoding="utf-8") as f:
        parts = re.split(r"(?m)^\[([\w-]+)\]\n", f.read())[1:]
    out = {}
    for task, text in zip(parts[::2], parts[1::2]):
        one = b.write_file(f"{task}-of-{os.path.basename(path)}", f"[{task}]\n{text}")
        args = ["replay", "placement", one, "--platform", board, "--policy", policy, "--format", "json"]
        shown = f"offchip replay placement {os.path.basename(path)} --platform {board} --policy {policy} (each task by itself)"
        out[task] = b.call(args, shown=shown)["runs"][0]["metrics"]["time_ns"] / 1e6
    return out


def in_turn(times):
    """{task: when it is done}, shortest first."""
    out, now = {}, 0
    for task, ms in sorted(times.items(), key=lambda x: x[1]):
        now += ms
        out[task] = now
    return out


def shared(times):
    """The same where all run at once and the chip is shared evenly."""
    return {task: sum(min(ms, other) for other in times.values()) for task, ms in times.items()}


def mean(values):
    return sum(values.values()) / len(values)


def done(b, path):
    """{task: when it is done} side by side under auto on tx2, from the figure's own data."""
    text = b.call(["plot", "timeline", path, "--script"], json_out=False)
    names = {int(i): n for n, i in re.findall(r'"([\w-]+)" (\d+)', re.search(r"set ytics \((.*)\)", text).group(1))}
    bars = re.search(r"\$bars << EOD\n(.*?)EOD", text, re.S).group(1)
    return {names[int(i)]: float(end) for _, end, i, _ in (line.split() for line in bars.splitlines())}


def by_task(b, path, policy):
    """CO against a policy for each task, side by side on tx2, percent; and over all. Under one placement nothing overlaps."""
    co, other = done(b, path), in_turn(alone(b, path, "tx2", policy))
    out = {t: 100 * (co[t] / other[t] - 1) for t in co}
    return out, 100 * (mean(co) / mean(other) - 1)


# --- what would have to change ---
def solve(f, want, low, high):
    """The factor between low and high at which f falls to `want`; None if it does not. f moves one way."""
    a, z = f(low) - want, f(high) - want
    if a * z > 0:
        return None
    for _ in range(14):
        middle = (low * high) ** 0.5
        if (f(middle) - want) * a > 0:
            low = middle
        else:
            high = middle
    return (low * high) ** 0.5


def needed(b, path, want):
    """What -54.6 % would take on tx2: kernels shorter or copies dearer, by how much, and what D's utilisation were then."""
    now, seen = numbers(b, "tx2"), {}

    def go(kernels, copies):
        file = rewritten(b, path, f"scaled-{os.path.basename(path)}", lambda ms: ms * kernels)
        sets = [x for k in ("l_hd", "l_dh", "l_ini", "t_ini") for x in ("--set", f"placement.{k}={min(now[k] * copies, 1e3):.6g}")]
        args = ["replay", "placement", file, "--platform", "tx2", "--set", "mode=corun", "--policy", "device,auto", *sets, "--format", "json"]
        shown = f"offchip replay placement {os.path.basename(path)} --platform tx2 --set mode=corun --policy device,auto (compute_ms, or l_hd, l_dh, l_ini and t_ini, scaled)"
        b.cache.pop(tuple(args), None)  # the file's name stays, its numbers do not
        d, c = (r["metrics"] for r in b.call(args, shown=shown)["runs"])
        seen["use"] = 100 * d["gpu_utilization_ratio"]
        return 100 * (c["mean_response_ns"] / d["mean_response_ns"] - 1)

    kernels = solve(lambda f: go(f, 1), want, 0.001, 1)
    use = seen["use"]
    copies = solve(lambda f: go(1, f), want, 1, 1000)
    said = []
    if kernels:
        said.append(f"kernels {kernels:.2g} times as long (D would then use the GPU {use:.0f} % of the time, table V has 74.6)")
    if copies:
        said.append(f"copies {copies:.2g} times as dear ({1e-6 / (now['l_hd'] * copies):.1f} GB/s there)")
    return "would need " + " or ".join(said) if said else "no factor of kernels or copies gives it"


def without_queue(b, path):
    """If the tasks under D and MO shared the chip evenly instead of waiting for each other."""
    co = mean(done(b, path))
    d, m = (mean(shared(alone(b, path, "tx2", p))) for p in ("device", "managed"))
    return f"were D and MO not queued but time-shared, CO would be {100 * (co / d - 1):+.0f} and {100 * (co / m - 1):+.0f} %, not -54.6 and -10.0"


def spread(b, path, board="tx2"):
    """How far the time of two tasks moves if the driver's work (mapping, flushes) takes 0.5 to 1.5 times as long: D/D, D/M, M/M."""
    now, ends = numbers(b, board), []
    for f in (0.5, 1, 1.5):
        sets = " ".join(f"--set placement.{k}={now[k] * f:.6g}" for k in ("l_mapping", "c_cpu", "c_gpu"))
        ends.append([r["time_ns"] for r in b.replay(f"placement {path} --platform {board} --set mode=corun --policy device,source,managed {sets}")])
    return [100 * (hi - lo) / mid for lo, mid, hi in zip(*ends)]
