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
{{- fail (printf "embedded.enabled requires replicas: 1 (or 0 to stop the server), not %d: only one process may use an embedded database; several servers need Postgres (database.existingSecret)." (int .replicas)) -}}
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
{{- fail (printf "config contains %d bytes in %d files, and the maximum size of a ConfigMap is 1048576 bytes (1 MiB); distribute the documents over several ConfigMaps and name them in sources." $bytes (len .Values.config)) -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkSources" -}}
{{- $names := list -}}
{{- if .Values.config -}}{{- $names = append $names (include "heddle.configSource" .) -}}{{- end -}}
{{- range .Values.sources -}}
{{- if has .name $names -}}
{{- fail (printf "sources: two sources have the name %s; the name of a source must be unique." .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkKubernetes" -}}
{{- if .Values.kubernetes.enabled -}}
{{- if not .Values.kubernetes.namespaces -}}
{{- fail "kubernetes.enabled: kubernetes.namespaces has no rule, so no namespace would be read; select namespaces by names or by a selector." -}}
{{- end -}}
{{- range .Values.kubernetes.namespaces -}}
{{- if and .selector (not $.Values.kubernetes.clusterWide) -}}
{{- fail "kubernetes.clusterWide: a rule of kubernetes.namespaces has a selector, but without cluster-wide rights the servers cannot list namespaces; list them in names." -}}
{{- end -}}
{{- end -}}
{{- if and (not .Values.serviceAccount.create) (eq (include "heddle.serviceAccount" .) "default") -}}
{{- fail "kubernetes.enabled: the rights would be granted to every pod that runs as the service account default; name another one in serviceAccount.name, or let the chart create one (serviceAccount.create)." -}}
{{- end -}}
{{- range .Values.serverConfig.sources -}}
{{- if eq .name $.Values.kubernetes.name -}}
{{- fail (printf "kubernetes.name: a source of serverConfig already has the name %s; rename one of them." .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
