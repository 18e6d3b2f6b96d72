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
{{- include "heddle.oidcEnv" .Values.oidc }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "heddle.serverEnv" }}
- name: HEDDLE_LOG
  value: {{ .log }}
- name: HEDDLE_LOG_LEVEL
  value: {{ .logLevel }}
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
{{- include "heddle.variables" (dict
  "AUDIT_DAYS" .auditDays
  "CLAIM_LAPSE" (include "heddle.seconds" .claimLapseSeconds)
  "CORS_ORIGINS" .corsOrigins
  "DIRECTORY_HOSTS" .directoryHosts
  "DNS_SERVERS" .dnsServers
  "GEO_DATABASE" .geoDatabase
  "GIT_PROCESSES" .gitProcesses
  "GIT_SOURCES" .gitSources
  "GIT_TRANSPORTS" .gitTransports
  "HISTORY_DAYS" .historyDays
  "HISTORY_REVISIONS" .historyRevisions
  "IDP" .idp
  "IDP_KEY_ROTATION" .idpKeyRotationDays
  "IDP_REDIRECT_URIS" .idpRedirectUris
  "LEASE" (include "heddle.seconds" .leaseSeconds)
  "LOCAL_AUTH_DISABLED" .localAuthDisabled
  "OPEN_ENDPOINTS" .openEndpoints
  "OPERATOR_ACCOUNT" .operatorAccount
  "OUTBOUND_ALLOW" .outboundAllow
  "OUTBOUND_CA" .outboundCa
  "PENDING_TENANTS" .pendingTenants
  "PLAN_RATE_LIMIT" .planRateLimit
  "PROFILE" .profile
  "PROFILE_HEADER" .profileHeader
  "PROXY_LOG_DAYS" .proxyLogDays
  "PUBLIC_URL" .publicUrl
  "RATE_LIMIT" .rateLimit
  "SINGLE_ACCOUNT" .singleAccount
  "TRAFFIC_LOG_DAYS" .trafficLogDays
  "TRUST_PROXY" .trustProxy
  "USER_DELETE_FROM_IDP" .userDeleteFromIdp
  "VALUE_GRANTS" .valueGrants) }}
{{- end -}}

{{- define "heddle.oidcEnv" }}
{{- $claims := list -}}
{{- range $fact, $claim := .claims -}}{{- $claims = append $claims (printf "%s=%s" $fact $claim) -}}{{- end -}}
{{- include "heddle.variables" (dict
  "OIDC_AUDIENCE" .audience
  "OIDC_CLAIMS" $claims
  "OIDC_ISSUER" .issuer
  "OIDC_TRUST_EMAIL" .trustEmail) }}
{{- end -}}

{{/* Variables of the server by the end of their names. What is null, empty or an empty list is left to its settings file. */}}
{{- define "heddle.variables" }}
{{- range $name, $value := . }}
{{- $text := "" -}}
{{- if kindIs "slice" $value -}}{{- $text = join "," $value -}}
{{- else if kindIs "float64" $value -}}{{- $text = printf "%d" (int64 $value) -}}
{{- else if not (kindIs "invalid" $value) -}}{{- $text = toString $value -}}
{{- end -}}
{{- with $text }}
- name: HEDDLE_{{ $name }}
  value: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* A number of seconds as the server reads times; nothing for null. */}}
{{- define "heddle.seconds" -}}
{{- if not (kindIs "invalid" .) -}}{{ printf "%ds" (int64 .) }}{{- end -}}
{{- end -}}
