#!/bin/sh
# make lint: format, include direction, headers alone, tests beside code, docs current, cppcheck, clang-tidy.
# usage: lint.sh PROGRAM "COMPILER FLAGS"
prog=$1 flags=$2 bad=0
say() { echo "lint: $*"; bad=1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sources=$(find cmd trace replay models -name '*.c' | sort)
headers=$(find cmd trace replay models -name '*.h' | sort)

clang-format --dry-run --Werror $sources $headers 2>"$scratch/format" || { head -n 20 "$scratch/format"; say "run 'make format'"; }

# Folders: no cycles, dependencies one way.
python3 .ci/rooms.py || bad=1
git ls-files 2>/dev/null | cut -d/ -f1 | grep -vxE '\.ci|\.clang-(format|tidy)|\.gitignore|LICENSE|Makefile|README.md|cmd|docs|fixtures|models|replay|trace' &&
    say "not of the top level"
grep -nE '\b(exit|abort) ?\(|\bprintf ?\(|\bputs ?\(' $(find trace replay models -name '*.c' ! -name '*_test.c' ! -name '*_bench.c' ! -name '*_fuzz.c' ! -name 'cupti_inject*') |
    grep -vE 'sprintf|fprintf|snprintf|_exit' && say "only cmd/ prints or exits"

# Doors of libraries.
door() { lib=$1; shift; for f in $(grep -lE "^#include <$lib>" $sources $headers); do case " $* " in *" $f "*) ;; *) echo "$f" | grep -qE '_(test|fuzz|bench)\.c$' || say "$f includes <$lib>; allowed: $*" ;; esac; done; }
# Everything else of ours reaches it through trace/store/sqlite.h, which knows of the extension.
door sqlite3.h trace/store/sqlite.h trace/import/nsys.c
# Without memory uthash itself would exit.
door uthash.h trace/base/hash.h

# Each header compiles alone.
echo "$headers" | FLAGS=$flags xargs -P "$(nproc)" -I{} sh -c \
    'echo "#include \"{}\"" | ${CC:-cc} $FLAGS -fsyntax-only -x c - || echo "lint: {} does not compile alone"' >"$scratch/h" 2>&1
[ -s "$scratch/h" ] && { cat "$scratch/h"; bad=1; }

# Each .c has a test beside it, or a reason.
for c in $sources; do
    case $c in *_test.c | *_fuzz.c | *_bench.c) continue ;; esac
    # X_part.c is a part of X: X_test.c covers it.
    ok=0 stem=${c%.c}
    while :; do
        [ -f "${stem}_test.c" ] && ok=1
        case ${stem##*/} in *_*) stem=${stem%_*} ;; *) break ;; esac
    done
    while IFS='	' read -r pattern reason; do
        case $pattern in '' | '#'*) continue ;; esac
        # shellcheck disable=SC2254
        case $c in $pattern) [ -n "$reason" ] && ok=1 ;; esac
    done < .ci/untested
    [ $ok = 1 ] || say "$c has no ${c%.c}_test.c and no line in .ci/untested"
done

for t in $(grep -oE '[a-z_0-9]+/[a-z_/0-9]+_(test|fuzz)\.c' .ci/untested | sort -u); do
    [ -f "$t" ] || say ".ci/untested names $t, which is not there"
done

# A declaration stands in a header, where its definition is checked against it.
grep -nE '^ *extern ' $sources && say "extern in a .c file"; grep -nE '\b(qsort|bsearch)\(' $(echo "$sources $headers" | grep -vE '_test|testing|base/sorted.h') && say "qsort() or bsearch(), which allow no empty array; take sort_items(), sort_find()"

# A second user of the machine has the same /tmp.
grep -rnE '(>|-o) *"?/tmp/' .ci fixtures/cli && say "a fixed name in /tmp; use mktemp"

find cmd trace replay models | grep -E '/(util|utils|common|helper|helpers|misc|manager)\.[ch]$|_v2\.' && say "a name that says nothing"

# Every command has a man page that names each of its options, and no others.
for c in $($prog --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    page=docs/man/offchip-$c.1.scd
    [ -f "$page" ] || { say "$page is missing"; continue; }
    $prog "$c" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u > "$scratch/o"
    grep -oE -- '\*?(-[a-zA-Z]\*, \*)?--[a-z-]+' "$page" | grep -oE -- '--[a-z-]+' | sort -u > "$scratch/m"
    for o in $(comm -23 "$scratch/o" "$scratch/m"); do say "$page does not mention $o"; done
done

# A reader finds every page from the README.
for page in docs/*.md; do
    grep -qF "($page)" README.md || say "README.md does not link $page"
done

# No page grows, or reads hard, but the reference.
python3 .ci/readable.py README.md $(ls docs/*.md | grep -v /reference) || bad=1

# Links of pages lead to files that are there.
for page in README.md docs/*.md; do
    for to in $(grep -oE '\]\([^)# ]+' "$page" | cut -c3- | grep -vE '^(https?|mailto):'); do
        [ -e "$(dirname "$page")/$to" ] || say "$page links $to, which is not there"
    done
done

# Files and folders that the architecture page names are there.
for f in $(grep -oE '`(trace|models|replay|cmd|fixtures|docs)/[A-Za-z0-9_./]*`' docs/architecture.md | tr -d '`' | sort -u); do
    [ -e "$f" ] || say "docs/architecture.md names $f, which is not there"
done
for d in $(find trace models replay cmd -mindepth 1 -type d); do
    grep -qF "\`$d/\`" docs/architecture.md || grep -qF "\`${d##*/}/\`" docs/architecture.md || say "docs/architecture.md has no line for $d/"
done

make -s man > /dev/null || say "a page of docs/man is not what scdoc reads"

bash -n cmd/completion/offchip.bash || say "cmd/completion/offchip.bash is not what bash reads"

# The generated page is current; no other page has an error that docs/accuracy.md has not.
python3 fixtures/measured/accuracy.py --docs || say "errors of times in docs are links: [9 %](accuracy.md \"h200, managed: mean\")"
[ -f docs/reference.md ] && { python3 .ci/reference.py "$prog" | cmp -s - docs/reference.md || say "docs/reference.md is not current: run 'make docs'"; }

# The pages of the reproduction are of the full mode, their figures are there, and verdicts and counts follow from their rows.
version=$(sed -n 's/^VERSION := *\([0-9.]*\)$/\1/p' Makefile)
for page in docs/reproduction/*.md; do
    grep -q "offchip $version, full mode" "$page" || say "$page is not this version's full mode: run 'make reproduce'"
    for f in $(grep -o '](\.\./figures/[^)]*)' "$page" | sed 's/](\.\.\/\(.*\))/docs\/\1/'); do
        [ -f "$f" ] || say "$page shows $f, which is missing"
    done
done
python3 .ci/reproduce.py "$prog" docs/reproduction --check > /dev/null || say "the pages of docs/reproduction are not what their rows say"

[ "${LINT_FAST:-0}" = 1 ] && exit $bad

checked=$sources
cppcheck --quiet --std=c11 --enable=warning,performance,portability --inline-suppr --error-exitcode=1 -j "$(nproc)" -I. \
    --suppress=missingIncludeSystem --suppress=unknownMacro --suppress=normalCheckLevelMaxBranches --suppress=checkersReport --suppress=invalidPointerCast --suppress=nullPointerRedundantCheck --suppress=shiftTooManyBitsSigned \
    $(echo "$checked" | grep -v '_test\.c$') || say "cppcheck"
echo "$checked" | grep -vE '_(test|fuzz|bench)\.c$' |
    FLAGS=$flags xargs -P "$(nproc)" -n 4 sh -c 'clang-tidy --quiet "$@" -- $FLAGS' tidy > "$scratch/tidy" 2>/dev/null || true
grep -E 'warning:|error:' "$scratch/tidy" | sort -u | grep . && say "clang-tidy"
exit $bad
