"""make mutants: small faults put into the product, one at a time; a fault that no test sees is a gap in the tests.

Usage: mutants.py BUILD --n N --seed S [--only PREFIX,..] [--tests PREFIX,..] [-j JOBS] [--list] --compile WORDS
                  --link WORDS --libs WORDS --library FILES --program FILES --inject FILES --accesses FILES

BUILD holds the objects of everything (make mutants builds them there). The product is linked as a shared library; before it
programs look into libfault.so, which holds the faulty file alone, so a fault costs one compilation and a short link. Each
job has test programs and libraries of its own below BUILD.
A fault of which the compiler makes the same object at -O2 is no fault: another is drawn (Papadakis et al. 2015, "Trivial
Compiler Equivalence").
The module's own test and those that run the faulty line look for a fault: those of its folder, all others, nearest first,
then the command-line cases. The first that fails kills it, and so does one that takes ten times as long as without the
fault; of a line that no test is known to run, the nearest are asked. Which lines a test runs is noted once, without a
fault (.ci/reached.c), and kept as long as the test and the product are the same.
--tests: only the tests and cases (cli/NAME) so named, for quick work; others might kill what survives.
The same seed on the same sources makes the same faults. Python 3 standard library only."""
import argparse
import collections
import concurrent.futures
import difflib
import functools
import glob
import hashlib
import itertools
import json
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOPS = ("trace", "models", "replay", "cmd")
APART = re.compile(r"_(test|fuzz|bench)\.c$|/vtab_extension\.c$|/testing[^/]*\.c$")
# What only speaks, or only gives back: a fault there is no wrong result.
SPEAKS = re.compile(r"\b(err_set|err_at|cmd_say|cmd_fail|cmd_usage|assert|outcome_note|printable_print|inject_problem|"
                    r"[a-z]*printf|strerror|perror|_Static_assert)\s*\(")
GIVES_BACK = re.compile(r"\b\w*(free|close|release|finalize|unlink|unlock|destroy|rmdir|stop|abandon|forget|decref)\w*\s*\(|^\s*\(void\)\w+;")
# Numbers that are room or alignment, that another operator changes, or that only say that something failed or comes first.
SIZES = re.compile(r"\bchar\b|\{0\}|sizeof|\bmem_\w+\(|\breturn -?\d+;|\? -1 $|\? -1 : 1;$|cmp\(.*== 0|\bpoll\(")
DECLARES = re.compile(r"^\s*(const|static|struct|enum|union|bool|char|int|unsigned|long|short|float|double|size_t|ssize_t|"
                      r"u?int\d+_t|time_t|pid_t|off_t|off64_t|mode_t|va_list|FILE|DIR|sqlite3\w*|void|extern|return|goto|"
                      r"case|default|break|continue|pthread_\w+|atomic_\w+|json_t|regex_t|XXH\w+|ZSTD\w+|z_stream)\b")
# Where the two are equal, either is right: the lesser or greater of them, and the order of a sort.
EITHER = re.compile(r"^(.+?) \? (.+?) : (.+?)(?=[;,)]|$)")
BEFORE = re.compile(r"(?:[=?:,(]|&&|\|\||return) ?$")
# As is one that is set to the other.
CLAMPS = re.compile(r"\s*(?:\} else )?if \((.+?) [<>]=? (.+?)\)(?: \{)?$")
SORTS = re.compile(r"\? -1 : 1;|\((\S+) > (\S+)\) - \(\1 < \2\)")

# (name, what is found, what takes its place); found on code whose texts and comments are blank.
SWAPS = [("boundary", r" < ", " <= "), ("boundary", r" <= ", " < "), ("boundary", r" > ", " >= "),
         ("boundary", r" >= ", " > "), ("equality", r" == ", " != "), ("equality", r" != ", " == "),
         ("logic", r" && ", " || "), ("logic", r" \|\| ", " && "), ("sign", r"(?<=[\w)\]]) \+ ", " - "),
         ("sign", r"(?<=[\w)\]]) - ", " + "), ("sign", r" \+= ", " -= "), ("sign", r" -= ", " += "),
         ("return", r"\breturn 0;", "return -1;"), ("return", r"\breturn -1;", "return 0;"),
         ("return", r"\breturn true;", "return false;"), ("return", r"\breturn false;", "return true;"),
         ("jump", r"\bcontinue;", ";"), ("jump", r"\bbreak;", ";")]

Fault = collections.namedtuple("Fault", "path line function kind before after")
Verdict = collections.namedtuple("Verdict", "fault killer seconds")


# --- where a fault can be ---

def blank(text):
    """The code with comments, texts and what is only said replaced by spaces, character by character."""
    def spaces(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", spaces, text, flags=re.S)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", spaces, code, flags=re.M)
    for m in list(SPEAKS.finditer(code)):
        depth, end = 1, m.end()
        while depth and end < len(code):
            depth += {"(": 1, ")": -1}.get(code[end], 0)
            end += 1
        code = code[:m.start()] + re.sub(r"[^\n]", " ", code[m.start():end]) + code[end:]
    return code


def balanced(text):
    return text.count("(") == text.count(")") and text.count("{") == text.count("}")


def equal_is_either(code, found):
    """Whether it makes no difference which way equal values go, or what is compared is only said."""
    before, after = code[:found.start()], EITHER.match(code[found.end():])
    if re.search(r"(?:^|[(=]|&&|\|\|)\s*$", before) or SORTS.search(code):
        return True
    for this, that in (after.group(2, 3), after.group(3, 2)) if after else ():
        if after.group(1) == that and before.endswith(this) and BEFORE.search(before[:-len(this)]):
            return True
    return False


def line_faults(code):
    """(kind, from, to, new) for one line of code inside a function."""
    loop = re.match(r"\s*for \(", code)
    for kind, pattern, new in SWAPS:
        if loop and kind == "boundary":
            continue  # one turn too many reads past the end, which only a sanitiser sees
        for m in re.finditer(pattern, code):
            if kind == "sign" and re.search(r"\bmem_\w+\([^;]*$", code[:m.start()]):
                continue  # room, the same
            if kind != "boundary" or not equal_is_either(code, m):
                yield kind, m.start(), m.end(), new
    declares = DECLARES.match(code)
    for m in re.finditer(r"(?<![\w.])(\d+)(?=[;,)\]} ]|$)", code):
        if loop and re.search(r"[<>]=? $", code[:m.start()]):
            continue  # the same
        if not SIZES.search(code[:m.end() + 1]) and not code[:m.start()].endswith("["):
            yield "constant", m.start(1), m.end(1), str(int(m.group(1)) + 1)
    m = re.match(r"^(\s*)(?:\} else )?if \((.*)\)( \{)?\s*$", code)
    if m and balanced(m.group(2)):
        yield "negation", m.start(2), m.end(2), "!(%s)"
    m = re.match(r"^(\s*)(\S.*;)\s*$", code)
    if m and not declares and balanced(m.group(2)) and not re.match(r"(if|for|while|else|do|switch|\}|;|\w+:)", m.group(2)) \
            and not GIVES_BACK.search(code) and re.search(r"[\w\])] [-+*/|&^<>]*= |\+\+|--|\(", m.group(2)):
        yield "dropped", m.start(2), m.end(2), ";"


def faults_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines, inside, ended, function = text.split("\n"), False, True, ""
    for number, code in enumerate(blank(text).split("\n")):
        if code.startswith("{"):
            inside, ended = True, True
            head = re.findall(r"^\w[^;{}()]*?\b(\w+)\((?![^;{}]*[;{}])", "\n".join(lines[max(0, number - 12):number]), re.M)
            function = head[-1] if head else ""
        elif code.startswith("}"):
            inside = False
        elif inside:
            clamp = CLAMPS.match(code.rstrip())
            for kind, start, end, new in line_faults(code):
                if kind == "dropped" and not ended:
                    continue  # the end of a statement that began above
                if kind == "boundary" and clamp and lines[number + 1].strip() in (
                        "%s = %s;" % clamp.groups(), "%s = %s;" % clamp.groups()[::-1]):
                    continue  # where the two are equal, either is right
                old = lines[number]
                new = new % old[start:end] if "%s" in new else new
                yield Fault(path, number + 1, function, kind, old, old[:start] + new + old[end:])
            if code.strip():
                ended = bool(re.search(r"[;{}:]\s*$|^\s*(else|do)\s*$|^\s*(if|for|while|switch) \(.*\)\s*$", code)) and \
                    not re.match(r"^\s*for \([^)]*;\s*$", code)


def shuffled(rng, only):
    """All faults, folder after folder in an order of the seed's, each kind of fault alike often."""
    folders = collections.defaultdict(lambda: collections.defaultdict(list))
    for top in TOPS:
        for path in sorted(glob.glob(top + "/**/*.c", recursive=True)):
            if not APART.search(path) and path.startswith(tuple(only.split(","))):
                for fault in faults_of(path):
                    folders[os.path.dirname(path)][fault.kind].append(fault)
    order = sorted(folders)
    rng.shuffle(order)
    while order:
        for folder in list(order):
            kinds = folders[folder]
            kind = rng.choice(sorted(kinds))
            yield kinds[kind].pop(rng.randrange(len(kinds[kind])))
            if not kinds[kind]:
                del kinds[kind]
            if not kinds:
                order.remove(folder)


def compiled(a, path, fault=None):
    """The object of that source, with the fault if there is one; None: it does not compile."""
    with open(path, encoding="utf-8") as f:
        lines = f.read().split("\n")
    if fault:
        lines[fault.line - 1] = fault.after
    command = [*shlex.split(a.compile), "-O2", "-g0", "-iquote", os.path.dirname(path), "-x", "c", "-c", "-"]
    with tempfile.NamedTemporaryFile(dir=a.build) as f:
        p = subprocess.run([*command, "-o", f.name], input="\n".join(lines), text=True, capture_output=True)
        return f.file.read() if p.returncode == 0 else None


def choose(a):
    """a.n faults, each with its object, and how many were drawn that are none, as the compiler makes the same of them."""
    faults, chosen, left_out = shuffled(random.Random(a.seed), a.only), [], 0
    sound = functools.lru_cache(maxsize=None)(lambda path: compiled(a, path))
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        while drawn := list(itertools.islice(faults, a.n - len(chosen))):
            objects = pool.map(lambda f: (f, compiled(a, f.path, f), sound(f.path)), drawn)
            real = [(fault, made) for fault, made, other in objects if made != other]
            chosen, left_out = chosen + real, left_out + len(drawn) - len(real)
    return chosen, left_out


# --- the tests, and how they are run ---

class Tests:
    """All tests in the order in which they are asked: unit tests by program, then command-line cases."""

    def __init__(self, build, only):
        self.build = build
        self.unit = sorted(os.path.relpath(p, build + "/obj")[:-len("_test.o")]
                           for p in glob.glob(build + "/obj/**/*_test.o", recursive=True)
                           if os.path.exists(os.path.relpath(p, build + "/obj")[:-2] + ".c"))
        cases = sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob("fixtures/cli/*/cmd"))
        self.asked = [t for t in self.unit + ["cli/" + c for c in cases] if t.startswith(tuple(only.split(",")))]
        self.lines, self.seconds, self.reached = {}, {}, {}

    def runs(self, fault, a, test):
        """Whether the test runs the faulty line, or where that has no code of its own the one it goes on from."""
        if fault.path in a.inject + a.accesses:
            return "record" in test
        if fault.path in a.program:
            return test.startswith("cli/")
        line = fault.line
        while line > fault.line - 10 and (fault.path, line) not in self.lines:
            line -= 1
        return any(self.reached[test][block] == "1" for block in self.lines.get((fault.path, line), ()))

    def own(self, path):
        """The test of X.c, or of the X that X_part.c is part of."""
        stem = path[:-2]
        while stem not in self.unit and "_" in os.path.basename(stem):
            stem = stem[:stem.rindex("_")]
        return stem if stem in self.unit else None

    def order(self, fault, a):
        path = fault.path
        own, folder = self.own(path), os.path.dirname(path)

        def far(test):
            common = len(os.path.commonpath([folder + "/.", os.path.dirname(test) + "/."]).split("/")) \
                if folder.split("/")[0] == test.split("/")[0] else 0
            return (test != own, os.path.dirname(test) != folder, -common, self.seconds[test])
        # The module's own is always asked: of `x ? 0 : -1` only what comes of -1 may have code that counts as that line's.
        good = [t for t in self.seconds if t == own or self.runs(fault, a, t)]
        # What is taken into other functions whole has no code of its own: the nearest tests.
        good = good if len(good) > 1 else [t for t in self.seconds if t == own or os.path.dirname(t) == folder]
        cases = [t for t in good if t.startswith("cli/")]
        return sorted((t for t in good if t not in cases), key=far) + sorted(cases, key=self.seconds.get)


def limits(timeout):
    for which, soft in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 16 << 30), (resource.RLIMIT_AS, 16 << 30),
                        (resource.RLIMIT_CPU, int(timeout))):
        resource.setrlimit(which, (soft, resource.getrlimit(which)[1]))


class Place:
    """Test programs and libraries that one job may change."""

    def __init__(self, a, number):
        self.a, self.at, self.obj = a, f"{a.build}/job{number}", f"{a.build}/obj"
        shutil.rmtree(self.at, ignore_errors=True)
        shutil.copytree(a.build + "/linked", self.at, copy_function=os.link)

    def run(self, test, timeout, env=None):
        """None: passed; else how it failed. `timeout`: seconds of processor time; what sleeps may take ten times that."""
        words = ["sh", "fixtures/cli/run.sh", self.at + "/offchip", test[4:]] if test.startswith("cli/") else \
            [f"{self.at}/test/{test}"]
        # what stands behind each allocation; a copy of the program finds its library, the program the headers of policies
        env = {**os.environ, "NO_MEMORY_EVERY": "1", "LD_LIBRARY_PATH": self.at, "OFFCHIP_INCLUDE": os.getcwd(), **(env or {})}
        p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             start_new_session=True, preexec_fn=lambda: limits(timeout), env=env)
        try:
            return None if p.wait(10 * timeout) == 0 else "fails"
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()

    def link(self, name, words):
        """A link of this place only: the file is made anew, never written into."""
        path = f"{self.at}/{name}"
        if os.path.exists(path):
            os.unlink(path)
        return subprocess.run([*shlex.split(self.a.link), *words, "-o", path], capture_output=True).returncode == 0

    def targets(self, path):
        """What path is linked into: (file, objects with `path`'s own at its place, further words)."""
        def objects(files):
            return [f"{self.at}/mutant.o" if f == path else f"{self.obj}/{f[:-2]}.o" for f in files]
        a, found = self.a, []
        if path in a.library:
            found.append(("libfault.so", ["-shared", f"{self.at}/mutant.o"]))
        if path in a.program:
            found.append(("offchip", [*objects(a.program), f"{self.obj}/gen/version.o", *program_words(a, self.at, ".")]))
        for name, files in (("liboffchip_inject.so", a.inject), ("liboffchip_accesses.so", a.accesses)):
            if path in files:
                found.append((name, ["-shared", "-Wl,-z,nodelete", *objects(files), "-ldl", "-lpthread"]))
        return found

    def make(self, path, made):
        """Link what holds the object made of `path`; False: that does not build."""
        with open(f"{self.at}/mutant.o", "wb") as f:
            f.write(made)
        return all([self.link(name, words) for name, words in self.targets(path)])

    def restore(self, path):
        for name, _ in self.targets(path):
            if os.path.exists(f"{self.at}/{name}"):
                os.unlink(f"{self.at}/{name}")
            os.link(f"{self.a.build}/linked/{name}", f"{self.at}/{name}")

    def judge(self, fault, made, tests):
        started, killer, order = time.monotonic(), None, tests.order(fault, self.a)
        if not made or order and not self.make(fault.path, made):
            self.restore(fault.path)
            return Verdict(fault, "the compiler", 0)
        for test in order:
            how = self.run(test, 5 + 10 * tests.seconds[test])
            if how:
                killer = f"{test} {how}"
                break
        self.restore(fault.path)
        return Verdict(fault, killer, time.monotonic() - started)


def program_words(a, at, up):
    return [f"-L{at}", "-Wl,--no-as-needed", "-lfault", "-loffchip", "-Wl,--allow-shlib-undefined", f"-Wl,-rpath,$ORIGIN/{up}",
            *shlex.split(a.libs)]


def link_all(a, tests):
    """The libraries, the program and every test that is not there as it would be, in BUILD/linked."""
    at, version = a.build + "/linked", f"{a.build}/obj/gen/version.o"
    shutil.copytree(a.build + "/standin", at + "/standin", dirs_exist_ok=True)
    for path in glob.glob(a.build + "/*.so") + glob.glob(a.build + "/*.fatbin"):
        shutil.copy2(path, at)
    subprocess.run([*shlex.split(a.compile), "-c", ".ci/reached.c", "-o", a.build + "/reached.o"], check=True)

    def link(name, objects, words):
        path = f"{at}/{name}"
        if os.path.exists(path) and os.path.getmtime(path) > max(map(os.path.getmtime, objects)):
            return
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.exists(path):
            os.unlink(path)
        subprocess.run([*shlex.split(a.link), *objects, *words, "-o", path], check=True)
    link("libfault.so", [version], ["-shared"])
    link("liboffchip.so", [*(f"{a.build}/obj/{f[:-2]}.o" for f in a.library), f"{a.build}/obj/gen/embedded.o", f"{a.build}/reached.o"],
         ["-shared", *shlex.split(a.libs)])
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        todo = [pool.submit(link, "offchip", [f"{a.build}/obj/{f[:-2]}.o" for f in a.program] + [version],
                            program_words(a, at, "."))]
        for t in tests.unit:
            up = "/".join([".."] * (t.count("/") + 1))
            todo.append(pool.submit(link, f"test/{t}", [f"{a.build}/obj/{t}_test.o", version],
                                    [*program_words(a, at, up), *shlex.split(a.check_libs)]))
        for t in todo:
            t.result()


def in_turn(a, places, work, things):
    """work(place, thing) for all things, as many at a time as there are places; in order."""
    free = collections.deque(places)

    def one(thing):
        place = free.popleft()
        try:
            return work(place, thing)
        finally:
            free.append(place)
    with concurrent.futures.ThreadPoolExecutor(len(places)) as pool:
        return list(pool.map(one, things))


def blocks(library, files):
    """The blocks of code that note that they run: their addresses, and [path, line, its blocks] of every line."""
    command = ["objdump", "-d", "-l", "--no-show-raw-insn", library]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    addresses, lines, known, line, begins = [], collections.defaultdict(set), {}, None, False
    for row in text.splitlines():
        place = re.match(r"(\S+\.[ch]):(\d+)", row)
        code = re.match(r" *([0-9a-f]+):\t(.*)", row)
        if place:
            path = known.setdefault(place.group(1), next((f for f in files if place.group(1).endswith("/" + f)), None))
            line = (path, int(place.group(2)))
        elif code and begins:
            addresses.append(int(code.group(1), 16))
        if code:
            begins = "<__sanitizer_cov_trace_pc" in code.group(2)
            lines[line].add(len(addresses) - (not begins))
    return addresses, [[*line, sorted(there)] for line, there in lines.items() if line and line[0]]


def measure(place, test, addresses):
    """How it failed, seconds, for each block whether the test runs it."""
    notes, started = f"{place.at}/reached", time.monotonic()
    how = place.run(test, 600, {"MUTANTS_REACHED": notes})
    seconds, seen = time.monotonic() - started, b""
    if os.path.exists(notes):
        with open(notes, "rb") as f:
            seen = f.read()
        os.unlink(notes)
    return how, seconds, "".join("1" if seen[at:at + 1] == b"\1" else "0" for at in addresses)


def once(path, work):
    """What work() gave when it was asked for the first time."""
    if not os.path.exists(path):
        with open(path + ".part", "w", encoding="utf-8") as f:
            json.dump(work(), f)
        os.replace(path + ".part", path)
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def hash_of(paths):
    state = hashlib.sha256()
    for path in sorted(paths):
        if os.path.isfile(path):
            with open(path, "rb") as f:
                state.update(path.encode() + f.read())
    return state.hexdigest()


def measured(a, places, tests):
    """All tests without a fault; one that is the same, of the same product, as it was then."""
    product = hash_of(set(glob.glob(a.build + "/linked/**", recursive=True)) - set(glob.glob(a.build + "/linked/test/**", recursive=True)))
    os.makedirs(a.build + "/measured", exist_ok=True)
    addresses, lines = once(f"{a.build}/measured/{product[:16]}", lambda: blocks(a.build + "/linked/liboffchip.so", a.library))
    tests.lines = {(path, line): there for path, line, there in lines}

    def one(place, test):
        own = glob.glob(f"fixtures/{test}/**", recursive=True) if test.startswith("cli/") else [f"{a.build}/linked/test/{test}"]
        how, seconds, seen = once(f"{a.build}/measured/{product[:16]}-{test.replace('/', '-')}-{hash_of(own)[:16]}",
                                  lambda: measure(place, test, addresses))
        if how:
            print(f"left out, it {how} without a fault: {test}")
        else:
            tests.seconds[test], tests.reached[test] = seconds, seen
    in_turn(a, places, one, tests.asked)


def report(verdicts):
    """Survivors with their difference, then the score of each folder."""
    score = collections.defaultdict(lambda: [0, 0])
    for v in verdicts:
        f = v.fault
        if v.killer == "the compiler":
            continue
        score[os.path.dirname(f.path)][0] += v.killer is not None
        score[os.path.dirname(f.path)][1] += 1
        if v.killer is None:
            print(f"SURVIVES {f.path}:{f.line} ({f.kind})")
            for line in list(difflib.ndiff([f.before], [f.after])):
                if line[0] in "+-":
                    print("  " + line.rstrip())
    for folder in sorted(score):
        print(f"{folder:36} {score[folder][0]:3} of {score[folder][1]:3} killed")
    killed, total = (sum(s[i] for s in score.values()) for i in (0, 1))
    broken = sum(v.killer == "the compiler" for v in verdicts)
    print(f"{killed} of {total} killed, {total - killed} survive" + (f"; {broken} did not compile" if broken else ""))


def words():
    w = argparse.ArgumentParser()
    w.add_argument("build")
    w.add_argument("--n", type=int, required=True)
    w.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    w.add_argument("--only", default="")
    w.add_argument("--tests", default="")
    w.add_argument("-j", dest="jobs", type=int, default=len(os.sched_getaffinity(0)))
    for name in ("compile", "link", "libs", "check-libs"):
        w.add_argument("--" + name, required=True)
    for name in ("library", "program", "inject", "accesses"):
        w.add_argument("--" + name, required=True, type=str.split)
    w.add_argument("--list", action="store_true", help="say the faults and try none")
    a = w.parse_args()
    a.build = os.path.abspath(a.build)
    return a


def main():
    a = words()
    faults, left_out = choose(a)
    print(f"mutants: {len(faults)} faults, seed {a.seed}; {left_out} more left out, of which the compiler makes the same code",
          flush=True)
    if a.list:
        for f, _ in faults:
            print(f"{f.path}:{f.line} ({f.kind})\n  - {f.before}\n  + {f.after}")
        return
    tests = Tests(a.build, a.tests)
    link_all(a, tests)
    places = [Place(a, i) for i in range(a.jobs)]
    started = time.monotonic()
    measured(a, places, tests)
    print(f"{len(tests.seconds)} tests and cases pass without a fault, {time.monotonic() - started:.0f} s", flush=True)
    done = []

    def judge(place, drawn):
        fault, made = drawn
        v = place.judge(fault, made, tests)
        done.append(v)
        print(f"{len(done)} of {len(faults)}: {fault.path}:{fault.line} ({fault.kind}): {v.killer or 'SURVIVES'}, "
              f"{v.seconds:.0f} s", file=sys.stderr, flush=True)
        return v
    report(in_turn(a, places, judge, faults))


main()
