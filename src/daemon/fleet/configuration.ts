/** Reads the configuration again while the daemon runs, when its files change or somebody asks for it. */
import { compareConfigs } from '../../config/changes.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import { messageOf } from '../../core/errors.ts';
import type { Logger } from '../../log.ts';
import type { ConfigurationProblem } from '../../views/model/configuration-problem.ts';
import { requireWork } from './require-work.ts';

/** Files of a configuration. */
export interface ConfigurationFiles {
  /** Reads the configuration again. Throws ConfigError. */
  read(): Promise<Config>;
  /** Calls back after the files have changed, until `close`. Resolves once every later change will be noticed. */
  watch(onChange: () => void, onError: (error: Error) => void): Promise<void>;
  close(): Promise<void>;
}

export interface ConfigurationOptions {
  readonly files: ConfigurationFiles;
  /** Configuration in use. */
  readonly config: Config;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
  /** Uses the organizations of a configuration. Those that are the same object as before have not changed. */
  readonly configure: (config: Config) => Promise<void>;
  /** Called when the files can no longer be used, or can be used again. */
  readonly onProblem: () => void;
}

export class Configuration {
  readonly #options: ConfigurationOptions;
  #config: Config;
  #problem: ConfigurationProblem | null = null;
  /** Time at which the configuration in use was read. */
  #usedSince: number;
  /** Changed settings that were reported. */
  #needRestart = '';
  #isWanted = false;
  #running: Promise<void> | null = null;
  #isClosed = false;

  constructor(options: ConfigurationOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#usedSince = options.clock.now();
  }

  get problem(): ConfigurationProblem | null {
    return this.#problem;
  }

  /** Watches the files, until `close`. */
  async start(): Promise<void> {
    const { files, log } = this.#options;
    await files.watch(
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
    await this.#options.files.close();
  }

  async #run(): Promise<void> {
    const { files } = this.#options;
    while (this.#isWanted && !this.#isClosed) {
      this.#isWanted = false;
      try {
        await this.#apply(await files.read());
        this.#usedSince = this.#options.clock.now();
        this.#report(null);
      } catch (error) {
        this.#report(messageOf(error));
      }
    }
    this.#running = null;
  }

  /** Uses what has changed. Throws ConfigError. */
  async #apply(config: Config): Promise<void> {
    const { log, configure } = this.#options;
    requireWork(config);
    const { organizations, added, removed, changed, needRestart } = compareConfigs(this.#config, config);
    if (needRestart.join() !== this.#needRestart) {
      this.#needRestart = needRestart.join();
      if (needRestart.length > 0) {
        log.warn({ settings: needRestart }, 'changed settings are used after a restart');
      }
    }
    if (added.length + removed.length + changed.length > 0) {
      log.info({ added, removed, changed }, 'the organizations of the configuration have changed');
      this.#config = { ...this.#config, organizations };
      await configure(this.#config);
    }
  }

  #report(reason: string | null): void {
    const { log, clock, onProblem } = this.#options;
    const before = this.#problem;
    if (reason === (before?.reason ?? null)) {
      return;
    }
    this.#problem =
      reason === null ? null : { reason, since: before?.since ?? clock.now(), usedSince: this.#usedSince };
    if (reason === null) {
      log.info('the configuration can be used again');
    } else {
      log.error({ problems: reason.split('\n') }, 'the new configuration cannot be used; the earlier one stays in use');
    }
    onProblem();
  }
}

/** Opens the configuration of a daemon; null if it is not read again. */
export function openConfiguration(
  {
    configuration: files,
    ...options
  }: Pick<ConfigurationOptions, 'config' | 'clock' | 'log'> & {
    readonly configuration?: ConfigurationFiles;
  },
  listeners: Pick<ConfigurationOptions, 'configure' | 'onProblem'>,
): Configuration | null {
  return files === undefined ? null : new Configuration({ ...options, ...listeners, files });
}
