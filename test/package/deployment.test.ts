/** Checks the Helm chart and the Kustomize bases. Their text is checked against their source with the generated pages. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ALERTS } from '../../scripts/deployment/alerts.ts';
import { deploymentFiles } from '../../scripts/deployment/files.ts';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { faultOf } from '../docs/command-lines.ts';
import { execFileSync, spawnSync } from '../support/programs.ts';
import { helm, type KubernetesObjects, kubectl, kustomize, readObjects } from './kubernetes.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHART = join(ROOT, 'deploy/helm/octavo');
const BASES = ['sqlite', 'postgres'] as const;

interface Pod {
  readonly containers: readonly [{ readonly args: readonly string[]; readonly volumeMounts: readonly Mount[] }];
  readonly volumes: readonly { readonly name: string }[];
}

interface Mount {
  readonly name: string;
  readonly mountPath: string;
}

const base = (name: string) => join(ROOT, 'deploy/kustomize', name);
const load = (path: string) => parse(readFileSync(path, 'utf8'));

describe('the folder deploy', () => {
  test('has no other files than those that are generated, and their page', () => {
    const found = readdirSync(join(ROOT, 'deploy'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length));
    expect(found.sort()).toEqual(['deploy/README.md', ...deploymentFiles().keys()].sort());
  });
});

test.each(['deploy/kustomize/sqlite', 'deploy/kustomize/postgres', 'examples/kubernetes'])(
  '%s lists all its files',
  (path) => {
    const folder = join(ROOT, path);
    const { resources, patches = [], configMapGenerator } = load(join(folder, 'kustomization.yaml'));
    const generated = configMapGenerator.flatMap(({ files }: { files: readonly string[] }) => files);
    const listed = [...resources, ...patches.map((patch: { path: string }) => patch.path), ...generated];
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
    expect([...listed, 'kustomization.yaml'].filter((name) => !name.startsWith('../')).sort()).toEqual(files.sort());
  },
);

describe.each(BASES)('the Kustomize base %s', (store) => {
  const workload = load(join(base(store), store === 'sqlite' ? 'stateful-set.yaml' : 'deployment.yaml'));
  const pod: Pod = workload.spec.template.spec;
  const [container] = pod.containers;

  test('has a configuration that loads with an organization, and secrets from files', () => {
    const mountOf = (path: string) => container.volumeMounts.find(({ mountPath }) => path.startsWith(`${mountPath}/`));
    const config = loadConfig({
      text: readFileSync(join(base(store), 'config.yaml'), 'utf8'),
      file: '/etc/octavo/config.yaml',
      env: {},
      readFile: (path) => {
        expect(mountOf(path)?.name).toBe('secrets');
        return path.endsWith('/database-url') ? 'postgres://octavo:p@db.example/octavo\n' : 'a-token\n';
      },
      readDirectory: (path) => {
        expect(mountOf(`${path}/acme.yaml`)?.name).toBe('organizations');
        return new Map([['acme.yaml', readFileSync(join(base(store), 'organizations/acme.yaml'), 'utf8')]]);
      },
      kinds,
    });
    expect(config.organizations.map(({ id, token }) => [id, token])).toEqual([['org_1', 'a-token']]);
    expect(mountOf(`${config.runtime.directory}/control.sock`)?.name).toBe('state');
    expect(faultOf(container.args.join(' '))).toBeNull();
    expect(container.args).toContain('/etc/octavo/config.yaml');
    expect(mountOf('/etc/octavo/config.yaml')?.name).toBe('config');
  });

  test('mounts each volume that it declares', () => {
    const claims = (workload.spec.volumeClaimTemplates ?? []) as readonly { metadata: { name: string } }[];
    const declared = [...pod.volumes.map(({ name }) => name), ...claims.map(({ metadata }) => metadata.name)];
    expect(container.volumeMounts.map(({ name }) => name).sort()).toEqual(declared.sort());
  });
});

describe('the alerts', () => {
  const registry = createMetrics().registry.getMetricsAsArray() as unknown as readonly {
    readonly name: string;
    readonly labelNames: readonly string[];
    readonly constructor: { readonly name: string };
  }[];
  const known = new Map(
    registry.flatMap((metric) =>
      (metric.constructor.name === 'Histogram' ? ['_sum', '_count', '_bucket'] : ['']).map((end) => [
        `${metric.name}${end}`,
        metric.labelNames,
      ]),
    ),
  );

  test.each(ALERTS)('$name uses metrics and labels that exist', ({ expression, summary }) => {
    const names = expression.match(/octavo_\w+/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    const labels = names.flatMap((name) => known.get(name) ?? [`no metric ${name}`]);
    const selected = [...expression.matchAll(/\{(\w+)!?=/g)].map(([, label]) => label);
    const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '));
    const told = [...summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label);
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(labels).toEqual(expect.arrayContaining([...selected, ...grouped]));
    // An aggregation keeps only the labels that it groups by.
    expect(/^(max|min|sum)\b/.test(expression) ? grouped : labels).toEqual(expect.arrayContaining(told));
  });

  test('have different names, and are those of the Kustomize component', () => {
    const { resources } = load(join(base('monitoring'), 'kustomization.yaml'));
    expect(resources).toEqual(['pod-monitor.yaml', 'prometheus-rule.yaml']);
    const { spec } = load(join(base('monitoring'), 'prometheus-rule.yaml'));
    expect(spec.groups[0].rules.map(({ alert, expr }: { alert: string; expr: string }) => [alert, expr])).toEqual(
      ALERTS.map(({ name, expression }) => [name, expression]),
    );
    expect(new Set(ALERTS.map(({ name }) => name)).size).toBe(ALERTS.length);
    const { spec: monitor } = load(join(base('monitoring'), 'pod-monitor.yaml'));
    const workload = load(join(base('postgres'), 'deployment.yaml'));
    expect(workload.spec.template.metadata.labels).toMatchObject(monitor.selector.matchLabels);
    const [{ ports }] = workload.spec.template.spec.containers;
    expect(ports.map(({ name }: { name: string }) => name)).toContain(monitor.podMetricsEndpoints[0].port);
  });
});

describe('the schema of the values', () => {
  const validate = new Ajv().compile(JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')));

  test('accepts the defaults', () => {
    expect(validate(load(join(CHART, 'values.yaml'))), JSON.stringify(validate.errors)).toBe(true);
  });

  test.each([
    { replica: 3 },
    { replicas: 0 },
    { store: 'mysql' },
    { image: { digest: 'latest' } },
    { organizations: { acme: 'org_1' } },
    { networkPolicy: { ports: ['https'] } },
    { monitoring: { rules: 'yes' } },
    { monitoring: { interval: '30' } },
    { labels: { 'app.kubernetes.io/name': 'other' } },
    { env: { HTTPS_PROXY: 'http://proxy.example' } },
    { pageIngress: { hosts: ['docs.example'] } },
  ])('refuses %j', (values) => {
    expect(validate(values)).toBe(false);
  });
});

const hasPrograms = helm !== '' && kubectl !== '';

/** Returns the objects of the chart by kind and name. */
function render(...values: readonly string[]): KubernetesObjects {
  const set = values.flatMap((value) => ['--set', value]);
  return readObjects(execFileSync(helm, ['template', 'octavo', CHART, ...set], { encoding: 'utf8' }));
}

/** Removes empty lists and objects, which Kubernetes treats like absent ones. */
function compact(json: unknown): unknown {
  if (Array.isArray(json)) {
    return json.map(compact);
  }
  if (typeof json !== 'object' || json === null) {
    return json ?? undefined;
  }
  const members = Object.entries(json).map(([name, each]) => [name, compact(each)] as const);
  const kept = members.filter(([, each]) => each !== undefined && !(Array.isArray(each) && each.length === 0));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

describe.runIf(hasPrograms)('the Helm chart', () => {
  test.each([
    ['sqlite', []],
    ['postgres', ['store=postgres', 'replicas=2']],
  ] as const)('has the same objects as the Kustomize base %s', (store, values) => {
    const rendered = render(...values);
    const built = kustomize(base(store));
    expect([...rendered.keys()].sort()).toEqual([...built.keys()].sort());
    for (const [name, object] of built) {
      if (object.kind !== 'ConfigMap') {
        expect(compact(rendered.get(name)), name).toEqual(compact(object));
      }
    }
    const config = (objects: KubernetesObjects) =>
      parse(objects.get('ConfigMap/octavo-config')?.data?.['config.yaml'] ?? '');
    expect(config(rendered)).toEqual(config(built));
  });

  test('creates the objects of the Prometheus Operator only if it is asked to', () => {
    const kindsOf = (...values: readonly string[]) => [...render(...values).values()].map(({ kind }) => kind);
    expect(kindsOf()).not.toEqual(expect.arrayContaining([expect.stringMatching(/PodMonitor|PrometheusRule/)]));
    const rendered = render(
      'monitoring.podMonitor=true',
      'monitoring.rules=true',
      'monitoring.labels.release=prometheus',
    );
    for (const [file, name] of [
      ['pod-monitor', 'PodMonitor/octavo'],
      ['prometheus-rule', 'PrometheusRule/octavo'],
    ] as const) {
      const plain = load(join(base('monitoring'), `${file}.yaml`));
      const { metadata, spec } = rendered.get(name) ?? {};
      expect(metadata).toEqual({ ...plain.metadata, labels: { ...plain.metadata.labels, release: 'prometheus' } });
      expect(spec).toEqual(plain.spec);
    }
  });

  test('passes the checks of Helm', () => {
    expect(execFileSync(helm, ['lint', '--strict', CHART], { encoding: 'utf8' })).toContain('0 chart(s) failed');
  });

  test('refuses several replicas with a state file', () => {
    const { status, stderr } = spawnSync(helm, ['template', CHART, '--set', 'replicas=2'], { encoding: 'utf8' });
    expect(status).not.toBe(0);
    expect(stderr).toContain('store sqlite allows one replica');
  });

  const RENDERED = { sqlite: 'StatefulSet/octavo', postgres: 'Deployment/octavo' } as const;

  test.each(BASES)('sets a proxy, a private certificate authority and other parts of pods (%s)', (store) => {
    const objects = render(
      ...[`store=${store}`, 'env[0].name=HTTPS_PROXY', 'env[0].value=http://proxy.example:3128'],
      ...['env[1].name=NODE_EXTRA_CA_CERTS', 'env[1].value=/etc/octavo-ca/ca.crt'],
      ...['envFrom[0].secretRef.name=more', 'volumes[0].name=ca', 'volumes[0].configMap.name=acme-ca'],
      ...['volumeMounts[0].name=ca', 'volumeMounts[0].mountPath=/etc/octavo-ca', 'labels.team=docs'],
      ...['affinity.podAntiAffinity.x=1', 'serviceAccount.annotations.role=r', 'monitoring.podMonitor=true'],
    );
    const workload = objects.get(RENDERED[store]);
    const { metadata, spec: pod } = (workload?.spec?.template ?? {}) as {
      metadata: object;
      spec: Record<string, unknown>;
    };
    const [container] = pod.containers as Record<string, readonly object[]>[];
    expect(container?.env).toEqual([
      { name: 'HOME', value: '/tmp' },
      { name: 'HTTPS_PROXY', value: 'http://proxy.example:3128' },
      { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/octavo-ca/ca.crt' },
    ]);
    expect(container?.envFrom).toEqual([{ secretRef: { name: 'more' } }]);
    expect(container?.volumeMounts?.at(-1)).toEqual({ name: 'ca', mountPath: '/etc/octavo-ca' });
    expect((pod.volumes as object[]).at(-1)).toEqual({ name: 'ca', configMap: { name: 'acme-ca' } });
    expect(pod.affinity).toEqual({ podAntiAffinity: { x: 1 } });
    expect(metadata).toMatchObject({ labels: { team: 'docs' } });
    expect(objects.get('ServiceAccount/octavo')?.metadata).toMatchObject({ annotations: { role: 'r' } });
    for (const [name, object] of objects) {
      expect(object.metadata.labels, name).toMatchObject({ 'app.kubernetes.io/name': 'octavo', team: 'docs' });
    }
    // The selector of a workload cannot be changed later.
    expect(JSON.stringify(workload?.spec?.selector)).not.toContain('team');
  });

  test('uses an existing claim for the state', () => {
    const { spec } = render('storage.existingClaim=restored').get('StatefulSet/octavo') ?? {};
    expect(spec?.volumeClaimTemplates).toEqual([]);
    expect(JSON.stringify(spec?.template)).toContain(
      '{"name":"state","persistentVolumeClaim":{"claimName":"restored"}}',
    );
  });

  test('routes the page and webhooks, each on a host of its own', () => {
    const objects = render(
      ...['pageIngress.host=octavo.example', 'pageIngress.tlsSecret=page-tls', 'pageIngress.className=nginx'],
      ...['hooksIngress.host=hooks.example', 'hooksIngress.annotations.a=b'],
    );
    const route = (path: string, name: string, port: string) => [
      { path, pathType: 'Prefix', backend: { service: { name, port: { name: port } } } },
    ];
    expect(objects.get('Ingress/octavo-page')?.spec).toEqual({
      ingressClassName: 'nginx',
      tls: [{ hosts: ['octavo.example'], secretName: 'page-tls' }],
      rules: [{ host: 'octavo.example', http: { paths: route('/', 'octavo-ui', 'ui') } }],
    });
    // Health and metrics have the same port, and are not reachable from outside.
    expect(objects.get('Ingress/octavo-hooks')?.spec).toEqual({
      ingressClassName: null,
      tls: [],
      rules: [{ host: 'hooks.example', http: { paths: route('/hooks/', 'octavo', 'http') } }],
    });
    expect(objects.get('Ingress/octavo-hooks')?.metadata).toMatchObject({ annotations: { a: 'b' } });
    for (const { spec } of [...objects.values()].filter(({ kind }) => kind === 'Ingress')) {
      const [{ http }] = (spec?.rules ?? []) as unknown as [
        { http: { paths: [{ backend: { service: { name: string } } }] } },
      ];
      expect(objects.has(`Service/${http.paths[0].backend.service.name}`)).toBe(true);
    }
  });

  test('prints notes with commands that exist', () => {
    const args = ['install', 'octavo', CHART, '--dry-run=client', '--set', 'pageIngress.host=octavo.example'];
    const kubernetes = { KUBECONFIG: '/dev/null', PATH: process.env.PATH };
    const output = execFileSync(helm, args, { encoding: 'utf8', env: kubernetes, stdio: ['ignore', 'pipe', 'pipe'] });
    const notes = output.slice(output.indexOf('NOTES:'));
    expect(notes).toContain('rollout status statefulset/octavo');
    expect(notes).toContain('The page is at http://octavo.example/');
    const [command] = /octavo status .*/.exec(notes) ?? [''];
    expect(faultOf(command.slice('octavo '.length))).toBeNull();
  });

  test('merges settings, stores organizations as files, and mounts further ConfigMaps', () => {
    const rendered = render(
      ...['store=postgres', 'replicas=3', 'config.fleet.lease=90s', 'config.log.level=debug', 'ui=true'],
      ...['organizations.acme.id=org_1', 'organizationConfigMaps[0]=more', `image.digest=sha256:${'a'.repeat(64)}`],
    );
    const map = (name: string, file: string) => parse(rendered.get(`ConfigMap/${name}`)?.data?.[file] ?? '');
    expect(map('octavo-config', 'config.yaml')).toMatchObject({
      ...{ log: { format: 'json', level: 'debug' }, fleet: { lease: '90s' } },
    });
    expect(map('octavo-organizations', 'acme.yaml')).toEqual({ id: 'org_1' });
    expect(rendered.has('Service/octavo-ui')).toBe(true);
    const deployment = JSON.stringify(rendered.get('Deployment/octavo'));
    expect(deployment).toContain('{"configMap":{"name":"more"}}');
    expect(deployment).toContain(`registry.example/octavo@sha256:${'a'.repeat(64)}`);
  });
});
