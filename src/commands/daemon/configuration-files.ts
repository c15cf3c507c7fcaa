/** Files of the daemon's configuration on disk. */

import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { ConfigurationFiles } from '../../daemon/fleet/configuration.ts';
import { skipIdleFiles } from '../../daemon/fleet/require-work.ts';
import { FileWatch } from '../../git/watch.ts';
import { type NamedFiles, readTrustedConfig } from '../cli/config.ts';
import type { CommandContext } from '../cli/context.ts';

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
