#!/bin/sh
# make check: unit tests, then command-line cases; one closing line over both.
prog=$1
shift
out=$(mktemp)
trap 'rm -f "$out"' EXIT
echo "$# test programs, then $(find fixtures/cli -mindepth 1 -maxdepth 1 -type d | wc -l) command-line cases, some minutes"
sh .ci/unit.sh "$@" | tee "$out"
[ -f fixtures/cli/run.sh ] && sh fixtures/cli/run.sh "$prog" | tee -a "$out"
awk '/^[0-9]+ passed, [0-9]+ failed$/ { p += $1; f += $3 } END { printf "total: %d passed, %d failed\n", p, f; exit f > 0 || p == 0 }' "$out"
