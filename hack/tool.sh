#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a tool at the version that hack/tools/NAME/go.mod pins, and builds it first when it is not in
# the cache. The cache key covers everything the binary is made from, so a changed pin never meets an old binary.
#
# usage: hack/tool.sh (controller-gen | etcd | golangci-lint | kube-apiserver)
set -euo pipefail

name=${1:?usage: hack/tool.sh NAME}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
module=$root/hack/tools/$name
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard/tools

if [[ ! -f $module/go.mod ]]; then
	echo "hack/tool.sh: no tool is named $name: hack/tools/$name/go.mod does not exist" >&2
	exit 2
fi

# pinned MODULE prints the version of MODULE in the tool's go.mod.
pinned() {
	awk -v path="$1" '$1 == path && $2 ~ /^v/ { print $2; exit }' "$module/go.mod"
}

case $name in
controller-gen)
	package=sigs.k8s.io/controller-tools/cmd/controller-gen
	version=$(pinned sigs.k8s.io/controller-tools)
	ldflags="-X sigs.k8s.io/controller-tools/pkg/version.version=$version"
	;;
etcd)
	package=go.etcd.io/etcd/server/v3
	version=$(pinned go.etcd.io/etcd/server/v3)
	ldflags=""
	;;
golangci-lint)
	package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	version=$(pinned github.com/golangci/golangci-lint/v2)
	ldflags="-X main.version=${version#v}"
	;;
kube-apiserver)
	package=k8s.io/kubernetes/cmd/kube-apiserver
	version=$(pinned k8s.io/kubernetes)
	# Unset, the server calls itself v0.0.0-master, and clients that ask for its version cannot tell what it serves.
	IFS=. read -r major minor _ <<<"${version#v}"
	ldflags=""
	for path in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		ldflags+=" -X $path.gitVersion=$version -X $path.gitMajor=$major -X $path.gitMinor=$minor"
		ldflags+=" -X $path.gitTreeState=clean"
	done
	;;
*)
	echo "hack/tool.sh: hack/tools/$name has no build recipe here" >&2
	exit 2
	;;
esac

key=$({ go -C "$module" env GOVERSION GOOS GOARCH && cat "$module/go.mod" "$module/go.sum" "${BASH_SOURCE[0]}"; } | sha256sum)
binary=$cache/$name-$version-${key:0:12}/$name

if [[ ! -x $binary ]]; then
	echo "building $name $version" >&2
	mkdir -p "$(dirname "$binary")"
	partial=$(mktemp "$binary.XXXXXX")
	trap 'rm -f "$partial"' EXIT
	# GOFLAGS and GOWORK from the caller's environment would change what is built under the same key.
	GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=0 \
		go -C "$module" build -trimpath -p 2 -ldflags "-s -w $ldflags" -o "$partial" "$package" >&2
	chmod 0755 "$partial"
	mv -f "$partial" "$binary"
fi
echo "$binary"
