/** Finds `${env:…}` and `${file:…}` in declared values: the configuration expands them, manifests do not. */
import type { Json } from '../core/json.ts';

/** Longer texts are contents, in which a placeholder means something else. */
const MAX_LENGTH = 1000;

/** Returns a note for each field, as name and value, with a placeholder. */
export function findPlaceholders(fields: readonly (readonly [name: string, value: Json | undefined])[]): string[] {
  return fields.flatMap(([name, value]) => {
    const found = value === undefined ? null : findIn(value);
    return found === null
      ? []
      : [
          `${name}: manifests do not expand ${found}; it is applied as written, so write the value, or generate the file`,
        ];
  });
}

function findIn(value: Json): string | null {
  if (typeof value === 'string') {
    return value.length > MAX_LENGTH ? null : (/\$\{(?:env|file):[^{}]{0,200}\}/.exec(value)?.[0] ?? null);
  }
  if (typeof value !== 'object' || value === null || 'file' in value) {
    // The text of a specification comes with the name of its file.
    return null;
  }
  for (const member of Array.isArray(value) ? value : Object.values(value)) {
    const found = member === undefined ? null : findIn(member as Json);
    if (found !== null) {
      return found;
    }
  }
  return null;
}
