/** A daemon in this process whose organizations are files of a directory, on a platform that has all of them. */
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandContext } from '../../../src/commands/cli/context.ts';
import { DiskConfiguration } from '../../../src/commands/daemon/run.ts';
import { type Clock, systemClock } from '../../../src/core/clock.ts';
import { createDaemon, type Daemon } from '../../../src/daemon.ts';
import { createState, type Emulator, emptyOrganization, startEmulator } from '../../../src/emulator/emulator.ts';
import { createLogger } from '../../../src/log.ts';
import type { PassEvents } from '../../../src/reconcile/pass.ts';
import { makeFolder } from '../../git/repository.ts';
import { keepLines } from '../../support/log-lines.ts';
import type { LogLine } from '../../support/octavo-process.ts';

const ANA = { email: 'ana@acme.example', role: 'admin' as const };
const TOKEN = 'a-token-that-nobody-sees';

/** Folder with a configuration file, and a platform with these organizations. */
export class DirectoryWorld implements AsyncDisposable {
  readonly folder = makeFolder();
  readonly emulator: Emulator;
  readonly #daemons: Daemon[] = [];

  private constructor(emulator: Emulator) {
    this.emulator = emulator;
    mkdirSync(join(this.folder, 'organizations'));
  }

  /** Opens a platform with these organizations; all but `others` are configured. */
  static async open(ids: readonly string[], others: readonly string[] = []): Promise<DirectoryWorld> {
    const organizations = [...ids, ...others].map((id) => emptyOrganization({ id, title: id, members: [ANA] }));
    const world = new DirectoryWorld(await startEmulator({ token: TOKEN, seed: createState({ organizations }) }));
    world.configure();
    for (const id of ids) {
      world.addOrganization(id);
    }
    return world;
  }

  /** Replaces a file at once, as editors and deployments do. */
  write(path: string, content: string): void {
    const file = join(this.folder, path);
    mkdirSync(join(file, '..'), { recursive: true });
    writeFileSync(`${file}.tmp`, content);
    renameSync(`${file}.tmp`, file);
  }

  remove(path: string): void {
    rmSync(join(this.folder, path));
  }

  /** Writes the configuration of an organization, with a team as its manifest. */
  addOrganization(id: string, settings = ''): void {
    this.write(`manifests/${id}/teams.yaml`, `teams: { ${id}: { title: Team of ${id} } }\n`);
    this.write(`organizations/${id}.yaml`, `id: ${id}\nsource: { directory: manifests/${id} }\n${settings}`);
  }

  configure(settings: Readonly<Record<string, unknown>> = {}): void {
    const platform = { baseUrl: this.emulator.url, token: TOKEN };
    const server = { listen: '127.0.0.1:0' };
    const organizations = { directory: 'organizations' };
    this.write('config.yaml', JSON.stringify({ platform, server, organizations, ...settings }));
  }

  /** Titles of the teams of an organization on the platform. */
  async teams(id: string): Promise<readonly string[]> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`${this.emulator.url}/v1/orgs/${id}/teams`, { headers });
    return ((await answer.json()) as { items: { title: string }[] }).items.map(({ title }) => title);
  }

  /** Context of a command in the folder. `out` receives what it prints. */
  context(out: (text: string) => void = () => undefined): CommandContext {
    return { terminal: { cwd: this.folder, env: {}, out }, version: '1.2.3' } as unknown as CommandContext;
  }

  async start(clock: Clock = systemClock): Promise<DirectoryDaemon> {
    const log: LogLine[] = [];
    const context = this.context();
    const configuration = new DiskConfiguration('config.yaml', context);
    const config = await configuration.read();
    const openings: string[] = [];
    const ended: string[] = [];
    const listeners = (id: string): PassEvents[] => {
      openings.push(id);
      return [{ onPassEnd: ({ outcome }) => ended.push(`${id} ${outcome}`) }];
    };
    const daemon = await createDaemon({
      ...{ config, configuration, clock, random: Math.random, version: '1.2.3', dryRun: false, listeners },
      log: createLogger({ level: 'info', format: 'json', secrets: config.secrets, destination: keepLines(log) }),
    });
    this.#daemons.push(daemon);
    await daemon.start();
    return { daemon, log, openings, ended };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#daemons.map((daemon) => daemon.stop()));
    await this.emulator.close();
    rmSync(this.folder, { recursive: true });
  }
}

export interface DirectoryDaemon {
  readonly daemon: Daemon;
  readonly log: readonly LogLine[];
  /** Ids of organizations, once for each time that one was opened. */
  readonly openings: readonly string[];
  /** Ids and outcomes of passes. */
  readonly ended: readonly string[];
}
