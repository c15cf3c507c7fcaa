import type { Actual } from '../../core/resource.ts';
import { type EntryPath, FileContent } from '../../kinds/model/manifest.ts';
import { checkEntry } from '../../manifests/read/check-entry.ts';
import type { Decisions } from '../model/decisions.ts';
import type { Draft, DraftEntry } from './draft.ts';

/** Finds values of the platform that no manifest may declare: an empty title, an unknown rule. */
export function checkDraft(draft: Draft, decisions: Decisions): void {
  for (const entry of draft.entries) {
    const { manifest } = entry.kind;
    if (!manifest.single && !manifest.key.pattern.test(entry.key)) {
      decisions.leave(entry.actual, `its key would have to be ${manifest.key.words}`);
      continue;
    }
    const { entry: checked, problems } = checkEntry(manifest.entry, entry.value);
    for (const { path, message } of problems ?? []) {
      decide(entry, path, message, draft, decisions);
    }
    if (problems === null) {
      manifest.declare(entry.key, checked, {
        add: () => undefined,
        problem: (path, message) => decide(entry, path, message, draft, decisions),
      });
    }
  }
}

/** Leaves out an invalid field. A resource that needs the field is identified by its id or, at worst, left out. */
function decide(entry: DraftEntry, path: EntryPath, message: string, draft: Draft, decisions: Decisions): void {
  const { actual, field } = locate(entry, path, draft);
  const isThere = field !== null && decisions.dropped.get(actual)?.has(field) !== true;
  if (field !== null && isThere) {
    decisions.drop(actual, field, ofField(field, message));
  } else if (field === null && !decisions.ids.has(actual)) {
    decisions.bind(actual);
  } else {
    decisions.leave(actual, message);
  }
}

/** Adapts a message to a note that begins with the name of the field. */
function ofField(field: string, message: string): string {
  const [subject = '', ...words] = message.split(' ');
  return subject === field || subject.endsWith(`.${field}`) ? `it ${words.join(' ')}` : message;
}

/** Finds the innermost resource of a path, and the member of it that the path is in. */
function locate(
  entry: DraftEntry,
  path: EntryPath,
  { resources }: Draft,
): { readonly actual: Actual; readonly field: string | null } {
  let found: { actual: Actual; field: string | null } = { actual: entry.actual, field: member(entry.value, path[0]) };
  let value: unknown = entry.value;
  for (const [index, segment] of path.entries()) {
    value = value instanceof FileContent ? undefined : (value as Record<string | number, unknown>)?.[segment];
    const actual = typeof value === 'object' && value !== null ? resources.get(value) : undefined;
    if (actual !== undefined) {
      found = { actual, field: member(value as object, path[index + 1]) };
    }
  }
  return found;
}

/** Returns the node of a member; null if it is missing, so that it cannot be left out. */
function member(mapping: object, name: string | number | undefined): string | null {
  return name !== undefined && Object.hasOwn(mapping, name) ? String(name) : null;
}
