{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "testnet.networkName" -}}
{{- .Values.name | default .Release.Name }}
{{- end }}

{{/* The spec of the network: the preset, and over it what the user sets. */}}
{{- define "testnet.spec" -}}
{{- $spec := .Files.Get (printf "presets/%s.yaml" .Values.preset) | fromYaml }}
{{- include "testnet.merge" (dict "into" $spec "from" .Values.network) }}
{{- toYaml $spec }}
{{- end }}
