#!/bin/sh
# make deb: a package for the Debian that this is, from what `make install PREFIX=/usr` has put below ROOT.
# usage: deb.sh BUILD VERSION ROOT
set -e
build=$1 version=$2 root=$3
doc=$root/usr/share/doc/offchip
arch=$(dpkg --print-architecture)
package=$build/deb/offchip_${version}_$arch.deb
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH
maintainer=${DEB_MAINTAINER:-$(sed -n 's/^Maintainer: //p' .ci/debian/control)}

# What make demo and the README's first commands read.
mkdir -p "$doc/examples/fixtures"
cp -r fixtures/traces fixtures/tasks "$doc/examples/fixtures/"
sed 's/^prog=.*/prog=offchip/; s/^out=.*/out=${1:?usage: demo.sh FOLDER, to be made}/; /^rm -rf/d; s/^mkdir -p/mkdir/
    s:^recording=:&$(dirname "$0")/:' .ci/demo.sh > "$doc/examples/demo.sh"
cp .ci/debian/copyright "$doc/copyright"
rm -f "$doc/LICENSE" # it stands in copyright
{
    echo "offchip ($version) unstable; urgency=medium"
    echo
    echo "  * docs/CHANGELOG.md says what changed."
    echo
    echo " -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n > "$doc/changelog.gz"

find "$root" -type d -exec chmod 755 {} +
find "$root" -type f -exec chmod 644 {} +
chmod 755 "$root/usr/bin/offchip" "$doc/examples/demo.sh"
strip --remove-section=.comment --remove-section=.note "$root/usr/bin/offchip"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$root"/usr/lib/offchip/*.so
gzip -9nf "$root"/usr/share/man/man1/*.1

# The libraries that it is linked with, as packages.
mkdir -p "$build/deb/work/debian" "$root/DEBIAN"
sed "s/^Maintainer: .*/Maintainer: $maintainer/" .ci/debian/control > "$build/deb/work/debian/control"
here=$PWD
depends=$(cd "$build/deb/work" && dpkg-shlibdeps -O "$here/$root/usr/bin/offchip" "$here/$root"/usr/lib/offchip/*.so \
    2> shlibdeps.log | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { cat "$build/deb/work/shlibdeps.log" >&2; exit 1; }
{
    echo "Package: offchip"
    echo "Version: $version"
    echo "Architecture: $arch"
    echo "Installed-Size: $(du -sk --apparent-size --exclude=DEBIAN "$root" | cut -f1)"
    sed -n '/^Section:/p; /^Priority:/p; /^Maintainer:/p' "$build/deb/work/debian/control"
    sed -n '/^Depends:/,$p' "$build/deb/work/debian/control" | sed "s/\${shlibs:Depends}/$depends/"
} > "$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum > DEBIAN/md5sums)
dpkg-deb --root-owner-group --build "$root" "$package" > "$build/deb/work/build.log"
echo "$package: $(du -h "$package" | cut -f1)"
