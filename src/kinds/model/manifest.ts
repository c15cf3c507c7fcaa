import type { z } from 'zod';
import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Actual } from '../../core/resource.ts';

/** A place inside an entry of a manifest: the keys and indexes that lead to it. */
export type EntryPath = readonly (string | number)[];

/** What `{ file: path }` in a manifest is replaced with before the entry is checked. */
export class FileContent {
  /** As written in the manifest. */
  readonly file: string;
  /** Relative to the manifests' folder. */
  readonly path: string;
  readonly text: string;

  constructor(file: string, path: string, text: string) {
    this.file = file;
    this.path = path;
    this.text = text;
  }
}

/**
 * A key of another resource, standing inside the fields of a declaration until all manifests are merged; then it is
 * replaced by the address of the one that is declared, or reported as missing.
 */
export class Reference {
  /** Tried in this order. */
  readonly kinds: readonly string[];
  /** Put before the written key to make it whole: `help/guides/` for a site space of a section. */
  readonly prefix: string;
  readonly key: string;
  /** Where it is written, from the entry. */
  readonly path: EntryPath;

  constructor(kinds: readonly string[], key: string, path: EntryPath, prefix = '') {
    this.kinds = kinds;
    this.key = key;
    this.path = path;
    this.prefix = prefix;
  }
}

/** Fields in which keys of other resources still stand as {@link Reference}. Absent members are not managed. */
export type WrittenFields = { readonly [field: string]: unknown };

/** One resource as its kind reads it from an entry. */
export interface WrittenResource {
  readonly kind: string;
  /** Whole: `help/guides/en` for a site space. */
  readonly key: string;
  /** Where it stands, from the entry; empty for the entry itself. Problems and plans point there. */
  readonly path: EntryPath;
  readonly fields: WrittenFields;
  readonly within: Address | null;
  readonly place: { readonly list: Address; readonly index: number } | null;
  /** The members every resource may have: id, renamedFrom, protect, paused, ignore. */
  readonly common: CommonFields;
}

/** Properties that every resource of a manifest may have. See docs/manifests.md#on-every-resource. */
export interface CommonFields {
  readonly id?: string | undefined;
  readonly renamedFrom?: string | undefined;
  readonly protect?: boolean | undefined;
  readonly paused?: { readonly reason: string; readonly until?: string | undefined } | undefined;
  readonly ignore?: readonly string[] | undefined;
}

/** What a kind may do while it reads one entry. */
export interface DeclareContext {
  add(resource: WrittenResource): void;
  /** Reports what the schema alone cannot say. `path` is from the entry. */
  problem(path: EntryPath, message: string): void;
}

/** A mapping of a manifest as it is to be written: absent members are left out. */
export type Described = { readonly [member: string]: unknown };

/** What a kind may ask while it describes an actual resource as an entry. */
export interface DescribeContext {
  /** Whether what a new resource has anyway is told too, where it is not told in the words of the platform. */
  readonly whole: boolean;
  /** The last part of the key that a resource has, or is given. */
  keyOf(actual: Actual): string;
  /** The whole key of what a reference by id means (an email for a person); null where nothing declares it. */
  keyOfRef(reference: Json | undefined): string | null;
  /** What lies right inside a resource, in display order. */
  partsOf(actual: Actual): readonly Actual[];
  /** A mapping that declares a resource, with the members that every resource may have. */
  resource(actual: Actual, members: Described): Described;
  /** A text in a file of its own, `folder/<key>.extension`; the `key` is that of the entry. */
  file(folder: string, extension: string, text: string): FileContent;
  /** What a person should know about how a resource is written. */
  note(actual: Actual, text: string): void;
  /** Says that a resource can only be told by its id, as what would tell it otherwise is not written. */
  bind(actual: Actual): void;
}

/** How a kind's resources are written in manifests. */
export interface ManifestRules<Entry = unknown> {
  /** The top-level member of a manifest: `teams`. */
  readonly section: string;
  /** True when the section itself is the one resource: `organization`. */
  readonly single: boolean;
  /** What a key must look like, and that in words; keys of people are email addresses. */
  readonly key: { readonly pattern: RegExp; readonly words: string };
  /** Applied to the written key before anything else; people's addresses are compared in lower case. */
  readonly normalizeKey?: (key: string) => string;
  /** Checks one entry. Its descriptions become the reference page and the editor's help. */
  readonly entry: z.ZodType<Entry>;
  /** One line for the reference page. */
  readonly summary: string;
  /** An example entry in YAML, with its key, for the reference page. */
  readonly example: string;
  declare(key: string, entry: Entry, context: DeclareContext): void;
  /**
   * The inverse of {@link declare}: an entry as a person would write it, of which nothing is left to change. What a new
   * resource has anyway is left out. A text instead: why it cannot be declared.
   */
  describe(actual: Actual, context: DescribeContext): Described | string;
}

/** Wraps a kind's rules so that the entry's type is checked where they are written, and forgotten where they are listed. */
export function manifestRules<Entry>(rules: ManifestRules<Entry>): ManifestRules {
  return rules as ManifestRules as ManifestRules<unknown>;
}

/** The kind's own fields of an entry, without those that every resource may have. */
export function ownFields<Entry extends CommonFields>(entry: Entry): Omit<Entry, keyof CommonFields> {
  const { id, renamedFrom, protect, paused, ignore, ...own } = entry;
  return own;
}

/** The members that every resource may have, of an entry. */
export function commonFields(entry: CommonFields): CommonFields {
  const { id, renamedFrom, protect, paused, ignore } = entry;
  return { id, renamedFrom, protect, paused, ignore };
}

/** Its title; where others have the same one, with the key of what holds it before it. */
export function namesWithin({ title }: Actual, holder: string | null): readonly string[] {
  return holder === null ? [title] : [title, `${holder} ${title}`];
}
