{{/* What no schema can say of how the servers run, are reached and are watched. */}}
{{- define "heddle.checkPod" -}}
{{- range .Values.extraVolumeMounts -}}
{{- if or .subPath .subPathExpr -}}
{{- fail (printf "extraVolumeMounts: the mount at %s has a subPath, and such mounts never change; mount the whole volume." .mountPath) -}}
{{- end -}}
{{- end -}}
{{- range $field := list "initContainers" "extraContainers" -}}
{{- range index $.Values $field -}}
{{- if eq .name "heddle" -}}
{{- fail (printf "%s: a container is called heddle, like the one of the server; give it another name." $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.embedded.enabled .Values.strategy.type (ne (toString .Values.strategy.type) "Recreate") -}}
{{- fail "strategy: the embedded database wants type: Recreate, because the old process must have left it before the new one opens it; leave strategy out." -}}
{{- end -}}
{{- with .Values.terminationGracePeriodSeconds -}}
{{- $needed := include "heddle.endSeconds" $ | int -}}
{{- if lt (int .) $needed -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, and a server takes up to %d to end (preStopSeconds and server.shutdownGraceSeconds); leave it out, or allow more." (int .) $needed) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkService" -}}
{{- with .Values.service -}}
{{- range $field := list "nodePort" "externalTrafficPolicy" -}}
{{- if and (index $.Values.service $field) (eq $.Values.service.type "ClusterIP") -}}
{{- fail (printf "service.%s: a Service of type ClusterIP takes nothing from outside; set service.type to NodePort or LoadBalancer, or leave it out." $field) -}}
{{- end -}}
{{- end -}}
{{- range $field := list "loadBalancerClass" "loadBalancerSourceRanges" -}}
{{- if and (index $.Values.service $field) (ne $.Values.service.type "LoadBalancer") -}}
{{- fail (printf "service.%s is for a Service of type LoadBalancer; set service.type, or leave it out." $field) -}}
{{- end -}}
{{- end -}}
{{- if and (gt (len .ipFamilies) 1) (eq .ipFamilyPolicy "SingleStack") -}}
{{- fail "service.ipFamilies names two families, and service.ipFamilyPolicy SingleStack takes one; write PreferDualStack or RequireDualStack." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkMetrics" -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.tokenSecret) (not (has "/metrics" .Values.server.openEndpoints)) (not .Values.server.metricsPort) -}}
{{- fail "serviceMonitor.enabled: /metrics wants a token; set server.metricsPort, or name a Secret in serviceMonitor.tokenSecret, or add /metrics to server.openEndpoints." -}}
{{- end -}}
{{- $variables := list -}}
{{- range .Values.extraEnv -}}{{- $variables = append $variables .name -}}{{- end -}}
{{- $hasToken := or .Values.operatorToken.existingSecret (has "HEDDLE_OPERATOR_TOKEN" $variables) (has "HEDDLE_OPERATOR_TOKEN_FILE" $variables) .Values.extraEnvFrom -}}
{{- if and .Values.serviceMonitor.enabled .Values.serviceMonitor.tokenSecret (not .Values.server.metricsPort) (not $hasToken) -}}
{{- fail "serviceMonitor.tokenSecret: without operatorToken.existingSecret each server makes a token of its own, and takes no other; name the same Secret there." -}}
{{- end -}}
{{- if eq (int .Values.server.metricsPort) (int .Values.server.port) -}}
{{- fail "server.metricsPort and server.port are the same; the metrics have a port of their own." -}}
{{- end -}}
{{- $names := list -}}
{{- range include "heddle.knownAlerts" . | fromYamlArray -}}{{- $names = append $names .alert -}}{{- end -}}
{{- range .Values.prometheusRule.without -}}
{{- if not (has . $names) -}}
{{- fail (printf "prometheusRule.without: there is no alert %s; the alerts are %s." . (join ", " $names)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkPeople" -}}
{{- with .Values -}}
{{- if and .smtp.existingSecret (not (or .smtp.from .serverConfig.mailFrom)) -}}
{{- fail "smtp.existingSecret: mails need a sender; set smtp.from, such as Heddle <heddle@example.com>." -}}
{{- end -}}
{{- if and (or .oidc.audience .oidc.claims) (not (or .oidc.issuer .serverConfig.oidcIssuer)) -}}
{{- fail "oidc.audience and oidc.claims say how an identity provider is read; name it in oidc.issuer." -}}
{{- end -}}
{{- if and .oidc.issuer (not (or .oidc.audience .serverConfig.oidcAudience)) -}}
{{- fail "oidc.issuer: say in oidc.audience what its tokens have to name, so that those it made for other programs do not count." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Ports of URLs that the NetworkPolicy would cut off, from servers that run as well as from new ones. */}}
{{- define "heddle.checkPorts" -}}
{{- with .Values.networkPolicy -}}
{{- if .enabled -}}
{{- $database := default (include "heddle.secretText" (list $ $.Values.database)) $.Values.database.url -}}
{{- include "heddle.checkPort" (list "postgres" .postgres.ports "database" $database) -}}
{{- include "heddle.checkPort" (list "smtp" .smtp.ports "smtp" (include "heddle.secretText" (list $ $.Values.smtp))) -}}
{{- include "heddle.checkPort" (list "identityProvider" .identityProvider.ports "oidc" $.Values.oidc.issuer) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A text of a Secret that exists already; nothing where no cluster is asked. */}}
{{- define "heddle.secretText" -}}
{{- $root := index . 0 -}}
{{- with index . 1 -}}
{{- if .existingSecret -}}
{{- index (dig "data" (dict) (lookup "v1" "Secret" $root.Release.Namespace .existingSecret)) .key | default "" | b64dec -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A URL may name several hosts, each with its port. */}}
{{- define "heddle.checkPort" -}}
{{- $ports := list -}}
{{- range index . 1 -}}{{- $ports = append $ports (int . | toString) -}}{{- end -}}
{{- $authority := regexReplaceAll "[/?#].*$" (regexReplaceAll "^[a-z]+://(.*@)?" (trim (index . 3)) "") "" -}}
{{- range $host := splitList "," $authority -}}
{{- $port := regexFind ":[0-9]+$" $host | trimPrefix ":" -}}
{{- if and $port (not (has $port $ports)) -}}
{{- fail (printf "networkPolicy.%s.ports does not permit the port %s that the URL of %s names; add it." (index $ 0) $port (index $ 2)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Kinds of others: without them the API server refuses the release, and says less. */}}
{{- define "heddle.checkKinds" -}}
{{- range $value, $kind := dict
  "httpRoute" "gateway.networking.k8s.io/v1/HTTPRoute"
  "prometheusRule" "monitoring.coreos.com/v1/PrometheusRule"
  "serviceMonitor" "monitoring.coreos.com/v1/ServiceMonitor" -}}
{{- if and (index $.Values $value).enabled (not ($.Capabilities.APIVersions.Has $kind)) -}}
{{- fail (printf "%s.enabled: the cluster has no %s; install its CRD, or leave %s out. Without a cluster, helm template takes --api-versions %s." $value $kind $value $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkObjects" -}}
{{- range $at, $object := .Values.extraObjects -}}
{{- if not (and .apiVersion .kind (dig "metadata" "name" "" .)) -}}
{{- fail (printf "extraObjects: object %d lacks apiVersion, kind or metadata.name; write the whole object." (add $at 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
