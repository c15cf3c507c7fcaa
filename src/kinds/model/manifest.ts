/** Rules of a kind for reading and writing its resources in manifests. */
import type { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Actual } from '../../core/resource.ts';

/** Path inside an entry of a manifest, as keys and indexes. */
export type EntryPath = readonly (string | number)[];

/** Content of a file, which replaces `{ file: path }` before an entry is validated. */
export class FileContent {
  /** As written in the manifest. */
  readonly file: string;
  /** Relative to the manifest directory. */
  readonly path: string;
  readonly text: string;

  constructor(file: string, path: string, text: string) {
    this.file = file;
    this.path = path;
    this.text = text;
  }
}

/**
 * Placeholder for the key of another resource in the fields of a declaration. When all manifests are merged, it is
 * replaced by the address of the declared resource, or reported as missing.
 */
export class Reference {
  /** Kinds to look up, in this order. */
  readonly kinds: readonly string[];
  /** Prefix that completes the written key: `help/guides/` for a site space of a section. */
  readonly prefix: string;
  readonly key: string;
  /** Path of the reference in the entry. */
  readonly path: EntryPath;

  constructor(kinds: readonly string[], key: string, path: EntryPath, prefix = '') {
    this.kinds = kinds;
    this.key = key;
    this.path = path;
    this.prefix = prefix;
  }
}

/** Fields with unresolved {@link Reference}s. Absent members are not managed. */
export type WrittenFields = { readonly [field: string]: unknown };

/** A line, counted from 1, of a file that an entry includes. */
export interface FileLine {
  readonly file: FileContent;
  readonly line: number;
}

/** A resource that a kind has read from an entry. */
export interface WrittenResource {
  readonly kind: string;
  /** Full key: `help/guides/en` for a site space. */
  readonly key: string;
  /** Path in the entry, used as the position in problems and plans; empty for the entry itself. */
  readonly path: EntryPath;
  /** Line of an included file that declares it; absent for one that the entry itself declares. */
  readonly at?: FileLine;
  readonly fields: WrittenFields;
  readonly within: Address | null;
  readonly place: { readonly list: Address; readonly index: number } | null;
  /** Common fields: id, renamedFrom, protect, paused, ignore. */
  readonly common: CommonFields;
}

/** Properties that every resource of a manifest may have. See docs/manifests.md#fields-of-every-resource. */
export interface CommonFields {
  readonly id?: string | undefined;
  readonly renamedFrom?: string | undefined;
  readonly protect?: boolean | undefined;
  readonly paused?: { readonly reason: string; readonly until?: string | undefined } | undefined;
  readonly ignore?: readonly string[] | undefined;
}

/** Callbacks for a kind that reads an entry. */
export interface DeclareContext {
  add(resource: WrittenResource): void;
  /** Reports a problem that the schema cannot detect. `path` is relative to the entry; `at`: in a file that it includes. */
  problem(path: EntryPath, message: string, at?: FileLine): void;
  /** Validates a value of a file that the entry includes. Reports its problems, and returns null if there are any. */
  included(schema: z.ZodType, value: unknown, at: FileLine): unknown;
}

/** A mapping to write to a manifest. Undefined members are left out. */
export type Described = { readonly [member: string]: unknown };

/** Lookups and callbacks for a kind that describes an actual resource as an entry. */
export interface DescribeContext {
  /** True to include a default value that entries write in a form of their own, such as `{ enabled: false }`. */
  readonly includeDefaults: boolean;
  /** Returns the last part of the key of a resource, declared or generated. */
  keyOf(actual: Actual): string;
  /** Returns the full key of the target of a reference by id (an email for a person); null if it is not declared. */
  keyOfRef(reference: Json | undefined): string | null;
  /** Returns the direct parts of a resource, in display order. */
  partsOf(actual: Actual): readonly Actual[];
  /** Returns the parts of one kind that a resource has in no order. */
  unorderedParts(actual: Actual, kind: string): readonly Actual[];
  /** Returns the mapping that declares a resource: `members` and the common fields. */
  resource(actual: Actual, members: Described): Described;
  /** Writes a text to its own file, `folder/<key>.extension`, with the key of the entry. */
  file(folder: string, extension: string, text: string): FileContent;
  /** Adds a comment for readers to the entry of a resource. */
  note(actual: Actual, text: string): void;
  /** Writes the id of a resource, because the entry has no other field that identifies it. */
  bind(actual: Actual): void;
}

/** Rules for reading and writing a kind's resources in manifests. */
export interface ManifestRules<Entry = unknown> {
  /** Top-level member of a manifest: `teams`. */
  readonly section: string;
  /** True if the section itself is the only resource: `organization`. */
  readonly single: boolean;
  /** Format of a key, as a pattern and in words. Keys of people are email addresses. */
  readonly key: { readonly pattern: RegExp; readonly words: string };
  /** Normalizes the written key before any other use. Email addresses are compared in lower case. */
  readonly normalizeKey?: (key: string) => string;
  /** Schema of an entry. Its descriptions appear on the reference page and in the editor's help. */
  readonly entry: z.ZodType<Entry>;
  /** One line for the reference page. */
  readonly summary: string;
  /** An example entry in YAML, with its key, for the reference page. */
  readonly example: string;
  declare(key: string, entry: Entry, context: DeclareContext): void;
  /**
   * Inverse of {@link declare}: returns a concise entry whose plan has no changes. Values that a new resource has by
   * default are left out. Returns a string with the reason if the resource cannot be declared.
   */
  describe(actual: Actual, context: DescribeContext): Described | string;
}

/** Erases the entry's type of a kind's rules, which the compiler checks at the definition. */
export function manifestRules<Entry>(rules: ManifestRules<Entry>): ManifestRules {
  return rules as ManifestRules as ManifestRules<unknown>;
}

/** Returns the common fields of an entry. */
export function commonFields(entry: CommonFields): CommonFields {
  const { id, renamedFrom, protect, paused, ignore } = entry;
  return { id, renamedFrom, protect, paused, ignore };
}

/** Returns the resource that an entry itself declares. */
export function resourceOf(kind: string, key: string, fields: WrittenFields, entry: CommonFields): WrittenResource {
  return { kind, key, path: [], fields, within: null, place: null, common: commonFields(entry) };
}

/** Returns the title and, for a duplicate title, the title with the key of its parent as a prefix. */
export function namesWithin({ title }: Actual, holder: string | null): readonly string[] {
  return holder === null ? [title] : [title, `${holder} ${title}`];
}
