#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Prints the path of the CRD of a kind of the Prometheus operator or of the Gateway API at the pinned version, from its
# module: tests apply PodMonitors, PrometheusRules and HTTPRoutes to API servers that have the kind. Nothing of the modules
# is built, so no go.mod names them, and the content is compared here.
#
# usage: hack/crd.sh (podmonitors | prometheusrules | httproutes)
set -euo pipefail

case ${1:-} in
podmonitors | prometheusrules)
	module=github.com/prometheus-operator/prometheus-operator@v0.93.1
	sum=h1:4Juk8v93RdG1DSGD/mGp+SeQKPmnlLIj2iq3blLZgFY=
	file=example/prometheus-operator-crd/monitoring.coreos.com_$1.yaml
	;;
httproutes)
	module=sigs.k8s.io/gateway-api@v1.6.3
	sum=h1:lKpJa5bGlraC/QeACvCpsHLdmO6y0iKfzVl6gzaFEYc=
	file=config/crd/standard/gateway.networking.k8s.io_$1.yaml
	;;
*)
	echo "usage: hack/crd.sh (podmonitors | prometheusrules | httproutes)" >&2
	exit 2
	;;
esac

downloaded=$(go mod download -json "$module")
field() { sed -n "s/^\t\"$1\": \"\(.*\)\",\{0,1\}$/\1/p" <<<"$downloaded"; }
if [[ $(field Sum) != "$sum" ]]; then
	echo "$module has the sum $(field Sum), want $sum" >&2
	exit 1
fi
echo "$(field Dir)/$file"
