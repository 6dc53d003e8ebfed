#!/bin/sh
# make bundle-check: the bundle in roots of their own: one without any libc, one whose programs have another.
# usage: bundle_check.sh BUILD BUNDLE. Needs root, or user namespaces (unshare -r).
build=$(cd "$1" && pwd) bundle=$(cd "$2" && pwd) bad=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say() { echo "bundle-check: $*"; bad=1; }

# in_root ROOT [NAME=VALUE...] -- COMMAND...: with that environment and no other.
cat >"$work/in_root" <<'R'
mount -t proc proc "$1/proc" 2>/dev/null || mount --rbind /proc "$1/proc"
root=$1
shift
n=0
for a; do # the environment goes in front of chroot
    shift
    if [ "$a" = -- ] && [ $n = 0 ]; then
        set -- "$@" "$(command -v chroot)" "$root"
        n=1
    else
        set -- "$@" "$a"
    fi
done
exec env -i "$@"
R
in_root() {
    PATH=$PATH:/usr/sbin:/sbin unshare $([ "$(id -u)" = 0 ] || echo -r) -m sh "$work/in_root" "$@"
}
new_root() {
    mkdir -p "$work/$1/opt" "$work/$1/proc" "$work/$1/tmp" "$work/$1/data" "$work/$1/dev"
    cp -r "$bundle" "$work/$1/opt/offchip"
    : >"$work/$1/dev/null"
}

# 1. No libc at all: README's replay.
new_root bare
cp fixtures/traces/uvm_conv_64MiB_complete.csv.xz "$work/bare/data/"
in_root "$work/bare" -- /opt/offchip/bin/offchip --version >"$work/out" 2>&1 || { cat "$work/out"; say "it does not start in a root without a libc"; }
in_root "$work/bare" -- /opt/offchip/bin/offchip import -q /data/uvm_conv_64MiB_complete.csv.xz -o /data/t.db >"$work/out" 2>&1 || { cat "$work/out"; say "import fails"; }
in_root "$work/bare" -- /opt/offchip/bin/offchip replay uvm /data/t.db --policy tree --format csv >"$work/there" 2>"$work/out" || { cat "$work/out"; say "replay fails"; }
"$build/offchip" import -q fixtures/traces/uvm_conv_64MiB_complete.csv.xz -o "$work/t.db"
"$build/offchip" replay uvm "$work/t.db" --policy tree --format csv >"$work/here" 2>/dev/null
[ -s "$work/here" ] && cmp -s "$work/here" "$work/there" || { diff "$work/here" "$work/there"; say "replay gives something else than here"; }
for w in zerocopy:merged:synth:triad,bytes=1MiB uvm:tree:synth:triad,bytes=4MiB; do
    in_root "$work/bare" -- /opt/offchip/bin/offchip replay "${w%%:*}" "synth:${w##*:synth:}" --policy "$(echo "$w" | cut -d: -f2)" >/dev/null 2>"$work/out" || { cat "$work/out"; say "replay of $w fails"; }
done
sed 's/^name = .*/name = mine/' "$bundle/share/offchip/platforms/v100.ini" >"$work/bare/opt/offchip/share/offchip/platforms/mine.ini"
in_root "$work/bare" -- /opt/offchip/bin/offchip list platforms >"$work/out" 2>&1
grep -q '^mine ' "$work/out" || say "its installed platforms are not read"

# 2. A recording over the stand-ins; the program has its own libc, and nothing of the bundle's.
new_root own
mkdir -p "$work/own/lib64" "$work/own/lib" "$work/own/standin"
cp -r "$build"/standin/. "$work/own/standin/"
ldd "$build/standin/target" "$build/standin/libcupti.so" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u | while read -r l; do
    mkdir -p "$work/own$(dirname "$l")" && cp -L "$l" "$work/own$l"
done
cp -L "$(ldd "$build/standin/target" | awk '$1 ~ /\/ld-/ { print $1 }')" "$work/own/lib64/"
for l in libdl.so.2 libpthread.so.0; do cp -L "/lib/$(uname -m)-linux-gnu/$l" "$work/own/lib/$(uname -m)-linux-gnu/" 2>/dev/null; done
xz -dc fixtures/traces/uvm_conv_64MiB_complete.csv.xz >"$work/own/data/events.csv"
in_root "$work/own" LD_LIBRARY_PATH=/standin OFFCHIP_CUPTI=/standin/libcupti.so STANDIN_EVENTS=/data/events.csv -- \
    /opt/offchip/bin/offchip record -o /data/r.db -- /standin/target init context play libc environment exit:7 >"$work/said" 2>"$work/out"
[ $? = 7 ] || { cat "$work/said" "$work/out"; say "a recording in a root of its own fails"; }
grep -q '^libc /lib/' "$work/said" || { cat "$work/said"; say "the program has another libc than its own"; }
grep -q 'opt/offchip/lib/libc' "$work/said" && { cat "$work/said"; say "the program sees the bundle's libraries"; }
grep -q '^LD_LIBRARY_PATH=/standin$' "$work/said" || say "the program's LD_LIBRARY_PATH is not its own"
"$build/offchip" info "$work/own/data/r.db" | grep -q 'MIGRATE_H2D *1,042' || say "the recording is not whole"

# 3. What is injected binds to glibc 2.17 at most.
for l in "$bundle"/lib/offchip/liboffchip_*.so; do
    objdump -T "$l" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | awk -F'[_.]' '$2 > 2 || $3 > 17' | grep -q . && say "$l needs a glibc after 2.17"
done
[ $bad = 0 ] && echo "bundle-check: in a root without a libc, in one with another: good"
exit $bad
