/** Reader of one manifest: finds its sections and entries, checks them, and lets their kinds declare resources. */
import { posix } from 'node:path';
import { type Address, addressOf } from '../core/address.ts';
import type { Problem } from '../core/errors.ts';
import type { Json } from '../core/json.ts';
import { append } from '../core/lists.ts';
import type { Declared, Fields, Source } from '../core/resource.ts';
import { maskUrls } from '../core/text/safe-url.ts';
import { didYouMean, nearest, quote } from '../core/text/suggest.ts';
import {
  type EntryPath,
  FileContent,
  type FileLine,
  Reference,
  type WrittenFields,
  type WrittenResource,
} from '../kinds/model/manifest.ts';
import { checkEntry, describeType } from './check-entry.ts';
import { type AliasBudget, Converter, type NamedFile } from './convert.ts';
import { entryAddress, type KindIndex, type SectionKind } from './kind-index.ts';
import { keyText, Lines, lastAtMost, type NodePair, offsetOf, type YamlFile, type YamlNode } from './yaml.ts';

/** Declarations of one file, before they are merged with those of other files. */
export interface ReadManifest {
  /** Path of the file as shown in problems. */
  readonly shown: string;
  readonly problems: readonly Problem[];
  readonly entries: readonly ReadEntry[];
  /** Text of a file that could be parsed only in part, empty if not at all. Other files may refer to keys in it. */
  readonly unread: string | null;
}

/** Maximum number of values that aliases may expand to, per character of the file. */
const ALIASED_PER_CHARACTER = 16;

/** Range of offsets of an entry. */
interface EntrySpan {
  readonly address: Address;
  readonly start: number;
  readonly end: number;
}

/** An entry before the files that it refers to are read. */
interface PendingEntry {
  readonly kind: SectionKind;
  readonly writtenKey: string;
  readonly pair: NodePair;
  readonly broken: boolean;
  readonly converter: Converter;
  /** Evaluated late, because the content of a file may replace it. */
  value(): unknown;
}

/** Reads one manifest in two steps, so that the files that it refers to can be read in between. */
export class ManifestReader {
  readonly problems: Problem[] = [];
  /** Files to read and insert before {@link finish}. */
  readonly files: NamedFile[] = [];
  readonly shown: string;
  readonly kinds: KindIndex;
  private readonly text: string;
  private readonly lines: Lines;
  private readonly aliases: AliasBudget;
  private spans: readonly EntrySpan[] | null = null;
  private readonly sections = new Set<string>();
  private readonly pending: PendingEntry[] = [];
  private readonly unknown: { readonly section: string; readonly offset: number }[] = [];
  private unread = false;

  constructor(shown: string, text: string, kinds: KindIndex, maxAliased: number) {
    this.shown = shown;
    this.text = text;
    this.kinds = kinds;
    // Proportional to the file, so that many small files cost no more than one large file.
    this.aliases = { used: 0, most: Math.min(maxAliased, 1000 + ALIASED_PER_CHARACTER * text.length) };
    this.lines = new Lines(text);
  }

  /** First step: converts the sections and entries of the documents to plain data. */
  begin(yaml: YamlFile): void {
    for (const problem of yaml.problems) {
      this.report(problem.offset, problem.message);
    }
    for (const document of yaml.documents) {
      this.readDocument(document.contents, document.broken);
    }
    this.reportUnknown();
  }

  /** Reports a problem at an offset of the text. */
  report(offset: number, message: string, address: Address = ''): void {
    // A quoted value may be a URL with a password.
    this.problems.push({ ...this.sourceOf(offset), address, message: maskUrls(message) });
  }

  /** Reports a problem with the address of the entry that contains the offset. */
  reportInEntry(offset: number, message: string): void {
    this.spans ??= this.pending
      .map(({ kind, writtenKey, pair: { key, value } }) => ({
        address: entryAddress(kind, writtenKey),
        start: key.start,
        end: value?.end ?? key.end,
      }))
      .sort((a, b) => a.start - b.start);
    const span = this.spans[lastAtMost(this.spans, offset, ({ start }) => start)];
    this.report(offset, message, span === undefined || offset >= span.end ? '' : span.address);
  }

  /** Second step: validates every entry and lets its kind read it. */
  finish(): ReadManifest {
    const entries = this.pending.map((pending) => readEntry(this, pending));
    const { shown, problems, unread } = this;
    return { shown, problems, entries, unread: unread ? this.text : null };
  }

  /** Returns where an offset of the text is. */
  sourceOf(offset: number): Source {
    return { file: this.shown, ...this.lines.positionOf(offset) };
  }

  /** Returns where a line of a file is that this manifest includes. */
  sourceIn({ file, line }: FileLine): Source {
    return { file: posix.join(posix.dirname(this.shown), file.file), line, column: 1 };
  }

  private placeOf(offset: number): string {
    return `${this.shown}:${this.sourceOf(offset).line}`;
  }

  private readDocument(root: YamlNode | null, broken: boolean): void {
    this.unread ||= broken;
    // The parsed content of a broken document is unreliable, so problems in it are not reported.
    const report = (offset: number, message: string) => (broken ? undefined : this.report(offset, message));
    const converter = new Converter(report, (offset) => this.placeOf(offset), this.aliases);
    if (root !== null && root.type !== 'map') {
      const value = converter.convert(root, null);
      if (value !== null) {
        this.unread = true;
        const found = describeType(value);
        report(offsetOf(root), `a manifest must be a mapping of sections (${this.sectionNames()}), not ${found}`);
      }
      return;
    }
    const seen = new Map<string, number>();
    for (const pair of root?.pairs ?? []) {
      this.readSection(converter, seen, pair, broken);
    }
    append(this.files, converter.files);
    this.unread ||= converter.broken;
  }

  private readSection(converter: Converter, seen: Map<string, number>, pair: NodePair, broken: boolean): void {
    const section = keyText(pair.key);
    const offset = offsetOf(pair.key);
    const kind = this.kinds.sections.get(section);
    const first = seen.get(section);
    const value = converter.convert(pair.value, kind === undefined ? null : kind.manifest.single ? 0 : 1);
    if (first !== undefined) {
      this.report(
        offset,
        `${quote(section)} is written twice; first at ${this.placeOf(first)}; move all its entries into one section`,
      );
      return;
    }
    seen.set(section, offset);
    if (kind === undefined) {
      if (!broken) {
        this.unknown.push({ section, offset });
      }
      return;
    }
    this.sections.add(section);
    if (kind.manifest.single) {
      this.pending.push({ kind, writtenKey: '', pair, broken, converter, value: () => value ?? {} });
    } else if (value !== null) {
      this.readEntries(converter, kind, pair, value, broken);
    }
  }

  private readEntries(converter: Converter, kind: SectionKind, pair: NodePair, value: unknown, broken: boolean): void {
    const node = converter.resolve(pair.value);
    const { section } = kind.manifest;
    if (node?.type !== 'map') {
      if (!broken) {
        const message = `${section} must be a mapping of keys to entries, not ${describeType(value)}`;
        this.report(offsetOf(pair.value), message);
      }
      return;
    }
    const values = value as Record<string, unknown>;
    const seen = new Set<string>();
    for (const entry of node.pairs) {
      const writtenKey = keyText(entry.key);
      if (!seen.has(writtenKey) && Object.hasOwn(values, writtenKey)) {
        seen.add(writtenKey);
        // An entry without a value manages no field.
        this.pending.push({ kind, writtenKey, pair: entry, broken, converter, value: () => values[writtenKey] ?? {} });
      }
    }
  }

  /** Reports unknown sections. A file with only unknown sections is not a manifest, and gets a single problem. */
  private reportUnknown(): void {
    const [first, second] = this.unknown;
    if (this.sections.size > 0 || second === undefined) {
      for (const { section, offset } of this.unknown) {
        this.report(offset, this.unknownWords(section));
      }
    } else {
      const names = [...this.kinds.sections.keys()];
      const { section, offset } = this.unknown.find((each) => nearest(each.section, names) !== null) ?? first ?? second;
      this.problems.length = 0;
      this.report(offset, `none of its ${this.unknown.length} sections is valid; ${this.unknownWords(section)}`);
    }
    const [problem, ...others] = this.problems;
    if (this.sections.size === 0 && problem !== undefined && others.length > 0) {
      // The others add no information.
      const message = `${problem.message} (and ${others.length} more in this file)`;
      this.problems.splice(0, this.problems.length, { ...problem, message });
    }
  }

  private unknownWords(section: string): string {
    const names = [...this.kinds.sections.keys()];
    const known = `; valid sections: ${this.sectionNames()} (list files that are not manifests in .octavoignore)`;
    return `unknown section ${quote(section)}${didYouMean(section, names, known)}`;
  }

  private sectionNames(): string {
    return [...this.kinds.sections.keys()].join(', ');
  }
}

/** A reference of a resource, with its source position. */
interface PlacedReference {
  readonly reference: Reference;
  readonly source: Source;
}

/** A resource as one file declares it. */
export interface ReadResource {
  readonly address: Address;
  /** Fields as written, with references; null if there are no references to resolve. */
  readonly fields: WrittenFields | null;
  readonly source: Source;
  readonly idSource: Source;
  readonly references: readonly PlacedReference[];
  /** Complete if there are no references; otherwise without fields until they are resolved. */
  readonly declared: Declared;
}

/** An entry of a section as one file declares it. */
export interface ReadEntry {
  readonly kind: string;
  readonly key: string;
  readonly address: Address;
  readonly source: Source;
  /** True if the entry has problems, so that its declarations are unknown. */
  readonly broken: boolean;
  readonly resources: readonly ReadResource[];
}

/** Validates an entry, and lets its kind declare its resources. Problems are reported as they are found. */
function readEntry(file: ManifestReader, pending: PendingEntry): ReadEntry {
  const { kind, writtenKey, pair, converter } = pending;
  const rules = kind.manifest;
  const key = rules.normalizeKey?.(writtenKey) ?? writtenKey;
  const address = entryAddress(kind, writtenKey);
  const source = keySource(file, pending, []);
  const broken: ReadEntry = { kind: kind.name, key, address, source, broken: true, resources: [] };
  if (pending.broken || converter.broken) {
    return broken;
  }
  const keyFits = rules.single || rules.key.pattern.test(writtenKey);
  if (!keyFits) {
    const message = `${quote(writtenKey)} cannot be a key here; use ${rules.key.words}`;
    file.report(converter.offsetOfKey(pair, []), message, address);
  }
  const checked = checkEntry(rules.entry, pending.value());
  for (const { at, path, message } of checked.problems ?? []) {
    const offset = at === 'key' ? converter.offsetOfKey(pair, path) : converter.offsetOfValue(pair, path);
    file.report(offset, message, address);
  }
  if (!keyFits || checked.problems !== null) {
    return broken;
  }
  const resources = declare(file, pending, key, checked.entry, broken);
  return resources === null ? broken : { ...broken, broken: false, resources };
}

function declare(
  file: ManifestReader,
  pending: PendingEntry,
  key: string,
  entry: unknown,
  { address, source }: Pick<ReadEntry, 'address' | 'source'>,
): ReadResource[] | null {
  const written: WrittenResource[] = [];
  const problems: { readonly path: EntryPath; readonly message: string; readonly at?: FileLine | undefined }[] = [];
  pending.kind.manifest.declare(key, entry, {
    add: (resource) => void written.push(resource),
    problem: (path, message, at) => void problems.push({ path, message, at }),
    included(schema, value, at) {
      const checked = checkEntry(schema, value);
      append(
        problems,
        (checked.problems ?? []).map(({ message }) => ({ path: [], message, at })),
      );
      return checked.entry;
    },
  });
  for (const resource of written) {
    append(problems, unknownIgnored(file.kinds, resource));
  }
  if (problems.length === 0) {
    return written.map((resource) => {
      const { at, path } = resource;
      const own = path.length === 0 ? source : keySource(file, pending, path);
      return place(file, pending, resource, at === undefined ? own : file.sourceIn(at));
    });
  }
  const owners = new Map(written.map((resource) => [JSON.stringify(resource.path), resource]));
  for (const { path, message, at } of problems) {
    if (at === undefined) {
      file.report(pending.converter.offsetOfValue(pending.pair, path), message, ownerOf(owners, path) ?? address);
    } else {
      file.problems.push({ ...file.sourceIn(at), address, message: maskUrls(message) });
    }
  }
  return null;
}

/** Returns the address of the innermost resource that contains a path. `owners` maps paths as JSON to resources. */
function ownerOf(owners: ReadonlyMap<string, WrittenResource>, path: EntryPath): Address | null {
  for (let length = path.length; length >= 0; length -= 1) {
    const owner = owners.get(JSON.stringify(path.slice(0, length)));
    if (owner !== undefined) {
      return addressOf(owner.kind, owner.key);
    }
  }
  return null;
}

function unknownIgnored(kinds: KindIndex, { kind, path, common: { ignore = [] } }: WrittenResource) {
  const fields = ignore.length === 0 ? [] : Object.keys(kinds.byName.get(kind)?.fields ?? {});
  return ignore.flatMap((name, index) => {
    const hint = didYouMean(name, fields, `; valid fields: ${fields.join(', ')}`);
    const message = `cannot ignore ${quote(name)}: no such field${hint}`;
    return fields.includes(name) ? [] : [{ path: [...path, 'ignore', index], message }];
  });
}

function place(file: ManifestReader, pending: PendingEntry, written: WrittenResource, source: Source): ReadResource {
  const address = addressOf(written.kind, written.key);
  const found: Reference[] = [];
  collectReferences(written.fields, found);
  const { id, renamedFrom, protect, paused, ignore } = written.common;
  return {
    address,
    fields: found.length === 0 ? null : written.fields,
    source,
    idSource: id === undefined ? source : valueSource(file, pending, [...written.path, 'id']),
    references: found.map((reference) => ({
      reference,
      source: written.at === undefined ? valueSource(file, pending, reference.path) : source,
    })),
    declared: {
      address,
      kind: written.kind,
      fields: found.length === 0 ? plainFields(written.fields) : {},
      within: written.within,
      place: written.place,
      id: id ?? null,
      renamedFrom: renamedFrom ?? null,
      protect: protect ?? null,
      paused: paused === undefined ? null : { reason: paused.reason, until: paused.until ?? null },
      ignore: ignore ?? [],
      source,
    },
  };
}

function collectReferences(value: unknown, found: Reference[]): void {
  if (value instanceof Reference) {
    found.push(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const member of Array.isArray(value) ? value : Object.values(value)) {
      collectReferences(member, found);
    }
  }
}

function keySource(file: ManifestReader, { converter, pair }: PendingEntry, path: EntryPath): Source {
  return file.sourceOf(converter.offsetOfKey(pair, path));
}

function valueSource(file: ManifestReader, { converter, pair }: PendingEntry, path: EntryPath): Source {
  return file.sourceOf(converter.offsetOfValue(pair, path));
}

/**
 * Converts written fields to plain data: undefined members are dropped, and references become addresses. `lookUp` is
 * called only for references.
 */
export function plainFields(
  fields: WrittenFields,
  lookUp: (reference: Reference) => Address | null = () => null,
): Fields {
  return (isPlain(fields) ? fields : plain(fields, lookUp)) as Fields;
}

/** Reports whether the value needs no copy, the usual case. Objects from the parser have no prototype. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value !== undefined;
  }
  const special = value instanceof Reference || value instanceof FileContent || Object.getPrototypeOf(value) === null;
  return !special && Object.values(value).every(isPlain);
}

function plain(value: unknown, lookUp: (reference: Reference) => Address | null): Json {
  if (value instanceof Reference) {
    return lookUp(value);
  }
  if (value instanceof FileContent) {
    // In data that the kind's schema does not inspect, such as a JSON schema, the text is the value.
    return value.text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => plain(item, lookUp));
  }
  if (typeof value !== 'object' || value === null) {
    return value as Json;
  }
  const object: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) {
      setMember(object, key, plain(member, lookUp));
    }
  }
  return object;
}

/** Sets an own member, even one named `__proto__`, which a referenced JSON file may contain. */
function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
