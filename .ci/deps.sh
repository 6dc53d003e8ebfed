#!/bin/sh
# make deps: install what building, testing and linting need on Debian 12. --missing: only what building and testing
# need; --there: only look whether they are there.
# The compiler in use and make are taken as given.
need_build="pkg-config libsqlite3-dev libblosc-dev libzstd-dev zlib1g-dev liblzma-dev libpcap-dev libjansson-dev
    libxxhash-dev uthash-dev check gnuplot-nox fonts-dejavu-core scdoc xz-utils gzip zstd python3 python3-jsonschema sqlite3"
need_browser="chromium chromium-driver"
need_examples="python3-pandas" # of docs/python.md; make check-examples says what it skips
need_lint="clang-format clang-tidy cppcheck clang libclang-rt-14-dev libomp-dev git time" # time: make bench
[ "$1" = --missing ] || [ "$1" = --there ] && wanted=$need_build || wanted="$need_build $need_examples $need_lint"
[ "$2" = --lint ] && wanted="$need_build $need_lint"
[ "$2" = --examples ] && wanted="$need_build $need_examples"
[ "$2" = --browser ] && wanted="$need_build $need_browser"
missing=
for p in $wanted; do
    dpkg-query -W -f '${Status}' "$p" 2>/dev/null | grep -q 'ok installed' || missing="$missing $p"
done
[ -z "$missing" ] && exit 0
[ "$1" = --there ] && exit 1
command -v apt-get > /dev/null || { echo "offchip needs:$missing" >&2; exit 1; }
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing:$missing"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
$sudo apt-get install -y --no-install-recommends $missing > "$log" 2>&1 ||
    { $sudo apt-get update > "$log" 2>&1 &&
        $sudo apt-get install -y --no-install-recommends $missing >> "$log" 2>&1; } ||
    { tail -n 20 "$log"; exit 1; }
