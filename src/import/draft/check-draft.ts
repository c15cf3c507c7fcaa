import type { Actual } from '../../core/resource.ts';
import { type EntryPath, FileContent } from '../../kinds/model/manifest.ts';
import { checkEntry } from '../../manifests/read/check-entry.ts';
import type { Decisions } from '../model/decisions.ts';
import type { Draft, DraftEntry } from './draft.ts';

/** Finds what no manifest may say, though the platform has it so: an empty title, a rule that is not known here. */
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

/** A field that is wrong is left out; a resource that cannot do without it is told by its id, and if that does not help, left out too. */
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

/** The note on a field begins with its name; what is about something inside of it says so itself. */
function ofField(field: string, message: string): string {
  const [subject = '', ...words] = message.split(' ');
  return subject === field || subject.endsWith(`.${field}`) ? `it ${words.join(' ')}` : message;
}

/** The innermost resource that a path lies in, and which of its members it lies in. */
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

/** Null for what is not there: then it is missing, and cannot be left out. */
function member(mapping: object, name: string | number | undefined): string | null {
  return name !== undefined && Object.hasOwn(mapping, name) ? String(name) : null;
}
