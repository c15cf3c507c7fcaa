/** Reads the configuration again while the daemon runs, when its files change or somebody asks for it. */

import { type Config, compareConfigs, keepLastValid, type OrganizationConfig } from '../../config/config.ts';
import type { InvalidFile } from '../../config/document.ts';
import { ConfigError, messageOf } from '../../core/errors.ts';
import type { ConfigurationProblem } from '../../web/model/configuration.ts';
import type { DaemonContext } from '../organization/feature.ts';

/** Files of a configuration. */
export interface ConfigurationFiles {
  /** Reads the configuration again. Throws ConfigError. */
  read(): Promise<Config>;
  /** Calls back after the files have changed, until `close`. Resolves once every later change will be noticed. */
  watch(onChange: () => void, onError: (error: Error) => void): Promise<void>;
  close(): Promise<void>;
}

export class Configuration {
  readonly #context: Pick<DaemonContext, 'log' | 'clock' | 'events'>;
  readonly #files: ConfigurationFiles;
  readonly #configure: (config: Config) => Promise<void>;
  #config: Config;
  #problem: ConfigurationProblem | null = null;
  /** Time at which the configuration in use was read. */
  #usedSince: number;
  /** Changed settings that were reported. */
  #needRestart = '';
  #isWanted = false;
  #running: Promise<void> | null = null;
  #isClosed = false;

  /** `configure` uses the organizations of a configuration. Those that are the same object as before have not changed. */
  constructor(context: DaemonContext, files: ConfigurationFiles, configure: (config: Config) => Promise<void>) {
    this.#context = context;
    this.#files = files;
    this.#configure = configure;
    this.#config = context.config;
    this.#usedSince = context.clock.now();
    this.#problem = this.#describe(reasonOf(context.config.invalidFiles), true);
  }

  get problem(): ConfigurationProblem | null {
    return this.#problem;
  }

  /** Watches the files, until `close`. */
  async start(): Promise<void> {
    const { log, events } = this.#context;
    if (this.#problem !== null) {
      this.#logProblem(this.#problem);
      events.publish.onConfigurationProblem?.();
    }
    await this.#files.watch(
      () => void this.reload(),
      (error) => log.warn({ reason: error.message }, 'changes of the configuration are not noticed; send SIGHUP'),
    );
  }

  /** Reads the files again, and applies what has changed. Calls meanwhile cause one further run. Never rejects. */
  async reload(): Promise<void> {
    this.#isWanted = true;
    this.#running ??= this.#run();
    await this.#running;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
    await this.#files.close();
  }

  async #run(): Promise<void> {
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        const config = await this.#files.read();
        await this.#apply(config);
        this.#usedSince = this.#context.clock.now();
        this.#report(reasonOf(config.invalidFiles), true);
      } catch (error) {
        this.#report(messageOf(error), false);
      }
    }
    this.#running = null;
  }

  /** Uses what has changed. Throws ConfigError. */
  async #apply(read: Config): Promise<void> {
    const { log } = this.#context;
    requireWork(read);
    const config = keepLastValid(this.#config, read);
    const { organizationFiles, invalidFiles } = config;
    const isComplete = invalidFiles.length === 0 && this.#config.invalidFiles.length > 0;
    const { organizations, added, removed, changed, needRestart } = compareConfigs(this.#config, config);
    if (needRestart.join() !== this.#needRestart) {
      this.#needRestart = needRestart.join();
      if (needRestart.length > 0) {
        log.warn({ settings: needRestart }, 'changed settings are used after a restart');
      }
    }
    const hasChanged = added.length + removed.length + changed.length > 0;
    if (hasChanged) {
      log.info({ added, removed, changed }, 'the organizations of the configuration have changed');
    }
    this.#config = { ...this.#config, organizations, organizationFiles, invalidFiles };
    if (hasChanged || isComplete) {
      await this.#configure(this.#config);
    }
  }

  #report(reason: string | null, isPartial: boolean): void {
    const before = this.#problem;
    if (reason === (before?.reason ?? null) && (reason === null || isPartial === before?.isPartial)) {
      return;
    }
    this.#problem = this.#describe(reason, isPartial);
    if (this.#problem === null) {
      this.#context.log.info('the configuration can be used again');
    } else {
      this.#logProblem(this.#problem);
    }
    this.#context.events.publish.onConfigurationProblem?.();
  }

  #describe(reason: string | null, isPartial: boolean): ConfigurationProblem | null {
    const since = this.#problem?.since ?? this.#context.clock.now();
    return reason === null ? null : { reason, since, usedSince: this.#usedSince, isPartial };
  }

  #logProblem({ reason, isPartial }: ConfigurationProblem): void {
    const message = isPartial
      ? 'organization files cannot be used; their organizations keep their last valid settings; those that have none do not run'
      : 'the new configuration cannot be used; the earlier one stays in use';
    this.#context.log.error({ problems: reason.split('\n') }, message);
  }
}

function reasonOf(files: readonly InvalidFile[]): string | null {
  return files.length === 0 ? null : files.flatMap(({ problems }) => problems).join('\n');
}

/** Throws ConfigError if an organization has nothing to do. */
export function requireWork({ organizations }: Pick<Config, 'organizations'>): void {
  const idle = organizations.find((organization) => !hasWork(organization));
  if (idle !== undefined) {
    throw new ConfigError(problemOf(idle));
  }
}

/** Returns the configuration without the organization files that enable nothing, unless no valid file would be left. */
export function skipIdleFiles(config: Config): Config {
  const idle = config.organizations.filter((each) => !hasWork(each) && config.organizationFiles.has(each.id));
  if (idle.length === 0 || idle.length === config.organizationFiles.size) {
    return config;
  }
  const invalid = idle.map((each) => {
    const file = config.organizationFiles.get(each.id) ?? '';
    return { file, id: each.id, problems: [`${file}:1:1: ${problemOf(each)}`] };
  });
  const ids = new Set(idle.map(({ id }) => id));
  return {
    ...config,
    organizations: config.organizations.filter(({ id }) => !ids.has(id)),
    organizationFiles: new Map([...config.organizationFiles].filter(([id]) => !ids.has(id))),
    invalidFiles: [...config.invalidFiles, ...invalid],
  };
}

function problemOf({ id }: OrganizationConfig): string {
  return `organization ${id} has nothing to do; set source.git.url or source.directory, conversations.sources, or clusters.enabled for it in the configuration`;
}

function hasWork({ source, conversations, clusters }: OrganizationConfig): boolean {
  return source !== null || conversations.sources.length > 0 || clusters.enabled;
}
