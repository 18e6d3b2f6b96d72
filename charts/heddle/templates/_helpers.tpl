{{/* The name that all objects have. */}}
{{- define "heddle.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- default $full .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels of everything that belongs to a release. */}}
{{- define "heddle.ownLabels" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* Labels by which the servers are found, and no other pod; they never change. */}}
{{- define "heddle.selectorLabels" -}}
{{ include "heddle.ownLabels" . }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "heddle.labels" -}}
{{ include "heddle.ownLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: heddle
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: the context, and what follows the name. */}}
{{- define "heddle.metadata" -}}
{{- $root := index . 0 -}}
name: {{ include "heddle.fullname" $root }}{{ with index . 1 }}-{{ . }}{{ end }}
namespace: {{ $root.Release.Namespace }}
labels:
  {{- include "heddle.labels" $root | nindent 2 }}
{{- end -}}

{{- define "heddle.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Which addresses the Services have; nothing where it is left to the cluster. */}}
{{- define "heddle.ipFamilies" -}}
{{- with .Values.service.ipFamilyPolicy }}
  ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
  ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}

{{- define "heddle.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ default (include "heddle.fullname" .) .Values.serviceAccount.name }}
{{- else -}}
{{ default "default" .Values.serviceAccount.name }}
{{- end -}}
{{- end -}}

{{/* Name and directory of every source, as HEDDLE_SOURCE wants them. */}}
{{- define "heddle.sources" -}}
{{- $all := list -}}
{{- if .Values.config -}}
{{- $all = append $all (printf "%s=/etc/heddle/config" (include "heddle.configSource" .)) -}}
{{- end -}}
{{- range .Values.sources -}}
{{- $all = append $all (printf "%s=%s" .name (default (printf "/etc/heddle/sources/%s" .name) .path)) -}}
{{- end -}}
{{ join "," $all }}
{{- end -}}

{{/* The file of settings of a server, in which this cluster is one more source; nothing where there are no settings. */}}
{{- define "heddle.serverConfig" -}}
{{- $config := deepCopy .Values.serverConfig -}}
{{- with .Values.kubernetes -}}
{{- if .enabled -}}
{{- $source := dict "name" .name "type" "kubernetes" "namespaces" .namespaces -}}
{{- if not .clusterWide -}}
{{- $_ := set $source "clusterWide" false -}}
{{- end -}}
{{- if or .secrets.read .secrets.write -}}
{{- $_ := set $source "secrets" .secrets -}}
{{- end -}}
{{- if .services.read -}}
{{- $_ := set $source "services" .services -}}
{{- end -}}
{{- $_ := set $config "sources" (append (default list $config.sources) $source) -}}
{{- end -}}
{{- end -}}
{{- with $config }}{{ toYaml . }}{{ end -}}
{{- end -}}

{{- define "heddle.configSource" -}}
{{ default .Release.Name .Values.configSource }}
{{- end -}}

{{/* The alerts that the chart brings. */}}
{{- define "heddle.knownAlerts" -}}
{{ (first (.Files.Get "alerts/heddle.yaml" | fromYaml).groups).rules | toYaml }}
{{- end -}}

{{/* The labels of the metrics of this release alone, as the ServiceMonitor has Prometheus label them. */}}
{{- define "heddle.metricSelector" -}}
{{- $job := printf "%s%s" (include "heddle.fullname" .) (ternary "-metrics" "" (gt (int .Values.server.metricsPort) 0)) -}}
{{- default (printf "namespace=%q, job=%q" .Release.Namespace $job) .Values.prometheusRule.selector -}}
{{- end -}}
