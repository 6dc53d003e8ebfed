"""wilt-2017: managed memory before demand paging."""
# KB, microseconds on the board labelled GM200, on the one labelled GP100
TABLE = ((0, 47, 39), (4, 105, 47.15), (8, 104, 49.86), (16, 115, 57.84), (32, 134, 59.04), (64, 213, 64.73), (128, 381, 79.08), (256, 649, 98.41),
         (512, 1247, 137.15), (1024, 2221, 205.56), (2048, 4712, 391.91), (4096, 8458, 745.81), (8192, 17041, 1543.91), (16384, 33992, 3114.83))
BOARDS = ((1, "gm200"), (2, "gp100"))
SMALL = "one constant stands for the presence of managed memory at every size; the first pages cost less than it, the tables' slope begins at 64 KB"
BUS = 12.3e3  # MB/s of a block copy over PCI Express 3.0 x16, min-2022, section 2.5.3


def write(b):
    b.section("Managed memory before demand paging: wilt-2017", f"""
Both tables, microseconds per launch (their column is titled "ms"; 4,096 KB in 8,458 us is its own 496 MB/s). One set of
constants per board, fitted to the rows beyond 64 KB: those rows are fits, the others are not. Board labels are the source's.""")

    def launch(board, kb, policy="tree", extra="", program=""):
        return b.replay(f"uvm synth:launch-touch,pages={kb // 4}{program} --platform {board} --policy {policy}{extra}")[0]["time_ns"] / 1000

    def rate(board, kb):
        return kb * 1024 / launch(board, kb)

    for n, board in BOARDS:
        for kb, *us in TABLE:
            kind = {"given": f"{board} launch_ns"} if kb == 0 else {"fit": f"{board} fault_ns"} if kb > 64 else {}
            b.row(f"Table {n}", f"{board.upper()}, {kb:,} KB, us", us[n - 1], lambda board=board, kb=kb: launch(board, kb), SMALL, **kind)
        for kb, mbs in (((4, 39), (16384, 494)) if n == 1 else ((4, 87), (16384, 5386))):
            kind = {"fit": f"{board} fault_ns"} if kb > 64 else {"apart": True}
            b.row(f"Table {n}", f"{board.upper()}, {kb:,} KB, MB/s" + (" (printed: 7; 4 KB in 47.15 us is 87)" if mbs == 87 else ""), mbs, lambda board=board, kb=kb: rate(board, kb), SMALL, **kind)
        b.none(f"Table {n}", f"{board.upper()}, MB/s of the other sizes", "11 numbers", "the same times, divided into their bytes")
    b.row("Table 2", "GP100, most MB/s (printed at 4,096 KB)", 5624, lambda: max(rate("gp100", kb) for kb, *_ in TABLE if kb), fit="gp100 fault_ns")
    b.row("text", "GP100, MB/s, less than half of a PCI Express 3.0 link (15,754)", 15754 / 2, lambda: max(rate("gp100", kb) for kb, *_ in TABLE if kb), relation="<", fit="gp100 fault_ns")
    b.row("text", "GM200, MB/s of copying back, less than", 500, lambda: max(rate("gm200", kb) for kb, *_ in TABLE if kb), relation="<", fit="gm200 fault_ns")
    b.row("text", "GM200, times slower than the bus (a block copy's 12.3 GB/s), more than", 25, lambda: BUS / rate("gm200", 16384),
          "the table's own 494 MB/s make 24.9 of 12.3 GB/s; the text does not say which rate the bus has", relation=">", fit="gm200 fault_ns")
    b.row("text", "Pascal has improved it: GP100 over GM200, 16 MiB", 33992 / 3114.83, lambda: launch("gm200", 16384) / launch("gp100", 16384), neutral=1, fit="gp100 fault_ns")
    b.row("text", "mapped pinned memory gives much higher performance: 16 MiB that a kernel reads over the bus, GM200, over managed (here: more than twice)", 2,
          lambda: launch("gm200", 16384) / launch("gm200", 16384, "pinned", program=",gpu_bytes=16MiB"), relation=">")
    b.row("text", "a fault is dominated by its handling, not by the copy of 4 KB: one fault over one page's copy, GM200 (here: more than 2)", 2,
          lambda: (launch("gm200", 16384) - launch("gm200", 8192)) / 2048 / (4096 / 13e9 * 1e6), relation=">", fit="gm200 fault_ns")
    b.none("text", "CUDA 6.0: 512 MB/s, 25 times slower than an asynchronous copy", "512", "another release and machine; the tables are modelled")
    b.none("text", "launch, synchronous / asynchronous, us", "46.35 / 3.25", "the first is GM200's launch_ns; asynchronous launches do not wait for pages")
    if b.select:
        return
    runs = (1, 2, 4, 16, 64, 512)
    b.subsection("What if pages came back in longer runs", f"""16 MiB on GM200, microseconds per launch; `--set run_pages=S`.

{b.picture("legacy-runs", "lines --metric time_ns --over run_pages", [f"uvm synth:launch-touch,pages=4096 --platform gm200 --policy tree --set run_pages={s}" for s in runs], "time over pages per fault, the what-if that the source asks for")}""")
    b.table("pages per fault", "us", "MB/s", "from")
    for s in runs:
        us = launch("gm200", 16384, "tree", f" --set run_pages={s}")
        b.line(s, f"{us:,.0f}", f"{16384 * 1024 / us:,.0f}", b.source())
