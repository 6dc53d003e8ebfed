"""make soak: kill, fill the disk, feed garbage, run side by side; nothing may be lost, corrupt or silent.

Usage: soak.py PROGRAM [--n N] [--seed S] [--only STEP,...]

N is the number of random kill -9, and of signals to commands that write (default 500); the other steps shrink with it. The seed
is printed: the same seed makes the same choices, though not the same timing. Python 3 standard library only. A private mount
namespace holds small file systems where the kernel lets us have one."""
import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "soaking"))
sys.dont_write_bytecode = True
import ground  # noqa: E402

STEPS = {"kill": "kills", "outputs": "outputs", "full": "full", "hostile": "hostile", "together": "together", "many": "many"}


def own_mounts():
    """Run again in a mount namespace of our own, if that is allowed."""
    if os.environ.get("SOAK_MOUNTS"):
        return
    unshare = ["unshare", *(["-m"] if os.geteuid() == 0 else ["-U", "-r", "-m"])]
    allowed = shutil.which("unshare") and not subprocess.run([*unshare, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode
    os.environ["SOAK_MOUNTS"] = "yes" if allowed else "no"
    if allowed:
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])


words = argparse.ArgumentParser()
words.add_argument("program")
words.add_argument("--n", type=int, default=500)
words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
words.add_argument("--only", default=",".join(STEPS))
a = words.parse_args()
own_mounts()
os.environ["LC_ALL"] = "C"
print(f"soak: {a.n} kills, seed {a.seed}")
started = time.monotonic()
with tempfile.TemporaryDirectory(prefix="offchip-soak-", ignore_cleanup_errors=True) as work:
    g = ground.Ground(a.program, work, a.n, a.seed)
    for name in a.only.split(","):
        g.step(name, importlib.import_module(STEPS[name]).soak)
print(f"{g.passed} passed, {len(g.failures)} failed in {time.monotonic() - started:.0f} s (seed {a.seed})")
sys.exit(1 if g.failures or not g.passed else 0)
