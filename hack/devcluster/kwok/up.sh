#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Starts a real control plane with fake machines: pods on them are said to run, and volumes of every class to be bound,
# but nothing runs. It needs no privileges.
#
# With KWOK_AUDIT_POLICY, the path of an audit policy, the API server writes its audit log to audit.log among the logs.
#
# usage: KWOK_NODES=140 REGIONS=a,b,c hack/devcluster/kwok/up.sh
set -euo pipefail
# shellcheck source=hack/devcluster/kwok/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

count=${KWOK_NODES:-140}
IFS=, read -ra regions <<<"${REGIONS:-us-central1,us-east1,us-east4}"
[[ $count =~ ^[1-9][0-9]{0,3}$ ]] || fail "KWOK_NODES is $count, not a number from 1 to 9999"
# settled tells whether the API server answers, or never will.
settled() { kubectl get --raw /readyz || ! kill -0 "$server"; }

"$root/hack/setup.sh" cluster-kwok

if [[ -n $(supervisor) ]]; then
	echo "kwok: already up"
else
	mkdir -p "$state/bin" "$logs"
	for tool in "${kwok_tools[@]}"; do
		binary=$("$root/hack/tool.sh" "$tool")
		ln -sfn "$binary" "$state/bin/$tool"
	done
	if [[ ! -f $kubeconfig ]]; then
		pki_authority
		pki_certificate apiserver /CN=kube-apiserver DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.96.0.1
		pki_certificate controller-manager /CN=system:kube-controller-manager
		pki_certificate scheduler /CN=system:kube-scheduler
		pki_certificate admin /O=system:masters/CN=admin
		pki_kubeconfig controller-manager
		pki_kubeconfig scheduler
		pki_kubeconfig admin "$kubeconfig"
	fi
	setsid "$devcluster/kwok/serve.sh" >"$logs/serve.log" 2>&1 </dev/null &
	server=$!
	disown
	wait_for 120 "the API server" settled
	kill -0 "$server" 2>/dev/null || fail "$(tail -n 1 "$logs/serve.log")"
fi

"$devcluster/kwok/nodes.sh" "$count" "${regions[@]}" | kubectl apply --filename - >/dev/null
kubectl wait --for condition=Ready --timeout 120s node --all >/dev/null
echo "kwok: $count fake machines"
echo "export KUBECONFIG=$kubeconfig"
