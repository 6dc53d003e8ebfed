"""Garbage in: every malformed fixture, and traces and results with random bytes changed, in little memory."""
import os
import resource
import shutil

MEMORY = {resource.RLIMIT_AS: 1 << 30, resource.RLIMIT_CPU: 60}
# Sound ends: done, an error of data, a usage error (an operand that is no such thing), nothing of the kind, incomplete.
ENDS = (0, 1, 2, 3, 4)


def malformed(g):
    tried = 0
    for name in sorted(os.listdir(g.fixture("malformed"))):
        if name.endswith(".sh"):
            continue
        path, out = g.fixture("malformed", name), g.path("malformed.db")
        if os.path.exists(out):
            os.unlink(out)
        done = g.run("import", path, "-o", out, limit=MEMORY)
        g.check(done.rc == 1 and name in done.err and not done.out, "a malformed file is exit 1 and named", done)
        g.check("memory" not in done.err, "a malformed file takes little memory", done)
        g.trace(out, done)
        if os.path.exists(out):
            g.check("incomplete" in g.run("info", out).out.split("\n")[0], "what came before is marked incomplete", done)
        for words in (["info"], ["verify"], ["report"], ["replay", "uvm"], ["replay", "placement"],
                      ["export", "--format", "csv"], ["graph", "score"], ["plot", "uvm-timeline"]):
            done = g.run(*words, path, limit=MEMORY)
            tried += 1
            g.check(done.rc in (1, 2, 3) and (name in done.err or "usage" in done.err or "Try" in done.err),
                    "no command takes a malformed file for its own", done)
    return tried


def damaged(g, n):
    """Random bytes of a trace and of a results file changed, the file cut, or a stretch of it repeated."""
    trace, results = g.path("good.db"), g.path("good-results.db")
    g.must("import", "-q", g.fixture("traces", "uvm_conv_64MiB_complete.csv.xz"), "-o", trace)
    g.must("replay", "-q", "uvm", trace, "--platform", "h200", "--policy", "tree,fixed,adaptive", "-o", results)
    reads = {trace: (["info"], ["verify"], ["replay", "uvm"], ["export", "--format", "csv"], ["plot", "uvm-timeline", "--script"],
                     ["sql", "SELECT count(*), sum(time), max(addr) FROM records"]),
             results: (["report"], ["report", "--pivot", "policy"], ["plot", "uvm-speedup", "--script"], ["merge"],
                       ["sql", "SELECT count(*), sum(value) FROM metrics"])}
    bad = g.path("bad.db")
    ends = {}
    for i in range(n):
        good = (trace, results)[i % 2]
        with open(good, "rb") as f:
            data = bytearray(f.read())
        how = g.rng.randrange(4)
        at = g.rng.randrange(len(data))
        if how == 0:
            for _ in range(g.rng.randint(1, 16)):
                data[g.rng.randrange(len(data))] = g.rng.randrange(256)
        elif how == 1:
            data[at:at + 64] = bytes(g.rng.randrange(256) for _ in range(64))
        elif how == 2:
            del data[at:]
        else:
            other = g.rng.randrange(len(data))
            data[at:at + 4096] = data[other:other + len(data[at:at + 4096])]
        with open(bad, "wb") as f:
            f.write(data)
        words = g.rng.choice(reads[good])
        more = ["-o", g.path("merged.db"), "--force"] if words == ["merge"] else []
        # sql FILE QUERY, plot FIGURE FILE: the file's place differs.
        argv = ["sql", bad, words[1]] if words[0] == "sql" else [*words[:2], bad, *words[2:]] if words[0] == "plot" or \
            words == ["replay", "uvm"] else [words[0], bad, *words[1:], *more]
        done = g.run(*argv, limit=MEMORY)
        keep = g.path(f"kept-{len(g.failures)}.db")
        if not g.check(done.rc in ENDS and (done.rc in (0, 3, 4) or done.err.strip()), "a damaged file ends in good order", done,
                       f"damage {how} at {at}; kept as /tmp/{os.path.basename(keep)}"):
            shutil.copy(bad, os.path.join("/tmp", "offchip-soak-" + os.path.basename(keep)))
        ends[done.rc] = ends.get(done.rc, 0) + 1
    return ends


def soak(g):
    tried = malformed(g)
    n = max(20, g.n)
    ends = damaged(g, n)
    told = ", ".join(f"{count} exit {rc}" for rc, count in sorted(ends.items()))
    return f"{tried} commands on malformed fixtures, {n} on damaged files ({told})"
