#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds what the nodes run and, with FOLDER, links it into that folder. The links are relative: a node sees the cache
# under another path than the machine does.
#
# usage: hack/devcluster/namespaces/tools.sh [FOLDER]
set -euo pipefail
# shellcheck source=hack/devcluster/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

tools=(
	etcd kube-apiserver kube-controller-manager kube-scheduler kubectl
	kubelet kube-proxy containerd containerd-shim-runc-v2 ctr runc
	host-local loopback ptp
)

# netpol is of this module, and go build knows by itself when it is out of date.
mkdir -p "$cache/tools/netpol"
CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off go -C "$root" build -trimpath -buildvcs=false -ldflags "-s -w" \
	-o "$cache/tools/netpol/netpol" ./hack/devcluster/namespaces/netpol

folder=${1:-}
for tool in "${tools[@]}"; do
	binary=$("$root/hack/tool.sh" "$tool")
	if [[ -n $folder ]]; then
		mkdir -p "$folder"
		ln -sfnr "$binary" "$folder/$tool"
	fi
done
[[ -z $folder ]] || ln -sfnr "$cache/tools/netpol/netpol" "$folder/netpol"
