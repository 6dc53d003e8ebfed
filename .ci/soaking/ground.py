"""What every step of the soak stands on: running the program, looking at what it left, counting."""
import contextlib
import ctypes
import glob
import lzma
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Done:
    """A command that has ended."""

    def __init__(self, argv, rc, out, err):
        self.argv, self.rc, self.out, self.err = argv, rc, out, err

    def __str__(self):
        return f"$ {' '.join(self.argv)}\n    exit {self.rc}; stderr: {self.err.strip()[:600] or '(nothing)'}"


class Ground:
    def __init__(self, program, work, n, seed):
        self.work, self.n = work, n
        # A copy: the program may be built anew meanwhile, and a sweep goes on only with the version that began it.
        built, self.build = os.path.dirname(os.path.abspath(program)), os.path.join(work, "bin")
        os.mkdir(self.build)
        for name in (os.path.basename(program), "liboffchip_inject.so"):
            shutil.copy2(os.path.join(built, name), self.build)
        shutil.copytree(os.path.join(built, "standin"), os.path.join(self.build, "standin"))
        self.program = os.path.join(self.build, os.path.basename(program))
        self.seed, self.rng = seed, random.Random(seed)
        self.passed, self.failures = 0, []
        self.small = 0
        self.fixtures = os.path.join(ROOT, "fixtures")
        # Orphans come to us: a recorded program outlives a killed recorder.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)

    # --- counting ---

    def step(self, name, fn):
        t, passed, failed = time.monotonic(), self.passed, len(self.failures)
        said = fn(self)
        print(f"{name:9} {self.passed - passed} passed, {len(self.failures) - failed} failed, " f"{time.monotonic() - t:.0f} s: {said}", flush=True)

    def check(self, good, what, *about):
        """Count a claim; say what was wrong with it."""
        if good:
            self.passed += 1
            return True
        self.failures.append(what)
        print("FAIL " + what + "".join("\n  " + str(a) for a in about), flush=True)
        return False

    # --- files ---

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def fixture(self, *parts):
        return os.path.join(self.fixtures, *parts)

    def folder(self, name):
        os.makedirs(self.path(name), exist_ok=True)
        return self.path(name)

    def clear(self, path):
        """Nothing is at path, nor beside it under a longer name."""
        for found in glob.glob(glob.escape(path) + "*"):
            os.unlink(found)
        return path

    def events(self):
        """The events of a recording of an H200, for the stand-ins."""
        with lzma.open(self.fixture("traces", "uvm_conv_64MiB_complete.csv.xz"), "rt", encoding="ascii") as f:
            return f.read()

    def cupti_rows(self, to, n):
        """A long recording in CUPTI's CSV, for commands that must take a while."""
        with open(to, "w", encoding="ascii") as f:
            for i in range(1, n + 1):
                f.write(f"1,{i * 10},{i * 10 + 5},7f{i * i % 99999989 * 4096:010x},4096,0,0,0,1,2\n")
        return to

    @contextlib.contextmanager
    def small_disk(self, kib):
        """A file system of so many KiB."""
        self.small += 1
        at = self.folder(f"disk{self.small}")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={kib}k", "soak", at], check=True)
        try:
            yield at
        finally:
            subprocess.run(["umount", "-l", at], check=False)
            os.rmdir(at)

    # --- commands ---

    def start(self, *args, env=None, cwd=None, out=subprocess.PIPE, limit=None):
        def limits():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            for which, value in (limit or {}).items():
                resource.setrlimit(which, (value, value))
        return subprocess.Popen([self.program, *args], stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
                                text=True, errors="replace", env={**os.environ, **(env or {})}, cwd=cwd or self.work, preexec_fn=limits)

    def end(self, process, timeout=120):
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.check(False, f"ends within {timeout} s", " ".join(process.args))
        return Done(process.args, process.returncode, out or "", err or "")

    def run(self, *args, timeout=120, **keys):
        return self.end(self.start(*args, **keys), timeout)

    def must(self, *args, **keys):
        """A command that the step needs to have worked."""
        done = self.run(*args, **keys)
        if done.rc != 0:
            raise SystemExit(f"soak: a command it stands on failed\n{done}")
        return done

    def kill_later(self, process, seconds, before=lambda: None):
        """SIGKILL after so long; what `before` saw just before, and whether the kill found it alive."""
        time.sleep(seconds)
        seen = before()
        alive = process.poll() is None
        if alive:
            process.send_signal(signal.SIGKILL)
        return seen, self.end(process), alive

    # --- what is in a file ---

    def rows(self, path, query):
        """Rows by SQLite itself, without writing; None while somebody else has the file."""
        try:
            with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=0)) as db:
                return db.execute(query).fetchall()
        except sqlite3.OperationalError:
            return None

    def sound(self, path, done):
        """The database at path: by SQLite's own check."""
        found = self.rows(path, "PRAGMA integrity_check")
        return self.check(found == [("ok",)], f"{os.path.basename(path)} passes integrity_check", found, done)

    def chunks(self, path):
        return self.rows(path, "SELECT stream, first_record, records, content_hash FROM chunks ORDER BY chunk")

    def trace(self, path, done, whole=None):
        """A trace that may have been cut off: absent, or it opens, says complete or incomplete, and holds a beginning of
        the whole one's chunks. The chunks, or None if there is no file."""
        if not os.path.exists(path):
            return None
        info = self.run("info", path)
        state = info.out.split("\n", 1)[0]
        self.check(info.rc == 0 and state in (f"{path}: complete", f"{path}: incomplete"),
                   "what is left of a trace opens and says whether it is complete", info, done)
        self.sound(path, done)
        chunks = self.chunks(path)
        if whole is not None and chunks is not None:
            self.check(chunks == whole[:len(chunks)], "its chunks are the first of the whole trace", done)
            if len(chunks) < len(whole):
                self.check(state.endswith("incomplete"), "a trace with chunks missing says incomplete", state, done)
        return chunks

    def results(self, path):
        """Everything a results file says, without the numbers that only order it inside. `order` is a matter of what is
        there: a run that two points share stands where the first of them that ended belongs."""
        found = {what: self.rows(path, query) for what, query in (
            ("runs", "SELECT key, engine, input, input_hash, platform, settings, policy, params, metrics, intervals, notes, baseline, offchip_version FROM runs"),
            ("order", "SELECT key, position FROM runs"), ("metrics", "SELECT key, name, value, lo, hi FROM metrics JOIN runs USING(run)"))}
        return None if None in found.values() else {what: set(rows) for what, rows in found.items()}
