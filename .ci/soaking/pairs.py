"""3,240 points: 180 pairs (20 GPU kernels x 9 PIM kernels) x 9 policies x 1 and 2 virtual channels. Once without
interruption, once killed three times, once as four shards merged: all three the same."""
import os
import resource
import time

KERNELS = "add copy daxpy scale bn-fwd bn-bwd fc kmeans grim".split()
POLICIES = "fcfs,mem-first,pim-first,frfcfs,frfcfs-cap,bliss,frrr-fcfs,gather-issue,f3fs"
POINTS = 3240


def words():
    args = ["sweep", "dram", "--policy", POLICIES, "--grid", "vcs=1|2"]
    for i in range(1, 21):
        args += ["--mem", f"synth:gpu-g{i}"]
    for name in KERNELS:
        args += ["--pim", f"synth:pim-{name},ops=900"]
    return args


def soak(g):
    whole, cut, merged = g.path("whole.db"), g.path("cut.db"), g.path("merged.db")
    t = time.monotonic()
    process = g.start(*words(), "--progress", "always", "-o", whole)
    done = g.end(process, timeout=3600)
    took = time.monotonic() - t
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    g.check(done.rc == 0, "the sweep of 3,240 points ends well", done)
    lines = [l for l in done.err.replace("\r", "\n").split("\n") if "left" in l]
    print(f"  progress: {' | '.join(lines[:: max(1, len(lines) // 5)])}")
    expect = g.results(whole)
    g.check(len(expect["runs"]) == POINTS, "the sweep has 3,240 points", len(expect["runs"]))
    left = []
    for kill in range(3):
        process = g.start(*words(), "-q", "-o", cut)
        _, done, alive = g.kill_later(process, g.rng.uniform(0.1, 0.3) * took)
        g.check(alive and done.rc == -9, "the kill came before the end", done)
        found = g.results(cut)
        if found is None:  # the killed writer's transaction: the next who writes rolls it back
            g.must("report", cut, "--format", "csv")
            found = g.results(cut)
        left.append(len(found["runs"]))
        g.check(found["runs"] <= expect["runs"], "what is there after the kill is as it should be", done)
    done = g.run(*words(), "-o", cut, timeout=3600)
    g.check(done.rc == 0 and g.results(cut) == expect, "killed three times: exactly the results of an uninterrupted one", done)
    said = done.err.strip().split("\n")[-1]
    parts = []
    for i in range(1, 5):
        parts.append(g.path(f"part{i}.db"))
        done = g.run(*words(), "-q", "--shard", f"{i}/4", "-o", parts[-1], timeout=3600)
        g.check(done.rc == 0, "a shard ends well", done)
    done = g.run("merge", *parts, "-o", merged)
    g.check(done.rc == 0 and g.results(merged) == expect, "four shards merged: exactly the results of one", done)
    a, b = (g.run("report", f, "--format", "csv", timeout=600).out for f in (whole, merged))
    g.check(a == b and a.count("\n") == POINTS + 1, "and the same report, byte for byte")
    return f"{POINTS} points in {took:.0f} s ({1000 * took / POINTS:.1f} ms each) on {os.cpu_count()} processors, " \
           f"{peak / 1024:.0f} MiB at most, file {os.path.getsize(whole) / 1048576:.1f} MiB; after the kills {left} were " \
           f"there; then {said}"
