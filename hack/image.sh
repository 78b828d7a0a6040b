#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes the image of a program as a docker-archive: with a running Docker from the Dockerfile, and else from the
# program in bin and exactly the shared libraries that it needs. The image carries its tag as its version, so images of
# different tags are never the same. Other programs of bin may be put beside it.
#
# usage: hack/image.sh (operator | shardnode) ARCHIVE [TAG [PROGRAM...]]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
name=${1:-} archive=${2:-} version=${3:-dev}
others=("${@:4}")
if [[ $name != operator && $name != shardnode || -z $archive ]]; then
	echo "usage: hack/image.sh (operator | shardnode) ARCHIVE [TAG [PROGRAM...]]" >&2
	exit 2
fi
tag=shardyard/$name:$version

if docker info >/dev/null 2>&1; then
	docker build --target "$name" --tag "$tag" --label "org.opencontainers.image.version=$version" "$root"
	if [[ ${#others[@]} -gt 0 ]]; then
		docker build --tag "$tag" --build-context "bin=$root/bin" - <<<"FROM $tag
COPY --from=bin ${others[*]} /usr/local/bin/"
	fi
	mkdir -p "$(dirname "$archive")"
	docker save --output "$archive" "$tag"
	exit
fi

listed=$(for program in "$name" "${others[@]}"; do "$root/hack/image-files.sh" "$root/bin/$program" || exit; done)
mapfile -t files < <(sort -u <<<"$listed")
"$("$root/hack/tool.sh" image)" -o "$archive" -t "$tag" -version "$version" -user 65532:65532 \
	-entrypoint "/usr/local/bin/$name" "${files[@]}"
