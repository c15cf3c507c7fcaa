/** Pod of a replica. */
import { block, Expression, extended, named, type Template, value } from './template.ts';
import { type DeployedStore, defaultOf } from './values.ts';

/** Folder of the state file, the checkouts and the control socket. */
export const STATE = '/var/lib/octavo';
const CONFIG = '/etc/octavo';
const ORGANIZATIONS = '/etc/octavo-organizations';
const SECRETS = '/etc/octavo-secrets';
export const HTTP_PORT = 8080;
export const UI_PORT = 8081;

const NAME = { 'app.kubernetes.io/name': 'octavo' };
/** Labels that select pods. */
export const SELECTOR_LABELS = { ...NAME, 'app.kubernetes.io/instance': named() };
/** Labels of all objects and pods. */
export const LABELS = extended(SELECTOR_LABELS, 'labels');

const IMAGE = new Expression(
  '"{{ .Values.image.repository }}{{ if .Values.image.digest }}@{{ .Values.image.digest }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}"',
  defaultOf('image.repository'),
);

export function podTemplate(store: DeployedStore): Template {
  return {
    metadata: { labels: LABELS, annotations: block('podAnnotations') },
    spec: {
      serviceAccountName: named(),
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: value('terminationGracePeriodSeconds'),
      imagePullSecrets: block('imagePullSecrets'),
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      topologySpreadConstraints: store === 'postgres' ? spread() : [],
      affinity: block('affinity'),
      nodeSelector: block('nodeSelector'),
      tolerations: block('tolerations'),
      containers: [container()],
      volumes: volumes(store),
    },
  };
}

function container(): Template {
  const probe = (path: string) => ({ httpGet: { path, port: 'http' }, timeoutSeconds: 5 });
  return {
    name: 'octavo',
    image: IMAGE,
    args: ['run', '--config', `${CONFIG}/config.yaml`],
    env: extended([{ name: 'HOME', value: '/tmp' }], 'env'),
    envFrom: block('envFrom'),
    ports: [
      { name: 'http', containerPort: HTTP_PORT },
      { name: 'ui', containerPort: UI_PORT },
    ],
    startupProbe: { ...probe('/healthz'), periodSeconds: 2, failureThreshold: 60 },
    livenessProbe: { ...probe('/healthz'), periodSeconds: 30 },
    readinessProbe: { ...probe('/readyz'), periodSeconds: 10 },
    resources: block('resources'),
    securityContext: {
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: extended(
      [
        { name: 'config', mountPath: CONFIG, readOnly: true },
        { name: 'organizations', mountPath: ORGANIZATIONS, readOnly: true },
        { name: 'secrets', mountPath: SECRETS, readOnly: true },
        { name: 'state', mountPath: STATE },
        { name: 'tmp', mountPath: '/tmp' },
      ],
      'volumeMounts',
    ),
  };
}

/** The volume of a state file is claimed by the StatefulSet, unless there is a claim. */
function volumes(store: DeployedStore): Template {
  const fixed: Template = [
    { name: 'config', configMap: { name: named('-config') } },
    { name: 'organizations', projected: { sources: organizationSources() } },
    // Readable by the group, which fsGroup makes that of the container.
    { name: 'secrets', secret: { secretName: value('secret'), defaultMode: 0o440 } },
    ...(store === 'postgres' ? [{ name: 'state', emptyDir: {} }] : []),
    { name: 'tmp', emptyDir: {} },
  ];
  const claim = [
    '{{- with .Values.storage.existingClaim }}',
    '- name: state',
    '  persistentVolumeClaim: { claimName: {{ . | quote }} }',
    '{{- end }}',
  ];
  return extended(fixed, 'volumes', store === 'sqlite' ? claim : []);
}

function organizationSources(): Expression {
  return new Expression(
    (indent) => {
      const line = (text: string) => `\n${' '.repeat(indent)}${text}`;
      return [
        line('- configMap: { name: "{{ .Release.Name }}-organizations" }'),
        line('{{- range .Values.organizationConfigMaps }}'),
        line('- configMap: { name: {{ . | quote }} }'),
        line('{{- end }}'),
      ].join('');
    },
    [{ configMap: { name: 'octavo-organizations' } }],
  );
}

/** Replicas run on different nodes and in different zones if possible. */
function spread(): Template {
  return ['topology.kubernetes.io/zone', 'kubernetes.io/hostname'].map((topologyKey) => ({
    ...{ maxSkew: 1, topologyKey, whenUnsatisfiable: 'ScheduleAnyway' },
    labelSelector: { matchLabels: SELECTOR_LABELS },
    matchLabelKeys: ['pod-template-hash'],
  }));
}
