"""The disk is full: every command that writes, on file systems of every size up to the one that is enough, and with
SQLite's writes failing from a random one on."""
import os
import subprocess

import kills

TASKS = "tasks/table4.ini"


def commands(g):
    """(name, words before -o, what is written, environment)."""
    rows = g.cupti_rows(g.path("rows-full.csv"), 70000)
    g.must("import", "-q", g.fixture("traces", "uvm_seq_256MiB_complete.csv.xz"), "-o", g.path("in.db"))
    g.must("import", "-q", g.fixture("traces", "accesses_h200.txt.xz"), "-o", g.path("accesses.db"))
    sweep = ["sweep", "placement", g.fixture(TASKS), "--policy", "device,managed,auto", "--grid", "l_hd=1e-8:3e-7:1e-8"]
    g.must(*sweep, "-q", "-o", g.path("results.db"))
    env, target = kills.recording(g)
    tail = ["--", *target]
    return [
        ("import", ["import", rows], "t.db", [], {}),
        ("derive", ["derive", "requests", g.path("accesses.db")], "t.db", [], {}),
        ("synth", ["synth", "triad,bytes=8MiB"], "t.db", [], {}),
        ("synth", ["synth", "kron,scale=10"], "g.sg", [], {}),
        ("record", ["record"], "t.db", tail, env),
        ("sweep", sweep, "r.db", [], {}),
        ("replay", ["replay", "uvm", g.path("in.db"), "--policy", "tree,fixed", "--platform", "h200"], "r.db", [], {}),
        ("merge", ["merge", g.path("results.db")], "r.db", [], {}),
        ("export", ["export", g.path("in.db"), "--format", "csv"], "x.csv", [], {}),
        ("export", ["export", g.path("in.db"), "--format", "perfetto"], "x.json", [], {}),
        ("plot", ["plot", "timeline", g.path("in.db")], "x.svg", [], {}),
        ("plot", ["plot", "timeline", g.path("in.db")], "x.png", [], {}),
        ("calibrate", ["calibrate", "uvm", g.path("in.db"), "--base", "h200"], "p.ini", [], {}),
        ("html", ["report", g.path("results.db"), "--html"], "x.html", [], {}),
        ("requests", ["replay", "dram", "synth:pim-add,ops=300,channels=1", "--set", "front=direct", "--requests"], "q.csv", [], {}),
        ("requests", ["replay", "uvm", "synth:bicg,bytes=64MiB", "--requests"], "q.csv", [], {}),
        ("requests", ["replay", "zerocopy", "synth:bfs,graph=urand,scale=10,roots=64", "--requests"], "q.csv", [], {}),
    ]


def look(g, name, output, done, at):
    """After a failure: what was said, and what is left."""
    base = os.path.basename(output)
    g.check(done.rc == 1, f"{name} on a full disk is exit 1", done)
    g.check(base in done.err, f"{name} on a full disk names the file", done)
    if name.startswith("record"):
        g.check("done" in done.out, "a recorded program ends as ever when the recorder's disk is full", done)
    others = [f for f in os.listdir(at) if not f.startswith(base)]
    parts = [f for f in os.listdir(at) if f.startswith(base + ".")]
    g.check(not others and not parts, f"{name} on a full disk leaves no other files", others + parts, done)
    if not os.path.exists(output):
        return
    if base == "t.db":
        g.trace(output, done)
        state = g.run("info", output).out.split("\n")[0]
        g.check(state.endswith(": incomplete"), f"{name} on a full disk leaves nothing that says complete", state, done)
    elif base == "r.db":
        report = g.run("report", output)
        g.check(report.rc == 0 or "no runs" in report.err, f"what {name} left can be reported", report, done)
        g.sound(output, done)
    else:
        g.check(False, f"{name} on a full disk leaves no part of {base}", f"{os.path.getsize(output)} bytes", done)


def small_disks(g, made):
    tried = 0
    for name, before, output, after, env in made:
        flag = [] if name in ("html", "requests") else ["-o"]

        def attempt(kib):
            nonlocal tried
            tried += 1
            with g.small_disk(kib) as at:
                path = os.path.join(at, output)
                done = g.run(*before, *flag, path, *after, env=env)
                if done.rc != 0:
                    look(g, name, path, done, at)
                return done
        kib, done = 4, attempt(4)
        while done.rc != 0 and kib < 1 << 17:
            kib *= 2 if g.n >= 100 else 16
            done = attempt(kib)
        g.check(done.rc == 0, f"{name} ends well on a large enough disk", done)
        for _ in range(3 if g.n >= 100 else 1):
            attempt(g.rng.randint(4, kib))
    return tried


def stdout_full(g):
    for words in (["report", g.path("results.db"), "--format", "csv"], ["info", g.path("in.db")], ["list", "policies"],
                  ["sql", g.path("in.db"), "SELECT * FROM records LIMIT 5000"],
                  ["export", g.path("in.db"), "--format", "csv", "-o", "-"], ["replay", "uvm", "synth:triad,bytes=1MiB"],
                  ["plot", "timeline", g.path("in.db"), "--script"], ["--version"], ["--help"]):
        with open("/dev/full", "w", encoding="ascii") as out:
            done = g.run(*words, out=out)
        g.check(done.rc == 1 and "cannot write" in done.err, "results that cannot be printed are exit 1", done)


def failing_writes(g, made, tries):
    library = g.path("fault.so")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fault.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library, "-ldl"], check=True)
    tried = 0
    for name, before, output, after, env in made:
        if not output.endswith(".db"):
            continue
        at = g.folder("faults")
        path = os.path.join(at, output)
        count = g.path("count-" + name)
        env = {**env, "LD_PRELOAD": library}
        g.must(*before, "-q", "-o", path, *after, env={**env, "FAULT_COUNT": count})
        os.unlink(path)
        with open(count, encoding="ascii") as f:
            total = max(int(line) for line in f.read().split())
        for _ in range(tries):
            at_write = g.rng.randint(1, total)
            done = g.run(*before, "-o", path, *after, env={**env, "FAULT_AT": str(at_write)})
            tried += 1
            if done.rc != 0:
                look(g, f"{name} (write {at_write} of {total} fails)", path, done, at)
            elif name not in ("record", "sweep"):  # whose writes come in an order that time decides
                g.check(False, f"{name} says that write {at_write} of {total} failed", done)
            for f in os.listdir(at):
                os.unlink(os.path.join(at, f))
    return tried


def soak(g):
    made = commands(g)
    stdout_full(g)
    may = os.environ.get("SOAK_MOUNTS") == "yes"
    said = f"{small_disks(g, made)} runs on small file systems" if may else "no small file systems: mounting is not permitted"
    return said + f", {failing_writes(g, made, max(2, g.n // 10))} with failing writes"
