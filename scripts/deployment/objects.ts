/** Objects of Kubernetes that a deployment consists of, except for its configuration. */
import { POD_MONITOR, RULES } from './monitoring.ts';
import { HTTP_PORT, LABELS, podTemplate, SELECTOR_LABELS, STATE, UI_PORT } from './pod.ts';
import { block, Expression, helmYaml, named, plain, type Template, value } from './template.ts';
import { type DeployedStore, defaultOf } from './values.ts';

export interface DeployedObject {
  /** File name without its ending. */
  readonly file: string;
  /** Condition in the template; absent: always. */
  readonly condition?: string;
  /** True for an object of the Kustomize component `monitoring`. */
  readonly isMonitoring?: boolean;
  /** Bases that have the object. */
  readonly stores: readonly DeployedStore[];
  readonly object: Template;
}

const BOTH = ['sqlite', 'postgres'] as const;
const SELECTOR = { matchLabels: SELECTOR_LABELS };
const isStore = (store: DeployedStore) => `eq .Values.store "${store}"`;

const metadata = (suffix = '', others: Readonly<Record<string, Template>> = {}) => ({
  ...{ name: named(suffix), labels: LABELS },
  ...others,
});

const service = (suffix: string, port: string, number: number, annotations: Template): Template => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: metadata(suffix, { annotations }) },
  spec: { selector: SELECTOR_LABELS, ports: [{ name: port, port: number, targetPort: port }] },
});

export const OBJECTS: readonly DeployedObject[] = [
  {
    ...{ file: 'service-account', stores: BOTH },
    object: {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: metadata('', { annotations: block('serviceAccount.annotations') }),
      automountServiceAccountToken: false,
    },
  },
  {
    ...{ file: 'service', stores: BOTH },
    object: service('', 'http', HTTP_PORT, block('service.annotations')),
  },
  {
    ...{ file: 'ui-service', condition: 'or .Values.ui .Values.pageIngress.host', stores: [] },
    object: service('-ui', 'ui', UI_PORT, {}),
  },
  ingress('pageIngress', '-ui', { path: '/', port: 'ui' }),
  ingress('hooksIngress', '', { path: '/hooks/', port: 'http' }),
  { file: 'stateful-set', condition: isStore('sqlite'), stores: ['sqlite'], object: statefulSet() },
  { file: 'deployment', condition: isStore('postgres'), stores: ['postgres'], object: deployment() },
  {
    ...{ file: 'disruption-budget', condition: isStore('postgres'), stores: ['postgres'] },
    object: {
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: metadata() },
      spec: { maxUnavailable: 1, selector: SELECTOR },
    },
  },
  { file: 'network-policy', condition: '.Values.networkPolicy.enabled', stores: BOTH, object: networkPolicy() },
  {
    ...{ file: 'pod-monitor', condition: '.Values.monitoring.podMonitor', stores: [], isMonitoring: true },
    object: POD_MONITOR,
  },
  {
    ...{ file: 'prometheus-rule', condition: '.Values.monitoring.rules', stores: [], isMonitoring: true },
    object: RULES,
  },
];

/** Route from outside the cluster to a path of a Service, if its value has a host. */
function ingress(group: string, suffix: string, { path, port }: { path: string; port: string }): DeployedObject {
  const backend = { service: { name: named(suffix), port: { name: port } } };
  const host = value(`${group}.host`);
  const tls = new Expression(
    `{{ if .Values.${group}.tlsSecret }}[{ hosts: [{{ .Values.${group}.host | quote }}], secretName: {{ .Values.${group}.tlsSecret | quote }} }]{{ else }}[]{{ end }}`,
    [],
  );
  return {
    ...{ file: port === 'ui' ? 'page-ingress' : 'hooks-ingress', condition: `.Values.${group}.host`, stores: [] },
    object: {
      ...{ apiVersion: 'networking.k8s.io/v1', kind: 'Ingress' },
      metadata: metadata(port === 'ui' ? '-page' : '-hooks', { annotations: block(`${group}.annotations`) }),
      spec: {
        ingressClassName: new Expression(`{{ .Values.${group}.className | toJson }}`, null),
        ...{ tls, rules: [{ host, http: { paths: [{ path, pathType: 'Prefix', backend }] } }] },
      },
    },
  };
}

/** One replica, as the state file is locked by its process. */
function statefulSet(): Template {
  const claims: Template = [
    {
      metadata: { name: 'state' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: new Expression('{{ .Values.storage.className | toJson }}', defaultOf('storage.className')),
        resources: { requests: { storage: value('storage.size') } },
      },
    },
  ];
  return {
    ...{ apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: metadata() },
    spec: {
      ...{ replicas: value('replicas'), serviceName: named(), selector: SELECTOR, template: podTemplate('sqlite') },
      volumeClaimTemplates: new Expression(
        (indent) =>
          `{{ if .Values.storage.existingClaim }}[]{{ else }}\n${helmYaml(claims).trimEnd().replaceAll(/^/gm, ' '.repeat(indent))}\n${' '.repeat(indent)}{{- end }}`,
        plain(claims),
      ),
    },
  };
}

/** A new replica joins before an old one drains, so the organizations of a replica always find another one. */
function deployment(): Template {
  return {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata() },
    spec: {
      ...{ replicas: new Expression('{{ .Values.replicas }}', 2), minReadySeconds: 5, selector: SELECTOR },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: podTemplate('postgres'),
    },
  };
}

function networkPolicy(): Template {
  const ports = defaultOf('networkPolicy.ports') as number[];
  const connected = new Expression(
    (indent) => `{{- range .Values.networkPolicy.ports }}
${' '.repeat(indent)}- { protocol: TCP, port: {{ . }} }
${' '.repeat(indent)}{{- end }}`,
    ports.map((port) => ({ protocol: 'TCP', port })),
  );
  return {
    ...{ apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: metadata() },
    spec: {
      ...{ podSelector: SELECTOR, policyTypes: ['Ingress', 'Egress'] },
      ingress: [{ from: block('networkPolicy.from'), ports: [{ port: 'http' }, { port: 'ui' }] }],
      egress: [
        {
          ports: ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 })),
        },
        { ports: connected },
      ],
    },
  };
}

/** Settings of config.yaml that the deployment requires. */
export function fixedConfig(store: DeployedStore): string {
  return `platform:
  token: "\${file:/etc/octavo-secrets/token}"
organizations: { directory: /etc/octavo-organizations }
${
  store === 'postgres'
    ? `store: { url: "\${file:/etc/octavo-secrets/database-url}" }\nruntime: { directory: ${STATE} }`
    : `store: { path: ${STATE}/octavo.db }`
}
server: { listen: "0.0.0.0:${HTTP_PORT}" }
log: { format: json }
`;
}
