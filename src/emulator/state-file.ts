import { existsSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import type { EmulatorState } from './model/store.ts';

/** Changes within so many milliseconds are saved together. */
const DEBOUNCE = 100;

/** A state on disk: written beside the file and renamed over it, so that a reader never sees half of one. */
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

  /** What was saved, or undefined when nothing was yet. */
  static load(path: string): EmulatorState | undefined {
    return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as EmulatorState) : undefined;
  }

  /** Saves soon. */
  touch(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#save().catch((error: unknown) => {
        this.#failure = error;
      });
    }, DEBOUNCE);
  }

  /** Saves now, after what is being saved; fails when this or an earlier save failed. */
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
