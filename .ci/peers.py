#!/usr/bin/env python3
"""make bench-peers PEERS=DIR: offchip's DRAM controller beside Ramulator 2 and DRAMsim3, the same streams, one core.

DIR holds the peers' sources as published, DIR/ramulator2 and DIR/DRAMsim3 (their licences, not ours to ship); what is not
built yet is built here with cmake. All are used as libraries by the drivers in .ci/peers, which hold what is set. Prints a
table and writes BUILD/peers.json. Seconds are processor time of the simulation alone, the best of nine, taken in turn.
No ratio is printed where the cycles differ by more than 3 % and no reason is known."""
import json
import os
import re
import subprocess
import sys

STREAMS = {"sequential": 200_000, "random": 100_000, "mixed": 100_000, "sparse": 20_000}
REFRESH = {"off": "", "on": "refresh=all,refi=3315,rfc=298"}
RUNS = 9
OWN_QUEUE = "chooses among all that wait when a command can go; offchip when a bank's slot empties"
REASONS = {("ramulator2", "random"): OWN_QUEUE,
           ("ramulator2", "mixed"): "keeps writes in a queue of their own and sends them in batches",
           ("dramsim3", "random"): OWN_QUEUE, ("dramsim3", "mixed"): OWN_QUEUE}


def run(args, **more):
    done = subprocess.run(args, capture_output=True, text=True, **more)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, args))}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


def measure(args, **more):
    """What a driver prints last."""
    return json.loads(run(args, **more).strip().splitlines()[-1])


class Peer:
    """A peer's sources, built, and its driver."""

    def __init__(self, name, folder, library, flags, scratch):
        self.name, self.folder, self.scratch = name, folder, scratch
        build = os.path.join(folder, "build")
        if not os.path.exists(os.path.join(folder, library)):
            run(["cmake", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DRAMULATOR_PYTHON_BINDINGS=OFF",
                 "-DCMAKE_POLICY_VERSION_MINIMUM=3.5"])
            run(["cmake", "--build", build])
        cache = open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8").read()
        kind = re.search(r"CMAKE_BUILD_TYPE:\w+=(.*)", cache)[1]
        self.flags = f"{kind} {re.search(rf'CMAKE_CXX_FLAGS_{kind.upper()}:STRING=(.*)', cache)[1]}"
        self.version = run(["git", "-C", folder, "rev-parse", "HEAD"]).strip()[:12]
        self.driver = os.path.join(scratch, name)
        link = library[3:-3]
        run(["c++", "-O3", "-I.ci/peers", *flags, f".ci/peers/{name}.cc", f"-L{folder}", f"-l{link}",
             f"-Wl,-rpath,{os.path.abspath(folder)}", "-o", self.driver])

    def config(self, channels, refresh):
        path = os.path.join(self.scratch, f"{self.name}-{channels}-{refresh}")
        if self.name == "ramulator2":
            env = {**os.environ, "CHANNELS": str(channels), "REFRESH": refresh,
                   "PYTHONPATH": os.path.join(self.folder, "python")}
            run([sys.executable, "-m", "ramulator", "export", ".ci/peers/ramulator2_config.py", "-o", path], env=env)
            return path
        text = open(".ci/peers/dramsim3.ini", encoding="utf-8").read()
        text = text.replace("= CHANNELS", f"= {channels}")
        text = text.replace("= REFI", "= 3315" if refresh == "on" else "= 1000000000")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def run(self, stream, channels, refresh):
        args = [self.driver, self.config(channels, refresh), stream]
        return measure(args + ([str(channels)] if self.name == "dramsim3" else []))


class Offchip:
    """Our own controller."""
    name = "offchip"

    def __init__(self, driver):
        self.driver = driver

    def run(self, stream, _channels, refresh):
        try:
            return measure([self.driver, stream, "frfcfs", REFRESH[refresh]])
        except RuntimeError as e:
            return {"refused": str(e)}


def best(old, new):
    if "refused" in new or not old or new["seconds"] < old["seconds"]:
        old = new
    return old


def compare(ours, theirs, peer, stream):
    """The ratio of speeds as text and as a number, and why cycles differ."""
    if not theirs or "refused" in ours or "refused" in theirs:
        return "n/a", None, None
    ratio = theirs["seconds"] / ours["seconds"]
    apart = theirs["cycles"] / ours["cycles"] - 1
    if abs(apart) <= 0.03:
        return f"{ratio:.0f}", ratio, None
    reason = REASONS.get((peer, stream))
    return (f"{ratio:.0f}*" if reason else "no ratio"), ratio if reason else None, reason or "not known"


def rows(simulators, scratch, driver):
    for channels in (1, 32):
        for name, requests in STREAMS.items():
            stream = os.path.join(scratch, f"{name}-{channels}.bin")
            if channels > 1 and name == "sequential": # a refresh more or less is 5 % of the cycles of a short one
                requests *= 4
            run([driver, "--write", name, str(channels), str(requests), stream])
            for refresh in REFRESH:
                got = {}
                for _ in range(RUNS):
                    for s in simulators:
                        got[s.name] = best(got.get(s.name), s.run(stream, channels, refresh))
                yield {"stream": name, "channels": channels, "refresh": refresh, **got}


def speed(result):
    if not result or "refused" in result:
        return "n/a"
    return f"{result['requests'] / result['seconds'] / 1e6:.3g} M"


def main():
    build, folder = sys.argv[1], sys.argv[2]
    scratch, driver = os.path.join(build, "peers"), os.path.join(build, "bench", "peer_offchip")
    os.makedirs(scratch, exist_ok=True)
    peers = []
    sources = os.path.join(folder, "ramulator2")
    if os.path.isdir(sources):
        flags = ["-std=c++20", *(f"-I{sources}/{d}" for d in ("src", "ext/yaml-cpp/include", "ext/fmt/include"))]
        peers.append(Peer("ramulator2", sources, "libramulator.so", flags, scratch))
    sources = os.path.join(folder, "DRAMsim3")
    if os.path.isdir(sources):
        peers.append(Peer("dramsim3", sources, "libdramsim3.so", ["-std=c++17", f"-I{sources}/src"], scratch))
    if not peers:
        sys.exit(f"peers: {folder} holds neither ramulator2 nor DRAMsim3; clone them from "
                 "github.com/CMU-SAFARI/ramulator2 and github.com/umd-memsys/DRAMsim3")
    for p in peers:
        print(f"{p.name} {p.version}, {p.flags}")
    print("offchip: frfcfs, platform gv100, all checks on; requests/s, ratios beside it\n")
    names = [p.name for p in peers]
    print("| stream | channels | refresh | offchip | " + " | ".join(f"{n} | ratio | cycles" for n in names) + " |")
    print("| --- |" + " --- |" * (3 + 3 * len(names)))
    out, reasons = [], set()
    for row in rows([Offchip(driver), *peers], scratch, driver):
        cells = [row["stream"], str(row["channels"]), row["refresh"], speed(row["offchip"])]
        for n in names:
            text, ratio, reason = compare(row["offchip"], row.get(n), n, row["stream"])
            apart = "n/a"
            if "cycles" in row["offchip"] and "cycles" in row[n]:
                apart = f"{100 * (row[n]['cycles'] / row['offchip']['cycles'] - 1):+.1f} %"
            cells += [speed(row[n]), text, apart]
            row[n].update(ratio=ratio, reason=reason)
            if reason in REASONS.values():
                reasons.add(f"* {n}, {row['stream']}: {reason}")
        print("| " + " | ".join(cells) + " |", flush=True)
        out.append(row)
    print("\n" + "\n".join(sorted(reasons)))
    with open(os.path.join(build, "peers.json"), "w", encoding="utf-8") as f:
        json.dump({"peers": [{"name": p.name, "version": p.version, "flags": p.flags} for p in peers], "rows": out}, f,
                  indent=1)
    print(f"\n{build}/peers.json")


main()
