/** A daemon whose organizations are hostile repositories and directories. */
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { createState } from '../../src/emulator/organizations/seed.ts';
import { pickCases } from '../support/campaign.ts';
import { eventually, type OctavoProcess } from '../support/octavo-process.ts';
import { openWorkspace } from '../support/workspace.ts';
import { mustHaveNoCanary } from './commands.ts';
import { fileAttacks } from './file-attacks.ts';
import { gitAttacks } from './git-attacks.ts';
import { recordRequests } from './recording-proxy.ts';
import { type Attack, CANARIES, type Canary, Scene } from './scene.ts';
import { textAttacks } from './text-attacks.ts';
import { treeAttacks } from './tree-attacks.ts';

const throughGit: readonly Attack[] = [...gitAttacks, ...treeAttacks, ...fileAttacks];
/** Milliseconds within which the daemon answers half of the requests, and nearly all of them, on a busy machine. */
const ANSWERS = { median: 200, most: 3000 };
/** Seconds within which every organization had a pass: git alone needs five to list one of the commits. */
const PASSES = 100;

/** Milliseconds of each request for health and metrics until every organization had a pass. */
async function untilReady(address: string): Promise<readonly number[]> {
  const times: number[] = [];
  await eventually(
    'a pass of every organization',
    async () => {
      for (const path of ['/healthz', '/metrics']) {
        const asked = performance.now();
        expect((await fetch(`${address}${path}`)).status).toBe(200);
        times.push(performance.now() - asked);
      }
      return (await fetch(`${address}/readyz`)).status === 200;
    },
    PASSES,
  );
  return times.toSorted((a, b) => a - b);
}

async function stop(daemon: OctavoProcess, address: string): Promise<string> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  const { code, stdout, stderr } = await daemon.stop();
  expect(code).toBe(0);
  return stdout + stderr + metrics;
}

const scene = new Scene();
const roots = new Map<Attack, string>();
afterAll(() => scene.remove());

/** Repository of an attack. */
function rootOf(attack: Attack): string {
  const root = roots.get(attack) ?? scene.make(attack, `r${roots.size}`);
  roots.set(attack, root);
  return root;
}

/** Runs a daemon with one organization for each attack until each had a pass. */
async function checkAttacks(
  attacks: readonly Attack[],
  source: (root: string, folder: string) => object,
  permitted: readonly Canary[] = [],
): Promise<void> {
  const ids = attacks.map((_, index) => `org_${index}`);
  const members = [{ email: 'ana@acme.example', role: 'admin' as const }];
  const seed = createState({ organizations: ids.map((id) => ({ id, title: 'Acme', members })) });
  await using work = await openWorkspace({ seed, token: CANARIES.environment });
  const recording = await recordRequests(work.emulator.url);
  const organizations = attacks.map((attack, index) => ({
    id: `org_${index}`,
    schedule: { drift: '0 0 1 1 *' },
    source: source(rootOf(attack), attack.folder ?? 'manifests'),
  }));
  const platform = { baseUrl: recording.url, token: CANARIES.environment };
  const daemon = work.begin('run', '--config', work.configure({ top: { organizations, platform } }));
  const address = String((await daemon.waitForLog('octavo is running')).address);
  const times = await untilReady(address);
  expect(times[Math.floor(times.length / 2)]).toBeLessThan(ANSWERS.median);
  expect(times[Math.floor(times.length * 0.98)]).toBeLessThan(ANSWERS.most);
  expect(daemon.logged('pass completed', '"outcome":"done"').length).toBeGreaterThan(attacks.length / 4);
  mustHaveNoCanary((await stop(daemon, address)) + recording.text(), permitted);
  expect(scene.ran()).toEqual([]);
  await recording.close();
}

test('a daemon with hostile directories runs no command, reveals no secret and stays healthy', async () => {
  // A directory source needs no git, so a file counts as part of the folder whether or not it is committed.
  await checkAttacks(
    pickCases([...throughGit, ...textAttacks], 16, 40),
    (root, folder) => ({ directory: join(root, folder) }),
    ['untracked'],
  );
}, 150_000);

test('a daemon with hostile repositories runs no command, reveals no secret and stays healthy', async () => {
  await checkAttacks(pickCases(throughGit, 12, 24), (root, folder) => ({
    git: { url: root, path: folder, pollInterval: '1h' },
  }));
}, 150_000);
