#!/bin/sh
# ThreadSanitizer over what runs in several threads: the tests of every folder that starts threads, a thread pool or OpenMP loops (a
# folder of injected code: those of the recorder, which run it), the tests that start threads themselves, replays that share their loops out, the cases of record
# and sweep, and a sweep with its progress line. clang's OpenMP runtime tells the sanitizer, through libarcher, what waits
# for what. Not covered: SQLite and blosc (not compiled for it), and a sweep's points with OpenMP loops of their own.
# usage: tsan.sh BUILD --list | tsan.sh BUILD
build=$1
folders=$(grep -lE 'pthread_create|#pragma omp|thread_pool_open' $(find trace replay models -name '*.c' ! -name '*_test.c' ! -name '*_bench.c') |
    xargs -n 1 dirname | sed 's,/inject$,,' | sort -u)
tests=$({ for f in $folders; do find "$f" -maxdepth 1 -name '*_test.c'; done
    find trace replay models -name '*_test.c' -exec grep -l pthread_create {} +; } | sort -u | sed "s,^,$build/test/,; s,_test\.c$,,")
if [ "$2" = --list ]; then
    echo $tests
    exit
fi
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
# A crash is the program's own; a forked child need not join its parent's threads.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 handle_segv=0 handle_abort=0 report_thread_leaks=0 exitcode=66 \
log_path=$logs/tsan $TSAN_OPTIONS"
export OMP_NUM_THREADS=4 CK_TIMEOUT_MULTIPLIER=10
runs=0 bad=0
try() {
    runs=$((runs + 1))
    "$build/offchip" "$@" >"$logs/said" 2>&1 && return
    echo "FAIL offchip $*" && cat "$logs/said"
    bad=1
}
sh .ci/unit.sh $tests || bad=1
sh fixtures/cli/run.sh "$build/offchip" record record-accesses record-counters record-touches record-sites || bad=1
try replay dram --mem synth:gpu-g6,cycles=1000 --set front=direct --policy fcfs,f3fs -j 4
try replay dram --mem synth:gpu-g6,cycles=1000 --pim synth:pim-add,ops=30,channels=4 --policy fcfs,f3fs -j 4
try replay zerocopy synth:bfs,graph=urand,scale=13,roots=2 -j 4
try replay uvm synth:bicg,bytes=16MiB --policy tree,none,fixed,adaptive --set oversubscription_pct=125 -j 4
# A sweep has threads of its own with a point each; libarcher (14) crashes in threads that OpenMP did not make. Without it the
# sanitizer takes OpenMP's joins for races, so the loops of its last points, which share the threads left over, have one each.
export OMP_TOOL=disabled OMP_THREAD_LIMIT=1
sh fixtures/cli/run.sh "$build/offchip" sweep || bad=1
try sweep dram --mem synth:gpu-g6,cycles=2000 --mem synth:gpu-g15,cycles=2000 --pim synth:pim-add,ops=30 \
    --policy fcfs,f3fs --grid 'vcs=1|2' -j 4 --progress always -o "$logs/sweep.db"
cat "$logs"/tsan* 2>/dev/null
races=$(cat "$logs"/tsan* 2>/dev/null | grep -c '^WARNING: ThreadSanitizer')
echo "$(echo $tests | wc -w) test programs, 6 cases and $runs runs: $races warnings"
[ $bad -eq 0 ] && [ "$races" -eq 0 ]
