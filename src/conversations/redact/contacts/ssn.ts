// Finder for social security numbers of the United States.

import type { Finder, PrivateValue } from '../model/found.ts';

const WRITTEN = /(?<![A-Za-z0-9_.-])(\d{3})([- .])(\d{2})\2(\d{4})(?![A-Za-z0-9_]|[-.]\w)/g;
/** Label before nine digits without separators, which are ambiguous without one. */
const NAMED =
  /(?<![A-Za-z])(?:ssn|social security(?: (?:number|no\.?|#))?)["']?[ :=#]{0,3}(?:is |was )?["']?(\d{3})(\d{2})(\d{4})(?!\d)/dgi;
/** Numbers on sample cards, in advertisements and in forms, which are not redacted. */
const SAMPLES = new Set(['078051120', '219099999', '457555462', '123456789', '111111111', '333333333', '666666666']);

/** Finds US social security numbers by the valid range of each group (SSA: invalid and unassigned numbers). */
export const findSsns: Finder = (text) => [
  ...[...text.matchAll(WRITTEN)].flatMap(({ index, 0: whole, 1: area, 3: group, 4: serial }) =>
    ssn(index, index + whole.length, `${area}${group}${serial}`),
  ),
  ...[...text.matchAll(NAMED)].flatMap(({ indices, 1: area, 2: group, 3: serial }) =>
    ssn(indices?.[1]?.[0] ?? 0, indices?.[3]?.[1] ?? 0, `${area}${group}${serial}`),
  ),
];

function ssn(start: number, end: number, digits: string): readonly PrivateValue[] {
  const isPossible =
    !/^(?:000|666|9)/.test(digits) && digits.slice(3, 5) !== '00' && digits.slice(5) !== '0000' && !SAMPLES.has(digits);
  return isPossible ? [{ type: 'ssn', label: 'SSN', start, end, key: digits }] : [];
}
