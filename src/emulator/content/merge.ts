/*
 * Merges two versions of content. Only the existence of conflicts is documented. Decisions of this emulator: a change
 * on one side wins over no change on the other; different changes of the same item, or two pages at one path, are a
 * conflict, and the version of the change request is kept. Source: docs/platform-notes.md#merge-and-update
 */
import type { Content, PageRecord } from './records.ts';

/** Merged content, and whether the sides had conflicts. */
export interface MergeResult {
  readonly content: Content;
  readonly hasConflicts: boolean;
}

/** Returns the written part of a record as text, without times and git metadata. */
function written(record: object | string | undefined): string | undefined {
  if (record === undefined || typeof record === 'string') {
    return record;
  }
  const members = Object.entries({ ...record, createdAt: 0, updatedAt: 0, git: 0 });
  return JSON.stringify(members.filter(([, value]) => value !== undefined).toSorted());
}

type Versions<T> = ReadonlyMap<string, T>;

function mergeMaps<T extends object | string>(base: Versions<T>, own: Versions<T>, others: Versions<T>) {
  const merged = new Map<string, T>();
  let hasConflicts = false;
  for (const key of new Set([...others.keys(), ...own.keys()])) {
    const [before, mine, theirs] = [base, own, others].map((side) => written(side.get(key)));
    const isMine = mine !== before;
    hasConflicts ||= isMine && theirs !== before && mine !== theirs;
    const kept = isMine ? own.get(key) : others.get(key);
    if (kept !== undefined) {
      merged.set(key, kept);
    }
  }
  return { merged, hasConflicts };
}

interface Numbered {
  readonly id: string;
  readonly seq: number;
}

function mergeRecords<R extends Numbered>(base: readonly R[], own: readonly R[], others: readonly R[]) {
  const byId = (records: readonly R[]) => new Map(records.map((record) => [record.id, record]));
  const { merged, hasConflicts } = mergeMaps(byId(base), byId(own), byId(others));
  return { records: [...merged.values()].sort((a, b) => a.seq - b.seq), hasConflicts };
}

/** Keeps one record per place: the change request's, if both sides have one. */
function onePerPlace<R extends { readonly id: string }>(
  records: readonly R[],
  own: readonly R[],
  place: (record: R) => string,
): R[] {
  const mine = new Set(own.map(({ id }) => id));
  const byPlace = new Map<string, R>();
  for (const record of records) {
    const other = byPlace.get(place(record));
    if (other === undefined || mine.has(record.id)) {
      byPlace.set(place(record), record);
    }
  }
  return records.filter((record) => byPlace.get(place(record)) === record);
}

/** Merges content. `base` is the common ancestor, `own` is the change request's side, `others` the space's. */
export function mergeContent(base: Content, own: Content, others: Content): MergeResult {
  const pages = mergeRecords(base.pages, own.pages, others.pages);
  const files = mergeRecords(base.files, own.files, others.files);
  const reusable = mergeRecords(base.reusableContents, own.reusableContents, others.reusableContents);
  const variablesOf = (content: Content) => new Map(Object.entries(content.variables));
  const variables = mergeMaps(variablesOf(base), variablesOf(own), variablesOf(others));
  const content: Content = {
    pages: onePerPlace<PageRecord>(pages.records, own.pages, (page) => page.path),
    files: onePerPlace(files.records, own.files, (file) => file.path),
    reusableContents: onePerPlace(reusable.records, own.reusableContents, (one) => one.title),
    variables: Object.fromEntries(variables.merged),
  };
  const isCrowded =
    content.pages.length < pages.records.length ||
    content.files.length < files.records.length ||
    content.reusableContents.length < reusable.records.length;
  const hasConflicts = isCrowded || [pages, files, reusable, variables].some((kind) => kind.hasConflicts);
  return { content, hasConflicts };
}
