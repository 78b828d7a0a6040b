{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "shardyard.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Object names are cut so that the longest suffix of this chart still fits. */}}
{{- define "shardyard.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 45 | trimSuffix "-" }}
{{- else if contains (include "shardyard.name" .) .Release.Name }}
{{- .Release.Name | trunc 45 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "shardyard.name" .) | trunc 45 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "shardyard.selectorLabels" -}}
app.kubernetes.io/name: {{ include "shardyard.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/component: operator
{{- end }}

{{- define "shardyard.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{ include "shardyard.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "shardyard.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- .Values.serviceAccount.name | default (include "shardyard.fullname" .) }}
{{- else }}
{{- .Values.serviceAccount.name | default "default" }}
{{- end }}
{{- end }}

{{/* What is in no namespace, of the kinds that the operator has to do with. */}}
{{- define "shardyard.clusterResources" -}}
nodes persistentvolumes nodetunings nodetunings/status storageclasses
{{- end }}

{{/* The rules of a role that are about what is in no namespace, and those about the rest. Both take the rules. */}}
{{- define "shardyard.clusterRules" -}}
{{- include "shardyard.splitRules" (list . true) }}
{{- end }}
{{- define "shardyard.namespacedRules" -}}
{{- include "shardyard.splitRules" (list . false) }}
{{- end }}
{{- define "shardyard.splitRules" -}}
{{- $ofCluster := splitList " " (include "shardyard.clusterResources" .) }}
{{- $wanted := last . }}
{{- $rules := list }}
{{- range first . }}
{{- $resources := list }}
{{- range .resources }}
{{- if eq (has . $ofCluster) $wanted }}
{{- $resources = append $resources . }}
{{- end }}
{{- end }}
{{- if $resources }}
{{- $rules = append $rules (merge (dict "resources" $resources) .) }}
{{- end }}
{{- end }}
{{- toYaml $rules }}
{{- end }}

{{/* What agents may do on machines: "tune", or "restore" where NodeTunings are left from when they could. Empty when
     there may be none. NodeTunings that are there may be another operator's where this one keeps some namespaces. */}}
{{- define "shardyard.tuning" -}}
{{- if .Values.nodeTuning.enabled }}
{{- "tune" }}
{{- else if .Values.watchNamespaces }}
{{- else if .Capabilities.APIVersions.Has "shardyard.dev/v1alpha1/NodeTuning" }}
{{- if (lookup "shardyard.dev/v1alpha1" "NodeTuning" "" "").items }}
{{- "restore" }}
{{- end }}
{{- end }}
{{- end }}

{{/* Where the agents that tune machines run. */}}
{{- define "shardyard.tuningNamespace" -}}
{{- .Values.nodeTuning.namespace | default (printf "%s-node-tuning" (include "shardyard.fullname" .)) }}
{{- end }}

{{/* The reference of an image. Takes a dict of image and root. */}}
{{- define "shardyard.image" -}}
{{- if .image.digest }}
{{- printf "%s@%s" .image.repository .image.digest }}
{{- else }}
{{- printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* Not empty when the cluster has the kind PodMonitor and the operator gets one. */}}
{{- define "shardyard.podMonitor" -}}
{{- if and .Values.metrics.podMonitor.enabled (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PodMonitor") }}
{{- true }}
{{- end }}
{{- end }}
