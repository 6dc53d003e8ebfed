"""Ours against measurement: NVIDIA H200, driver 580.159.04, 2026-11."""
from math import floor
from statistics import median

SCATTER = "kernel times scatter by 10 to 30 % between runs"
DENSE = "the recording has 287 batches for 264 services, ours one for each of 256"
# Micro-benchmarks: name, workload, touches, measured ms of each run with the data on the host and with no data.
COSTS = (("a dependent chain of new VA blocks", "pattern=chain,bytes=2000MiB,step=2MiB", (43.864, 24.849, 18.692), (15.641, 14.491, 14.461)),
         ("a chain in steps of 64 KiB, 256 MiB", "pattern=chain,bytes=256MiB,step=64KiB", (25.486, 44.230, 27.498), (19.645, 24.154, 15.967)),
         ("1 random page in each of 2,048 VA blocks", "pattern=sparse,bytes=4GiB,pages_per_block=1", (33.705, 26.993), (17.829, 13.315)), ("4 random pages in each", "pattern=sparse,bytes=4GiB,pages_per_block=4", (78.708, 77.296), (28.887, 29.510)),
         ("16 random pages in each", "pattern=sparse,bytes=4GiB,pages_per_block=16", (266.337, 271.699), (105.066, 115.714)), ("64 random pages in each of 512", "pattern=sparse,bytes=1GiB,pages_per_block=64", (69.617, 67.133), (37.597, 36.652)),
         ("all 512 pages in each of 512", "pattern=sparse,bytes=1GiB,pages_per_block=512", (150.156, 106.204), (83.102, 63.415)))


def write(b):
    def uvm(spec, traced=False):
        return b.replay(f"uvm synth:{spec} --platform h200 --policy tree" + (" --set traced=1" if traced else ""), full="1024MiB" in spec or "4GiB" in spec)[0]

    def zero(policy, extra="", mib=512, setting=""):
        return b.replay(f"zerocopy synth:array,bytes={mib}MiB{extra} --platform h200 --policy {policy}{setting}")[0]

    b.section("Against measurement: H200", """
One NVIDIA H200 (132 multiprocessors, PCIe 5.0 x16, driver 580.159.04, 2026-11). Column "published" is the measurement; all were given, in the order of the page, when the engines were made. Kernel times
without tracing scatter by 10 to 30 % between runs. The costs of the driver were fitted to the micro-benchmarks and to stride,
2DCONV and random (stride and 2DCONV at all three sizes): those rows are a fit. *Held out* are offsets and rows of fixtures/calibrate/h200_others.csv. Link constants were fitted to the bandwidths of
512 MiB, the L1's to its counters and those of BFS at scale 18.""")
    for w, spec, times in (("stride", "array", (10.0, 38.9, 188)), ("2DCONV", "conv2d", (9.0, 43.1, 167))):
        for mib, ms in zip((64, 256, 1024), times):
            b.row("kernel time", f"{w}, {mib:,} MiB, ms", ms, lambda spec=spec, mib=mib: uvm(f"{spec},bytes={mib}MiB")["time_ns"] / 1e6,
                  SCATTER + ("; ours grows with the size, the measurement by 4.8 from 256 MiB on: one run, not explained" if mib == 1024 else ""), fit="h200 copy_run_ns")
    b.row("kernel time", "random, 256 MiB, ms", 39.5, lambda: uvm("array,bytes=256MiB,pattern=random")["time_ns"] / 1e6,
          "one set of costs for seventeen programs: this one comes out low where the sparse ones (below) come out high; 14 batches for the recording's 16", fit="h200 copy_run_ns")
    for name, spec, lo, hi, why in (("stride", "array,bytes=256MiB", 71, 77, "15 % more records than recorded (below), each at the recorded 2.5 us"),
            ("2DCONV", "conv2d,bytes=256MiB", 59, 59, "fewer migration records than recorded (below), each at the recorded 2.6 us"),
            ("random", "array,bytes=256MiB,pattern=random", 43, 47, "low as without tracing; the 2.5 us of its records hide behind the driver's work in ours, where tracing takes 4 to 7 ms more on the chip")):
        b.row("kernel time", f"{name}, 256 MiB, while traced, ms", None, lambda spec=spec: uvm(spec, True)["time_ns"] / 1e6, why, low=lo, high=hi)
    b.row("recording", "migration records, stride, 256 MiB", 13110, lambda: uvm("array,bytes=256MiB", True)["migration_records"], "a service of ours is moved in 59 pieces, the recording's in 50: faulted pages lie farther apart")
    b.row("recording", "migration records, 2DCONV, 64 MiB", 1042, lambda: uvm("conv2d,bytes=64MiB", True)["migration_records"],
          "the recording's 1,335 faulted pages lie in 518 runs of 2.6; ours come row by row from neighbouring thread blocks and join into fewer, longer runs")
    for name, spec, batches, services, why in (("stride, 256 MiB", "array,bytes=256MiB", 287, 264, DENSE), ("2DCONV, 64 MiB", "conv2d,bytes=64MiB", 95, None, SCATTER),
                                               ("random, 256 MiB", "array,bytes=256MiB,pattern=random", 16, 1005, "16 and 14 batches: repeats of one program scatter by a fifth")):
        b.row("recording", f"{name}: fault batches", batches, lambda spec=spec: uvm(spec)["batches"], why)
        if services:
            b.row("recording", f"{name}: services", services, lambda spec=spec: uvm(spec)["services"], "the array's blocks in batches: see the row before")
    for name, spec, host, nowhere in COSTS:
        for where, key, ms in (("data on the host", "", host), ("no data", ",host=0", nowhere)):
            b.row("costs", f"{name}, {where}, ms (median of {len(ms)})", median(ms), lambda spec=spec, key=key: uvm(f"array,{spec}{key}")["time_ns"] / 1e6,
                  f"measured {min(ms):.1f} to {max(ms):.1f}; one set of costs for these fourteen and three programs: " + ("without data what is left is faults and services: too dear where a service has 4 to 64 pages, too cheap where it has all" if key else "each run of pages that the CPU has mapped costs 5.7 us more, too much where a service has many, too little where it has all"), fit="h200 service_ns")
    b.none("costs", "explicit prefetch of everything, GB/s", "47 to 50", "the program's own prefetch is a record, not a step of a workload")
    b.none("costs", "CPU reading everything back, GB/s", "7.8", "no workload reads back after its kernel; CPU faults are checked one by one in recordings (`verify`)")
    for name, place in (("uvm_seq_256MiB_complete.csv.xz", "stride, 256 MiB"), ("uvm_conv_64MiB_complete.csv.xz", "2DCONV, 64 MiB"), ("uvm_seq_256MiB.csv.gz", "stride, 256 MiB, recorded without flushing")):
        db = b.path(f"{name.split('.')[0]}.db")

        def verify(name=name, db=db):
            b.call(["import", f"fixtures/traces/{name}", "-o", db], json_out=False)
            return b.call(["verify", "--format", "json", db])

        lossy = name.endswith(".gz")
        b.row("recording", f"{place}: services that the driver's tree explains", "all" if not lossy else "all but where records are lost",
              lambda v=verify, lossy=lossy: (lambda m: ((m["services"] > m["services_exact"]) == lossy, f"{m['services_exact']:,} of {m['services']:,}"))(v()["metrics"]))
        b.row("recording", f"{place}: verdict", "incomplete" if lossy else "complete", lambda v=verify, want="incomplete" if lossy else "complete": (lambda x: (x == want, x))(v()["verdict"]))
        bytes_, why = {"stride, 256 MiB": (268435456, ""), "2DCONV, 64 MiB": (33177600, "!the input array: the output was on no processor and moved without a copy")}.get(place, (90955776, "!the part that the first recording kept (86.7 MiB of 256)"))
        b.row("recording", f"{place}: bytes recorded", bytes_, lambda v=verify: v()["metrics"]["recorded_bytes"], why, definition=True)
    b.none("recording", "random, bicg kernel 1, triad: services that the tree explains", "1,005 of 1,005; 640 of 640; misses at allocations' edges", "those recordings are not at hand")
    b.none("recording", "loss with a flush every 0.2 to 5 ms", "none in 11 of 12", "a matter of the recorder, docs/recording.md; no replay")
    for claim, extra, policy, paper in (("strided, requests", "", "naive", 3244883), ("aligned, requests", "", "merged", 524288), ("shifted by 32 B, requests", ",offset=8", "merged", 1046918)):
        b.row("counters, 64 MiB", claim, paper, lambda extra=extra, policy=policy: zero(policy, extra, 64)["requests"], "!1,657 pairs were fetched as one on the chip" if "shifted" in claim else "", fit="h200 l1_ways" if policy == "naive" else None, definition=claim.startswith("aligned"))
    for mib, lo, hi in ((64, 1.50, 1.55), (512, 1.32, 1.32)):
        b.row("counters", f"strided, {mib} MiB: sectors fetched over sectors", None, lambda mib=mib: zero("naive", "", mib)["overfetch_ratio"], low=lo, high=hi, neutral=1, fit="h200 l1_together" if mib == 64 else "h200 l1_steady")
    b.row("counters", "strided, 64 MiB, the same at half the blocks a multiprocessor, their shared memory taken from L1", 3.7, lambda: zero("naive", ",blocks_per_sm=4", 64)["overfetch_ratio"], neutral=1, fit="h200 l1_group")
    b.row("counters", "upstream bytes over requests", 16, lambda: (lambda m: m["wire_up_bytes"] / m["requests"])(zero("naive", "", 64)), definition=True)
    b.row("counters", "downstream bytes less payload over requests", 12, lambda: (lambda m: (m["wire_down_bytes"] - m["payload_bytes"]) / m["requests"])(zero("naive", "", 64)), definition=True)
    sweep = "zerocopy synth:pagerank,graph=kron,scale={},element={},iterations=1,reuse={} --platform h200 --policy naive,merged,aligned{}"
    bfs = "zerocopy synth:bfs,graph=kron,scale={},element={},root=auto,reuse={} --platform h200 --policy naive,merged,aligned{}"
    for element, counts in ((8, (1983244, 730365, 600966)), (4, (1022923, 492333, 360130))):
        for i, (name, n) in enumerate(zip(("naive", "merged", "aligned"), counts)):
            b.row("counters, BFS, kron 18", f"{element} B, {name}, requests of all launches", n, lambda element=element, i=i: b.replay(bfs.format(18, element, "l1", ""), full=True)[i]["requests"], fit="L1's properties were chosen on these counts")
    urand = bfs.replace("kron", "urand")
    for i, (name, n) in enumerate((("naive", 6569627), ("merged", 767884), ("aligned", 748286))):
        b.row("counters, BFS, urand 18", f"8 B, {name}, requests of all launches", n, lambda i=i: b.replay(urand.format(18, 8, "l1", ""), full=True)[i]["requests"], fit="L1's properties were chosen on these counts")
    for i, name, paper in ((1, "merged", 79), (2, "aligned", 94)):
        b.row("counters, one sweep, kron 18, 8 B", f"requests, {name}, as a share of those without reuse between warps", paper,
              lambda i=i: 100 * b.replay(sweep.format(18, 8, "l1", ""), full=True)[i]["requests"] / b.replay(sweep.format(18, 8, "none", ""), full=True)[i]["requests"], unit=" %", fit="the rule that joins a warp's requests was found on kron's sweep")
    # offsets 2 to 5: times of fixtures/calibrate/h200_others.csv, which no constant was fitted to
    for claim, extra, policy, lo, hi, key in (("strided", "", "naive", 17.4, 18.26, "round_trip_ns"), ("aligned", "", "merged", 49.7, 51.2, "efficiency"), ("offset 8 elements", ",offset=8", "merged", 38.1, 40.9, "host_bytes_per_s"),
                                              ("offset 16 elements", ",offset=16", "merged", 42.9, 42.9, "host_bytes_per_s"), ("offset 1 element", ",offset=1", "merged", 34.1, 34.1, ""), ("offset 2 elements", ",offset=2", "merged", 36.5, 36.5, ""),
                                              ("offset 3 elements", ",offset=3", "merged", 36.8, 36.8, ""), ("offset 4 elements", ",offset=4", "merged", 36.0, 36.0, ""), ("offset 5 elements", ",offset=5", "merged", 36.5, 36.5, ""),
                                              ("strided, 8 elements a thread", ",chunk=8", "naive", 50.67, 50.67, None), ("block copy", "", "copy", 55.3, 55.4, "copy_payload_bytes")):
        b.row("bandwidth, 512 MiB", f"{claim}, GB/s", lo if lo == hi else None, lambda extra=extra, policy=policy: zero(policy, extra)["bandwidth_bytes_per_s"] / 1e9,
              "what loads that start off a sector cost the chip beyond the sectors is not modelled", fit=f"h200 {key}" if key else None, held=key == "", **({} if lo == hi else {"low": lo, "high": hi}))

    def sms(n, lane=4):
        return zero("merged", f",element={lane},blocks_per_sm=4", 512, f" --set sm_share_pct={floor(1e6 * n / 132) / 1e4}")["bandwidth_bytes_per_s"] / 1e9

    for n, paper in ((1, 3.113), (4, 11.926), (8, 23.249), (16, 40.436), (24, 49.675), (132, 49.286)):
        b.row("multiprocessors", f"{n} of 132, 1,024 threads each, 4 B lanes, GB/s", paper, lambda n=n: sms(n), fit="h200 load_ns" if n < 8 else "h200 issue_sharpness")
    for lane, lo, hi in ((16, 5, 6), (4, 20, 24)):
        b.row("multiprocessors", f"to reach 90 % of the best, {lane} B lanes (saturate at)", None, lambda lane=lane: next(n for n in range(1, 133) if sms(n, lane) >= 0.9 * sms(132, lane)), low=lo, high=hi, fit="h200 issue_sharpness" if lane == 4 else None)

    def copy(size):
        m = b.replay(f"zerocopy synth:array,bytes={size} --platform h200 --policy copy")[0]
        return m["time_ns"], m["bandwidth_bytes_per_s"] / 1e9

    b.row("copies", "asynchronous, to the device, 4 KiB, us", 2.605, lambda: copy(4096)[0] / 1e3, given="h200 copy_setup_ns")
    b.none("copies", "asynchronous, from the device, 4 KiB, us", 1.9, "the engine reads host memory only")
    for size, paper in ((65536, 17.200), (131072, 26.008), (262144, 34.567), (524288, 42.147)):
        b.row("copies", f"{size // 1024} KiB to the device, GB/s", paper, lambda size=size: copy(size)[1])
    b.row("copies", "half of the block copy's rate, at kB (about)", 140, lambda: next(k for k in range(20, 400, 5) if copy(k * 1000)[1] >= 55.3 / 2))
    b.row("copies", "90 % of it, at kB (near)", 1700, lambda: next(k for k in range(1000, 3000, 100) if copy(k * 1000)[1] >= 0.9 * 55.3), "set-up of 2.6 us and one rate: the measured rate still grows a little between 1 and 2 MB")
    for row, paper in ((480, (38.3, 45.0)), (512, (48.93, 47.27)), (1024, (47.7, 48.1)), (1028, (36.8, 44.4))):
        for i, policy in enumerate(("naive", "shift")):
            b.row("row gather", f"rows of {row:,} B, {policy}, GB/s", paper[i], lambda row=row, i=i: b.replay(f"zerocopy synth:gather,row_bytes={row},reuse=l1 --platform h200 --policy naive,shift")[i]["bandwidth_bytes_per_s"] / 1e9,
                  "what rows far apart cost is not modelled; how the measured kernel was launched is not recorded: docs/zerocopy-engine.md", held=row in (480, 1028))
    for element, times, sweeps in ((8, (56.1, 10.3, 9.9, 18.3), (27.4, 5.7, 5.6, 19.1)), (4, (37.3, 8.4, 7.5, 12.8), (13.9, 3.3, 3.2, 11.4))):
        names = ("naive", "merged", "aligned", "managed")
        for i, (name, ms) in enumerate(zip(names, times)):
            b.row("BFS, kron 20", f"{element} B, {name}, ms", ms, lambda element=element, i=i: b.replay(bfs.format(20, element, "l1", ",uvm"), full=True)[i]["time_ns"] / 1e6, "managed: what an H200's batches of a graph are was not recorded" if i == 3 else
                  "as aligned, 5 % too fast; splitting lines costs the chip 0.9 ms more than aligning them, ours 0.3" if i == 1 else "", fit="h200 visit_ns" if i < 3 else None)
        for i, (name, ms) in enumerate(zip(names, sweeps)):
            b.row("one sweep, kron 20", f"{element} B, {name}, ms", ms, lambda element=element, i=i: b.replay(sweep.format(20, element, "l1", ",uvm"), full=True)[i]["time_ns"] / 1e6,
                "the kernel's loop over 4 B elements is unrolled further than its loads here" if i == 0 else
                "a batch for each block or two (219 at 8 B, 155 at 4 B), where BFS has 79: what an H200's are was not recorded; its sums visit no neighbour, ours do" if i == 3 else "")
    b.none("BFS, kron 20", "in GPU memory, 8 B / 4 B, ms", "3.2 / 3.0", "nothing crosses the link; the GPU's own memory is not modelled")
