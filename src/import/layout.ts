/** Distributes entries over manifests, new and existing ones. */
import { posix } from 'node:path';
import { addressOf, kindOf } from '../core/address.ts';
import { compareText } from '../core/lists.ts';
import type { Declared } from '../core/resource.ts';
import type { FileContent } from '../kinds/model/manifest.ts';
import type { SectionKind } from '../manifests/kind-index.ts';
import { printable } from '../plan/render/words.ts';
import type { Draft, DraftEntry } from './draft.ts';
import { appendEntries } from './manifest-text.ts';
import { yamlOf } from './yaml-text.ts';

/** File to be written. */
export interface ImportedFile {
  /** Path relative to the manifest directory, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Existing text, which is preserved byte by byte; null for a new file. */
  readonly before: string | null;
  /** Addresses of its new entries. */
  readonly addresses: readonly string[];
}

interface LayoutOptions {
  readonly draft: Draft;
  readonly declared: readonly Declared[];
  /** Texts of the existing manifests. */
  readonly manifests: ReadonlyMap<string, string>;
  /** Folder of new files, relative to that of the manifests; empty: the same folder. */
  readonly folder: string;
  /** Returns true if resources of a kind have parts, so that each gets its own file. */
  hasParts(kind: string): boolean;
  isTaken(path: string): boolean;
}

/** Schema for editors, relative to the manifest directory. */
export const SCHEMA_PATH = '.octavo/schema.json';

/**
 * Distributes entries over files: one for each section, and one for each site. Entries are appended to a manifest that
 * exists, if its notation allows that.
 */
export function layOut(options: LayoutOptions): readonly ImportedFile[] {
  const { draft, manifests, isTaken } = options;
  const files = new Map<string, ImportedFile>();
  const add = (file: Omit<ImportedFile, 'addresses'>, entries: readonly DraftEntry[]) => {
    const before = files.get(file.path)?.addresses ?? [];
    const addresses = [...before, ...entries.map(({ kind, key }) => addressOf(kind.name, key))];
    files.set(file.path, { ...file, addresses });
  };
  const addNew = (path: string, entries: readonly DraftEntry[]) =>
    add({ path, text: newManifest(entries, path, draft), before: null }, entries);
  const parts = [...pathsOf(options)].flatMap(([path, entries]) =>
    [...Map.groupBy(entries, ({ kind }) => kind.manifest.section)].map(
      ([section, those]) => [path, section, those] as const,
    ),
  );
  for (const [path, section, entries] of parts) {
    const before = manifests.get(path);
    if (before === undefined) {
      addNew(path, entries);
      continue;
    }
    // A manifest may contain several sections, each with new entries.
    const text = appendEntries(files.get(path)?.text ?? before, section, entriesText(entries, path, draft));
    if (text !== null) {
      add({ path, text, before }, entries);
      continue;
    }
    for (const [own, those] of Map.groupBy(entries, (entry) => defaultPath(entry, options))) {
      const free = freePath(own, (each) => isTaken(each) || files.has(each));
      addNew(free, those);
    }
  }
  const named = draft.files
    .filter(({ path }) => !isTaken(path))
    .map(({ path, text }) => ({ path, text, before: null, addresses: [] }));
  return [...named, ...files.values()].sort((a, b) => compareText(a.path, b.path));
}

function pathsOf(options: LayoutOptions): ReadonlyMap<string, readonly DraftEntry[]> {
  const { entries } = options.draft;
  const homes = new Map(
    [...new Set(entries.map(({ kind }) => kind.name))].map((name) => [name, homeOf(name, options)]),
  );
  return Map.groupBy(
    entries.toSorted((a, b) => compareText(a.key, b.key)),
    (entry) => homes.get(entry.kind.name) ?? defaultPath(entry, options),
  );
}

/** Returns the manifest with most resources of a kind; null if there is none, or each resource has its own file. */
function homeOf(kind: string, { declared, folder, manifests, hasParts }: LayoutOptions): string | null {
  const counts = new Map<string, number>();
  for (const { address, source } of declared) {
    const isInside = folder === '' || source.file.startsWith(`${folder}/`);
    if (kindOf(address) === kind && isInside && manifests.has(source.file)) {
      counts.set(source.file, (counts.get(source.file) ?? 0) + 1);
    }
  }
  const [most] = [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  return most === undefined || (hasParts(kind) && most[1] === 1) ? null : most[0];
}

function defaultPath({ kind, key }: DraftEntry, { folder, hasParts, isTaken, manifests }: LayoutOptions): string {
  const { section } = kind.manifest;
  const path = posix.join(folder, hasParts(kind.name) ? `${section}/${key}.yaml` : `${section}.yaml`);
  return isTaken(path) && !manifests.has(path) ? freePath(path, isTaken) : path;
}

/** Adds a number to a path that is taken. */
export function freePath(path: string, isTaken: (path: string) => boolean): string {
  const { dir, name, ext } = posix.parse(path);
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? path : posix.join(dir, `${name}-${number}${ext}`);
    if (!isTaken(free)) {
      return free;
    }
  }
}

function newManifest(entries: readonly DraftEntry[], path: string, draft: Draft): string {
  const section = entries[0]?.kind.manifest as SectionKind['manifest'];
  const schema = posix.relative(posix.dirname(path), SCHEMA_PATH);
  const shown = schema.startsWith('.') && !schema.startsWith('..') ? `./${schema}` : schema;
  const body = entriesText(entries, path, draft).replace(/^(?=.)/gm, '  ');
  return `# yaml-language-server: $schema=${shown}\n${section.section}:\n${body}`;
}

function entriesText(entries: readonly DraftEntry[], path: string, draft: Draft): string {
  const single = entries.find(({ kind }) => kind.manifest.single)?.value;
  const value = single ?? Object.fromEntries(entries.map((entry) => [entry.key, entry.value]));
  // A section that is a single resource has no key to put its notes before.
  const notes = single === undefined ? [] : (draft.notes.get(single) ?? []);
  const nameOf = (file: FileContent) => posix.relative(posix.dirname(path), file.path);
  return [...notes.map((note) => `# ${printable(note)}\n`), yamlOf(value, { notes: draft.notes, nameOf })].join('');
}
