#!/bin/sh
# Write a C file that holds each named file as a string: struct embedded_file embedded_files[] (trace/base/embedded.h).
set -eu
echo '#include "trace/base/embedded.h"'
i=0
for f in "$@"; do
    i=$((i + 1))
    printf 'static const char file%d[] =\n' "$i"
    sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/    "/' -e 's/$/\\n"/' "$f"
    echo '    ;'
done
echo 'const struct embedded_file embedded_files[] = {'
i=0
for f in "$@"; do
    i=$((i + 1))
    printf '    {"%s", file%d},\n' "$f" "$i"
done
echo '    {0, 0}};'
