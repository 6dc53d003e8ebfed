#!/bin/sh
# Run every test program named; a line for each, the whole output of those that fail; "N passed, N failed" at the end.
passed=0 failed=0
for t in "$@"; do
    out=$("$t" 2>&1)
    rc=$?
    n=$(printf '%s\n' "$out" | sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' | tail -n 1)
    if [ -z "$n" ]; then
        n="1 0 1"
        rc=1
    fi
    set -- $n
    bad=$(($2 + $3))
    passed=$((passed + $1 - bad)) failed=$((failed + bad))
    if [ $rc -ne 0 ]; then
        printf 'FAIL %s\n%s\n' "$t" "$out"
    else
        printf 'ok   %s (%d)\n' "${t##*/test/}" "$1"
    fi
done
echo "$passed passed, $failed failed"
[ $failed -eq 0 ]
