"""Every command that writes: onto its own input, failing, and ended by a signal at a random moment. What was there stays."""
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import kills

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)


def inputs(g):
    """What the commands read, made once."""
    g.cupti_rows(g.path("rows.csv"), 150000)
    g.must("import", "-q", g.fixture("traces", "uvm_conv_64MiB_complete.csv.xz"), "-o", "uvm.db")
    g.must("import", "-q", g.fixture("traces", "accesses_h200.txt.xz"), "-o", "warps.db")
    for name, policy in (("r1.db", "tree"), ("r2.db", "fixed")):
        g.must("replay", "-q", "uvm", "synth:triad,bytes=1MiB", "--policy", policy, "-o", name)
    sweep = ["sweep", "-q", "placement", g.fixture("tasks", "table4.ini"), "--policy", "device,managed,auto", "--grid"]
    g.must(*sweep, "l_hd=1e-8:4e-7:1e-9", "-o", "many.db")
    g.must("graph", "convert", "-q", "synth:kron,scale=14", "-o", "g.sg")
    g.must("graph", "convert", "-q", "synth:kron,scale=14", "-o", "k.bel")
    shutil.copy(g.fixture("tasks", "table4.ini"), g.path("tasks.ini"))
    shutil.copy(os.path.join(os.path.dirname(g.fixtures), "models", "platforms", "h200.ini"), g.path("gpu.ini"))
    with open(g.path("bench.csv"), "w", encoding="ascii") as f:
        f.write("what,bytes,ms\n" + "".join(f"copy_hd,{1 << i},{0.01 + (1 << i) * 1e-7}\n" for i in range(10, 26)))
    with open(g.path("bad.csv"), "w", encoding="ascii") as f:
        f.write("kind,time_ns,addr,bytes\nCOPY,1,4096,1\nCOPY,x,4096,1\n")


class Writer:
    """A command: its words with OUT for the output, the inputs that must not be it, words that make it fail."""

    def __init__(self, name, words, out, reads=(), fails=None, parts=("",), env=None):
        self.name, self.words, self.out, self.reads, self.fails = name, words.split(), out, reads, fails
        self.parts, self.env = parts, env or {}
        self.took = None

    def argv(self, out, words=None):
        return [w.replace("OUT", out) for w in (words or self.words)]


def writers(g):
    env, target = kills.recording(g)
    sg, svg, csv = "o.sg", "o.svg", "o.csv"
    sweep = "sweep placement tasks.ini --policy device,managed,auto --grid l_hd=1e-8:3e-7:1e-9 -f -o OUT"
    table = [
        Writer("import", "import rows.csv -f -o OUT", "o.db", ["rows.csv"], "import bad.csv -f -o OUT"),
        Writer("synth", "synth triad,bytes=96MiB -f -o OUT", "o.db", [], "synth bfs,graph=nothere.sg -f -o OUT"),
        Writer("synth of a graph", "synth bfs,graph=g.sg -f -o OUT", "o.db", ["g.sg"]),
        Writer("synth to a graph", "synth kron,scale=14 -f -o OUT", "o.bel", [], "synth kron,scale=99 -f -o OUT",
               (".col", ".dst")),
        Writer("derive", "derive requests warps.db -f -o OUT", "o.db", ["warps.db"],
               "derive requests warps.db --kernel nomatch -f -o OUT"),
        Writer("merge", "merge many.db r1.db r2.db -f -o OUT", "o.db", ["many.db", "r2.db"],
               "merge r1.db rows.csv -f -o OUT"),
        Writer("export", "export uvm.db --format csv -f -o OUT", csv, ["uvm.db"],
               "export uvm.db --stream no --format csv -f -o OUT"),
        Writer("calibrate", "calibrate uvm uvm.db --base gpu.ini -f -o OUT", "o.ini", ["uvm.db", "gpu.ini"],
               "calibrate uvm warps.db -f -o OUT"),
        Writer("calibrate placement", "calibrate placement bench.csv -f -o OUT", "o.ini", ["bench.csv"],
               "calibrate placement rows.csv -f -o OUT"),
        Writer("convert", "graph convert g.sg -f -o OUT", sg, ["g.sg"], "graph convert uvm.db -f -o OUT"),
        Writer("convert to bel", "graph convert g.sg -f -o OUT", "o.bel", [], "graph convert uvm.db -f -o OUT",
               (".col", ".dst")),
        Writer("convert of bel", "graph convert k.bel -f -o OUT", sg, ["k.bel.col", "k.bel.dst"]),
        Writer("reorder", "graph reorder g.sg -f -o new.sg --mapping OUT", csv, ["g.sg"]),
        Writer("score", "graph score k.bel -f -o OUT", csv, ["k.bel.dst"], "graph score uvm.db -f -o OUT"),
        Writer("plot", "plot timeline uvm.db -f -o OUT", svg, ["uvm.db"], "plot timeline warps.db -f -o OUT"),
        Writer("plot of results", "plot bars r1.db r2.db -f -o OUT", svg, ["r2.db"],
               "plot bars many.db -f -o OUT"),
        Writer("report", "report many.db --html OUT -f", "o.html", ["many.db"], "report r1.db bad.csv --html OUT -f"),
        Writer("requests", "replay dram synth:pim-add,ops=300,channels=1 --set front=direct --policy fcfs,frfcfs --requests OUT -f", csv, [],
               "replay dram synth:pim-add,ops=300,channels=1 --set front=direct --policy fcfs --set vcs=9 --requests OUT -f"),
        Writer("requests of a trace", "replay uvm uvm.db --platform gpu.ini --policy tree,none --requests OUT -f", csv,
               ["uvm.db", "gpu.ini"], "replay uvm rows.csv --requests OUT -f"),
        Writer("requests of tasks", "replay placement tasks.ini --requests OUT -f -o r.db", csv, ["tasks.ini"]),
        Writer("replay", "replay placement tasks.ini --policy device,auto -o OUT", "o.db", ["tasks.ini"],
               "replay placement bad.csv -o OUT"),
        Writer("sweep", sweep, "o.db", ["tasks.ini"], sweep.replace("tasks.ini", "nothere.ini")),
        Writer("sweep of a wrong file", sweep, "o.db", [], sweep.replace("placement tasks.ini", "uvm rows.csv")),
    ]
    record = Writer("record", "record -q -f -o OUT --", "o.db", env=env)
    record.words += target
    return table + [record]


def read(path):
    with open(path, "rb") as f:
        return f.read()


class Place:
    """A folder with an old output of a writer in it."""

    def __init__(self, g, w):
        self.at = g.folder("place")
        g.clear(os.path.join(self.at, ""))
        self.out = os.path.join(self.at, w.out)
        self.names = [self.out + part for part in w.parts]
        old = g.path("r1.db") if w.name == "replay" else g.path("r2.db")
        for name in self.names:
            shutil.copy(old, name)
        self.old = {name: read(name) for name in self.names}
        self.there = set(os.listdir(self.at))

    def untouched(self):
        return {name: read(name) if os.path.exists(name) else None for name in self.names} == self.old

    def strays(self):
        return sorted(set(os.listdir(self.at)) - self.there)


def names_of_input(g, at, path, ending):
    """The input's other names, made in folder `at`: (name, what stdin is)."""
    soft, hard = os.path.join(at, "soft" + ending), os.path.join(at, "hard" + ending)
    os.symlink(path, soft)
    os.link(path, hard)
    made = [(soft, None), (hard, None)]
    if ending in ("", ".db", ".csv", ".html", ".json", ".ini"):
        made += [(path, None), ("/proc/self/fd/0", path)]
    return made


def refused(g, table):
    """An output that is an input is a usage error that names both, with --force and without."""
    tried = 0
    for w in table:
        for name in w.reads:
            path, at = g.path(name), g.folder("place")
            g.clear(os.path.join(at, ""))
            before = read(path)
            for out, stdin in names_of_input(g, at, path, os.path.splitext(w.out)[1]):
                for words in (w.words, [x for x in w.words if x != "-f"]):
                    with open(stdin or os.devnull, "rb") as f:
                        done = subprocess.run([g.program, *w.argv(out, words)], stdin=f, capture_output=True, text=True,
                                              env={**os.environ, **w.env}, cwd=g.work, check=False)
                    base, said = os.path.basename(name), done.stderr.strip()
                    g.check(done.returncode == 2 and out in said and os.path.splitext(base)[0] in said,
                            f"{w.name} onto its input {name} is refused with both names", done.args, said)
                    g.check(read(path) == before and os.path.samefile(path, os.path.join(at, "hard" +
                            os.path.splitext(w.out)[1])), f"{w.name} onto its input leaves that", done.args)
                    tried += 1
            g.check(len(os.listdir(at)) == 2, f"{w.name} onto its input leaves no other file", os.listdir(at))
    return tried


def failing(g, table):
    """A command that fails changes nothing."""
    for w in table:
        if not w.fails:
            continue
        place = Place(g, w)
        done = g.run(*w.argv(place.out, w.fails.split()), env=w.env)
        g.check(done.rc in (1, 2, 3), f"{w.name} fails", done)
        g.check(place.untouched() and not place.strays(), f"{w.name} that fails changes nothing", place.strays(), done)


def roll_back(path):
    """What a killed writer had half done is rolled back by the next one, here by SQLite itself."""
    db = sqlite3.connect(path)
    db.execute("SELECT count(*) FROM sqlite_schema")
    db.execute("BEGIN IMMEDIATE")
    db.close()


def whole(g, w, place, done):
    """Whether the new output is there, whole."""
    if w.name == "record":
        return g.run("info", place.out).rc == 0  # what was recorded of a program that the signal was passed on to
    if w.out.endswith(".db") and w.name not in ("merge", "replay", "sweep", "sweep of a wrong file"):
        return g.run("info", place.out).out.startswith(f"{place.out}: complete\n") and g.chunks(place.out) == w.chunks
    if w.name == "replay":
        return g.results(place.out)["runs"] == w.results["runs"]
    return all(read(name) == w.bytes[i] for i, name in enumerate(place.names))


def uninterrupted(g, w):
    place = Place(g, w)
    w.took = kills.timed(g, *w.argv(place.out), env=w.env)
    w.bytes = [read(name) for name in place.names]
    w.chunks = g.chunks(place.out) if w.out.endswith(".db") and w.name != "replay" else None
    w.results = g.results(place.out) if w.name == "replay" else None
    g.check(not place.strays(), f"{w.name} leaves no other file", place.strays())


def interrupt(g, w, number):
    """A signal at a random moment: the old output or the new one, and nothing beside it unless by SIGKILL. Whether it
    came in time."""
    place = Place(g, w)
    process = g.start(*w.argv(place.out), env=w.env)
    time.sleep(g.rng.uniform(0, w.took))
    child = kills.child_of(process.pid, os.path.join(g.build, "standin", "target")) if w.name == "record" else None
    alive = process.poll() is None
    if alive:
        process.send_signal(number)
    done = g.end(process)
    if child and number == signal.SIGKILL:
        kills.wait_orphan(child)
    what = f"{w.name} ended by {signal.Signals(number).name}"
    if w.name == "replay" and number == signal.SIGKILL:
        roll_back(place.out)
    g.check(place.untouched() or whole(g, w, place, done), what + " leaves the old output or the new one", done)
    strays = [s for s in place.strays() if not (number == signal.SIGKILL and s.startswith(w.out))]
    part = [s for s in strays if s == w.out + ".part"] if w.name.startswith("sweep") else []
    g.check(strays == part, what + " leaves no other file", strays, done)
    if part and alive:
        g.check(part[0] in done.err, what + " names the part that it keeps", done)
    g.check(done.rc in (0, -number) or (w.name == "record" and done.rc in (1, 128 + number)), what + " says so", done)
    return alive


def soak(g):
    inputs(g)
    table = writers(g)
    tried = refused(g, table)
    failing(g, table)
    for w in table:
        uninterrupted(g, w)
    sent = hit = 0
    while hit < g.n and sent < 4 * g.n:  # those that came too late do not count
        hit += interrupt(g, table[g.rng.randrange(len(table))], SIGNALS[sent % len(SIGNALS)])
        sent += 1
    return f"{len(table)} writers: {tried} times onto their inputs, {hit} signals in time, {sent - hit} too late"
