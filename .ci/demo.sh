#!/bin/sh
# make demo: one program, recorded on an H100, in four answers of 60 lines at most; its figures in build/demo/.
set -eu
prog=$1
out=$2
recording=fixtures/traces/h100_nw_64MiB.csv.xz
rm -rf "$out"
mkdir -p "$out"
say() { printf '\n== %s\n' "$1"; }
run() { printf '$ offchip %s\n' "$*"; "$prog" "$@"; }

say "1. A recording of 359 kernels on an NVIDIA H100: is it whole, and do its services follow the driver's rule?"
run import -q "$recording" -o "$out/nw.db"
run verify "$out/nw.db" | sed -n '/^\$/p; /complete/p; /^services/p; /^recorded/p; /^expected/p'
say "2. The verdict: how should its data reach the GPU?"
run compare "$out/nw.db"
say "3. The figure: which pages came when, by faults and by prefetches"
run plot timeline "$out/nw.db" -o "$out/timeline.png"
say "4. What if a fifth of its data did not fit, and the driver prefetched otherwise?"
run replay uvm synth:nw,bytes=64MiB --platform h100 --set oversubscription_pct=125 \
    --policy tree,none,fixed -o "$out/results.db"
run plot bars "$out/results.db" --metric speedup_ratio -o "$out/speedup.png"
