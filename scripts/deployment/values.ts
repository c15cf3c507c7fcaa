/** Values of the Helm chart; the Kustomize bases have their defaults. */
import { stringify } from 'yaml';
import type { Json, JsonObject } from '../../src/core/json.ts';

export type DeployedStore = 'sqlite' | 'postgres';

interface Value {
  /** Such as `image.tag`. */
  readonly path: string;
  readonly fallback: Json;
  readonly schema: JsonObject;
  readonly description: string;
}

const text = { type: 'string', minLength: 1 };
const port = { type: 'integer', minimum: 1, maximum: 65535 };
const map = { type: 'object' };
const list = { type: 'array', items: { type: 'object' } };

const VALUES: readonly Value[] = [
  {
    ...{ path: 'image.repository', fallback: 'registry.example/octavo', schema: text },
    description: 'Image that you built from the Dockerfile and pushed',
  },
  {
    ...{ path: 'image.tag', fallback: '', schema: { type: 'string' } },
    description: 'Tag of the image; empty: the version of the chart',
  },
  {
    ...{ path: 'image.digest', fallback: '', schema: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' } },
    description: 'Digest of the image, used instead of the tag; a tag can be moved to another image',
  },
  {
    ...{ path: 'imagePullSecrets', fallback: [], schema: list },
    description: 'Secrets to pull the image with, such as [{ name: registry }]',
  },
  {
    ...{ path: 'store', fallback: 'sqlite', schema: { enum: ['sqlite', 'postgres'] } },
    description: 'sqlite: one replica with a state file on a volume; postgres: any number of replicas',
  },
  {
    ...{ path: 'replicas', fallback: 1, schema: { type: 'integer', minimum: 1 } },
    description: 'Number of replicas; 1 with sqlite, 2 or more with postgres to survive a failure',
  },
  {
    ...{ path: 'secret', fallback: 'octavo-secrets', schema: text },
    description:
      'Existing Secret. Its keys are files in /etc/octavo-secrets: token, and with postgres database-url, the URL of the database',
  },
  {
    ...{ path: 'config', fallback: {}, schema: map },
    description: 'Settings of config.yaml, in addition to those of the chart',
  },
  {
    ...{ path: 'organizations', fallback: {}, schema: { type: 'object', additionalProperties: { type: 'object' } } },
    description: 'Organizations by a name, each with the settings of an entry of `organizations`',
  },
  {
    ...{ path: 'organizationConfigMaps', fallback: [], schema: { type: 'array', items: text } },
    description: 'Existing ConfigMaps with more organizations, one file each; a ConfigMap holds at most 1 MiB',
  },
  {
    ...{ path: 'storage.size', fallback: '1Gi', schema: text },
    description: 'Size of the volume of the state file and the checkouts (sqlite)',
  },
  {
    ...{ path: 'storage.className', fallback: null, schema: { type: ['string', 'null'] } },
    description: 'Storage class of that volume; null: the default of the cluster',
  },
  {
    ...{ path: 'storage.existingClaim', fallback: '', schema: { type: 'string' } },
    description: 'Existing claim to use instead of a new one, such as after a restore (sqlite)',
  },
  {
    ...{ path: 'env', fallback: [], schema: list },
    description:
      'Environment variables in addition to those of the chart, such as [{ name: HTTPS_PROXY, value: "http://proxy.example:3128" }]',
  },
  {
    ...{ path: 'envFrom', fallback: [], schema: list },
    description:
      'ConfigMaps and Secrets whose keys become environment variables, such as [{ secretRef: { name: more } }]',
  },
  {
    ...{ path: 'volumes', fallback: [], schema: list },
    description: 'Volumes in addition to those of the chart, such as a ConfigMap with certificates',
  },
  {
    ...{ path: 'volumeMounts', fallback: [], schema: list },
    description: 'Mounts of these volumes, such as [{ name: ca, mountPath: /etc/octavo-ca, readOnly: true }]',
  },
  {
    ...{ path: 'resources', schema: map, description: 'Resources of a replica' },
    fallback: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
  },
  {
    ...{ path: 'terminationGracePeriodSeconds', fallback: 30, schema: { type: 'integer', minimum: 15 } },
    description: 'Seconds to stop; a replica needs at most 10 to finish its requests and release its leases',
  },
  {
    ...{ path: 'labels', fallback: {}, description: 'Labels of all objects and pods' },
    schema: {
      type: 'object',
      additionalProperties: { type: 'string' },
      propertyNames: { not: { enum: ['app.kubernetes.io/name', 'app.kubernetes.io/instance'] } },
    },
  },
  {
    ...{ path: 'serviceAccount.annotations', fallback: {}, schema: map },
    description: 'Annotations of the service account, such as the role of a cloud',
  },
  { path: 'podAnnotations', fallback: {}, schema: map, description: 'Annotations of pods' },
  { path: 'affinity', fallback: {}, schema: map, description: 'Affinity of pods to nodes and other pods' },
  { path: 'nodeSelector', fallback: {}, schema: map, description: 'Labels of nodes to run on' },
  { path: 'tolerations', fallback: [], schema: list, description: 'Taints of nodes to tolerate' },
  {
    ...{ path: 'service.annotations', schema: map, description: 'Annotations of the Service' },
    fallback: {
      ...{ 'prometheus.io/scrape': 'true', 'prometheus.io/port': '8080', 'prometheus.io/path': '/metrics' },
    },
  },
  {
    ...{ path: 'ui', fallback: false, schema: { type: 'boolean' } },
    description: 'Service for the web page on port 8081; set config.ui with listen: 0.0.0.0:8081 as well',
  },
  ...ingress('pageIngress', 'the web page', 'which also creates the Service of `ui`'),
  ...ingress('hooksIngress', '/hooks/', 'to which forges and helpdesks send webhooks'),
  {
    ...{ path: 'networkPolicy.enabled', fallback: true, schema: { type: 'boolean' } },
    description: 'Limit the connections of the pods',
  },
  {
    ...{ path: 'networkPolicy.from', fallback: [], schema: list },
    description: 'Peers that may connect to the pods; empty: all',
  },
  {
    ...{ path: 'networkPolicy.ports', fallback: [22, 443, 5432], schema: { type: 'array', items: port } },
    description:
      'TCP ports that the pods may connect to: the platform, forges, channels, the database, and a proxy if there is one. DNS is always allowed',
  },
  {
    ...{ path: 'monitoring.podMonitor', fallback: false, schema: { type: 'boolean' } },
    description: 'PodMonitor, by which the Prometheus Operator scrapes every replica',
  },
  {
    ...{ path: 'monitoring.rules', fallback: false, schema: { type: 'boolean' } },
    description: 'PrometheusRule with the alerts of docs/metrics.md, for the Prometheus Operator',
  },
  {
    ...{ path: 'monitoring.labels', fallback: {}, schema: { type: 'object', additionalProperties: text } },
    description: 'Labels of both, by which the Prometheus Operator selects them',
  },
  {
    ...{ path: 'monitoring.interval', fallback: '30s', schema: { type: 'string', pattern: '^[0-9]+(s|m)$' } },
    description: 'Time between two scrapes',
  },
];

/** Values of an Ingress. */
function ingress(group: string, what: string, addition: string): readonly Value[] {
  return [
    {
      ...{ path: `${group}.host`, fallback: '', schema: { type: 'string' } },
      description: `Host name of an Ingress for ${what}, ${addition}; empty: no Ingress`,
    },
    {
      ...{ path: `${group}.className`, fallback: null, schema: { type: ['string', 'null'] } },
      description: 'Ingress class; null: the default of the cluster',
    },
    {
      ...{ path: `${group}.tlsSecret`, fallback: '', schema: { type: 'string' } },
      description: 'Existing Secret with the certificate of the host; empty: no TLS in this Ingress',
    },
    { path: `${group}.annotations`, fallback: {}, schema: map, description: 'Annotations of the Ingress' },
  ];
}

/** Returns the default of a value. */
export function defaultOf(path: string): Json {
  const value = VALUES.find((each) => each.path === path);
  if (value === undefined) {
    throw new Error(`the chart has no value ${path}`);
  }
  return value.fallback;
}

const NOTE = '# Made from the source by "npm run docs"; change it there.';

/** Returns the chart's values.yaml. */
export function valuesYaml(): string {
  const lines = [NOTE];
  let parent = '';
  for (const { path, fallback, description } of VALUES) {
    const [name = '', member] = path.split('.');
    lines.push(...(member !== undefined && parent !== name ? ['', `${name}:`] : member === undefined ? [''] : []));
    parent = name;
    const entry = `# ${description}.\n${stringify({ [member ?? name]: fallback }, { lineWidth: 0 }).trimEnd()}`;
    lines.push(member === undefined ? entry : entry.replaceAll(/^/gm, '  '));
  }
  return `${lines.join('\n')}\n`;
}

/** Returns the chart's values.schema.json. Helm adds `global` itself. */
export function valuesSchema(): string {
  const object = (properties: JsonObject) => ({ type: 'object', additionalProperties: false, properties });
  const root: Record<string, Json> = { global: { type: 'object' } };
  const groups = Map.groupBy(VALUES, ({ path }) => path.split('.')[0] ?? '');
  for (const [name, values] of groups) {
    const members = values.map(({ path, schema, description }) => [path.split('.')[1], { description, ...schema }]);
    root[name] = members[0]?.[0] === undefined ? (members[0]?.[1] as Json) : object(Object.fromEntries(members));
  }
  const schema = { $schema: 'http://json-schema.org/draft-07/schema#', title: 'Values of Octavo', ...object(root) };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

/** Returns the table of values for the documentation. */
export function valuesTable(): string {
  const rows = VALUES.map(
    ({ path, fallback, description }) => `| \`${path}\` | ${description} | \`${JSON.stringify(fallback)}\` |`,
  );
  return ['| value | meaning | default |', '|---|---|---|', ...rows].join('\n');
}
