{{- define "aex.labels" -}}
app.kubernetes.io/name: agent-exchange
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "aex.selector" -}}
app.kubernetes.io/name: agent-exchange
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{/* The pod of one role: the same image, settings and limits on what it may do. */}}
{{- define "aex.pod" -}}
metadata:
  labels:
    {{- include "aex.selector" . | nindent 4 }}
  annotations:
    prometheus.io/scrape: "true"
    prometheus.io/scheme: https
    prometheus.io/port: "8081"
spec:
  automountServiceAccountToken: false
  terminationGracePeriodSeconds: {{ add 60 (ternary .root.Values.api.preStopSeconds 0 (eq .role "api")) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "aex.selector" . | nindent 10 }}
  containers:
    - name: exchange
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      envFrom:
        - secretRef: { name: {{ .root.Values.secretName }} }
      env:
        - { name: AEX_ROLE, value: {{ .role }} }
        {{- if eq .role "api" }}
        # Its volume is temporary: the token of the first operator must be on the volume of a worker.
        - { name: AEX_FIRST_OPERATOR, value: "false" }
        {{- end }}
        - { name: AEX_PUBLIC_URL, value: {{ .root.Values.publicUrl | quote }} }
        - { name: AEX_OPERATOR_HOST, value: 0.0.0.0 }
        - { name: AEX_TLS_CERT, value: /run/tls/tls.crt }
        - { name: AEX_TLS_KEY, value: /run/tls/tls.key }
        {{- if .root.Values.profileConfigMap }}
        - { name: AEX_PROFILE, value: /run/profile/profile.json }
        {{- end }}
        {{- range $name, $value := .root.Values.settings }}
        - { name: {{ $name }}, value: {{ $value | quote }} }
        {{- end }}
      ports:
        - { name: agents, containerPort: 8080 }
        - { name: operators, containerPort: 8081 }
      {{- if and (eq .role "api") .root.Values.api.preStopSeconds }}
      # Until no proxy sends new connections to the pod. The action `sleep` needs Kubernetes 1.30.
      lifecycle:
        preStop:
          exec: { command: [node, -e, "setTimeout(() => {}, {{ mul .root.Values.api.preStopSeconds 1000 }})"] }
      {{- end }}
      startupProbe:
        httpGet: { path: /healthz, port: operators, scheme: HTTPS }
        periodSeconds: 2
        failureThreshold: 60
      readinessProbe:
        httpGet: { path: /readyz, port: operators, scheme: HTTPS }
        periodSeconds: 5
      livenessProbe:
        httpGet: { path: /healthz, port: operators, scheme: HTTPS }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      resources:
        {{- toYaml (index .root.Values .role).resources | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /var/lib/agent-exchange }
        - { name: tmp, mountPath: /tmp }
        - { name: tls, mountPath: /run/tls, readOnly: true }
        {{- if .root.Values.profileConfigMap }}
        - { name: profile, mountPath: /run/profile, readOnly: true }
        {{- end }}
  volumes:
    - { name: tmp, emptyDir: {} }
    - name: tls
      secret: { secretName: {{ .root.Values.tlsSecretName }}, defaultMode: 0440 }
    {{- if .root.Values.profileConfigMap }}
    - name: profile
      configMap: { name: {{ .root.Values.profileConfigMap }} }
    {{- end }}
    {{- if eq .role "api" }}
    - { name: data, emptyDir: {} }
    {{- end }}
{{- end }}
