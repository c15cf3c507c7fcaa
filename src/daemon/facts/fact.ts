/** Builds facts: sentences on one line without secrets, and at most a few details. */
import type { ConditionCode } from '../../core/condition-codes.ts';
import { firstLines } from '../../core/lists.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { printable } from '../../plan/render/words.ts';
import { type Fact, factKey, MAX_DETAILS, type Scope } from '../../store/notifications.ts';

/** Parts of a fact; `subject` and `details` may be empty. */
export interface FactParts {
  readonly summary: string;
  readonly since: number;
  readonly subject?: string;
  readonly details?: readonly string[];
  readonly path?: string | null;
}

/** Longest line, in characters. */
const LONGEST = 300;

/** Returns a fact about a scope. */
export function newFact(code: ConditionCode, scope: Scope, parts: FactParts): Fact {
  const { summary, since, subject = '', details = [], path = null } = parts;
  return {
    ...{ code, scope, subject, since, path, summary: oneLine(summary) },
    details: detailLines(details),
  };
}

/** Returns lines without secrets: of many, the first ones and the number of the rest. */
export function detailLines(lines: readonly string[]): readonly string[] {
  return firstLines(lines, MAX_DETAILS).map(oneLine);
}

/** Returns the first line of a text without passwords and control characters, cut to a length that fits a message. */
export function oneLine(text: string): string {
  const [first = ''] = text.split(/\r?\n/, 1);
  const line = printable(maskUrls(first));
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST - 1).toWellFormed()}…`;
}

/** Returns facts with the time at which each one was first reported, if it was true before as well. */
export function keepSince(before: readonly Fact[], now: readonly Fact[]): readonly Fact[] {
  const known = new Map(before.map((fact) => [factKey(fact), fact.since]));
  return now.map((fact) => {
    const since = known.get(factKey(fact)) ?? fact.since;
    return since < fact.since ? { ...fact, since } : fact;
  });
}
