/** Schemas of single settings, shared by all sections of the configuration. */
import * as z from 'zod';
import { patternProblem } from '../core/text/pattern.ts';
import { readCount, readCron, readDuration, readFlag, readText, readToken } from './values.ts';

/**
 * Schema of one setting. `read` returns undefined for an invalid value; `expected` describes valid values in the error.
 * Check, type and message are kept together this way.
 */
export function setting<T>(expected: string, read: (value: unknown) => T | undefined) {
  return z.unknown().transform((input, context): T => {
    const value = input === undefined ? undefined : read(input);
    if (value === undefined) {
      context.issues.push({ code: 'custom', input, params: { expected }, message: expected });
      return z.NEVER;
    }
    return value;
  });
}

/** A mapping that may be left out, because each of its settings has a default. */
export const section = <Shape extends z.core.$ZodLooseShape>(shape: Shape) =>
  z.strictObject(shape).prefault({} as never);

export const text = (expected: string) => setting(expected, readText);
export const positive = (expected: string) => setting(expected, (value) => readDuration(value) || undefined);
/** A duration that may also be zero. */
export const duration = (expected: string) => setting(expected, readDuration);
export const choice = <T extends string>(values: readonly T[]) =>
  setting(`one of ${values.join(', ')}`, (value) => values.find((known) => known === value));
export const count = (least: number, most: number) =>
  setting(`a whole number from ${least} to ${most}`, (value) => readCount(value, least, most));
export const flag = () => setting('true or false', readFlag);
const bestByReference = (what: string) => `${what}, preferably as "\${env:NAME}" or "\${file:PATH}"`;
/** A secret value. It is redacted in all messages and logs by its name, which `SECRET` in `secrets.ts` has to contain. */
export const secret = (what: string) => text(bestByReference(what)).meta({ secret: true });
/** A secret for manifests. A shorter one could be guessed, and texts that contain it are not cleaned of it. */
export const manifestSecret = () =>
  setting(bestByReference('a secret of 8 or more characters'), (value) => {
    const given = readText(value);
    return given !== undefined && given.length >= 8 ? given : undefined;
  }).meta({ secret: true });
export const token = () =>
  setting(bestByReference('the token, in one line without spaces'), readToken).meta({ secret: true });
export const cron = () => setting('a cron expression such as "*/5 * * * *"', readCron);
/** A regular expression in RE2 syntax. The error describes the problem instead of the expected value. */
export const pattern = (expected: string, problemOf: (pattern: string) => string | null = patternProblem) =>
  text(expected).transform((input, context): string => {
    const problem = problemOf(input);
    if (problem !== null) {
      context.issues.push({ code: 'custom', input, params: { problem }, message: expected });
    }
    return input;
  });
