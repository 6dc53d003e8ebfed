#!/bin/sh
# make demo: the main job on shipped input. A real recording is imported, verified and replayed under its own policy and
# five others; another is compared with copies and prefetches; then one workload runs under tree, seven granularities and
# both readings of the paper that adapts them; tables on the terminal, figures in build/demo/.
set -eu
prog=$1
out=$2
recording=fixtures/traces/uvm_seq_256MiB_complete.csv.xz
rm -rf "$out"
mkdir -p "$out"
say() { printf '\n== %s\n$ %s\n' "$1" "$2"; }

say "A real recording: 256 MiB of managed memory read by one kernel on an NVIDIA H200" \
    "offchip import $recording -o $out/seq.db"
"$prog" import "$recording" -o "$out/seq.db"

say "Does it agree with itself and with the driver's rules?" "offchip verify $out/seq.db"
"$prog" verify "$out/seq.db"

policies=tree,fixed:granularity=4KiB,fixed:granularity=64KiB,fixed:granularity=2MiB,adaptive,adaptive-literal
faults=fixtures/traces/h100_nw_64MiB.csv.xz
say "A program of 359 kernels on an NVIDIA H100, each fault recorded: what should it do?" \
    "offchip import $faults -o $out/nw.db; offchip compare $out/nw.db"
"$prog" import "$faults" -o "$out/nw.db"
"$prog" compare "$out/nw.db"

say "The recording under its own policy (tree) and five others, with what can honestly be said of each" \
    "offchip replay uvm $out/seq.db --platform h200 --policy $policies"
"$prog" replay uvm "$out/seq.db" --platform h200 --policy "$policies"

policies=tree
for rung in 4KiB 64KiB 128KiB 256KiB 512KiB 1MiB 2MiB; do
    policies=$policies,fixed:granularity=$rung
done
policies=$policies,adaptive,adaptive-literal
say "One workload under tree, every rung of the ladder and both readings of the paper, 25 % more memory than the GPU has" \
    "offchip replay uvm synth:bicg,bytes=1GiB --set oversubscription_pct=125 --policy $policies -o $out/results.db"
"$prog" replay uvm synth:bicg,bytes=1GiB --set oversubscription_pct=125 --policy "$policies" -o "$out/results.db"

say "The comparison" "offchip report $out/results.db"
"$prog" report "$out/results.db"

"$prog" plot timeline "$out/seq.db" -o "$out/timeline.png"
"$prog" plot bars "$out/results.db" --metric speedup_ratio -o "$out/speedup.png"
printf '\nFigures: %s %s\n' "$out/timeline.png" "$out/speedup.png"
