{{/*
SPDX-License-Identifier: Apache-2.0

Puts the fields of one object into another one, in place. Takes a dict of into and from. Objects are merged, null
removes, and anything else, lists and empty values included, replaces what was there: mergeOverwrite of the template
language would skip 0, false and "".
*/}}
{{- define "testnet.merge" -}}
{{- $into := .into }}
{{- range $field, $value := .from }}
{{- if kindIs "invalid" $value }}
{{- $_ := unset $into $field }}
{{- else if and (kindIs "map" $value) (kindIs "map" (get $into $field)) }}
{{- include "testnet.merge" (dict "into" (get $into $field) "from" $value) }}
{{- else }}
{{- $_ := set $into $field $value }}
{{- end }}
{{- end }}
{{- end }}
