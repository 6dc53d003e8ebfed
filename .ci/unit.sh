#!/bin/sh
# Run every test program named, as many at once as there are processors; a line for each as it ends, the whole output of
# those that fail; "N passed, N failed" at the end.
if [ "$1" = --one ]; then
    out=$("$2" 2>&1)
    rc=$?
    n=$(printf '%s\n' "$out" | sed -n 's/^[0-9]*%: Checks: \([0-9]*\), Failures: \([0-9]*\), Errors: \([0-9]*\)$/\1 \2 \3/p' | tail -n 1)
    if [ -z "$n" ]; then
        n="1 0 1"
        rc=1
    fi
    echo "$n" >"$3/$(echo "$2" | tr / _)"
    if [ $rc -ne 0 ]; then
        printf 'FAIL %s\n%s\n' "$2" "$out"
    else
        printf 'ok   %s (%d), %d of %d\n' "${2##*/test/}" "${n%% *}" "$(find "$3" -type f | wc -l)" "$4"
    fi
    exit 0
fi
export OMP_WAIT_POLICY=passive # threads that wait take no time of other programs
counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
printf '%s\n' "$@" | xargs -P "$(nproc)" -I{} sh "$0" --one {} "$counts" $#
echo "$# $(cat "$counts"/* | awk '{ n++; p += $1; f += $2 + $3 } END { print n, p - f, f + 0 }')" | awk '{
    f = $4 + ($1 > $2 ? $1 - $2 : 0) # a program without a count has failed
    print $3 " passed, " f " failed"
    exit f > 0
}'
