#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of a tool at the version that its module below hack/tools pins, and builds it first when it is not in
# the cache. The cache key covers everything the binary is made from, so a changed pin never meets an old binary.
#
# usage: hack/tool.sh NAME
set -euo pipefail

name=${1:?usage: hack/tool.sh NAME}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard/tools

# pinned MODULE prints the version of MODULE in the tool's go.mod.
pinned() {
	awk -v path="$1" '{ sub(/^require /, "") } $1 == path && $2 ~ /^v/ { print $2; exit }' "$module/go.mod"
}

module=$root/hack/tools/$name
ldflags=""
tags=""
cgo=0
without=""

case $name in
controller-gen)
	package=sigs.k8s.io/controller-tools/cmd/controller-gen
	version=$(pinned sigs.k8s.io/controller-tools)
	ldflags="-X sigs.k8s.io/controller-tools/pkg/version.version=$version"
	;;
containerd | containerd-shim-runc-v2 | ctr)
	module=$root/hack/tools/containerd
	package=github.com/containerd/containerd/v2/cmd/$name
	version=$(pinned github.com/containerd/containerd/v2)
	ldflags="-X github.com/containerd/containerd/v2/version.Version=$version"
	tags="no_btrfs no_devmapper no_zfs"
	;;
coredns)
	# Of this module's own: the server with the few plugins that a cluster's DNS needs.
	package=.
	version=$(pinned github.com/coredns/coredns)
	;;
etcd)
	package=go.etcd.io/etcd/server/v3
	version=$(pinned go.etcd.io/etcd/server/v3)
	;;
golangci-lint)
	package=github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	version=$(pinned github.com/golangci/golangci-lint/v2)
	ldflags="-X main.version=${version#v}"
	;;
gotestsum)
	package=gotest.tools/gotestsum
	version=$(pinned gotest.tools/gotestsum)
	ldflags="-X gotest.tools/gotestsum/cmd.version=${version#v}"
	;;
helm)
	package=helm.sh/helm/v4/cmd/helm
	version=$(pinned helm.sh/helm/v4)
	ldflags="-X helm.sh/helm/v4/internal/version.version=$version"
	;;
helm-unittest)
	package=github.com/helm-unittest/helm-unittest/cmd/helm-unittest
	version=$(pinned github.com/helm-unittest/helm-unittest)
	ldflags="-X github.com/helm-unittest/helm-unittest/internal/build.version=${version#v}"
	;;
image)
	package=.
	version=$(pinned github.com/google/go-containerregistry)
	;;
jaeger)
	package=github.com/jaegertracing/jaeger/cmd/all-in-one
	version=$(pinned github.com/jaegertracing/jaeger)
	ldflags="-X github.com/jaegertracing/jaeger/internal/version.latestVersion=$version"
	;;
kind)
	package=sigs.k8s.io/kind
	version=$(pinned sigs.k8s.io/kind)
	;;
kube-apiserver | kube-controller-manager | kube-proxy | kube-scheduler | kubectl | kubelet)
	module=$root/hack/tools/kubernetes
	package=k8s.io/kubernetes/cmd/$name
	version=$(pinned k8s.io/kubernetes)
	# Unset, a server calls itself v0.0.0-master, and clients that ask for its version cannot tell what it serves.
	IFS=. read -r major minor _ <<<"${version#v}"
	for path in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		ldflags+=" -X $path.gitVersion=$version -X $path.gitMajor=$major -X $path.gitMinor=$minor"
		ldflags+=" -X $path.gitTreeState=clean"
	done
	;;
kube-state-metrics)
	package=k8s.io/kube-state-metrics/v2
	version=$(pinned k8s.io/kube-state-metrics/v2)
	ldflags="-X github.com/prometheus/common/version.Version=$version"
	;;
kwok)
	package=sigs.k8s.io/kwok/cmd/kwok
	version=$(pinned sigs.k8s.io/kwok)
	ldflags="-X sigs.k8s.io/kwok/pkg/consts.Version=$version"
	;;
local-path-provisioner)
	package=github.com/rancher/local-path-provisioner
	version=$(pinned github.com/rancher/local-path-provisioner)
	ldflags="-X main.VERSION=$version"
	;;
host-local | loopback | ptp)
	module=$root/hack/tools/cni-plugins
	package=$(awk -v name="/$name" '$1 ~ name "$" { print $1 }' "$module/go.mod")
	version=$(pinned github.com/containernetworking/plugins)
	;;
registry)
	package=.
	version=$(pinned github.com/google/go-containerregistry)
	;;
runc)
	package=github.com/opencontainers/runc
	version=$(pinned github.com/opencontainers/runc)
	ldflags="-X main.version=${version#v}"
	# runc enters namespaces in C before Go starts, and the default profile of containers needs libseccomp.
	# Without the C library's resolver and user database, all but what needs libseccomp is compiled for every tool alike.
	tags="seccomp netgo osusergo"
	cgo=1
	;;
sbom)
	package=.
	version=$(pinned github.com/CycloneDX/cyclonedx-go)
	;;
terraform-provider-google)
	# Of this repository's own: it serves the schema of the provider of that version.
	package=.
	version=v$(sed -n 's/^ "provider_version": "\(.*\)",$/\1/p' "$module/schema/google.json")
	;;
tofu)
	# Of a copy without the libraries of the clouds, which take twice as long to compile as all the rest: the tests keep
	# their state in files, encrypt nothing and have their modules in folders. Its other libraries are of the versions that
	# its go.mod here requires.
	package=github.com/opentofu/opentofu/cmd/tofu
	version=$(pinned github.com/opentofu/opentofu)
	ldflags="-X github.com/opentofu/opentofu/version.dev=no"
	without='/remote-state\/(azure|consul|cos|gcs|kubernetes|oss|pg|s3)"/d
		/backend(Azure|Consul|Cos|GCS|Kubernetes|OSS|Pg|S3)\./d
		/keyprovider\/(aws_kms|azure_vault|gcp_kms|openbao)"/d
		/(aws_kms|azure_vault|gcp_kms|openbao)\.New/,+2d
		/new\((getter\.)?(GCS|S3)Getter\)/d'
	;;
toolbox)
	package=.
	version=$(pinned mvdan.cc/sh/v3)
	;;
*)
	echo "hack/tool.sh: no tool is named $name" >&2
	exit 2
	;;
esac

# sources FOLDER MODULE prints where the sources of MODULE are, at the version that the go.mod in FOLDER requires.
sources() {
	GOFLAGS=-mod=readonly GOWORK=off go -C "$1" mod download -json "$2" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p'
}

key=$({
	go -C "$module" env GOVERSION GOOS GOARCH
	echo "$package $version $ldflags $tags $cgo${without:+ $without}"
	find "$module" -type f -print0 | LC_ALL=C sort -z | xargs -0 cat
} | sha256sum)
binary=$cache/$name-$version-${key:0:12}/$name

if [[ ! -x $binary ]]; then
	echo "building $name $version" >&2
	mkdir -p "$(dirname "$binary")"
	partial=$(mktemp "$binary.XXXXXX")
	copy=$partial.sources
	trap 'rm -rf "$partial" "$copy"' EXIT
	if [[ -n $without ]]; then
		cp -r "$(sources "$module" github.com/opentofu/opentofu)" "$copy"
		cp -r "$(sources "$copy" github.com/hashicorp/go-getter)" "$copy/go-getter"
		chmod -R u+w "$copy"
		rm "$copy"/go-getter/get_{gcs,s3}.go
		sed -E -i "$without" "$copy"/internal/{backend/init/init,encryption/default_registry,getmodules/getter}.go \
			"$copy/go-getter/get.go"
		raised=$(sed -n 's/^\t\([^ ]*\) \(v.*\)$/-require=\1@\2/p' "$module/go.mod")
		# shellcheck disable=SC2086 # one argument for each
		go -C "$copy" mod edit $raised -replace github.com/hashicorp/go-getter=./go-getter
		cat "$module/go.sum" >>"$copy/go.sum"
		module=$copy
	fi
	# GOFLAGS and GOWORK from the caller's environment would change what is built under the same key.
	GOFLAGS=-mod=readonly GOWORK=off CGO_ENABLED=$cgo \
		go -C "$module" build -trimpath -buildvcs=false -p 2 -tags "$tags" -ldflags "-s -w $ldflags" \
		-o "$partial" "$package" >&2
	chmod 0755 "$partial"
	mv -f "$partial" "$binary"
fi
echo "$binary"
