{{- define "aex.selector" -}}
app.kubernetes.io/name: agent-exchange-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "aex.labels" -}}
{{ include "aex.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}
