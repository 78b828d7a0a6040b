#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a control plane and KWOK on 127.0.0.1 until it is told to stop, or until one of them ends: then all end.
set -euo pipefail
# shellcheck source=hack/devcluster/kwok/lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

etcd=http://127.0.0.1:$((api_port + 1))
etcd_peers=http://127.0.0.1:$((api_port + 2))
audit=()
if [[ -n ${KWOK_AUDIT_POLICY:-} ]]; then
	audit=(--audit-policy-file "$KWOK_AUDIT_POLICY" --audit-log-path "$logs/audit.log")
fi
export PATH=$state/bin:$PATH
stages=$(GOWORK=off go -C "$root/hack/tools/kwok" list -m -f '{{.Dir}}' sigs.k8s.io/kwok)/kustomize/stage

# serve NAME COMMAND... starts a server that does not outlive this process.
serve() {
	local name=$1
	shift
	setpriv --pdeathsig KILL "$@" >"$logs/$name.log" 2>&1 &
}

# settled tells whether the API server answers, or never will because one of the first two servers has ended.
# shellcheck disable=SC2317 # wait_for calls it
settled() { kubectl get --raw /readyz || [[ $(jobs -rp | wc -l) -lt 2 ]]; }

echo $$ >"$state/pid"
trap 'exit 0' TERM INT
# The data survives, and an API server whose etcd has gone would take its time to end by itself.
trap 'exec 2>/dev/null; kill -KILL $(jobs -p); rm -f "$state/pid"' EXIT

serve etcd etcd --data-dir "$state/etcd" --unsafe-no-fsync --log-level warn \
	--listen-client-urls "$etcd" --advertise-client-urls "$etcd" \
	--listen-peer-urls "$etcd_peers" --initial-advertise-peer-urls "$etcd_peers" \
	--initial-cluster "default=$etcd_peers"
serve kube-apiserver kube-apiserver --etcd-servers "$etcd" \
	--bind-address 127.0.0.1 --advertise-address 127.0.0.1 --secure-port "$api_port" --endpoint-reconciler-type none \
	--tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" --client-ca-file "$pki/ca.crt" \
	--service-account-issuer https://kubernetes.default.svc --service-account-key-file "$pki/sa.pub" \
	--service-account-signing-key-file "$pki/sa.key" --service-cluster-ip-range 10.96.0.0/16 \
	--authorization-mode Node,RBAC --allow-privileged "${audit[@]}"
# The others give up when there is no API server.
wait_for 120 "the API server" settled
# Endpoints may not be loopback addresses, which those of the pods are; nothing here asks for them.
serve kube-controller-manager kube-controller-manager --kubeconfig "$pki/controller-manager.kubeconfig" \
	--secure-port 0 --leader-elect=false --use-service-account-credentials \
	--service-account-private-key-file "$pki/sa.key" --root-ca-file "$pki/ca.crt" \
	--controllers '*,-endpoints-controller,-endpointslice-controller,-endpointslice-mirroring-controller' \
	--concurrent-statefulset-syncs 10 --kube-api-qps 300 --kube-api-burst 300
serve kube-scheduler kube-scheduler --kubeconfig "$pki/scheduler.kubeconfig" \
	--secure-port 0 --leader-elect=false --kube-api-qps 300 --kube-api-burst 300
# The pods' addresses are the machine's own, so that one process on it can answer for all of them.
serve kwok kwok --kubeconfig "$kubeconfig" --manage-all-nodes --node-lease-duration-seconds 40 --cidr "$pods" \
	--config "$stages/node/fast/node-initialize.yaml" \
	--config "$stages/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml" \
	--config "$stages/pod/fast/pod-ready.yaml" \
	--config "$stages/pod/fast/pod-delete.yaml" \
	--config "$devcluster/kwok/volumes.yaml"
wait -n || true
echo "a server ended: see $logs" >&2
exit 1
