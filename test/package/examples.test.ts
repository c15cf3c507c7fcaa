import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer } from '../../src/server/server.ts';
import { commandLinesIn, faultOf } from '../docs/command-lines.ts';
import { ROOT } from './pruned.ts';

const read = (path: string) => readFileSync(join(ROOT, 'examples', path), 'utf8');
const load = <T>(path: string) => parseYaml(read(path)) as T;

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly timeoutSeconds?: number;
}

interface Container {
  readonly name: string;
  readonly args: readonly string[];
  readonly env?: readonly object[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly resources: { readonly requests: object; readonly limits: { readonly memory: string } };
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly volumeMounts: readonly Mount[];
}

interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string };
  readonly secret?: { readonly secretName: string };
  readonly emptyDir?: object;
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

interface Deployment {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: { readonly type: string };
    readonly template: {
      readonly spec: {
        readonly securityContext: Readonly<Record<string, unknown>>;
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly Container[];
        readonly volumes: readonly Volume[];
      };
    };
  };
}

const { spec } = load<Deployment>('kubernetes/deployment.yaml');
const pod = spec.template.spec;
const [octavo, gitSync] = ['octavo', 'git-sync'].map(
  (name) => pod.containers.find((container) => container.name === name) as Container,
) as [Container, Container];
const map = load<{ metadata: { name: string }; data: { 'config.yaml': string } }>('kubernetes/configmap.yaml');
const config = () =>
  loadConfig({
    text: map.data['config.yaml'],
    file: '/etc/octavo/config.yaml',
    env: {},
    readFile: (path) => {
      expect(mountOf(octavo, path)?.name).toBe('token');
      return 'a-token\n';
    },
    kinds,
  });

/** The mount that contains a path of a container. */
function mountOf(container: Container, path: string): Mount | undefined {
  return container.volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
}

const flagOf = (container: Container, flag: string) =>
  container.args.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3) ?? '';

describe('examples/kubernetes', () => {
  test.each(readdirSync(join(ROOT, 'examples/kubernetes')).filter((name) => name.endsWith('.yaml')))(
    '%s is valid YAML',
    (name) => {
      expect(
        parseAllDocuments(read(`kubernetes/${name}`)).flatMap(({ errors, warnings }) => [...errors, ...warnings]),
      ).toEqual([]);
    },
  );

  test('the kustomization lists every file', () => {
    const { resources } = load<{ resources: readonly string[] }>('kubernetes/kustomization.yaml');
    const files = readdirSync(join(ROOT, 'examples/kubernetes')).filter((name) => name.endsWith('.yaml'));
    expect([...resources, 'kustomization.yaml'].sort()).toEqual(files.sort());
  });

  test('the configuration loads and reads the token from a file', () => {
    const { organizations, log } = config();
    expect(organizations[0]?.token).toBe('a-token');
    expect(log.format).toBe('json');
  });

  test('the daemon is started with that configuration', () => {
    expect(faultOf(octavo.args.join(' '))).toBeNull();
    const path = octavo.args[octavo.args.indexOf('--config') + 1] ?? '';
    expect(posix.basename(path)).toBe('config.yaml');
    const volume = pod.volumes.find(({ name }) => name === mountOf(octavo, path)?.name);
    expect(volume?.configMap?.name).toBe(map.metadata.name);
  });

  test('the daemon watches the directory that git-sync fills', () => {
    const { source } = config().organizations[0] ?? {};
    const linked = posix.join(flagOf(gitSync, 'root'), flagOf(gitSync, 'link'));
    expect(source).toEqual({ directory: linked });
    expect(mountOf(octavo, linked)).toEqual({
      name: mountOf(gitSync, linked)?.name,
      mountPath: '/manifests',
      readOnly: true,
    });
  });

  test('the state is in a persistent, writable volume', () => {
    const mount = mountOf(octavo, String(config().store.path));
    expect(mount?.readOnly).toBeUndefined();
    expect(pod.volumes.find(({ name }) => name === mount?.name)?.persistentVolumeClaim?.claimName).toBe('octavo');
    expect(spec).toMatchObject({ replicas: 1, strategy: { type: 'Recreate' } });
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10);
  });

  test.each([
    ['livenessProbe', '/healthz'],
    ['readinessProbe', '/readyz'],
  ] as const)('the %s requests an existing path on an open port', async (probe, path) => {
    const { app } = createServer({ registry: createMetrics().registry, health: () => [], ready: () => [] });
    expect(octavo[probe]?.httpGet.path).toBe(path);
    expect(octavo[probe]?.timeoutSeconds).toBeGreaterThan(1);
    expect((await app.inject(path)).statusCode).toBe(200);
    const port = octavo.ports?.find(({ name }) => name === octavo[probe]?.httpGet.port);
    expect(config().server.listen).toEqual({ host: '0.0.0.0', port: port?.containerPort });
    await app.close();
  });

  test.each(pod.containers)('$name runs as non-root, with a read-only root file system and limits', (container) => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.resources.limits.memory).toMatch(/^\d+Mi$/);
    expect(container.env).toContainEqual({ name: 'HOME', value: '/tmp' });
    const others = pod.containers.filter((other) => other !== container);
    expect(others.map((other) => mountOf(other, '/tmp')?.name)).not.toContain(mountOf(container, '/tmp')?.name ?? '');
  });

  test('every mount has a volume, and the secret has a generator', () => {
    const volumes = pod.volumes.map(({ name }) => name);
    const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect(mounts.filter((name) => !volumes.includes(name))).toEqual([]);
    expect(volumes.filter((name) => !mounts.includes(name))).toEqual([]);
    const { secretGenerator } = load<{ secretGenerator: readonly { name: string; files: readonly string[] }[] }>(
      'kubernetes/kustomization.yaml',
    );
    const secret = pod.volumes.find(({ name }) => name === 'token')?.secret?.secretName;
    expect(secretGenerator.map(({ name }) => name)).toEqual([secret]);
    expect(secretGenerator[0]?.files[0]).toMatch(/^token=/);
  });
});

describe('examples/pull-request', () => {
  test.each([
    ['github.yaml', ['validate .', 'plan . --comment', 'apply . --base applied --record --yes']],
    ['gitlab.yaml', ['validate .', 'plan . --comment', 'apply . --base applied --record --yes']],
    ['gitea.yaml', ['validate .', 'plan . --comment', 'apply . --base applied --record --yes']],
    ['bitbucket.yaml', ['validate .', 'plan . --comment', 'apply . --base applied --record --yes']],
  ])('%s runs only existing commands', (name, expected) => {
    const path = `pull-request/${name}`;
    expect(parseAllDocuments(read(path)).flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
    const scripts: string[] = [];
    JSON.stringify(load(path), (key, value) => {
      if ((key === 'run' || key === 'script' || key === 'before_script') && value !== undefined) {
        scripts.push([value].flat().join('\n'));
      }
      return value;
    });
    const lines = scripts.flatMap((script) => commandLinesIn(script.replaceAll(/"\$\([^)]*\)"/g, 'COMMIT')));
    expect(lines.map((line) => [line, faultOf(line)]).filter(([, fault]) => fault !== null)).toEqual([]);
    for (const start of expected) {
      expect(
        lines.some((line) => line.startsWith(start)),
        `${start} in ${lines.join('; ')}`,
      ).toBe(true);
    }
  });
});
