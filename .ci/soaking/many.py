"""Many short processes under one recorder: one after the other by a shell, and all at once. Each is a whole file, nothing
is lost, nothing is left in the folder for temporary files; what one costs is said."""
import glob
import os
import re
import shutil
import subprocess
import time

KERNELS, FAULTS = 1, 20


def events(path):
    """What each process plays: a kernel and page migrations."""
    with open(path, "w", encoding="ascii") as f:
        f.write("K,1000,900000,kernel\n")
        f.writelines(f"1,{1000 + i * 10},{1005 + i * 10},7f{i * 4096:010x},4096,0,0,0,0,2\n" for i in range(FAULTS))
    return path


def cost(n, run):
    """ms of wall clock for each of n, and what run() gives."""
    began = time.monotonic()
    done = run()
    return 1e3 * (time.monotonic() - began) / n, done


def storm(g, name, n, argv):
    """Record `argv`, which starts n processes; what recording costs."""
    folder, temporary = g.folder(f"many-{name}"), g.folder(f"tmp-{name}")
    standin = os.path.join(g.build, "standin")
    env = {"LD_LIBRARY_PATH": standin, "OFFCHIP_CUPTI": os.path.join(standin, "libcupti.so"), "TMPDIR": temporary, "STANDIN_EVENTS": events(g.path("many.csv"))}
    bare, _ = cost(n, lambda: subprocess.run(argv, env={**os.environ, **env}, check=True))
    wall, done = cost(n, lambda: g.run("record", "-q", "-o", os.path.join(folder, "t-%p.db"), "--", *argv, env=env, timeout=600))
    g.check(done.rc == 0 and re.fullmatch(r"offchip: of faults only what CUPTI reports.*\n", done.err),
            f"{n} short processes ({name}) are recorded with one word, of the queue that the stand-ins lack", done)
    files = glob.glob(os.path.join(folder, "*"))
    g.check(len(files) == n and all(f.endswith(".db") for f in files), f"{n} short processes are {n} files", len(files), done)
    whole = [f for f in files if g.rows(f, "SELECT sum(records) FROM chunks") == [(KERNELS + FAULTS,)] and
             g.rows(f, "SELECT value FROM origin WHERE key = 'state'") == [("complete",)] and g.rows(f, "SELECT count(*) FROM dropped") == [(0,)]]
    g.check(len(whole) == len(files), "each of them is whole", len(whole), len(files), done)
    if files:
        g.sound(files[0], done)
    g.check(not os.listdir(temporary), "nothing is left in the folder for temporary files", os.listdir(temporary))
    shutil.rmtree(folder)
    return f"{wall - bare:.1f} ms more each"


def soak(g):
    n = max(40, 2 * g.n)
    target = os.path.join(g.build, "standin", "target")
    loop = f'i=0; while [ $i -lt {n} ]; do "{target}" init context play; i=$((i + 1)); done'
    return (f"{n} processes, one after the other: {storm(g, 'loop', n, ['sh', '-c', loop])}; "
            f"all at once: {storm(g, 'storm', n, [target, f'storm:{n}+init+context+play'])}")
