#!/bin/sh
# make deb-check: the package installed into a root of its own, where the demo's replay must give what it gives here.
# usage: deb_check.sh BUILD PACKAGE. Needs root, or user namespaces (unshare -r). DEB_MIRROR=URL: the root is a minimal
# Debian 12 made by debootstrap (root, network), and apt installs what the package depends on; otherwise it holds the
# package and this machine's libraries that it is linked with, nothing else.
build=$(cd "$1" && pwd) package=$2 bad=0
work=$(mktemp -d)
root=$work/root
trap 'rm -rf "$work"' EXIT
say() { echo "deb-check: $*"; bad=1; }
PATH=$PATH:/usr/sbin:/sbin
# in_root COMMAND...: with /proc, where the program finds what was installed beside it.
cat >"$work/in_root" <<'R'
mount -t proc proc "$1/proc" 2>/dev/null || mount --rbind /proc "$1/proc"
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C DEBIAN_FRONTEND=noninteractive "$(command -v chroot)" "$@"
R
in_root() {
    unshare $([ "$(id -u)" = 0 ] || echo -r) -m sh "$work/in_root" "$root" "$@"
}

if command -v lintian > /dev/null; then
    lintian --allow-root --fail-on error,warning "$package" || say "lintian has something to say"
else
    echo "deb-check: lintian is not installed: not asked"
fi

mkdir -p "$root"
if [ -n "$DEB_MIRROR" ]; then
    debootstrap --variant=minbase bookworm "$root" "$DEB_MIRROR" > "$work/log" 2>&1 || { tail "$work/log"; exit 1; }
    cp "$package" "$root/tmp/offchip.deb"
    in_root apt-get install -y --no-install-recommends /tmp/offchip.deb > "$work/log" 2>&1 || { tail "$work/log"; say "apt does not install it"; }
else
    mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/tmp" "$root/dev" "$root/proc"
    : > "$root/var/lib/dpkg/status"
    : > "$root/dev/null"
    dpkg --root="$root" --force-depends --force-script-chrootless --force-not-root -i "$package" > "$work/log" 2>&1 || { cat "$work/log"; say "dpkg does not install it"; }
    ldd "$root/usr/bin/offchip" | grep -oE '/[^ ]+' | sort -u | while read -r l; do
        mkdir -p "$root$(dirname "$l")" && cp -L "$l" "$root$l"
    done
    # What the machine links it with must be what the package asks for.
    for p in $(ldd "$root/usr/bin/offchip" | grep -oE 'lib(sqlite3|blosc|zstd|z|lzma|pcap|jansson|xxhash)\.so' | sort -u | tr -d ' '); do
        dpkg-deb -f "$package" Depends | grep -q "$(echo "${p%.so}" | sed 's/^libz$/zlib1g/')" || say "Depends names no package of $p"
    done
fi

mkdir "$root/data"

# The demo's replay, on what the package brings.
fixtures=/usr/share/doc/offchip/examples/fixtures
policies=tree,fixed:granularity=4KiB,fixed:granularity=64KiB,fixed:granularity=2MiB,adaptive,adaptive-literal
in_root /usr/bin/offchip import -q $fixtures/traces/uvm_seq_256MiB_complete.csv.xz -o /data/t.db || say "import fails"
in_root /usr/bin/offchip verify /data/t.db > "$work/verified" && grep -q '^services_exact *264$' "$work/verified" || { cat "$work/verified"; say "verify does not find 264 of 264 services"; }
for f in csv table; do
    in_root /usr/bin/offchip replay uvm /data/t.db --platform h200 --policy $policies --format $f > "$work/installed" 2> "$work/said" || { cat "$work/said"; say "replay fails"; }
    sed 's/"installed, [^"]*"/shipped/; s/(installed, [^)]*)/(shipped)/' "$work/installed" > "$work/there"
    "$build/offchip" replay uvm "$root/data/t.db" --platform h200 --policy $policies --format $f > "$work/mine" 2> "$work/said"
    [ -s "$work/mine" ] && cmp -s "$work/mine" "$work/there" || { diff "$work/mine" "$work/there" | head -20; say "replay gives something else than here"; }
    cmp -s "$work/installed" "$work/there" && say "the installed platform is not the one that is read"
done
in_root /usr/bin/offchip replay uvm synth:bicg,bytes=64MiB --set oversubscription_pct=125 --policy tree > "$work/there" 2>&1 || { cat "$work/there"; say "a workload fails"; }
in_root /usr/bin/offchip completion zsh > "$work/there" && cmp -s "$work/there" "$root/usr/share/zsh/site-functions/_offchip" || say "the completion is another"
for f in man/man1/offchip-replay.1.gz bash-completion/completions/offchip fish/vendor_completions.d/offchip.fish \
    doc/offchip/README.md doc/offchip/docs/reference.md doc/offchip/copyright offchip/platforms/h200.ini; do
    [ -s "$root/usr/share/$f" ] || say "/usr/share/$f is not there"
done

# Nothing stays when it goes.
if [ -z "$DEB_MIRROR" ]; then
    dpkg --root="$root" --force-script-chrootless --force-not-root -r offchip > "$work/log" 2>&1 || { cat "$work/log"; say "dpkg does not remove it"; }
    find "$root" -path "$root/var" -prune -o -name '*offchip*' -print | grep . && say "something stays behind"
fi
[ $bad = 0 ] && echo "deb-check: good"
exit $bad
