{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "testnet.networkName" -}}
{{- .Values.name | default .Release.Name }}
{{- end }}

{{- define "testnet.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{/* The spec of the preset's NodeTuning. Empty when it has none, or the cluster does not have the kind. */}}
{{- define "testnet.tuning" -}}
{{- if and .Values.nodeTuning.enabled (.Capabilities.APIVersions.Has "shardyard.dev/v1alpha1/NodeTuning") }}
{{- .Files.Get (printf "tunings/%s.yaml" .Values.preset) }}
{{- end }}
{{- end }}

{{/* The spec of the network: the preset, with the NodeTuning that goes with it, and over it what the user sets. */}}
{{- define "testnet.spec" -}}
{{- $spec := .Files.Get (printf "presets/%s.yaml" .Values.preset) | fromYaml }}
{{- if include "testnet.tuning" . }}
{{- $_ := set $spec.placement "nodeTuning" (include "testnet.networkName" .) }}
{{- end }}
{{- include "testnet.merge" (dict "into" $spec "from" .Values.network) }}
{{- toYaml $spec }}
{{- end }}
