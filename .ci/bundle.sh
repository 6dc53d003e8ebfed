#!/bin/sh
# make bundle: a tree that runs on Linux machines without our packages, and its archive.
# usage: bundle.sh BUILD VERSION CC NVCC70 VOLTA
set -e
build=$1 version=$2 cc=$3 nvcc70=$4 volta=$5
name=offchip-$version
out=$build/bundle/$name
patch=$build/offchip_accesses.fatbin
fail() { echo "bundle: $*" >&2; exit 1; }

[ -f "$patch" ] || fail "there is no $patch: the bundle is for GPU machines without nvcc, so it needs one here (NVCC names it)"
if [ -z "$nvcc70" ] && [ "$volta" != no ]; then
    fail "no patch for compute capability 7.0 (Volta), which nvcc 13 cannot make: NVCC70=/path/to/nvcc of CUDA 12, or VOLTA=no for a bundle that does not record accesses on Volta"
fi
rm -rf "$out"
mkdir -p "$out/bin" "$out/lib/offchip" "$out/lib/libc" "$out/share/offchip/platforms" "$out/share/doc/offchip"

# The program, its libraries, their loader. What glibc loads by name only comes too.
cp "$build/offchip" "$out/lib/offchip/offchip"
"$cc" -O2 -static .ci/bundle_start.c -o "$out/bin/offchip"
ldd "$build/offchip" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u >"$out/list"
libc=$(grep '/libc\.so' "$out/list")
for l in libdl.so.2 libpthread.so.0 librt.so.1 libutil.so.1 libresolv.so.2 libm.so.6 libgcc_s.so.1; do
    [ ! -e "$(dirname "$libc")/$l" ] || echo "$(dirname "$libc")/$l"
done >>"$out/list"
sort -u "$out/list" | while read -r l; do cp -L "$l" "$out/lib/libc/"; done
cp -L "$(ldd "$build/offchip" | awk '$1 ~ /\/ld-/ { print $1 }')" "$out/lib/libc/ld.so"

# What goes into recorded programs, and into SQLite.
cp "$build/liboffchip_inject.so" "$build/liboffchip_accesses.so" "$patch" "$out/lib/offchip/"
[ ! -f "$build/offchip_records.so" ] || cp "$build/offchip_records.so" "$out/lib/offchip/"
[ -z "$nvcc70" ] || "$nvcc70" --fatbin --compile-as-tools-patch -arch=sm_70 -std=c++14 -I. \
    trace/recorder/inject/sanitizer_patch.cu -o "$out/lib/offchip/offchip_accesses_70.fatbin"
# make check-gpu without make: sh ROOT/lib/offchip/check.sh, once `make cuda` had been run here.
if [ -d "$build/cuda" ]; then
    mkdir -p "$out/lib/offchip/cuda"
    cp "$build"/cuda/* "$out/lib/offchip/cuda/"
    cp fixtures/cuda/check.sh "$out/lib/offchip/"
fi
cp models/platforms/*.ini "$out/share/offchip/platforms/"
for h in $(sh .ci/plugin_headers.sh "$cc"); do install -D -m 644 "$h" "$out/include/offchip/$h"; done # for offchip policy build

# What it says of itself, and the licences of what is in it.
cp LICENSE README.md docs/recording.md "$out/share/doc/offchip/"
while read -r l; do
    package=$(dpkg -S "$(realpath "$l")" 2>/dev/null | head -n 1 | cut -d: -f1)
    [ -z "$package" ] || echo "$(basename "$l") $package $(dpkg-query -W -f '${Version}' "$package" 2>/dev/null)"
    [ ! -f "/usr/share/doc/$package/copyright" ] || cp "/usr/share/doc/$package/copyright" "$out/share/doc/offchip/licence-$package"
done <"$out/list" | sort -u >"$out/share/doc/offchip/libraries"
rm "$out/list"
tar -C "$build/bundle" --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "$build/bundle/$name-$(uname -m).tar.gz" "$name"
echo "$build/bundle/$name-$(uname -m).tar.gz: $(du -sh "$out" | cut -f1) unpacked; ROOT/bin/offchip runs it"
