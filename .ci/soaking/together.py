"""Several at once: replays of one trace, writers to one results file, sweeps that resume the same file."""
import os

import kills


def replays(g, n):
    """n replays of one trace at once print what one prints."""
    trace = g.path("together.db")
    g.must("import", "-q", g.fixture("traces", "uvm_seq_256MiB_complete.csv.xz"), "-o", trace)
    words = ["replay", "uvm", trace, "--platform", "h200", "--policy", "tree,fixed,adaptive", "--format", "json"]
    one = g.must(*words).out
    for process in [g.start(*words) for _ in range(n)]:
        done = g.end(process)
        g.check(done.rc == 0 and done.out == one, "replays of one trace at once agree with one alone", done)


def writers(g, n):
    """n replays write to one results file, two at a time: every run is there, once."""
    path = g.path("shared.db")
    for i in range(1, n + 1, 2):
        for process in [g.start("replay", "-q", "uvm", f"synth:triad,bytes={k}MiB", "--policy", "tree,fixed", "-o", path) for k in (i, i + 1)[:n + 1 - i]]:
            done = g.end(process)
            g.check(done.rc == 0, "two writers to one results file both succeed", done)
    runs = g.rows(path, "SELECT input, policy FROM runs")
    g.check(runs is not None and len(runs) == 2 * n and len(set(runs)) == 2 * n, "every run of every writer is there", runs)
    g.sound(path, "two writers")


def sweeps(g, rounds):
    """Two sweeps on one file, one of them killed at a random moment; both go on; the file equals one sweep's."""
    whole, shared = g.path("alone.db"), g.path("two.db")
    took = kills.timed(g, *kills.SWEEP, "-q", "-o", whole)
    expect = g.results(whole)
    for _ in range(rounds):
        if os.path.exists(shared):
            os.unlink(shared)
        first, second = g.start(*kills.SWEEP, "-o", shared), g.start(*kills.SWEEP, "-o", shared)
        g.kill_later(first, g.rng.uniform(0, took))
        again = g.start(*kills.SWEEP, "-o", shared)
        for process in (second, again):
            done = g.end(process)
            g.check(done.rc == 0, "two sweeps of one file both end well", done)
        g.check(g.results(shared) == expect, "two sweeps of one file leave what one leaves", done)
        g.sound(shared, done)


def soak(g):
    rounds = max(1, g.n // 25)
    replays(g, 8 if g.n >= 100 else 4)
    writers(g, max(6, g.n // 10))
    sweeps(g, rounds)
    return f"{8 if g.n >= 100 else 4} replays, {max(6, g.n // 10)} writers, {rounds} times two sweeps of one file"
