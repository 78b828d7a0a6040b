{{- /* SPDX-License-Identifier: Apache-2.0 */}}
{{- /* "true" in a member cluster. An agent without an address or a name would write nowhere, or what nobody can tell apart. */}}
{{- define "monitoring.member" -}}
{{- $stack := index .Values "kube-prometheus-stack" -}}
{{- if $stack.prometheus.agentMode -}}
{{- $spec := $stack.prometheus.prometheusSpec -}}
{{- $path := "kube-prometheus-stack.prometheus.prometheusSpec" -}}
{{- $name := required (printf "%s.externalLabels.cluster is not set: the name of this cluster" $path) $spec.externalLabels.cluster -}}
{{- range $i, $write := $spec.remoteWrite -}}
{{- $address := required (printf "%s.remoteWrite[%d].url is not set: the address of the home cluster's Prometheus" $path $i) $write.url -}}
{{- if not (hasPrefix "https://" $address) -}}
{{- fail (printf "%s.remoteWrite[%d].url is %s: passwords go over https alone" $path $i $address) -}}
{{- end -}}
{{- else -}}
{{- fail (printf "%s.remoteWrite is empty: an agent stores nothing" $path) -}}
{{- end -}}
true
{{- end -}}
{{- end -}}
