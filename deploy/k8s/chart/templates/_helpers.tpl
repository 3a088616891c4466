{{- /* Names, labels and the security of every pod, said once. */ -}}
{{- define "privasis.labels" -}}
app.kubernetes.io/name: privasis
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The labels of one part, (list $ "server"), on one line. */ -}}
{{- define "privasis.select" -}}
{ app.kubernetes.io/name: privasis, app.kubernetes.io/instance: {{ (index . 0).Release.Name }}, app.kubernetes.io/component: {{ index . 1 }} }
{{- end }}

{{- define "privasis.image" -}}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag }}{{ end }}
{{- end }}

{{- define "privasis.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "privasis.container" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- /* A memory limit, and none of CPU: a shard that finds a free core may have it. */ -}}
{{- define "privasis.resources" -}}
resources:
  requests: { cpu: {{ .cpu | quote }}, memory: {{ .memory }} }
  limits: { memory: {{ .memoryLimit }} }
{{- end }}

{{- define "privasis.secret" -}}
{ secretKeyRef: { name: {{ (index . 0).Values.secrets.existing }}, key: {{ index . 1 }} } }
{{- end }}

{{- define "privasis.apiUrl" -}}
http://{{ .Release.Name }}-server:4200/api
{{- end }}

{{- define "privasis.rayAddress" -}}
{{ .Release.Name }}-ray-head:6379
{{- end }}

{{- define "privasis.claim" -}}
{{ .Values.data.existingClaim | default (printf "%s-data" .Release.Name) }}
{{- end }}

{{- define "privasis.databaseHost" -}}
{{- if .Values.database.bundled }}{{ .Release.Name }}-database{{ else }}{{ required "database.host: name a PostgreSQL, or set database.bundled" .Values.database.host }}{{ end }}
{{- end }}
