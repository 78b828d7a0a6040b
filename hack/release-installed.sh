#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs the release of VERSION, which make release wrote, onto the cluster that make cluster-up started, twice, as whoever
# has nothing but its files does: from the one file, with a network from a manifest, and from the charts, whose helm tests
# pass. Both are removed again, but for the CRDs, which the chart keeps.
#
# usage: hack/release-installed.sh VERSION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

version=${1:?usage: hack/release-installed.sh VERSION}
dist=$PWD/dist/$version
[[ -f $dist/SHA256SUMS ]] || { echo "$dist holds no release: make release VERSION=$version" >&2; exit 1; }
tools=$(dirname "$(hack/tool.sh kubectl)"):$(dirname "$(hack/tool.sh helm)")
: "${KUBECONFIG:?names no kubeconfig: it is the last line that make cluster-up prints}"
export KUBECONFIG

# The machines of that cluster reach no registry.
hack/devcluster/load.sh "$dist/operator_linux_amd64.oci.tar" "$dist/shardnode_linux_amd64.oci.tar"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$dist" "$work/release"
cd "$work/release"
export PATH=$work/bin:$tools:$PATH
sha256sum --check --quiet --ignore-missing SHA256SUMS
mkdir "$work/bin"
tar -xzf shardyard_linux_amd64.tar.gz -C "$work/bin" shardyard kubectl-shardyard kubectl_complete-shardyard
[[ $(shardyard version) == *"$version"* ]] || { echo "shardyard is not of $version: $(shardyard version)" >&2; exit 1; }

cat >"$work/network.yaml" <<'YAML'
apiVersion: shardyard.dev/v1alpha1
kind: ShardNetwork
metadata: {name: first}
spec: {shards: 2, producersPerShard: 2, placement: {exclusivity: Shared}}
YAML

echo "from the one file"
kubectl apply --server-side -f install.yaml
kubectl -n shardyard-system rollout status deployment/shardyard --timeout 3m
kubectl shardyard plan -f "$work/network.yaml"
kubectl apply -f "$work/network.yaml"
kubectl wait --for=condition=Ready shardnetwork/first --timeout 5m
[[ $(kubectl get shardnetwork first -o 'jsonpath={.status.operatorVersion}') == "$version" ]] ||
	{ echo "the network is not of an operator of $version" >&2; exit 1; }
kubectl delete -f "$work/network.yaml" --timeout 3m
kubectl delete -f install.yaml --timeout 3m

echo "from the charts"
helm install shardyard "shardyard-$version.tgz" --namespace shardyard-system --create-namespace --wait --timeout 3m
helm test shardyard --namespace shardyard-system --timeout 3m
helm install quickstart "testnet-$version.tgz" --set preset=quickstart --wait --timeout 5m
kubectl wait --for=condition=Ready shardnetwork/quickstart --timeout 5m
helm test quickstart --timeout 5m
helm uninstall quickstart --wait
kubectl wait --for=delete shardnetwork/quickstart --timeout 3m
helm uninstall shardyard --namespace shardyard-system --wait
kubectl delete namespace shardyard-system --timeout 3m
