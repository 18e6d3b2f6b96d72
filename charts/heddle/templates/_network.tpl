{{/* Who may connect to the pods. */}}
{{- define "heddle.ingressRules" -}}
{{- with .Values.networkPolicy -}}
- ports: [{ port: http, protocol: TCP }]
  {{- with .ingressFrom }}
  from:
    {{- toYaml . | nindent 4 }}
    {{- if $.Values.tests.enabled }}
    # The pod of `helm test`.
    - podSelector:
        matchLabels:
          {{- include "heddle.testLabels" $ | nindent 10 }}
    {{- end }}
  {{- end }}
{{- if $.Values.server.metricsPort }}
- ports: [{ port: metrics, protocol: TCP }]
  {{- with default .ingressFrom .metricsFrom }}
  from:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Where the pods may connect to: what the values name, and public addresses. */}}
{{- define "heddle.egressRules" -}}
{{- with .Values.networkPolicy -}}
{{- include "heddle.peer" (list .dns "UDP" "TCP") }}
{{- if not $.Values.embedded.enabled }}
{{- include "heddle.peer" (list .postgres "TCP") }}
{{- end }}
{{- if $.Values.kubernetes.enabled }}
{{- include "heddle.peer" (list .apiServer "TCP") }}
{{- end }}
{{- if $.Values.smtp.existingSecret }}
{{- include "heddle.peer" (list .smtp "TCP") }}
{{- end }}
{{- if $.Values.oidc.issuer }}
{{- include "heddle.peer" (list .identityProvider "TCP") }}
{{- end }}
{{- if .publicAddresses }}
- to:
    # Public is what the server itself holds for it where its users name hosts.
    - ipBlock:
        cidr: 0.0.0.0/0
        except:
          {{- range list "0.0.0.0/8" "10.0.0.0/8" "100.64.0.0/10" "127.0.0.0/8" "169.254.0.0/16" "172.16.0.0/12" "192.168.0.0/16" "224.0.0.0/4" "240.0.0.0/4" }}
          - {{ . }}
          {{- end }}
    - ipBlock: { cidr: "2000::/3" }
{{- end }}
{{- with include "heddle.allowedRanges" $ }}
- to:
    {{- . | trim | nindent 4 }}
{{- end }}
{{- with .egress }}
{{ toYaml . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* One rule of egress: peers with ports, and the protocols. */}}
{{- define "heddle.peer" -}}
{{- $peer := first . -}}
{{- $protocols := rest . }}
- ports:
    {{- range $port := $peer.ports }}
    {{- range $protocols }}
    - { port: {{ $port }}, protocol: {{ . }} }
    {{- end }}
    {{- end }}
  {{- with $peer.to }}
  to:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* The addresses and ranges of server.outboundAllow; a NetworkPolicy knows no names of hosts. */}}
{{- define "heddle.allowedRanges" -}}
{{- range .Values.server.outboundAllow -}}
{{- if regexMatch "^[0-9.]+(/[0-9]+)?$" . }}
- ipBlock: { cidr: {{ ternary . (printf "%s/32" .) (contains "/" .) | quote }} }
{{- else if regexMatch "^[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*(/[0-9]+)?$" . }}
- ipBlock: { cidr: {{ ternary . (printf "%s/128" .) (contains "/" .) | quote }} }
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Labels by which the pod of `helm test` is found. */}}
{{- define "heddle.testLabels" -}}
{{ include "heddle.ownLabels" . }}
app.kubernetes.io/component: test
{{- end -}}
