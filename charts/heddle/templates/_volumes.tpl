{{/* Files of Secrets may be read by their group, the fsGroup: 288 is 0440, which parsers of YAML read differently. */}}
{{/* Directories throughout, never a subPath: what is mounted by subPath does not follow its ConfigMap. */}}
{{- define "heddle.mounts" -}}
- name: data
  mountPath: /var/lib/heddle
- name: tmp
  mountPath: /tmp
- name: secrets
  mountPath: /etc/heddle/secrets
  readOnly: true
{{- if .Values.config }}
- name: config
  mountPath: /etc/heddle/config
  readOnly: true
{{- end }}
{{- if include "heddle.serverConfig" . }}
- name: server
  mountPath: /etc/heddle/server
  readOnly: true
{{- end }}
{{- if .Values.valuesSecret }}
- name: values
  mountPath: /etc/heddle/values
  readOnly: true
{{- end }}
{{- range $at, $source := .Values.sources }}
{{- if not .path }}
- name: source-{{ $at }}
  mountPath: /etc/heddle/sources/{{ .name }}
  readOnly: true
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "heddle.volumes" -}}
- name: data
  {{- if and .Values.embedded.enabled .Values.embedded.persistence.enabled }}
  persistentVolumeClaim:
    claimName: {{ default (printf "%s-data" (include "heddle.fullname" .)) .Values.embedded.persistence.existingClaim }}
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: tmp
  emptyDir: {}
- name: secrets
  {{- include "heddle.secretFiles" . | nindent 2 }}
{{- if .Values.config }}
- name: config
  configMap:
    name: {{ include "heddle.fullname" . }}-config
{{- end }}
{{- if include "heddle.serverConfig" . }}
- name: server
  configMap:
    name: {{ include "heddle.fullname" . }}-server
{{- end }}
{{- with .Values.valuesSecret }}
- name: values
  secret:
    secretName: {{ . }}
    defaultMode: 288
{{- end }}
{{- range $at, $source := .Values.sources }}
{{- if .configMap }}
- name: source-{{ $at }}
  configMap:
    name: {{ .configMap }}
{{- else if .secret }}
- name: source-{{ $at }}
  secret:
    secretName: {{ .secret }}
    defaultMode: 288
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* Token and key out of one Secret or two, under fixed names. */}}
{{- define "heddle.secretFiles" -}}
projected:
  defaultMode: 288
  sources:
    - secret:
        name: {{ default (include "heddle.fullname" .) .Values.bootstrapToken.existingSecret }}
        items:
          - key: {{ ternary .Values.bootstrapToken.key "bootstrap-token" (not (empty .Values.bootstrapToken.existingSecret)) }}
            path: bootstrap-token
    - secret:
        name: {{ default (include "heddle.fullname" .) .Values.secretKey.existingSecret }}
        items:
          - key: {{ ternary .Values.secretKey.key "secret-key" (not (empty .Values.secretKey.existingSecret)) }}
            path: secret-key
{{- end -}}
