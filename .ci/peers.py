#!/usr/bin/env python3
"""make bench-peers PEERS=DIR: offchip's DRAM controller beside Ramulator 2 and DRAMsim3, the same streams, one core.

DIR holds the peers' sources as published, DIR/ramulator2 and DIR/DRAMsim3 (their licences, not ours to ship); what is not
built yet is built here with cmake. All are used as libraries by the drivers in .ci/peers, which hold what is set. Seconds are
processor time of the simulation alone, the best of nine, taken in turn. docs/dram-engine.md says why cycles differ."""
import json
import os
import subprocess
import sys

STREAMS = {"sequential": 200_000, "random": 100_000, "mixed": 100_000, "sparse": 20_000}
REFRESH = {"off": "", "on": "refresh=all,refi=3315,rfc=298"}
RUNS = 9
BUILD, FOLDER = sys.argv[1:3]
SCRATCH = os.path.join(BUILD, "peers")
OURS = os.path.join(BUILD, "bench", "peer_offchip")


def run(*args, **more):
    done = subprocess.run(args, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"peers: {' '.join(args)}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def built(name, folder, library, *flags):
    """A peer's driver, linked with its library."""
    if not os.path.exists(os.path.join(folder, library)):
        run("cmake", "-S", folder, "-B", folder + "/build", "-DCMAKE_BUILD_TYPE=Release", "-DRAMULATOR_PYTHON_BINDINGS=OFF",
            "-DCMAKE_POLICY_VERSION_MINIMUM=3.5")
        run("cmake", "--build", folder + "/build")
    driver = os.path.join(SCRATCH, name)
    run("c++", "-O3", "-I.ci/peers", *flags, f".ci/peers/{name}.cc", f"-L{folder}", f"-l{library[3:-3]}", f"-Wl,-rpath,{os.path.abspath(folder)}", "-o", driver)
    return driver


def ramulator2(folder):
    driver = built("ramulator2", folder, "libramulator.so", "-std=c++20", *(f"-I{folder}/{d}" for d in ("src", "ext/yaml-cpp/include", "ext/fmt/include")))

    def words(stream, channels, refresh):
        path = os.path.join(SCRATCH, f"ramulator2-{channels}-{refresh}")
        run(sys.executable, "-m", "ramulator", "export", ".ci/peers/ramulator2_config.py", "-o", path,
            env={**os.environ, "CHANNELS": str(channels), "REFRESH": refresh, "PYTHONPATH": os.path.join(folder, "python")})
        return driver, path, stream
    return words


def dramsim3(folder):
    driver = built("dramsim3", folder, "libdramsim3.so", "-std=c++17", f"-I{folder}/src")

    def words(stream, channels, refresh):
        path = os.path.join(SCRATCH, f"dramsim3-{channels}-{refresh}")
        with open(".ci/peers/dramsim3.ini", encoding="utf-8") as f, open(path, "w", encoding="utf-8") as out:
            out.write(f.read().replace("= CHANNELS", f"= {channels}").replace("= REFI", "= 3315" if refresh == "on" else "= 1000000000"))
        return driver, path, stream, str(channels)
    return words


def main():
    os.makedirs(SCRATCH, exist_ok=True)
    made = {"offchip": lambda stream, _, refresh: (OURS, stream, "frfcfs", REFRESH[refresh])}
    made.update({name: make(os.path.join(FOLDER, folder)) for name, folder, make in (("ramulator2", "ramulator2", ramulator2), ("dramsim3", "DRAMsim3", dramsim3))
                 if os.path.isdir(os.path.join(FOLDER, folder))})
    if len(made) == 1:
        print(f"peers: {FOLDER} holds neither ramulator2 nor DRAMsim3; clone them from github.com/CMU-SAFARI/ramulator2 and github.com/umd-memsys/DRAMsim3")
    print("offchip: frfcfs, platform gv100, all checks on; requests/s, ratio, difference of cycles")
    for channels, name in ((c, s) for c in (1, 32) for s in STREAMS):
        stream = os.path.join(SCRATCH, f"{name}-{channels}.bin")
        requests = STREAMS[name] * (4 if channels > 1 and name == "sequential" else 1)  # a refresh more is 5 % of the cycles of a short one
        run(OURS, "--write", name, str(channels), str(requests), stream)
        for refresh in REFRESH:
            words = {s: w(stream, channels, refresh) for s, w in made.items()}
            got = [{s: json.loads(run(*w).strip().splitlines()[-1]) for s, w in words.items()} for _ in range(RUNS)]
            best = {s: min((g[s] for g in got), key=lambda x: x["seconds"]) for s in made}
            ours = best.pop("offchip")
            print(f"{name}, {channels} channels, refresh {refresh}: {ours['requests'] / ours['seconds'] / 1e6:.3g} M" + "".join(
                f"; {s} {x['seconds'] / ours['seconds']:.0f} ({100 * (x['cycles'] / ours['cycles'] - 1):+.1f} %)" for s, x in best.items()), flush=True)


main()
