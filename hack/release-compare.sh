#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Makes the release of the commit that is checked out twice, in two folders that hold nothing but the commit, and compares
# them. Everything is built in both of them but what the caches of Go and cargo hold.
#
# usage: hack/release-compare.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1:?usage: hack/release-compare.sh VERSION}
commit=$(git rev-parse HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for side in one another; do
	git clone --quiet --no-checkout "$PWD" "$work/$side"
	git -C "$work/$side" checkout --quiet "$commit"
	env -u MAKEFLAGS -u MFLAGS make -C "$work/$side" release VERSION="$version"
done
diff "$work/one/dist/$version/SHA256SUMS" "$work/another/dist/$version/SHA256SUMS" ||
	{ echo "the releases differ" >&2; exit 1; }
echo "both releases have the same $(wc -l <"$work/one/dist/$version/SHA256SUMS") files"
