/** Loads configurations of tests, or returns their problems. */
import { expect } from 'vitest';
import { type LoadConfigOptions, loadConfig } from '../../src/config/load.ts';
import { ConfigError } from '../../src/core/errors.ts';
import { kinds } from '../../src/kinds/registry.ts';

interface Given extends Partial<LoadConfigOptions> {
  /** Contents of files by absolute path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Loads a configuration. Throws ConfigError. */
export function configOf(text: string, { files = {}, ...given }: Given = {}) {
  const readFile = (path: string) => {
    const content = files[path];
    if (content === undefined) {
      throw new Error('ENOENT: no such file');
    }
    return content;
  };
  return loadConfig({ file: 'config.yaml', env: {}, kinds, readFile, ...given, text });
}

/** Returns the lines of the ConfigError that loading throws, without `prefix`; none if it succeeds. */
export function problemsIn(load: () => unknown, prefix = 'config.yaml:'): readonly string[] {
  try {
    load();
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message.split('\n').map((line) => line.replace(prefix, ''));
  }
  return [];
}
