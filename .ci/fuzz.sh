#!/bin/sh
# Run every libFuzzer target below DIR for S seconds each, as many at once as there are processors, with the shipped
# malformed files as seeds.
# usage: fuzz.sh DIR S
# Freed memory is kept back for 16 MiB, not 256: runs allocate a few MiB each, and fresh pages cost most of their time.
export ASAN_OPTIONS="quarantine_size_mb=16:$ASAN_OPTIONS"
if [ "$1" != --one ]; then
    find "$1" -type f -perm -u+x | sort | xargs -P "$(nproc)" -I{} sh "$0" --one {} "$2" "$1"
    exit
fi
name=${2#"$4"/}
base=$(basename "$2")
corpus=$(mktemp -d)
trap 'rm -rf "$corpus" "$corpus.log"' EXIT
for d in fixtures/malformed fixtures/traces fixtures/tasks models/platforms fixtures/fuzz/"$base"; do
    [ -d "$d" ] && find "$d" -type f -size -64k -exec cp {} "$corpus"/ \;
done
if "$2" -max_total_time="$3" -timeout=20 -rss_limit_mb=2048 -max_len=65536 -print_final_stats=1 -artifact_prefix="$corpus"/ "$corpus" \
    > "$corpus.log" 2>&1; then
    echo "fuzz $name: clean, $(sed -n 's/^stat::number_of_executed_units: //p' "$corpus.log") runs"
    exit 0
fi
printf '%s\nfuzz %s: FAILED\n' "$(tail -n 40 "$corpus.log")" "$name"
exit 1
