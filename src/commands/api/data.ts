import { ConfigError } from '../../core/errors.ts';
import type { ReadNamed } from './fields.ts';

/** The body that `-d` gives: JSON, `@file`, or `-` for what is piped in. Throws ConfigError. */
export async function readData(data: string, read: ReadNamed): Promise<unknown> {
  const name = data === '-' ? '-' : data.startsWith('@') ? data.slice(1) : null;
  const text = name === null ? data : await read(name);
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''));
  } catch (error) {
    // The message quotes what is read, which may be anything: the place in it is enough.
    const at = /position (\d+)/.exec((error as Error).message)?.[1];
    const where = at === undefined ? '' : ` (${placeOf(text, Number(at))})`;
    throw new ConfigError(
      `-d is not valid JSON${where}; use -d '{"title":"Writers"}', -d @body.json, or -d - for standard input`,
      { cause: error },
    );
  }
}

function placeOf(text: string, position: number): string {
  const lines = text.slice(0, position).split('\n');
  return `line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
