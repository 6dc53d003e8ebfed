"""kill -9 at random moments of import, sweep and record."""
import collections
import contextlib
import os
import signal
import time

SWEEP = ["sweep", "dram", "--mem", "synth:gpu-g6,cycles=2000", "--mem", "synth:gpu-g15,cycles=2000", "--pim",
         "synth:pim-add,ops=300", "--pim", "synth:pim-copy,ops=300", "--policy", "fcfs,frfcfs,f3fs", "--grid", "vcs=1|2",
         "--grid", "f3fs.mem_cap=64|256", "--set", "cut=20000"]


def timed(g, *args, **keys):
    t = time.monotonic()
    g.must(*args, **keys)
    return time.monotonic() - t


def kill_import(g, n):
    rows = g.cupti_rows(g.path("rows.csv"), 400000 if g.n >= 100 else 200000)
    whole, cut = g.path("whole.db"), g.path("cut.db")
    took = timed(g, "import", "-q", rows, "-o", whole)
    chunks = g.chunks(whole)
    for _ in range(n):
        process = g.start("import", "-q", rows, "-o", g.clear(cut))
        _, done, killed = g.kill_later(process, g.rng.uniform(0, 1.1 * took))
        left = g.trace(cut, done, chunks)
        g.check(left == chunks or (killed and left is None), "a killed import leaves all or nothing", done)


def kill_sweep(g, n):
    whole, cut = g.path("whole-sweep.db"), g.path("cut-sweep.db")
    took = timed(g, *SWEEP, "-q", "-o", whole)
    expect = g.results(whole)
    chains = 0
    while n > 0:
        g.clear(cut)
        for _ in range(min(n, 4)):
            n -= 1
            process = g.start(*SWEEP, "-q", "-o", cut)
            before, done, _ = g.kill_later(process, g.rng.uniform(0, 0.5 * took), lambda: g.results(cut))
            if not os.path.exists(cut):
                continue
            report = g.run("report", cut, "--format", "csv")
            g.check(report.rc == 0 or "no runs" in report.err, "what is left of a sweep can be reported", report)
            g.sound(cut, done)
            left = g.results(cut)
            g.check(left["runs"] <= expect["runs"] and left["metrics"] <= expect["metrics"],
                    "every run left is one of the whole sweep, with all its metrics", done)
            count = collections.Counter(key for key, *_ in left["metrics"])
            g.check(len({count[key] for key, *_ in left["runs"]}) <= 1, "no run is there with half its metrics", done)
            if before:
                g.check(before["runs"] <= left["runs"], "committed runs are kept", done)
        done = g.run(*SWEEP, "-o", cut)
        g.check(done.rc == 0 and g.results(cut) == expect, "a resumed sweep ends equal to an uninterrupted one", done)
        chains += 1
    return chains


def recording(g):
    """Environment and words of a recording over the stand-ins for driver and CUPTI."""
    events, standin = g.path("events.csv"), os.path.join(g.build, "standin")
    with open(events, "w", encoding="ascii") as f:
        f.write(g.events())
    env = {"LD_LIBRARY_PATH": standin, "STANDIN_EVENTS": events, "TMPDIR": g.folder("tmp"),
           "OFFCHIP_CUPTI": os.path.join(standin, "libcupti.so"), "OFFCHIP_INJECT": os.path.join(g.build, "liboffchip_inject.so")}
    plays = [act for part in range(1, 9) for act in (f"play:{part}/8", "sleep:10")]
    return env, [os.path.join(standin, "target"), "init", "context", "alloc", *plays, "destroy", "say:done", "exit:0"]


def child_of(pid, program):
    """The recorded program, once it runs: `record` has another child that looks at the driver."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return next((int(c) for c in f.read().split() if os.path.samefile(f"/proc/{c}/exe", program)), None)
    except OSError:
        return None


def wait_orphan(pid):
    """The status of a program whose recorder is gone; we are its parent now. None: the recorder had seen its end."""
    try:
        for _ in range(2000):
            got, status = os.waitpid(pid, os.WNOHANG)
            if got:
                return status
            time.sleep(0.01)
        os.kill(pid, signal.SIGKILL)
        return os.waitpid(pid, 0)[1]
    except ChildProcessError:
        return None


def kill_record(g, n):
    env, target = recording(g)
    whole, cut, said = g.path("whole-record.db"), g.path("cut-record.db"), g.path("said")
    took = timed(g, "record", "-q", "-o", whole, "--", *target, env=env)
    records = sum(c[2] for c in g.chunks(whole))
    for i in range(n):
        g.clear(cut)
        with open(said, "w", encoding="ascii") as out:
            process = g.start("record", "-o", cut, "--", *target, env=env, out=out)
        time.sleep(g.rng.uniform(0, 1.1 * took))
        before, child = g.chunks(cut) if os.path.exists(cut) else None, child_of(process.pid, target[0])
        victim = child if i % 2 else process.pid
        if victim and process.poll() is None:
            with contextlib.suppress(ProcessLookupError):  # it may have ended by itself meanwhile
                os.kill(victim, signal.SIGKILL)
        done = g.end(process)
        orphan = victim == process.pid and done.rc == -signal.SIGKILL and child
        status = wait_orphan(child) if orphan else None
        with open(said, encoding="ascii") as f:
            finished = f.read() == "done\n"
        if orphan:
            g.check(finished and not status, "a program whose recorder was killed ends as if it were not recorded", status, done)
        elif victim == child and not finished:
            g.check(done.rc == 137 and "signal 9" in done.err, "record says that the program was killed, and passes it on", done)
        elif done.rc != -signal.SIGKILL:
            g.check(done.rc == 0 or (done.rc == 137 and finished), "record passes on the program's status", done)
        left = g.trace(cut, done)
        if left is not None:
            g.check(sum(c[2] for c in left) <= records, "no record stands twice", done)
            if before:
                g.check(left[:len(before)] == before, "committed chunks are kept", done)


def soak(g):
    third = max(1, g.n // 3)
    rest = max(1, g.n - 2 * third)
    kill_import(g, third)
    chains = kill_sweep(g, third)
    kill_record(g, rest)
    return f"kill -9 {third} times in import, {third} in sweep ({chains} sweeps resumed to their end), {rest} in record"
