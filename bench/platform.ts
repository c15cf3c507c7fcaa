import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createState } from '../src/emulator/emulator.ts';
import { runOnce } from './measure.ts';
import type { Stage } from './stage.ts';

/** The embedded platform in a process of its own, with one organization. */
export interface Platform {
  readonly url: string;
  readonly token: string;
  readonly organization: string;
  /** Requests since the last reset. */
  requests(): Promise<Requests>;
  reset(): Promise<void>;
  limit(limits: unknown): Promise<void>;
  stop(): Promise<void>;
}

interface Requests {
  readonly total: number;
  readonly byMethod: Readonly<Record<string, number>>;
  readonly entries: readonly { readonly at: number; readonly status: number | null }[];
}

/** Milliseconds before every answer. */
export const LATENCY = 20;

/** Starts a platform with fifty people and the given number of teams and of members per team. */
export async function startPlatform(stage: Stage, teams = 0, members = 0): Promise<Platform> {
  const seed = join(stage.folder, 'seed.json');
  const people = Array.from({ length: 50 }, (_, index) => `person-${index}@bench.example`);
  const seeded = people.map((email, index) => ({ email, role: index === 0 ? ('admin' as const) : ('read' as const) }));
  const state = createState({ organizations: [{ id: 'org_bench', title: 'Bench', members: seeded }] });
  writeFileSync(seed, JSON.stringify(state));
  const child = spawn(process.execPath, [stage.octavo, 'emulate', '--latency', String(LATENCY), '--seed', seed], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  // A case that fails leaves no platform behind.
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const said = new Map<string, string>();
  for await (const line of createInterface(child.stdout)) {
    const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
    said.set(name ?? '', value ?? '');
    if (said.has('OCTAVO_ORGANIZATION')) {
      break;
    }
  }
  const [url = '', token = ''] = [said.get('OCTAVO_BASE_URL'), said.get('OCTAVO_TOKEN')];
  const control = async (method: string, path: string, body?: unknown) =>
    fetch(`${url}/_emulator/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const platform: Platform = {
    url,
    token,
    organization: 'org_bench',
    requests: async () => (await (await control('GET', 'requests')).json()) as Requests,
    reset: async () => void (await control('POST', 'requests/reset')),
    limit: async (limits) => void (await control('POST', 'limits', limits)),
    stop: async () => {
      const ended = once(child, 'exit');
      process.off('exit', end);
      end();
      await ended;
    },
  };
  if (teams > 0) {
    await runOnce(stage, floor(stage, platform, 50, 'create', `${teams}+${members}`));
  }
  await platform.reset();
  return platform;
}

/** The arguments of the floor client. */
export function floor(stage: Stage, platform: Platform, parallel: number, ...what: string[]): readonly string[] {
  const { url, token, organization } = platform;
  return [stage.program('floor'), url, token, organization, String(parallel), ...what];
}
