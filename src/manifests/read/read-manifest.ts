import type { Address } from '../../core/address.ts';
import type { Problem } from '../../core/errors.ts';
import { maskUrls } from '../../core/text/safe-url.ts';
import { didYouMean, nearest, quote } from '../../core/text/suggest.ts';
import { type AliasBudget, Converter, type NamedFile } from './convert.ts';
import { describeType } from './issue-words.ts';
import { entryAddress, type KindIndex, type SectionKind } from './kind-index.ts';
import { Lines, lastAtMost, type Position } from './lines.ts';
import { Locator } from './locate.ts';
import { keyText, type NodePair, offsetOf, type YamlNode } from './nodes.ts';
import type { YamlFile } from './parse-yaml.ts';
import { type EntryInput, type ReadEntry, readEntry } from './read-entry.ts';

/** Declarations of one file, before they are merged with those of other files. */
export interface ReadManifest {
  /** Path of the file as shown in problems. */
  readonly shown: string;
  readonly problems: readonly Problem[];
  readonly sections: readonly string[];
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
  readonly locator: Locator;
  /** Evaluated late, because the content of a file may replace it. */
  value(): unknown;
}

/** Reads one manifest in two steps, so that the files that it refers to can be read in between. */
export class ManifestReader {
  readonly problems: Problem[] = [];
  /** Files to read and insert before {@link finish}. */
  readonly files: NamedFile[] = [];
  private readonly shown: string;
  private readonly kinds: KindIndex;
  private readonly text: string;
  private readonly lines: Lines;
  private readonly aliases: AliasBudget;
  private spans: readonly EntrySpan[] | null = null;
  private readonly sections = new Set<string>();
  private readonly pending: PendingEntry[] = [];
  private readonly unknown: { readonly section: string; readonly offset: number }[] = [];
  private unread = false;

  constructor(options: {
    readonly shown: string;
    readonly text: string;
    readonly kinds: KindIndex;
    readonly maxAliased: number;
  }) {
    this.shown = options.shown;
    this.text = options.text;
    this.kinds = options.kinds;
    // Proportional to the file, so that many small files cost no more than one large file.
    const most = Math.min(options.maxAliased, 1000 + ALIASED_PER_CHARACTER * options.text.length);
    this.aliases = { used: 0, most };
    this.lines = new Lines(options.text);
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
    this.problems.push({ file: this.shown, ...this.positionOf(offset), address, message: maskUrls(message) });
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
    const common: Pick<EntryInput, 'kinds' | 'shown' | 'positionOf' | 'report'> = {
      kinds: this.kinds,
      shown: this.shown,
      positionOf: (offset) => this.positionOf(offset),
      report: (offset, message, address) => this.report(offset, message, address),
    };
    const entries = this.pending.map((pending) => readEntry({ ...pending, ...common, value: pending.value() }));
    const { shown, problems, sections, unread } = this;
    return { shown, problems, sections: [...sections], entries, unread: unread ? this.text : null };
  }

  private positionOf(offset: number): Position {
    return this.lines.positionOf(offset);
  }

  private placeOf(offset: number): string {
    return `${this.shown}:${this.positionOf(offset).line}`;
  }

  private readDocument(contents: YamlNode | null, broken: boolean): void {
    this.unread ||= broken;
    const converter = new Converter({
      // The parsed content of a broken document is unreliable, so problems in it are not reported.
      report: (offset, message) => (broken ? undefined : this.report(offset, message)),
      place: (offset) => this.placeOf(offset),
      aliases: this.aliases,
    });
    const root = contents;
    if (root === null || (root.type !== 'map' && converter.convert(root, null) === null)) {
      return;
    }
    if (root.type !== 'map') {
      this.unread = true;
      if (!broken) {
        const found = describeType(converter.convert(root, null));
        this.report(offsetOf(root), `a manifest must be a mapping of sections (${this.sectionNames()}), not ${found}`);
      }
      return;
    }
    const firstPending = this.pending.length;
    const seen = new Map<string, number>();
    for (const { key, value } of root.pairs) {
      this.readSection(converter, seen, { key, value }, broken);
    }
    for (const file of converter.files) {
      this.files.push(file);
    }
    if (converter.broken) {
      this.unread = true;
      for (let index = firstPending; index < this.pending.length; index += 1) {
        const pending = this.pending[index];
        if (pending !== undefined) {
          this.pending[index] = { ...pending, broken: true };
        }
      }
    }
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
    const locator = new Locator(converter);
    if (kind.manifest.single) {
      this.pending.push({ kind, writtenKey: '', pair, broken, locator, value: () => value ?? {} });
    } else if (value !== null) {
      this.readEntries(converter, kind, pair, value, { broken, locator });
    }
  }

  private readEntries(
    converter: Converter,
    kind: SectionKind,
    pair: NodePair,
    value: unknown,
    rest: { readonly broken: boolean; readonly locator: Locator },
  ): void {
    const node = converter.resolve(pair.value);
    const { section } = kind.manifest;
    if (node?.type !== 'map') {
      if (!rest.broken) {
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
        this.pending.push({
          kind,
          writtenKey,
          pair: entry,
          ...rest,
          value: () => values[writtenKey] ?? {},
        });
      }
    }
  }

  /** Reports unknown sections. A file with only unknown sections is not a manifest, and gets a single problem. */
  private reportUnknown(): void {
    const [first, second] = this.unknown;
    if (this.sections.size > 0) {
      for (const { section, offset } of this.unknown) {
        this.report(offset, this.unknownWords(section));
      }
    } else if (first !== undefined && second !== undefined) {
      const names = [...this.kinds.sections.keys()];
      const misspelled = this.unknown.find(({ section }) => nearest(section, names) !== null) ?? first;
      const words = `none of its ${this.unknown.length} sections is valid; ${this.unknownWords(misspelled.section)}`;
      this.problems.length = 0;
      this.report(misspelled.offset, words);
    } else if (first !== undefined) {
      this.report(first.offset, this.unknownWords(first.section));
    }
    this.keepFirstProblem();
  }

  /** Reduces the problems of a file without valid sections to the first one, because the others add no information. */
  private keepFirstProblem(): void {
    const [problem, ...others] = this.problems;
    if (this.sections.size === 0 && problem !== undefined && others.length > 0) {
      const message = `${problem.message} (and ${others.length} more in this file)`;
      this.problems.splice(0, this.problems.length, { ...problem, message });
    }
  }

  private unknownWords(section: string): string {
    const names = [...this.kinds.sections.keys()];
    const known = `; valid sections: ${names.join(', ')} (list files that are not manifests in .octavoignore)`;
    return `unknown section ${quote(section)}${didYouMean(section, names, known)}`;
  }

  private sectionNames(): string {
    return [...this.kinds.sections.keys()].join(', ');
  }
}
