{{/* What the chart's own Secret and ConfigMap give to a server at its start. Made values are not in it: they stay. */}}
{{- define "heddle.settings" -}}
{{- toJson (list (include "heddle.serverConfig" .) .Values.database.url .Values.bootstrapToken.value .Values.secretKey.value) -}}
{{- end -}}

{{- define "heddle.pod" -}}
serviceAccountName: {{ include "heddle.serviceAccount" . }}
automountServiceAccountToken: {{ .Values.kubernetes.enabled }}
# A Service called heddle would otherwise make variables that begin with HEDDLE_.
enableServiceLinks: false
terminationGracePeriodSeconds: {{ add .Values.server.shutdownGraceSeconds 20 }}
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
containers:
  - name: heddle
    {{- include "heddle.container" . | nindent 4 }}
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
  periodSeconds: 2
  failureThreshold: {{ add 120 (div (int .Values.server.waitForDatabaseSeconds) 2) }}
livenessProbe:
  httpGet: { path: /healthz, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: http }
  periodSeconds: 5
  timeoutSeconds: 3
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  {{- include "heddle.mounts" . | nindent 2 }}
{{- end -}}
