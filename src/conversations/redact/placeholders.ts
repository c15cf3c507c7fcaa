// Placeholders for the private values of a conversation.

import type { PrivateValue } from './model/found.ts';
import { matchesIn } from './model/matches.ts';
import { PLACEHOLDER } from './model/placeholder.ts';

/**
 * Assigns placeholders to values: equal values of a conversation get equal placeholders, numbered by first appearance.
 */
export interface Placeholders {
  for(found: PrivateValue): string;
}

/**
 * Creates placeholders. `texts` are those of the original conversation; placeholders that they contain are not used
 * again.
 */
export function placeholdersFor(texts: readonly string[]): Placeholders {
  const last = new Map<string, number>();
  for (const text of texts) {
    for (const [, label = '', number] of matchesIn(text, PLACEHOLDER)) {
      last.set(label, Math.max(last.get(label) ?? 0, Number(number)));
    }
  }
  const given = new Map<string, string>();
  return {
    for({ label, key }) {
      const id = `${label} ${key}`;
      const known = given.get(id);
      if (known !== undefined) {
        return known;
      }
      const number = (last.get(label) ?? 0) + 1;
      last.set(label, number);
      given.set(id, `[${label}_${number}]`);
      return `[${label}_${number}]`;
    },
  };
}
