import { writeFile } from 'node:fs/promises';
import { ConfigError, messageOf } from '../../core/errors.ts';

/** Writes a file with mode 600. Throws ConfigError. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw new ConfigError(`cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}
