/** The embedded platform in a process of its own, with one organization. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createState } from '../src/emulator/emulator.ts';
import { runOnce, startProcess } from './measure.ts';
import type { CaseContext } from './runner.ts';

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
  readonly entries: readonly RequestEntry[];
}

export interface RequestEntry {
  /** Milliseconds. */
  readonly at: number;
  readonly status: number | null;
  readonly operation: string;
}

/** Milliseconds before every answer. */
export const LATENCY = 20;

/** Starts a platform with fifty people in each organization, and the given number of teams and of members per team. */
export async function startPlatform(
  context: CaseContext,
  teams = 0,
  members = 0,
  organizations: readonly string[] = ['org_bench'],
): Promise<Platform> {
  const seed = join(context.folder, 'seed.json');
  const people = Array.from({ length: 50 }, (_, index) => `person-${index}@bench.example`);
  const seeded = people.map((email, index) => ({ email, role: index === 0 ? ('admin' as const) : ('read' as const) }));
  const state = createState({ organizations: organizations.map((id) => ({ id, title: 'Bench', members: seeded })) });
  writeFileSync(seed, JSON.stringify(state));
  const args = [context.installed.octavo, 'emulate', '--latency', String(LATENCY), '--seed', seed];
  const child = startProcess(context, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exports = new Map<string, string>();
  for await (const line of child.stdout === null ? [] : createInterface(child.stdout)) {
    const [, name, value] = /^export (\w+)=(.*)$/.exec(line) ?? [];
    exports.set(name ?? '', value ?? '');
    if (exports.has('OCTAVO_ORGANIZATION')) {
      break;
    }
  }
  const [url = '', token = ''] = [exports.get('OCTAVO_BASE_URL'), exports.get('OCTAVO_TOKEN')];
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
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
  if (teams > 0) {
    await runOnce(context, peer(context, platform, 'http', 50, 'create', `${teams}+${members}`));
  }
  await platform.reset();
  return platform;
}

/** Returns the arguments of a client that sends the same requests as Octavo. */
export function peer(
  context: CaseContext,
  { url, token, organization }: Pick<Platform, 'url' | 'token' | 'organization'>,
  transport: 'http' | 'undici' | 'vendor',
  parallel: number,
  ...what: readonly string[]
): readonly string[] {
  return [context.installed.program('peer'), transport, url, token, organization, String(parallel), ...what];
}
