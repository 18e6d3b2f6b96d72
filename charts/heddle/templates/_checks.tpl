{{/* What no schema can say. Every refusal names the value and the way out. */}}
{{- define "heddle.checks" -}}
{{- include "heddle.checkDatabase" . -}}
{{- include "heddle.checkConfig" . -}}
{{- include "heddle.checkSources" . -}}
{{- include "heddle.checkKubernetes" . -}}
{{- include "heddle.checkPod" . -}}
{{- include "heddle.checkService" . -}}
{{- include "heddle.checkMetrics" . -}}
{{- include "heddle.checkPeople" . -}}
{{- include "heddle.checkPorts" . -}}
{{- include "heddle.checkKinds" . -}}
{{- include "heddle.checkObjects" . -}}
{{- end -}}

{{- define "heddle.checkDatabase" -}}
{{- with .Values -}}
{{- $given := or .database.existingSecret .database.url -}}
{{- if and .embedded.enabled $given -}}
{{- fail "embedded.enabled and database are both set; keep one of them." -}}
{{- end -}}
{{- if and .database.existingSecret .database.url -}}
{{- fail "database.existingSecret and database.url are both set; keep one of them." -}}
{{- end -}}
{{- if not (or .embedded.enabled $given) -}}
{{- fail "Heddle needs a database: name a Secret that holds the URL of a Postgres in database.existingSecret, or write the URL in database.url, or set embedded.enabled=true for an evaluation." -}}
{{- end -}}
{{- if and .embedded.enabled (gt (int .replicas) 1) -}}
{{- fail (printf "embedded.enabled wants replicas: 1 (0 while nothing runs), not %d: one process only may use an embedded database; several servers need a Postgres (database.existingSecret)." (int .replicas)) -}}
{{- end -}}
{{- range $name := list "bootstrapToken" "secretKey" -}}
{{- $value := index $.Values $name -}}
{{- if and $value.existingSecret $value.value -}}
{{- fail (printf "%s.existingSecret and %s.value are both set; keep one of them." $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Kubernetes refuses a larger ConfigMap too, but only after everything else was made. */}}
{{- define "heddle.checkConfig" -}}
{{- $bytes := 0 -}}
{{- range .Values.config -}}{{- $bytes = add $bytes (len .) -}}{{- end -}}
{{- if gt $bytes 1048576 -}}
{{- fail (printf "config holds %d bytes in %d files, and a ConfigMap holds 1048576 (1 MiB) at the most; spread the documents over several ConfigMaps and name those in sources." $bytes (len .Values.config)) -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkSources" -}}
{{- $names := list -}}
{{- if .Values.config -}}{{- $names = append $names (include "heddle.configSource" .) -}}{{- end -}}
{{- range .Values.sources -}}
{{- if has .name $names -}}
{{- fail (printf "sources: two sources are called %s; a source owns what it states, so its name is its own." .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkKubernetes" -}}
{{- if .Values.kubernetes.enabled -}}
{{- if not .Values.kubernetes.namespaces -}}
{{- fail "kubernetes.enabled: kubernetes.namespaces has no rule, so no namespace would be read; say which ones, by names or by a selector." -}}
{{- end -}}
{{- range .Values.kubernetes.namespaces -}}
{{- if and .selector (not $.Values.kubernetes.clusterWide) -}}
{{- fail "kubernetes.clusterWide: a rule of kubernetes.namespaces has a selector, and without rights in the cluster the servers cannot see which namespaces there are; name them in names." -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (eq (include "heddle.serviceAccount" .) "default") -}}
{{- fail "kubernetes.enabled: the rights would be those of every pod that runs as the service account default; name another one in serviceAccount.name, or let the chart make one (serviceAccount.create)." -}}
{{- end -}}
{{- range .Values.serverConfig.sources -}}
{{- if eq .name $.Values.kubernetes.name -}}
{{- fail (printf "kubernetes.name: a source of serverConfig is called %s already; give one of them another name." .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
