/** Files of the folder `deploy`: the Helm chart and the Kustomize bases. */
import { readFileSync } from 'node:fs';
import { stringify } from 'yaml';
import { fixedConfig, OBJECTS } from './objects.ts';
import { helmYaml, plainYaml } from './template.ts';
import { type DeployedStore, valuesSchema, valuesYaml } from './values.ts';

const NOTE = '# Made from the source by "npm run docs"; change it there.\n';
const CHART = 'deploy/helm/octavo';

/** Returns the files by path. */
export function deploymentFiles(): ReadonlyMap<string, string> {
  return new Map([...chart(), ...base('sqlite'), ...base('postgres'), ...monitoring()]);
}

function chart(): [path: string, text: string][] {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const about = {
    ...{ apiVersion: 'v2', name: 'octavo', type: 'application', version, appVersion: version },
    description: 'GitOps for a documentation platform',
    kubeVersion: '>=1.27.0-0',
  };
  const objects = OBJECTS.map(({ file, condition, object }): [string, string] => {
    const text = helmYaml(object);
    const body = condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
    return [`${CHART}/templates/${file}.yaml`, NOTE + body];
  });
  return [
    [`${CHART}/Chart.yaml`, NOTE + stringify(about)],
    [`${CHART}/values.yaml`, valuesYaml()],
    [`${CHART}/values.schema.json`, valuesSchema()],
    [`${CHART}/templates/config.yaml`, NOTE + CONFIG_TEMPLATE],
    [`${CHART}/templates/NOTES.txt`, NOTES],
    ...objects,
  ];
}

/** Text that Helm prints after an installation. */
const NOTES = `{{- $workload := ternary "deployment" "statefulset" (eq .Values.store "postgres") }}
{{- $run := printf "kubectl -n %s" .Release.Namespace }}
Octavo {{ .Chart.AppVersion }} with {{ len .Values.organizations }} organization(s) in values and {{ len .Values.organizationConfigMaps }} ConfigMap(s) of organizations.

1. The Secret "{{ .Values.secret }}" must have the key "token"{{ if eq .Values.store "postgres" }} and the key "database-url"{{ end }}. Pods wait for it:
     {{ $run }} get secret {{ .Values.secret }}
2. Wait for the pods, and read their log:
     {{ $run }} rollout status {{ $workload }}/{{ .Release.Name }}
     {{ $run }} logs {{ $workload }}/{{ .Release.Name }}
3. See what Octavo does:
     {{ $run }} exec {{ $workload }}/{{ .Release.Name }} -- octavo status --config /etc/octavo/config.yaml
{{- if .Values.pageIngress.host }}

The page is at http{{ if .Values.pageIngress.tlsSecret }}s{{ end }}://{{ .Values.pageIngress.host }}/ once config.ui listens on 0.0.0.0:8081.
{{- end }}
{{- if .Values.hooksIngress.host }}

Webhooks are sent to http{{ if .Values.hooksIngress.tlsSecret }}s{{ end }}://{{ .Values.hooksIngress.host }}/hooks/ORGANIZATION.
{{- end }}
`;

const CONFIG_TEMPLATE = `{{- if and (eq .Values.store "sqlite") (gt (int .Values.replicas) 1) }}
{{- fail "store sqlite allows one replica, as a state file can be used by one process; set replicas to 1, or store to postgres" }}
{{- end }}
{{- $config := dict }}
{{- if eq .Values.store "postgres" }}
{{- $config = fromYaml \`
${fixedConfig('postgres')}\` }}
{{- else }}
{{- $config = fromYaml \`
${fixedConfig('sqlite')}\` }}
{{- end }}
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .Release.Name }}-config"
  labels:
    app.kubernetes.io/name: octavo
    app.kubernetes.io/instance: "{{ .Release.Name }}"
    {{- with .Values.labels }}{{- toYaml . | nindent 4 }}{{- end }}
data:
  config.yaml: |
    {{- toYaml (mergeOverwrite $config .Values.config) | nindent 4 }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: "{{ .Release.Name }}-organizations"
  labels:
    app.kubernetes.io/name: octavo
    app.kubernetes.io/instance: "{{ .Release.Name }}"
    {{- with .Values.labels }}{{- toYaml . | nindent 4 }}{{- end }}
data:
  {{- range $name, $organization := .Values.organizations }}
  {{ printf "%s.yaml" $name | quote }}: |
    {{- toYaml $organization | nindent 4 }}
  {{- end }}
`;

function base(store: DeployedStore): [path: string, text: string][] {
  const folder = `deploy/kustomize/${store}`;
  const objects = OBJECTS.filter(({ stores }) => stores.includes(store));
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const kustomization = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' },
    resources: objects.map(({ file }) => `${file}.yaml`),
    configMapGenerator: [
      { name: 'octavo-config', files: ['config.yaml'] },
      { name: 'octavo-organizations', files: ['organizations/acme.yaml'] },
    ],
    // The daemon follows changes of the files; another name would restart it.
    generatorOptions: { disableNameSuffixHash: true, labels: { 'app.kubernetes.io/name': 'octavo' } },
    images: [{ name: 'registry.example/octavo', newTag: version }],
  };
  return [
    [`${folder}/kustomization.yaml`, NOTE + stringify(kustomization, { lineWidth: 0 })],
    [`${folder}/config.yaml`, NOTE + fixedConfig(store)],
    [`${folder}/organizations/acme.yaml`, `${NOTE}${ORGANIZATION}`],
    ...objects.map(({ file, object }): [string, string] => [`${folder}/${file}.yaml`, NOTE + plainYaml(object)]),
  ];
}

/** Component that adds the objects of the Prometheus Operator to a base. */
function monitoring(): [path: string, text: string][] {
  const folder = 'deploy/kustomize/monitoring';
  const objects = OBJECTS.filter(({ isMonitoring }) => isMonitoring === true);
  const kustomization = {
    ...{ apiVersion: 'kustomize.config.k8s.io/v1alpha1', kind: 'Component' },
    resources: objects.map(({ file }) => `${file}.yaml`),
  };
  return [
    [`${folder}/kustomization.yaml`, NOTE + stringify(kustomization)],
    ...objects.map(({ file, object }): [string, string] => [`${folder}/${file}.yaml`, NOTE + plainYaml(object)]),
  ];
}

const ORGANIZATION = `id: org_1
source: { git: { url: https://git.example/acme/docs.git } }
`;
