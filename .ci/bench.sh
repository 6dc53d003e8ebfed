#!/bin/sh
# Every benchmark, with the machine it ran on. Never passes or fails.
shift
echo "machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) processors, $(uname -sm)"
for b in "$@"; do
    echo "== ${b##*/bench/}"
    "$b"
done
