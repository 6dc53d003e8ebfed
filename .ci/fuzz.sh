#!/bin/sh
# Run every libFuzzer target below DIR for S seconds each, with the shipped malformed files as seeds.
# usage: fuzz.sh DIR S
dir=$1 seconds=$2 bad=0
# Freed memory is kept back for 16 MiB, not 256: runs allocate a few MiB each, and fresh pages cost most of their time.
export ASAN_OPTIONS="quarantine_size_mb=16:$ASAN_OPTIONS"
for f in $(find "$dir" -type f -perm -u+x | sort); do
    name=${f#"$dir"/}
    corpus=$(mktemp -d)
    base=$(basename "$f")
    for d in fixtures/malformed fixtures/traces fixtures/tasks models/platforms fixtures/fuzz/"$base"; do
        [ -d "$d" ] && find "$d" -type f -size -64k -exec cp {} "$corpus"/ \;
    done
    if "$f" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -artifact_prefix="$corpus"/ "$corpus" \
        > "$corpus.log" 2>&1; then
        echo "fuzz $name: clean, $(sed -n 's/^stat::number_of_executed_units: //p' "$corpus.log") runs"
    else
        tail -n 40 "$corpus.log"
        echo "fuzz $name: FAILED"
        bad=1
    fi
    rm -rf "$corpus" "$corpus.log"
done
exit $bad
