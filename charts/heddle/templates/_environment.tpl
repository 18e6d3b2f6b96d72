{{- define "heddle.env" -}}
- name: HEDDLE_LISTEN
  value: {{ printf "%s:%d" .Values.server.address (int .Values.server.port) | quote }}
- name: HEDDLE_DATA_DIR
  value: /var/lib/heddle
- name: HEDDLE_BOOTSTRAP_TOKEN_FILE
  value: /etc/heddle/secrets/bootstrap-token
- name: HEDDLE_SECRET_KEY_FILE
  value: /etc/heddle/secrets/secret-key
{{- with .Values.operatorToken.existingSecret }}
- name: HEDDLE_OPERATOR_TOKEN
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.operatorToken.key }}
{{- end }}
{{- if not .Values.embedded.enabled }}
- name: HEDDLE_DATABASE_URL
  valueFrom:
    secretKeyRef:
      {{- if .Values.database.existingSecret }}
      name: {{ .Values.database.existingSecret }}
      key: {{ .Values.database.key }}
      {{- else }}
      name: {{ include "heddle.fullname" . }}
      key: database-url
      {{- end }}
{{- end }}
{{- with include "heddle.sources" . }}
- name: HEDDLE_SOURCE
  value: {{ . | quote }}
{{- end }}
{{- if .Values.valuesSecret }}
- name: HEDDLE_VALUES_DIR
  value: /etc/heddle/values
{{- end }}
{{- include "heddle.serverEnv" .Values.server }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "heddle.serverEnv" }}
- name: HEDDLE_LOG
  value: {{ .log }}
- name: HEDDLE_POOL_SIZE
  value: {{ .poolSize | quote }}
- name: HEDDLE_PREPARED_STATEMENTS
  value: {{ .preparedStatements | quote }}
- name: HEDDLE_EDITION
  value: {{ .edition }}
- name: HEDDLE_SHUTDOWN_GRACE
  value: {{ printf "%ds" (int .shutdownGraceSeconds) }}
- name: HEDDLE_ALLOW_LITERAL_SECRETS
  value: {{ .allowLiteralSecrets | quote }}
{{- with .openEndpoints }}
- name: HEDDLE_OPEN_ENDPOINTS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .rateLimit }}
- name: HEDDLE_RATE_LIMIT
  value: {{ . | quote }}
{{- end }}
{{- end -}}
