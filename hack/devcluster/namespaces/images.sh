#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the archives of the images that the cluster itself needs, and writes those that are not in the cache.
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

image=$("$root/hack/tool.sh" image)

# pause prints the path of the program that holds a pod's namespaces: Kubernetes' own source, linked statically.
pause() {
	local module source binary
	module=$root/hack/tools/kubernetes
	source=$(GOWORK=off go -C "$module" list -m -f '{{.Dir}}' k8s.io/kubernetes)/build/pause/linux/pause.c
	binary=$cache/tools/pause-$(sha256sum <"$source" | head -c 12)/pause
	if [[ ! -x $binary ]]; then
		mkdir -p "$(dirname "$binary")"
		cc -Os -static -DVERSION=pinned -o "$binary.$$" "$source"
		mv -f "$binary.$$" "$binary"
	fi
	echo "$binary"
}

# archive NAME BINARY ARGUMENT... writes the image devcluster/NAME:pinned, once for each binary it can be made from.
archive() {
	local name=$1 binary=$2 file
	shift 2
	file=$cache/images/$(basename "$(dirname "$image")")_$(basename "$(dirname "$binary")").tar
	[[ -f $file ]] || "$image" -o "$file" -t "devcluster/$name:pinned" "$@"
	echo "$file"
}

binary=$(pause)
archive pause "$binary" -user 65535:65535 -entrypoint /pause "$binary:/pause"
binary=$("$root/hack/tool.sh" coredns)
archive coredns "$binary" -entrypoint /coredns "$binary:/coredns"
binary=$("$root/hack/tool.sh" local-path-provisioner)
archive local-path-provisioner "$binary" -entrypoint /local-path-provisioner "$binary:/local-path-provisioner"
binary=$("$root/hack/tool.sh" toolbox)
archive toolbox "$binary" -entrypoint /bin/sh "$binary:/bin/sh"
