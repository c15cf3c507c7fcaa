// The file that keeps the state between runs.

import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { EmulatorState } from './model/store.ts';

/** Milliseconds within which changes are saved together. */
const DEBOUNCE = 100;

/** A state on disk. It is written to a temporary file and renamed, so that readers never see a partial file. */
export class StateFile {
  readonly #path: string;
  readonly #dump: () => EmulatorState;
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();
  #failure: unknown;

  constructor(path: string, dump: () => EmulatorState) {
    this.#path = path;
    this.#dump = dump;
  }

  /** Loads the saved state; undefined if there is none. */
  static load(path: string): EmulatorState | undefined {
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as EmulatorState) : undefined;
  }

  /** Schedules a save. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save().catch((error: unknown) => {
        this.#failure = error;
      });
    }, DEBOUNCE);
  }

  /** Saves now, after any save in progress. Rejects if this or an earlier save failed. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#save();
    if (this.#failure !== undefined) {
      throw this.#failure;
    }
  }

  #save(): Promise<void> {
    const write = async () => {
      const temporary = `${this.#path}.${process.pid}.tmp`;
      await writeFile(temporary, JSON.stringify(this.#dump()));
      await rename(temporary, this.#path);
    };
    this.#saving = this.#saving.then(write, write);
    return this.#saving;
  }
}
