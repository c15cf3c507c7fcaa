/** Writes the manifests and configurations of the benchmark. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Platform } from './platform.ts';

/** Writes manifests of N teams, in one file or one file each, and returns their directory. */
export function writeTeams(folder: string, count: number, options: { members?: number; single: boolean }): string {
  mkdirSync(folder, { recursive: true });
  const entries = Array.from({ length: count }, (_, index) => teamEntry(index, options.members ?? 0));
  if (options.single) {
    writeFileSync(join(folder, 'teams.yaml'), `teams:\n${entries.join('')}`);
    return folder;
  }
  for (const [index, entry] of entries.entries()) {
    const part = join(folder, `part-${Math.floor(index / 100)}`);
    mkdirSync(part, { recursive: true });
    writeFileSync(join(part, `team-${index}.yaml`), `teams:\n${entry}`);
  }
  return folder;
}

/** The same teams that the floor client creates. */
function teamEntry(index: number, members: number): string {
  const people = Array.from(
    { length: members },
    (_, at) => `      person-${(index + at) % 50}@bench.example: member\n`,
  );
  return `  team-${index}:\n    title: Team ${index}\n${members === 0 ? '' : `    members:\n${people.join('')}`}`;
}

/** Writes one site of N site spaces, and their spaces, in one file, and returns its directory. */
export function writeSite(folder: string, count: number): string {
  mkdirSync(folder, { recursive: true });
  const each = (line: (index: number) => string) => Array.from({ length: count }, (_, index) => line(index)).join('');
  const spaces = each((index) => `  s${index}: { title: Space ${index} }\n`);
  const structure = each((index) => `      - { key: k${index}, space: s${index}, path: p${index} }\n`);
  const site = `sites:\n  help:\n    title: Help\n    structure:\n${structure}`;
  writeFileSync(join(folder, 'site.yaml'), `spaces:\n${spaces}${site}`);
  return folder;
}

/** Writes files of 17 lines and about 310 bytes, a hundred to a folder. */
export function writeFiles(folder: string, count: number): string {
  for (let index = 0; index < count; index += 1) {
    const part = join(folder, `part-${Math.floor(index / 100)}`);
    mkdirSync(part, { recursive: true });
    const people = Array.from({ length: 13 }, (_, at) => `      p${(index + at) % 100}@acme.example: member\n`);
    const text = `teams:\n  team-${index}:\n    title: Team ${index}\n    members:\n${people.join('')}`;
    writeFileSync(join(part, `team-${index}.yaml`), text);
  }
  return folder;
}

/** Writes a configuration and returns its path. */
export function writeConfig(path: string, platform: Platform, parallel: number, directory: string): string {
  writeFileSync(path, JSON.stringify(configOf(platform, parallel, directory)));
  return path;
}

/** Settings of a daemon in addition to those of every benchmark. */
export interface DaemonSettings {
  /** Organizations; default: the one of the platform. */
  readonly organizations?: readonly string[];
  /** Serves the web page. */
  readonly ui?: boolean;
}

/** Writes the configuration of a daemon whose passes are triggered by the benchmark; its log shows when they end. */
export function writeDaemonConfig(
  path: string,
  platform: Platform,
  directory: string,
  { organizations = [platform.organization], ui = false }: DaemonSettings = {},
): string {
  const config = {
    ...configOf(platform, 10, directory),
    organizations: organizations.map((id) => ({ id, source: { directory }, schedule: { drift: '0 0 1 1 *' } })),
    store: { path: `${path}.db` },
    server: { listen: '127.0.0.1:0' },
    ...(ui ? { ui: { listen: '127.0.0.1:0' } } : {}),
    log: { level: 'debug', format: 'json' },
  };
  writeFileSync(path, JSON.stringify(config));
  return path;
}

/** JSON is YAML. */
function configOf(platform: Platform, parallel: number, directory: string) {
  return {
    platform: { baseUrl: platform.url, token: platform.token },
    organizations: [{ id: platform.organization, source: { directory } }],
    queue: { concurrency: parallel },
  };
}
