{{/* What no schema can say of how the servers run, are reached and are watched. */}}
{{- define "heddle.checkPod" -}}
{{- range .Values.extraVolumeMounts -}}
{{- if or .subPath .subPathExpr -}}
{{- fail (printf "extraVolumeMounts: the mount at %s has a subPath, and files mounted by subPath are never updated; mount the whole volume." .mountPath) -}}
{{- end -}}
{{- end -}}
{{- range $field := list "initContainers" "extraContainers" -}}
{{- range index $.Values $field -}}
{{- if eq .name "heddle" -}}
{{- fail (printf "%s: the container name heddle is reserved for the server; give the container another name." $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.embedded.enabled .Values.strategy.type (ne (toString .Values.strategy.type) "Recreate") -}}
{{- fail "strategy: the embedded database needs type: Recreate, because the old pod must release the database before the new one opens it; omit strategy." -}}
{{- end -}}
{{- with .Values.terminationGracePeriodSeconds -}}
{{- $needed := include "heddle.endSeconds" $ | int -}}
{{- if lt (int .) $needed -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, but a server needs up to %d seconds to shut down (preStopSeconds and server.shutdownGraceSeconds); omit it, or increase it." (int .) $needed) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkService" -}}
{{- with .Values.service -}}
{{- range $field := list "nodePort" "externalTrafficPolicy" -}}
{{- if and (index $.Values.service $field) (eq $.Values.service.type "ClusterIP") -}}
{{- fail (printf "service.%s: a Service of type ClusterIP accepts no traffic from outside the cluster; set service.type to NodePort or LoadBalancer, or omit it." $field) -}}
{{- end -}}
{{- end -}}
{{- range $field := list "loadBalancerClass" "loadBalancerSourceRanges" -}}
{{- if and (index $.Values.service $field) (ne $.Values.service.type "LoadBalancer") -}}
{{- fail (printf "service.%s only applies to a Service of type LoadBalancer; set service.type, or omit it." $field) -}}
{{- end -}}
{{- end -}}
{{- if and (gt (len .ipFamilies) 1) (eq .ipFamilyPolicy "SingleStack") -}}
{{- fail "service.ipFamilies names two families, but service.ipFamilyPolicy SingleStack allows one; use PreferDualStack or RequireDualStack." -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkMetrics" -}}
{{- if and .Values.serviceMonitor.enabled (not .Values.serviceMonitor.tokenSecret) (not (has "/metrics" .Values.server.openEndpoints)) (not .Values.server.metricsPort) -}}
{{- fail "serviceMonitor.enabled: /metrics requires a token; set server.metricsPort, or name a Secret in serviceMonitor.tokenSecret, or add /metrics to server.openEndpoints." -}}
{{- end -}}
{{- $variables := list -}}
{{- range .Values.extraEnv -}}{{- $variables = append $variables .name -}}{{- end -}}
{{- $hasToken := or .Values.operatorToken.existingSecret (has "HEDDLE_OPERATOR_TOKEN" $variables) (has "HEDDLE_OPERATOR_TOKEN_FILE" $variables) .Values.extraEnvFrom -}}
{{- if and .Values.serviceMonitor.enabled .Values.serviceMonitor.tokenSecret (not .Values.server.metricsPort) (not $hasToken) -}}
{{- fail "serviceMonitor.tokenSecret: without operatorToken.existingSecret each server generates its own token and accepts no other; name the same Secret there." -}}
{{- end -}}
{{- if eq (int .Values.server.metricsPort) (int .Values.server.port) -}}
{{- fail "server.metricsPort and server.port are equal; choose a separate port for the metrics." -}}
{{- end -}}
{{- $names := list -}}
{{- range include "heddle.knownAlerts" . | fromYamlArray -}}{{- $names = append $names .alert -}}{{- end -}}
{{- range .Values.prometheusRule.without -}}
{{- if not (has . $names) -}}
{{- fail (printf "prometheusRule.without: the alert %s does not exist; the alerts are %s." . (join ", " $names)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkPeople" -}}
{{- with .Values -}}
{{- if and .smtp.existingSecret (not (or .smtp.from .serverConfig.mailFrom)) -}}
{{- fail "smtp.existingSecret: mail needs a sender address; set smtp.from, such as Heddle <heddle@example.com>." -}}
{{- end -}}
{{- if and (or .oidc.audience .oidc.claims) (not (or .oidc.issuer .serverConfig.oidcIssuer)) -}}
{{- fail "oidc.audience and oidc.claims are settings of an identity provider; set its URL in oidc.issuer." -}}
{{- end -}}
{{- if and .oidc.issuer (not (or .oidc.audience .serverConfig.oidcAudience)) -}}
{{- fail "oidc.issuer: set oidc.audience to the audience that tokens must contain, so that tokens issued for other applications are rejected." -}}
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
{{- fail (printf "networkPolicy.%s.ports does not allow the port %s of the URL in %s; add it." (index $ 0) $port (index $ 2)) -}}
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
{{- fail (printf "%s.enabled: the cluster has no %s; install its CRD, or omit %s. Without a cluster, pass --api-versions %s to helm template." $value $kind $value $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "heddle.checkObjects" -}}
{{- range $at, $object := .Values.extraObjects -}}
{{- if not (and .apiVersion .kind (dig "metadata" "name" "" .)) -}}
{{- fail (printf "extraObjects: object %d has no apiVersion, kind or metadata.name; write the complete object." (add $at 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
