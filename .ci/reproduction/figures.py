"""Every figure and table of the five papers, and where ours is."""

DRAWING = "not covered, because it is a drawing of the method, without data"
SETUP = "not covered, because it describes the setup: "
DATASET = "not covered, because it needs trained networks on data sets that are not at hand"
SHOTS = "not covered, because it is a profiler's snapshot of a training run"
MAP = (("lee-2026", (("Fig. 1", "figure lee-locality; section lee-2026"), ("Fig. 2", "its example as a recording, held against `tree` by `verify`: row II-B"),
        ("Fig. 3", "figure lee-speedup; section lee-2026"), ("Fig. 4", "figure lee-speedup; section lee-2026"), ("Table I", "workloads conv2d, fdtd2d, bicg, nw (`list programs`)"), ("Table II", SETUP + "platform titanv (`list platforms`)"))), ("min-2022", (
        ("Fig. 2.1", DRAWING), ("Figs. 2.2, 2.3", SETUP + "the FPGA in the link; captures of such a monitor are read by `import`"), ("Fig. 2.4", "`replay zerocopy --requests`; captures by `plot tlp-sizes`"), ("Fig. 2.5", "figure emogi-toy; section chapter 2"),
        ("Fig. 2.6", "figure emogi-sizes; section chapter 2"), ("Fig. 2.7", "the degree distributions of workload `degrees`, an input"),
        ("Fig. 2.8", "figure emogi-requests; section chapter 2"), ("Fig. 2.9", "figure emogi-bandwidth; section chapter 2"), ("Fig. 2.10", "figure emogi-speedup; section chapter 2"),
        ("Fig. 2.11", "figure emogi-amplification; section chapter 2"), ("Fig. 2.12", "section chapter 2: the mean over bfs, sssp, cc, pagerank; by application; bars of single graphs not covered, because they have no printed numbers"),
        ("Fig. 2.13", "`replay zerocopy synth:degrees,element=4` and 8; section chapter 2"), ("Fig. 2.14", "platforms a100-pcie3 and a100; section chapter 2"),
        ("Table 2.1", SETUP + "platform v100"), ("Table 2.2", "workload `degrees`, keys graph=gk, gu, fs, ml, sk, uk5; the graphs themselves with GRAPHS=DIR"), ("Tables 2.3, 2.4", "section chapter 2, absolute times"),
        ("Figs. 3.1 to 3.3", DRAWING), ("Fig. 3.4", DRAWING), ("Fig. 3.5", "the requests of its example: section chapter 3"), ("Fig. 3.6", "not covered, because sharing a GPU between kernels is not modelled; few multiprocessors are (row of figure 3.12)"),
        ("Figs. 3.7 to 3.9", DRAWING), ("Table 3.1", "not covered, because it compares programming interfaces"), ("Table 3.2", SETUP + "platform rtx3090"), ("Table 3.3", SETUP + "the machine"),
        ("Table 3.4", "its row sizes: section chapter 3; the data sets are not at hand"), ("Fig. 3.10", "`replay zerocopy synth:gather,row_bytes=N`; section chapter 3"), ("Fig. 3.11", SHOTS),
        ("Fig. 3.12", "figure pytorch-share; section chapter 3"), ("Fig. 3.13", "section chapter 3; measured on the H200: section measured"), ("Figs. 3.14, 3.15", "training times as ranges over what is not published: section chapter 3; CPU only: " + DATASET),
        ("Fig. 4.1", "settings resident=reverse-pagerank and weighted"), ("Figs. 4.2 to 4.4", DRAWING), ("Figs. 4.5 to 4.7", DRAWING + "; settings shared_pct, gpus, layout"),
        ("Table 4.1", SETUP + "data sets that are not at hand"), ("Fig. 4.8", "section chapter 4, on Kronecker graphs; `plot lines --metric hit_ratio --over local_pct`"), ("Fig. 4.9", "as ranges: section chapter 4"), ("Fig. 4.10", "section chapter 4, on Kronecker graphs"),
        ("Fig. 4.11", "traffic, and training time as ranges: section chapter 4, on Kronecker graphs"), ("Fig. 4.12", DATASET))), ("gupta-2025-f3fs", (
        ("Figs. 1 to 3", DRAWING), ("Fig. 4", "figure f3fs-character; section gupta-2025-f3fs"), ("Fig. 5", "section gupta-2025-f3fs"), ("Fig. 6", "column 'fall' of the table of all policies"),
        ("Fig. 7", DRAWING), ("Fig. 8", "figures f3fs-fairness, f3fs-throughput; table of all policies"), ("Fig. 9", DRAWING), ("Fig. 10", "figure f3fs-switches; table of all policies"),
        ("Fig. 11", "figure f3fs-llm; rows LLM"), ("Fig. 12", "not covered, because hardware area is not modelled"), ("Fig. 13", "rows Fig. 13; `report pairs.results` by GPU kernel"),
        ("Fig. 14", "rows ablation and queue; `plot bars --metric fairness_index,system_throughput`"), ("Table I", "platform gv100"), ("Table II", "workloads gpu-g1 to gpu-g20, programs rodinia-*"), ("Table III", "workloads pim-*"))), ("bateni-2020", (
        ("Fig. 1", DRAWING), ("Fig. 2", "figure igpu-overhead; the paper's values are bars without numbers"), ("Fig. 3", "rows III-C: which holds less, which is the fastest; bars without numbers"),
        ("Fig. 4", "figure igpu-timeline"), ("Fig. 5", "not covered, because the model is deterministic: what would have to vary stands at its rows III-C"), ("Fig. 6", "figure igpu-timeline"), ("Fig. 7", DRAWING + "; `--set mode=corun`"),
        ("Fig. 8", "figure igpu-overhead; errors not covered, because the measured times are bars without numbers"), ("Fig. 9", "section bateni-2020"), ("Figs. 10 to 12", "rows V-C: YOLO by darknet's layer table; the car's clustering is assumed"),
        ("Table I", "rows III-B: YOLO's arrays by its layer table, without what CUDA and its libraries hold"), ("Table II", "rows III-C"), ("Table III", "numbers of a platform's section [placement]: placement.md"),
        ("Table IV", "fixtures/tasks/table4.ini and table4-agx.ini; section bateni-2020; drone and Autoware: rows V, as figures 10 to 12"), ("Table V", "section bateni-2020"))),
    ("wilt-2017", (("Table 1", "section wilt-2017, platform gm200"), ("Table 2", "section wilt-2017, platform gp100"))),)


def text():
    lines = ["\n## Every figure and table of the papers\n\nFigures named here stand on the paper's page, drawn from its runs; other figures are drawn by `offchip plot NAME "
             "RESULTS`. Sections are those of the paper's page.\n\n| paper | figure or table | ours |\n| --- | --- | --- |\n"]
    lines += [f"| {paper} | {item} | {ours} |\n" for paper, items in MAP for item, ours in items]
    return "".join(lines)
