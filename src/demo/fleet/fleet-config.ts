/** Organizations, manifests and configurations of the demonstration of a fleet. */
import { createHash } from 'node:crypto';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createState, type EmulatorOptions } from '../../emulator/emulator.ts';

/** Each has a token, so that each can have another owner. */
export const ORGANIZATIONS = ['api', 'cloud', 'design', 'edge', 'finance', 'games', 'health', 'identity', 'jobs'];
/** Length of a lease in seconds. */
export const LEASE_SECONDS = 5;
/** Token for the web pages, which only this machine can open. */
export const PAGE_TOKEN = 'demo';

const PERSON = 'ana@acme.example';
const tokenOf = (organization: string) => `token-of-${organization}`;

/** Returns the options of a platform with all organizations. */
export function platformOptions(): Pick<EmulatorOptions, 'seed' | 'tokens'> {
  const members = [{ email: PERSON, role: 'admin' as const }];
  const caller = { user: PERSON, permission: 'admin' as const };
  return {
    seed: createState({ organizations: ORGANIZATIONS.map((id) => ({ id, title: id, members })) }),
    tokens: Object.fromEntries(ORGANIZATIONS.map((id) => [tokenOf(id), caller])),
  };
}

/** Writes the manifests of an organization; `edition` is part of the title of a team. */
export async function writeManifests(directory: string, organization: string, edition: number): Promise<void> {
  const own = join(directory, organization);
  await mkdir(own, { recursive: true });
  const next = join(own, '.teams.yaml.next');
  await writeFile(next, `teams:\n  writers: { title: Writers ${edition} }\n  reviewers: { title: Reviewers }\n`);
  await rename(next, join(own, 'teams.yaml'));
}

/** Returns the configuration of one replica as JSON, which is YAML. */
export function replicaConfig(paths: {
  readonly platform: string;
  readonly store: string;
  readonly manifests: string;
  readonly runtime: string;
}): string {
  return JSON.stringify({
    platform: { baseUrl: paths.platform, timeout: '1s' },
    organizations: ORGANIZATIONS.map((id) => ({
      id,
      token: tokenOf(id),
      source: { directory: join(paths.manifests, id) },
    })),
    store: paths.store,
    fleet: { lease: `${LEASE_SECONDS}s` },
    runtime: { directory: paths.runtime },
    server: { listen: '127.0.0.1:0' },
    ui: {
      listen: '127.0.0.1:0',
      tokens: [{ name: PERSON, sha256: createHash('sha256').update(PAGE_TOKEN).digest('hex') }],
      roles: [{ role: 'approver', people: ['*'] }],
    },
    log: { level: 'info', format: 'json' },
  });
}
