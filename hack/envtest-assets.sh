#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints a folder for KUBEBUILDER_ASSETS: kube-apiserver and etcd, built from their Go modules at the pinned versions
# because envtest's own archives come from a download site that not every machine reaches. envtest starts nothing
# else; kubectl is left out because only its deprecated helpers call it.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/shardyard/envtest

apiserver=$("$root/hack/tool.sh" kube-apiserver)
etcd=$("$root/hack/tool.sh" etcd)

# Each tool's folder is named by its version and everything it was built from: together they are this folder's key.
assets=$cache/$(basename "$(dirname "$apiserver")")_$(basename "$(dirname "$etcd")")

mkdir -p "$assets"
ln -sfn "$apiserver" "$assets/kube-apiserver"
ln -sfn "$etcd" "$assets/etcd"
echo "$assets"
