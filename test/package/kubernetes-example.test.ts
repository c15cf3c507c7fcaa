/** Checks the objects of `examples/kubernetes`, rendered together with the Kustomize base that it extends. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/load.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { createMetrics } from '../../src/server/metrics.ts';
import { createServer } from '../../src/server/server.ts';
import { type KubernetesObjects, kubectl, kustomize } from './kubernetes.ts';
import { copyInto } from './pruned.ts';

const EXAMPLE = 'examples/kubernetes';
const BASE = 'deploy/kustomize/sqlite';
const TOKEN = 'a-token\n';

interface Mount {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
}

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly volumeMounts: readonly Mount[];
}

interface Volume {
  readonly name: string;
  readonly projected?: { readonly sources: readonly { readonly configMap: { readonly name: string } }[] };
  readonly secret?: { readonly secretName: string; readonly defaultMode: number };
}

interface StatefulSetSpec {
  readonly replicas: number;
  readonly template: {
    readonly spec: {
      readonly terminationGracePeriodSeconds: number;
      readonly containers: readonly Container[];
      readonly volumes: readonly Volume[];
    };
  };
  readonly volumeClaimTemplates: readonly { readonly metadata: { readonly name: string } }[];
}

const specOf = (objects: KubernetesObjects) => objects.get('StatefulSet/octavo')?.spec as unknown as StatefulSetSpec;

/** The mount that contains a path of a container. */
function mountOf(container: Container, path: string): Mount | undefined {
  return container.volumeMounts.find(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`));
}

const flagOf = (container: Container, flag: string) =>
  container.args.find((each) => each.startsWith(`--${flag}=`))?.slice(flag.length + 3) ?? '';

describe.runIf(kubectl !== '')(EXAMPLE, () => {
  let folder: string;
  let base: KubernetesObjects;
  let objects: KubernetesObjects;
  let spec: StatefulSetSpec;
  let pod: StatefulSetSpec['template']['spec'];
  let octavo: Container;
  let gitSync: Container;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'octavo-kubernetes-'));
    // Nothing else of the repository, as in the published package.
    copyInto(folder, [EXAMPLE, BASE]);
    writeFileSync(join(folder, EXAMPLE, 'token.txt'), TOKEN);
    base = kustomize(join(folder, BASE));
    objects = kustomize(join(folder, EXAMPLE));
    spec = specOf(objects);
    pod = spec.template.spec;
    [octavo, gitSync] = ['octavo', 'git-sync'].map(containerOf) as [Container, Container];
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const containerOf = (name: string) => pod.containers.find((container) => container.name === name) as Container;
  const volumeOf = (name: string | undefined) => pod.volumes.find((volume) => volume.name === name);
  const fileOf = (map: string, file: string) => objects.get(`ConfigMap/${map}`)?.data?.[file] ?? '';
  const config = () =>
    loadConfig({
      text: fileOf('octavo-config', 'config.yaml'),
      file: '/etc/octavo/config.yaml',
      env: {},
      readFile: (path) => {
        const { secretName = '' } = volumeOf(mountOf(octavo, path)?.name)?.secret ?? {};
        const { data = {} } = objects.get(`Secret/${secretName}`) ?? {};
        return Buffer.from(data[posix.basename(path)] ?? '', 'base64').toString();
      },
      readDirectory: (path) => {
        const [source] = volumeOf(mountOf(octavo, path)?.name)?.projected?.sources ?? [];
        return new Map(Object.entries(objects.get(`ConfigMap/${source?.configMap.name}`)?.data ?? {}));
      },
      kinds,
    });

  test('has the objects of the base, its Secret and its namespace', () => {
    expect([...objects.keys()].sort()).toEqual([...base.keys(), 'Namespace/octavo', 'Secret/octavo-token'].sort());
    const namespaces = [...objects.values()].filter(({ kind }) => kind !== 'Namespace').map((each) => each.metadata);
    expect(new Set(namespaces.map(({ namespace }) => namespace))).toEqual(new Set(['octavo']));
    expect(objects.get('Namespace/octavo')?.metadata.labels).toEqual({
      'pod-security.kubernetes.io/enforce': 'restricted',
    });
  });

  test('changes only the volumes and mounts of the daemon, and its image', () => {
    const before = specOf(base).template.spec;
    const [daemon] = before.containers;
    const { volumeMounts, image, ...rest } = octavo;
    expect(daemon).toMatchObject(rest);
    expect(volumeMounts).toEqual(expect.arrayContaining([...(daemon?.volumeMounts ?? [])]));
    expect(volumeMounts).toHaveLength((daemon?.volumeMounts.length ?? 0) + 1);
    expect(image).toMatch(/^registry\.example\/octavo@sha256:[0-9a-f]{64}$/);
    expect(pod.containers.map(({ name }) => name)).toEqual(['octavo', 'git-sync']);
    expect({ ...pod, containers: [], volumes: [] }).toEqual({ ...before, containers: [], volumes: [] });
  });

  test('the configuration loads and reads the token from the Secret', () => {
    const { organizations, log, platform } = config();
    expect(organizations.map(({ id, token }) => [id, token])).toEqual([['org_1', TOKEN.trim()]]);
    expect(log.format).toBe('json');
    expect(platform.user).toBe('octavo@acme.example');
    expect(volumeOf('secrets')?.secret).toEqual({ secretName: 'octavo-token', defaultMode: 0o440 });
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
    expect(spec.volumeClaimTemplates.map(({ metadata }) => metadata.name)).toEqual([mount?.name]);
    expect(spec.replicas).toBe(1);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(10);
  });

  test.each([
    ['livenessProbe', '/healthz'],
    ['readinessProbe', '/readyz'],
  ] as const)('the %s requests an existing path on an open port', async (probe, path) => {
    const { app } = createServer({ registry: createMetrics().registry, ready: () => [] });
    expect((await app.inject(path)).statusCode).toBe(200);
    const ports = expect.arrayContaining([{ name: 'http', containerPort: 8080 }]);
    expect(octavo).toMatchObject({ [probe]: { httpGet: { path, port: 'http' }, timeoutSeconds: 5 }, ports });
    expect(config().server.listen).toEqual({ host: '0.0.0.0', port: 8080 });
    await app.close();
  });

  test.each(['octavo', 'git-sync'])('%s runs as non-root, with a read-only root file system and limits', (name) => {
    const container = containerOf(name);
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(container).toMatchObject({
      securityContext: {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      },
      resources: { limits: { memory: expect.stringMatching(/^\d+Mi$/) } },
      env: [{ name: 'HOME', value: '/tmp' }],
    });
    const others = pod.containers.filter((other) => other !== container);
    expect(others.map((other) => mountOf(other, '/tmp')?.name)).not.toContain(mountOf(container, '/tmp')?.name ?? '');
  });

  test('every mount has a volume, and every volume is mounted', () => {
    const claims = spec.volumeClaimTemplates.map(({ metadata }) => metadata.name);
    const volumes = [...pod.volumes.map(({ name }) => name), ...claims];
    const mounts = pod.containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name));
    expect([...new Set(mounts)].sort()).toEqual(volumes.sort());
  });
});
