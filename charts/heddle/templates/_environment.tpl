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
{{- with .Values.smtp.existingSecret }}
- name: HEDDLE_SMTP_URL
  valueFrom:
    secretKeyRef:
      name: {{ . }}
      key: {{ $.Values.smtp.key }}
{{- end }}
{{- with .Values.smtp.from }}
- name: HEDDLE_MAIL_FROM
  value: {{ . | quote }}
{{- end }}
{{- if not .Values.embedded.enabled }}
- name: HEDDLE_WAIT_FOR_DATABASE
  value: {{ printf "%ds" (int .Values.server.waitForDatabaseSeconds) }}
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
- name: HEDDLE_SHARE_VALUES
  value: {{ .shareValues | quote }}
- name: HEDDLE_OUTBOUND_GUARD
  value: {{ .outboundGuard }}
{{- if .metricsPort }}
- name: HEDDLE_METRICS_LISTEN
  value: {{ printf "%s:%d" .address (int .metricsPort) | quote }}
{{- end }}
{{- range $name, $value := dict "PUBLIC_URL" .publicUrl "TRUST_PROXY" .trustProxy "OPERATOR_ACCOUNT" .operatorAccount }}
{{- with $value }}
- name: HEDDLE_{{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- range $name, $list := dict "OUTBOUND_ALLOW" .outboundAllow "VALUE_GRANTS" .valueGrants }}
{{- with $list }}
- name: HEDDLE_{{ $name }}
  value: {{ join "," . | quote }}
{{- end }}
{{- end }}
{{- with .openEndpoints }}
- name: HEDDLE_OPEN_ENDPOINTS
  value: {{ join "," . | quote }}
{{- end }}
{{- with .rateLimit }}
- name: HEDDLE_RATE_LIMIT
  value: {{ . | quote }}
{{- end }}
{{- end -}}
