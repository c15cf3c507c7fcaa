import { AppError, ConfigError } from '../../core/errors.ts';

/** A jq program that is ready to run. */
export interface Selection {
  /** What it makes of values, one after the other. Throws SelectionError. */
  select(values: readonly unknown[]): Selected;
}

export interface Selected {
  readonly values: readonly unknown[];
  /** What the program says besides, as with `debug`. */
  readonly said: string;
}

/** The program does not fit what was answered. */
class SelectionError extends AppError {
  readonly code = 'selection';
  readonly disposition = 'stall';
}

/** What jq exits with where the program itself is wrong. */
const NOT_COMPILED = 3;

/**
 * Compiles a jq program, before anything is sent: a write should not be done and then not be shown. Throws ConfigError.
 */
export async function openSelection(program: string): Promise<Selection> {
  // Loaded where it is used: it is a megabyte.
  const { loadJq } = await import('jq-wasm');
  const jq = await loadJq();
  const tried = jq.raw('', program, ['-c']);
  if (tried.exitCode === NOT_COMPILED) {
    throw new ConfigError(`--jq: ${wordsOf(tried.stderr)}`);
  }
  return {
    select(values) {
      const input = values.map((value) => JSON.stringify(value)).join('\n');
      const { stdout, stderr, exitCode } = jq.raw(input, program, ['-c']);
      if (exitCode !== 0 || /^jq: error/m.test(stderr)) {
        throw new SelectionError(`--jq: ${wordsOf(stderr)}`);
      }
      const lines = stdout.split('\n').filter((line) => line !== '');
      return { values: lines.map((line) => JSON.parse(line) as unknown), said: stderr };
    },
  };
}

/** jq's own words, without what is about its command line. */
function wordsOf(stderr: string): string {
  const line = stderr.split('\n').find((one) => one.includes('jq: error')) ?? stderr.split('\n')[0] ?? '';
  return line
    .replace(/^jq: error( \(at [^)]*\))?:\s*/, '')
    .replace(' at <top-level>,', ',')
    .replace(/:$/, '')
    .trim();
}
