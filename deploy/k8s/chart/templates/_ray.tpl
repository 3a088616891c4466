{{- /* What all nodes of the Ray cluster have. */ -}}
{{- define "privasis.rayContainer" -}}
{{- $root := index . 0 -}}{{- $image := index . 1 -}}
image: {{ include "privasis.image" $image }}
imagePullPolicy: {{ $root.Values.images.pullPolicy }}
env:
  - { name: HOME, value: /tmp }
  - { name: PRIVASIS_ROOT, value: {{ $root.Values.data.root | quote }} }
  - { name: RAY_AUTH_MODE, value: token }
  - name: RAY_AUTH_TOKEN
    valueFrom: {{ include "privasis.secret" (list $root "ray-token") }}
envFrom: [{ secretRef: { name: {{ $root.Values.secrets.run }}, optional: true } }]
{{ include "privasis.container" $root }}
volumeMounts:
  - { name: data, mountPath: /data }
  - { name: cache, mountPath: /var/cache/privasis }
  - { name: tmp, mountPath: /tmp }
  - { name: shm, mountPath: /dev/shm }
{{- end }}

{{- define "privasis.rayVolumes" -}}
{{- $root := index . 0 -}}
- { name: data, persistentVolumeClaim: { claimName: {{ include "privasis.claim" $root }} } }
- { name: cache, persistentVolumeClaim: { claimName: {{ $root.Release.Name }}-cache } }
- { name: tmp, emptyDir: { sizeLimit: 20Gi } }
- { name: shm, emptyDir: { medium: Memory, sizeLimit: {{ index . 1 }} } }
{{- end }}
