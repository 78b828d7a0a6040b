{{/*
SPDX-License-Identifier: Apache-2.0

Puts the values that are missing where they are looked up, with their defaults: helm upgrade --reuse-values takes the
values of the earlier release for all there are, also where that was of a chart that did not have them yet. Every
template begins with it. Of resources, what is missing was taken away on purpose.
*/}}
{{- define "shardyard.complete" -}}
{{- include "shardyard.fill" (dict "into" .Values "from" (.Files.Get "files/values.yaml" | fromYaml)) }}
{{- end }}

{{- define "shardyard.fill" -}}
{{- $into := .into }}
{{- range $field, $default := omit .from "resources" }}
{{- if not (hasKey $into $field) }}
{{- $_ := set $into $field $default }}
{{- else if and (kindIs "map" $default) (kindIs "map" (get $into $field)) }}
{{- include "shardyard.fill" (dict "into" (get $into $field) "from" $default) }}
{{- end }}
{{- end }}
{{- end }}
