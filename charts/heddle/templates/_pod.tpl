{{/* What the chart's own Secret and ConfigMap give to a server at its start. Made values are not in it: they stay. */}}
{{- define "heddle.settings" -}}
{{- toJson (list (include "heddle.serverConfig" .) .Values.database.url .Values.bootstrapToken.value .Values.secretKey.value) -}}
{{- end -}}

{{- define "heddle.pod" -}}
serviceAccountName: {{ include "heddle.serviceAccount" . }}
automountServiceAccountToken: {{ .Values.kubernetes.enabled }}
# A Service called heddle would otherwise make variables that begin with HEDDLE_.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ include "heddle.terminationGrace" . }}
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- range $field := list "imagePullSecrets" "nodeSelector" "tolerations" "affinity" }}
{{- with index $.Values $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- include "heddle.spread" . }}
{{- with .Values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: heddle
    {{- include "heddle.container" . | nindent 4 }}
  {{- with .Values.extraContainers }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
volumes:
  {{- include "heddle.volumes" . | nindent 2 }}
{{- end -}}

{{- define "heddle.spread" -}}
{{- if .Values.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml .Values.topologySpreadConstraints | nindent 2 }}
{{- else if gt (int .Values.replicas) 1 }}
topologySpreadConstraints:
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - topologyKey: {{ $key }}
    maxSkew: 1
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "heddle.selectorLabels" $ | nindent 8 }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "heddle.container" -}}
image: {{ include "heddle.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args:
  - serve
  {{- if include "heddle.serverConfig" . }}
  - --config
  - /etc/heddle/server/heddle.yaml
  {{- end }}
ports:
  - name: http
    containerPort: {{ .Values.server.port }}
    protocol: TCP
  {{- with .Values.server.metricsPort }}
  - name: metrics
    containerPort: {{ . }}
    protocol: TCP
  {{- end }}
env:
  {{- include "heddle.env" . | nindent 2 }}
{{- with .Values.extraEnvFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
# The server listens when the database answers and is migrated, which a first start waits for.
startupProbe:
  httpGet: { path: /healthz, port: http }
  {{- include "heddle.startup" . | nindent 2 }}
livenessProbe:
  httpGet: { path: /healthz, port: http }
  {{- toYaml .Values.probes.liveness | nindent 2 }}
readinessProbe:
  httpGet: { path: /readyz, port: http }
  {{- toYaml .Values.probes.readiness | nindent 2 }}
{{- with include "heddle.preStopSeconds" . }}
lifecycle:
  preStop:
    exec:
      command: [sleep, {{ . | quote }}]
{{- end }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  {{- include "heddle.mounts" . | nindent 2 }}
{{- end -}}

{{/* A start may wait for the database, and migrate it for four minutes. */}}
{{- define "heddle.startup" -}}
{{- $probe := .Values.probes.startup -}}
{{- $period := int $probe.periodSeconds -}}
{{- $seconds := add 240 (int .Values.server.waitForDatabaseSeconds) -}}
{{- $failures := div (add $seconds $period -1) $period -}}
{{- toYaml (merge (dict) $probe (dict "failureThreshold" $failures)) -}}
{{- end -}}

{{/* How long a pod that ends goes on as before; nothing where no other server would take its requests. */}}
{{- define "heddle.preStopSeconds" -}}
{{- if not .Values.embedded.enabled -}}
{{- with .Values.preStopSeconds }}{{ int . }}{{ end -}}
{{- end -}}
{{- end -}}

{{/* How long a server takes to end at the most. */}}
{{- define "heddle.endSeconds" -}}
{{- add (include "heddle.preStopSeconds" . | int) (int .Values.server.shutdownGraceSeconds) -}}
{{- end -}}

{{- define "heddle.terminationGrace" -}}
{{- with .Values.terminationGracePeriodSeconds }}{{ int . }}{{ else }}{{ add (include "heddle.endSeconds" .) 20 }}{{ end -}}
{{- end -}}
