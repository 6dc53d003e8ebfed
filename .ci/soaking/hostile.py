"""Garbage in: every malformed fixture, traces and results with random bytes changed; in little memory."""
import collections
import os
import resource
import shutil
import tempfile

MEMORY = {resource.RLIMIT_AS: 1 << 30, resource.RLIMIT_CPU: 60}
# Sound ends of a command on a damaged file: done, an error of data, nothing of the kind, incomplete.
ENDS = (0, 1, 3, 4)


def malformed(g):
    tried = 0
    for name in sorted(os.listdir(g.fixture("malformed"))):
        if name.endswith(".sh"):
            continue
        path, out = g.fixture("malformed", name), g.clear(g.path("malformed.db"))
        done = g.run("import", path, "-o", out, limit=MEMORY)
        g.check(done.rc == 1 and name in done.err and not done.out and "memory" not in done.err, "a malformed file is exit 1, named, and takes little memory", done)
        g.trace(out, done)
        if os.path.exists(out):
            g.check("incomplete" in g.run("info", out).out.split("\n")[0], "what came before is marked incomplete", done)
        commands = (["info"], ["verify"], ["report"], ["replay", "uvm"], ["replay", "placement"],
                    ["export", "--format", "csv", "-o", "-"], ["graph", "score"], ["plot", "timeline"])
        for words in commands if g.n >= 100 else g.rng.sample(commands, 1):
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
    bad, ends = g.path("bad.db"), collections.Counter()
    reads = {trace: (["info", bad], ["verify", bad], ["replay", "uvm", bad], ["export", bad, "--format", "csv", "-o", "-"],
                     ["plot", "timeline", bad, "--script"], ["sql", bad, "SELECT count(*), total(time), max(addr) FROM records"]),
             results: (["report", bad], ["report", bad, "--pivot", "policy"], ["plot", "bars", bad, "--script"],
                       ["merge", bad, "-o", g.path("merged.db"), "--force"], ["sql", bad, "SELECT count(*), sum(value) FROM metrics"])}
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
        done = g.run(*g.rng.choice(reads[good]), limit=MEMORY)
        keep = os.path.join(tempfile.gettempdir(), f"offchip-soak-damaged-{g.seed}-{i}.db")
        if not g.check(done.rc in ENDS and (done.rc != 1 or "bad.db" in done.err), "a damaged file ends in good order", done,
                       f"damage {how} at byte {at}; kept as {keep}"):
            shutil.copy(bad, keep)
        ends[done.rc] += 1
    return ends


def soak(g):
    tried, n = malformed(g), max(20, g.n)
    ends = damaged(g, n)
    told = ", ".join(f"{count} exit {rc}" for rc, count in sorted(ends.items()))
    return f"{tried} commands on malformed fixtures, {n} on damaged files ({told})"
