{{- define "tidegate.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end -}}
{{- end }}

{{- define "tidegate.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "tidegate.labels" -}}
{{ include "tidegate.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "tidegate.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ default (include "tidegate.name" .) .Values.serviceAccount.name }}{{ else }}{{ default "default" .Values.serviceAccount.name }}{{ end -}}
{{- end }}

{{- define "tidegate.secret" -}}
{{- if .Values.existingSecret }}{{ .Values.existingSecret }}{{ else if .Values.secretEnvironment }}{{ include "tidegate.name" . }}{{ end -}}
{{- end }}

{{/* "true" if the durable records are in a database, which several pods can share. */}}
{{- define "tidegate.shared" -}}
{{- if dig "store" "url" "" .Values.config }}
{{- if .Values.persistence.existingClaim }}{{ fail "each pod needs a volume of its own: leave persistence.existingClaim empty, or remove config.store.url" }}{{ end -}}
true
{{- else if or (gt (int .Values.replicas) 1) .Values.autoscaling.enabled }}{{ fail "several pods need a PostgreSQL database: set config.store.url, or replicas to 1 without autoscaling" }}{{ end -}}
{{- end }}

{{/* The configuration file: what the values say, and what the chart knows. */}}
{{- define "tidegate.config" -}}
{{- $addr := ternary (printf "127.0.0.1:%v" .Values.service.port) (printf "0.0.0.0:%v" .Values.service.port) (eq .Values.mode "sidecar") -}}
{{- $server := dict "addr" $addr -}}
{{- if .Values.auth.insecure }}{{ $_ := set $server "insecure" true }}{{ end -}}
{{- if .Values.tls.secretName }}
{{- if ne .Values.mode "service" }}{{ fail "a sidecar listens on loopback alone, without TLS: leave tls.secretName empty" }}{{ end }}
{{- $_ := set $server "tlsCertificate" "/tls/tls.crt" }}{{ $_ := set $server "tlsKey" "/tls/tls.key" }}
{{- end -}}
{{- if .Values.tls.clientSecretName }}
{{- if not .Values.tls.secretName }}{{ fail "callers show certificates over TLS alone: set tls.secretName, too" }}{{ end }}
{{- $_ := set $server "tlsClientCa" "/tls-clients/ca.crt" }}
{{- if .Values.tls.clientCrl }}{{ $_ := set $server "tlsClientCrl" "/tls-clients/ca.crl" }}{{ end }}
{{- if .Values.tls.requireClient }}
{{- if not .Values.service.healthPort }}{{ fail "probes have no certificate: set service.healthPort, too" }}{{ end }}
{{- $_ := set $server "tlsRequireClient" true }}
{{- end }}
{{- else if or .Values.tls.requireClient .Values.tls.clientCrl -}}
{{ fail "without the authorities of callers' certificates nobody is asked for one: set tls.clientSecretName, too" }}
{{- end -}}
{{- if .Values.service.healthPort }}
{{- $health := dict "addr" (printf "0.0.0.0:%v" .Values.service.healthPort) "serves" "health" "tls" false -}}
{{- $_ := set $server "addresses" (append (dig "server" "addresses" (list) .Values.config) $health) }}
{{- end -}}
{{- $ours := dict "server" $server "dataDir" "/data" -}}
{{- if .Values.auth.tokens }}{{ $_ := set $ours "auth" (dict "tokens" .Values.auth.tokens) }}{{ end -}}
{{- if .Values.policies }}{{ $_ := set $ours "policies" (dict "directories" (list "/policies") "watch" true) }}{{ end -}}
{{- $all := mergeOverwrite (deepCopy .Values.config) $ours -}}
{{- if and (eq .Values.mode "service") (not (dig "auth" "tokens" (list) $all)) (not (dig "auth" "certificates" (list) $all)) (not (dig "server" "insecure" false $all)) -}}
{{- fail "every pod that reaches the service could do everything: list who may call in auth.tokens (tidegate hash-token helps), or set auth.insecure" -}}
{{- end -}}
{{- if not (dig "policies" "directories" (list) $all) -}}{{- if not (dig "policies" "bundles" (list) $all) -}}
{{- $_ := set $all "policies" (merge (dict "directories" (list "/opt/tidegate/policies")) (default (dict) $all.policies)) -}}
{{- end -}}{{- end -}}
{{ toYaml $all }}
{{- end }}

{{/* Where probes and Prometheus ask. */}}
{{- define "tidegate.health" -}}
{{ ternary "health" "http" (gt (int .Values.service.healthPort) 0) }}
{{- end }}

{{- define "tidegate.scheme" -}}
{{ ternary "HTTPS" "HTTP" (and (ne .Values.tls.secretName "") (not .Values.service.healthPort)) }}
{{- end }}

{{- define "tidegate.container" -}}
name: tidegate
image: "{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}"
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [serve, --config, /config/tidegate.yaml]
ports:
  - { name: http, containerPort: {{ .Values.service.port }} }
  {{- with .Values.service.healthPort }}
  - { name: health, containerPort: {{ . }} }
  {{- end }}
{{- with include "tidegate.secret" . }}
envFrom:
  - secretRef: { name: {{ . }} }
{{- end }}
{{- if eq .Values.mode "service" }}
startupProbe:
  httpGet: { path: /livez, port: {{ include "tidegate.health" . }}, scheme: {{ include "tidegate.scheme" . }} }
  periodSeconds: 2
  failureThreshold: 60
{{- /* Decisions go on without the store: /readyz would take them away, too. */}}
readinessProbe:
  httpGet: { path: /health, port: {{ include "tidegate.health" . }}, scheme: {{ include "tidegate.scheme" . }} }
  periodSeconds: 5
  timeoutSeconds: 2
livenessProbe:
  httpGet: { path: /livez, port: {{ include "tidegate.health" . }}, scheme: {{ include "tidegate.scheme" . }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- else }}
{{- /* It listens on the pod's loopback alone, which the kubelet does not reach. */}}
livenessProbe: &loopback
  exec: { command: [/nodejs/bin/node, /opt/tidegate/build/container/health-check.js] }
  periodSeconds: 15
  timeoutSeconds: 5
  failureThreshold: 4
readinessProbe: *loopback
{{- end }}
resources: {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities: { drop: [ALL] }
  seccompProfile: { type: RuntimeDefault }
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: tmp, mountPath: /tmp }
  - { name: config, mountPath: /config, readOnly: true }
  {{- if .Values.tls.secretName }}
  - { name: tls, mountPath: /tls, readOnly: true }
  {{- end }}
  {{- if .Values.tls.clientSecretName }}
  - { name: tls-clients, mountPath: /tls-clients, readOnly: true }
  {{- end }}
  {{- if .Values.policies }}
  - { name: policies, mountPath: /policies, readOnly: true }
  {{- end }}
{{- end }}

{{- define "tidegate.volumes" -}}
- name: tmp
  emptyDir: {}
- name: config
  configMap: { name: {{ include "tidegate.name" . }} }
{{- with .Values.tls.secretName }}
- name: tls
  secret: { secretName: {{ . }} }
{{- end }}
{{- with .Values.tls.clientSecretName }}
- name: tls-clients
  secret: { secretName: {{ . }} }
{{- end }}
{{- if .Values.policies }}
- name: policies
  configMap: { name: {{ include "tidegate.name" . }}-policies }
{{- end }}
- name: data
  {{- if and .Values.persistence.enabled (include "tidegate.shared" .) }}
  ephemeral:
    volumeClaimTemplate:
      spec:
        accessModes: [ReadWriteOnce]
        {{- with .Values.persistence.storageClass }}
        storageClassName: {{ . }}
        {{- end }}
        resources: { requests: { storage: {{ .Values.persistence.size }} } }
  {{- else if .Values.persistence.enabled }}
  persistentVolumeClaim: { claimName: {{ default (include "tidegate.name" .) .Values.persistence.existingClaim }} }
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
