import { InvalidArgumentError } from 'commander';
import { readDuration } from '../../config/values.ts';
import type { ExitCode } from '../../core/errors.ts';

/** Told what the process exits with. */
export type SetExitCode = (code: ExitCode) => void;

/** Options that most commands have. */
export const CONFIG = [
  '--config <file>',
  'Configuration file (default: OCTAVO_CONFIG, then the environment, then config.yaml)',
] as const;
export const ORGANIZATION = ['--organization <id>', 'Organization to use when several are configured'] as const;

export const SCOPE = [
  '--scope <name>',
  'Scope of the manifest directory when an organization has several (default: its path in the repository)',
] as const;

/** A whole number, for commander. Throws InvalidArgumentError, as the others here do. */
export function count(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) {
    throw new InvalidArgumentError('It must be a whole number.');
  }
  return value;
}

/** A whole number up to `most`. */
export function upTo(most: number): (text: string) => number {
  return (text) => {
    const value = count(text);
    if (value > most) {
      throw new InvalidArgumentError(`It must be at most ${most}.`);
    }
    return value;
  };
}

/** A time such as 30s, in milliseconds; 0 too. */
export function durationOrZero(text: string): number {
  return text === '0' ? 0 : duration(text);
}

/** A time such as 30d, in milliseconds. */
export function duration(text: string): number {
  const milliseconds = readDuration(text);
  if (milliseconds === undefined) {
    throw new InvalidArgumentError('It must be a duration such as 30d or 12h.');
  }
  return milliseconds;
}
