"""make soak: kill, fill the disk, feed garbage, run side by side; nothing may be lost, corrupt or silent.

Usage: soak.py PROGRAM [--n N] [--seed S] [--only STEP,...]

N is the number of random kill -9, and of signals to commands that write (default 500); the other steps shrink with it. The seed is printed: the same seed makes
the same choices, though not the same timing. Python 3 standard library only. A private mount namespace holds small file
systems where the kernel lets us have one."""
import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "soaking"))
sys.dont_write_bytecode = True
import full  # noqa: E402
import hostile  # noqa: E402
import kills  # noqa: E402
import outputs  # noqa: E402
import pairs  # noqa: E402
import ground  # noqa: E402
import many  # noqa: E402
import together  # noqa: E402

STEPS = {"kill": kills.soak, "outputs": outputs.soak, "full": full.soak, "hostile": hostile.soak, "together": together.soak,
         "many": many.soak}


def own_mounts():
    """Run again in a mount namespace of our own, if that is allowed."""
    if os.environ.get("SOAK_MOUNTS"):
        return
    flags = ["-m"] if os.geteuid() == 0 else ["-U", "-r", "-m"]
    if shutil.which("unshare") and subprocess.run(["unshare", *flags, "mount", "-t", "tmpfs", "none", "/mnt"],
                                                  capture_output=True).returncode == 0:
        os.environ["SOAK_MOUNTS"] = "yes"
        os.execvp("unshare", ["unshare", *flags, sys.executable, *sys.argv])
    os.environ["SOAK_MOUNTS"] = "no"


def main():
    words = argparse.ArgumentParser()
    words.add_argument("program")
    words.add_argument("--n", type=int, default=500)
    words.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    words.add_argument("--only", default=",".join(STEPS))
    a = words.parse_args()
    own_mounts()
    os.environ.update(LC_ALL="C", SOAK_SEED=str(a.seed))
    if "--seed" not in sys.argv:
        sys.argv += ["--seed", str(a.seed)]
    print(f"soak: {a.n} kills, seed {a.seed}")
    started = time.monotonic()
    work = tempfile.mkdtemp(prefix="offchip-soak-")
    try:
        g = ground.Ground(a.program, work, a.n, a.seed)
        for name in a.only.split(","):
            g.step(name, {**STEPS, "pairs": pairs.soak}[name])
    finally:
        shutil.rmtree(work, ignore_errors=True)
    print(f"{g.passed} passed, {len(g.failures)} failed in {time.monotonic() - started:.0f} s (seed {a.seed})")
    return 1 if g.failures or not g.passed else 0


sys.exit(main())
