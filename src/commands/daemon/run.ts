/** Command that runs the daemon, and its configuration files on disk. */
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { EXIT, type ExitCode, messageOf } from '../../core/errors.ts';
import { type ConfigurationFiles, skipIdleFiles } from '../../daemon/fleet/configuration.ts';
import { createDaemon } from '../../daemon.ts';
import { FileWatch } from '../../git/watch.ts';
import { createLogger } from '../../log.ts';
import { summaryLine } from '../../plan/render/text.ts';
import { printable } from '../../plan/render/words.ts';
import type { PassEnd } from '../../reconcile/pass.ts';
import { LogBuffer } from '../../web/model/log-buffer.ts';
import { type NamedFiles, readTrustedConfig } from '../cli/config.ts';
import { type CommandContext, untilAborted } from '../cli/context.ts';
import { createMemoryRelease, keepHeapSmall } from '../cli/small-heap.ts';
import { nextCommand } from '../plan/next-command.ts';

/** Milliseconds without a change after which the files are read. */
const SETTLE = 300;

export class DiskConfiguration implements ConfigurationFiles {
  readonly #file: string | undefined;
  readonly #context: CommandContext;
  readonly #isStrict: boolean;
  /** Secrets of all configurations that were read. */
  readonly #secrets = new Set<string>();
  #named: NamedFiles = { files: [], directories: [] };
  #watch: FileWatch | null = null;

  /**
   * `file` undefined: the configuration is in the environment, which does not change. `isStrict`: one invalid
   * organization file is an error.
   */
  constructor(file: string | undefined, context: CommandContext, { isStrict = false } = {}) {
    this.#isStrict = isStrict;
    this.#file = file;
    this.#context = context;
  }

  async read(): Promise<Config> {
    try {
      const onNamed = (named: NamedFiles) => {
        this.#named = named;
      };
      const isStrict = this.#isStrict;
      const trusted = await readTrustedConfig(this.#file, this.#context, { onNamed, isStrict });
      const config = isStrict ? trusted : skipIdleFiles(trusted);
      for (const secret of config.secrets) {
        this.#secrets.add(secret);
      }
      // The same set in every configuration, so that what redacts with it also knows the secrets of later ones.
      return { ...config, secrets: this.#secrets };
    } finally {
      await this.#watch?.set(this.#watched);
    }
  }

  async watch(onChange: () => void, onError: (error: Error) => void): Promise<void> {
    this.#watch = new FileWatch({ onChange, onError, settle: SETTLE });
    await this.#watch.set(this.#watched);
  }

  async close(): Promise<void> {
    await this.#watch?.close();
  }

  get #watched(): NamedFiles {
    const { terminal } = this.#context;
    const own = this.#file === undefined ? [] : [resolve(terminal.cwd, this.#file)];
    return { ...this.#named, files: [...own, ...this.#named.files] };
  }
}

interface RunFlags {
  readonly config?: string;
  readonly once?: boolean;
  readonly dryRun?: boolean;
}

/** Runs the daemon until the process is stopped; with `--once`, one pass of each organization and one poll of its sources. */
export async function runCommand(flags: RunFlags, context: CommandContext): Promise<ExitCode> {
  const configuration = new DiskConfiguration(flags.config, context, { isStrict: flags.once === true });
  const config = await configuration.read();
  if (config.organizations.some(({ conversations }) => conversations.sources.length > 0)) {
    keepHeapSmall();
  }
  const logBuffer = new LogBuffer();
  const onRecord = config.ui.listen === undefined ? undefined : (record: string) => logBuffer.add(record);
  const { clock, random, version, logDestination: destination } = context;
  const log = createLogger({ ...config.log, secrets: config.secrets, destination, onRecord });
  // Logs are read in other directories than that of the daemon, so commands in them need an absolute path.
  const file = flags.config === undefined ? undefined : resolve(context.terminal.cwd, flags.config);
  const approveCommand = (checksum: string) => nextCommand(['approve', checksum], { config: file });
  const dryRun = flags.dryRun === true;
  const releaseMemory = createMemoryRelease();
  const daemon = await createDaemon({
    config,
    configuration,
    clock,
    random,
    log,
    logBuffer,
    version,
    dryRun,
    approveCommand,
    releaseMemory,
  });
  const onHangup = () => {
    void daemon.reload();
    for (const organization of daemon.organizations) {
      void organization.trigger('manual');
    }
  };
  process.on('SIGHUP', onHangup);
  try {
    if (flags.once === true) {
      const areSent = await Promise.race([daemon.once(), untilAborted(context.signal).then(() => false)]);
      const outcomes = daemon.organizations.map(({ lastEnd }) => lastEnd?.outcome ?? 'failed');
      for (const { id, lastEnd } of daemon.organizations) {
        context.terminal.out(`${id}: ${lastEnd === null ? 'no pass was completed' : resultOf(lastEnd)}\n`);
      }
      return worstOf(areSent ? outcomes : [...outcomes, 'failed']);
    }
    await daemon.start();
    await untilAborted(context.signal);
    log.info('stopping: waiting for in-flight work to finish');
    return EXIT.done;
  } finally {
    process.off('SIGHUP', onHangup);
    await daemon.stop();
    log.info('octavo stopped');
  }
}

/** `done: 3 applied, 1 held`; without results, the summary of the plan, or why the pass failed. */
function resultOf({ outcome, results, plan, error }: PassEnd): string {
  const counts = Map.groupBy(results, ({ status }) => status);
  const parts = [...counts].map(([status, those]) => `${those.length} ${status}`);
  const what = parts.length > 0 ? parts.join(', ') : plan === null ? 'nothing was planned' : summaryLine(plan);
  return printable(`${outcome}: ${error === null ? what : messageOf(error)}`);
}

function worstOf(outcomes: readonly ('done' | 'held' | 'failed')[]): ExitCode {
  if (outcomes.includes('failed')) {
    return EXIT.failed;
  }
  return outcomes.includes('held') ? EXIT.held : EXIT.done;
}
