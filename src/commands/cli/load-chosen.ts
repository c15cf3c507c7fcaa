/** Loads a configuration with the files and directories that it names. */
import { resolve } from 'node:path';
import type { Config } from '../../config/config.ts';
import { type LoadConfigOptions, loadConfig } from '../../config/load.ts';
import { kinds } from '../../kinds/registry.ts';
import type { ConfigSource } from './config-source.ts';

/** Files that a configuration names, and directories whose files it reads, as absolute paths. */
export interface NamedFiles {
  readonly files: readonly string[];
  readonly directories: readonly string[];
}

/** Replaces values that are not read; valid as a text, as a secret and as an address that never resolves. */
export const PLACEHOLDER = 'https://not-read.invalid';

/** Settings of `loadChosenConfig`. */
export interface LoadChosenSettings extends Pick<LoadConfigOptions, 'file' | 'env' | 'omit' | 'skipInvalidFiles'> {
  /** Called before the configuration is checked. */
  readonly onNamed?: ((named: NamedFiles) => void) | undefined;
}

/** Contents that were read, or errors, by absolute path. */
class Contents<T> {
  readonly #read: (path: string) => Promise<T> | T;
  readonly #contents = new Map<string, { readonly value: T } | { readonly error: unknown }>();
  readonly #wanted = new Set<string>();
  readonly #otherwise: T;

  constructor(read: (path: string) => Promise<T> | T, otherwise: T) {
    this.#read = read;
    this.#otherwise = otherwise;
  }

  get paths(): readonly string[] {
    return [...this.#contents.keys()];
  }

  /** Returns a content; what was not read yet is read by `fetch`. Throws if it cannot be read. */
  get(path: string): T {
    const found = this.#contents.get(path);
    if (found === undefined) {
      this.#wanted.add(path);
      return this.#otherwise;
    }
    if ('error' in found) {
      throw found.error;
    }
    return found.value;
  }

  /** Reads what was asked for. Returns false if nothing was. */
  async fetch(): Promise<boolean> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    for (const path of wanted) {
      try {
        this.#contents.set(path, { value: await this.#read(path) });
      } catch (error) {
        this.#contents.set(path, { error });
      }
    }
    return wanted.length > 0;
  }
}

/**
 * Loads a configuration. Loading asks for files synchronously, so it is repeated with those that were missing until none
 * is: first the directories, then what their files name. Throws ConfigError.
 */
export async function loadChosenConfig(
  source: ConfigSource,
  { onNamed, ...settings }: LoadChosenSettings,
): Promise<Config> {
  const { text, folder, trust } = source;
  const files = new Contents<string>(source.read, PLACEHOLDER);
  const directories = new Contents<ReadonlyMap<string, string | Error>>(source.readDirectory, new Map());
  for (;;) {
    const loaded = tryLoad({
      ...{ ...settings, text, folder, trust, kinds },
      readFile: (path) => files.get(resolve(folder, path)),
      readDirectory: (path) => directories.get(path),
    });
    const hasRead = [await files.fetch(), await directories.fetch()];
    if (hasRead.includes(true)) {
      continue;
    }
    onNamed?.({ files: files.paths, directories: directories.paths });
    if (loaded.config === null) {
      throw loaded.error;
    }
    return loaded.config;
  }
}

function tryLoad(options: LoadConfigOptions): { readonly config: Config | null; readonly error?: unknown } {
  try {
    return { config: loadConfig(options) };
  } catch (error) {
    return { config: null, error };
  }
}
