import { posix } from 'node:path';
import type { Json } from '../../core/json.ts';
import type { Actual } from '../../core/resource.ts';
import { hasUrlSecrets } from '../../core/text/safe-url.ts';
import type { Kind } from '../../kinds/model/kind.ts';
import { type DescribeContext, type Described, FileContent } from '../../kinds/model/manifest.ts';
import type { SectionKind } from '../../manifests/read/kind-index.ts';
import type { ActualState } from '../model/actual-state.ts';
import type { Decisions } from '../model/decisions.ts';
import type { Keys } from './assign-keys.ts';

/** Entry to be written. */
export interface DraftEntry {
  readonly kind: SectionKind;
  readonly key: string;
  readonly actual: Actual;
  readonly value: Described;
}

/** Entries to be written. */
export interface Draft {
  readonly entries: readonly DraftEntry[];
  /** Notes, by the mapping they are about. */
  readonly notes: ReadonlyMap<object, readonly string[]>;
  /** The resource that each mapping declares. */
  readonly resources: ReadonlyMap<object, Actual>;
  /** Files other than manifests. */
  readonly files: readonly FileContent[];
}

export interface Drafting {
  readonly kinds: readonly Kind[];
  readonly state: ActualState;
  readonly chosen: ReadonlySet<Actual>;
  readonly keys: Keys;
  readonly decisions: Decisions;
  /** Includes values that a new resource has by default. */
  readonly includeDefaults?: boolean;
  /** Returns a path that no other file has. */
  freePath(path: string, text: string): string;
}

/** Describes every chosen resource. Anything that cannot be declared is recorded in the decisions and omitted. */
export function makeDraft(drafting: Drafting): Draft {
  const drafts = new Drafter(drafting);
  for (const kind of drafting.kinds) {
    if (kind.manifest !== null) {
      drafts.describe(kind as SectionKind);
    }
  }
  return drafts;
}

class Drafter implements Draft {
  readonly entries: DraftEntry[] = [];
  readonly notes = new Map<object, readonly string[]>();
  readonly resources = new Map<object, Actual>();
  readonly files: FileContent[] = [];
  readonly #drafting: Drafting;
  readonly #remarks = new Map<Actual, string[]>();

  constructor(drafting: Drafting) {
    this.#drafting = drafting;
  }

  describe(kind: SectionKind): void {
    const { chosen, keys, decisions } = this.#drafting;
    const actuals = [...chosen].filter((actual) => actual.kind === kind.name);
    for (const actual of actuals) {
      const key = keys.full.get(actual) ?? '';
      const value = kind.manifest.describe(actual, this.#context(key));
      if (typeof value === 'string') {
        decisions.leave(actual, value);
      } else {
        this.entries.push({ kind, key, actual, value });
      }
    }
    for (const [mapping, actual] of this.resources) {
      this.#note(mapping, actual);
    }
  }

  #context(entryKey: string): DescribeContext {
    const { state, keys, decisions, freePath, includeDefaults = false } = this.#drafting;
    return {
      includeDefaults,
      keyOf: (actual) => posix.basename(keys.full.get(actual) ?? ''),
      keyOfRef: (reference) => this.#keyOfRef(reference),
      partsOf: (actual) => state.partsOf(actual).filter((part) => !decisions.omitted.has(part)),
      resource: (actual, members) => this.#resource(actual, members),
      file: (folder, extension, text) => {
        const path = freePath(`${folder}/${entryKey}.${extension}`, text);
        const file = new FileContent(path, path, text);
        if (!hasUrlSecrets(text)) {
          this.files.push(file);
        }
        return file;
      },
      note: (actual, text) => void this.#remarks.set(actual, [...(this.#remarks.get(actual) ?? []), text]),
      bind: (actual) => decisions.bind(actual),
    };
  }

  #keyOfRef(reference: Json | undefined): string | null {
    const { kinds, state, keys, decisions } = this.#drafting;
    const hasKey = (each: Actual) =>
      keys.full.has(each) ||
      kinds.some(({ name, implicitAddress }) => name === each.kind && implicitAddress !== undefined);
    const meant = state.resolveReference(reference).find(hasKey);
    if (meant === undefined || decisions.omitted.has(meant)) {
      return null;
    }
    return keys.full.get(meant) ?? meant.title;
  }

  #resource(actual: Actual, members: Described): Described {
    const { ids, dropped, ignored } = this.#drafting.decisions;
    this.#dropSecrets(actual, members);
    const without = dropped.get(actual);
    const kept = Object.entries(members).filter(([name, value]) => value !== undefined && !without?.has(name));
    // The key of a part comes first in its mapping.
    const isPart = actual.within !== null;
    const bound = ids.has(actual) ? [['id', actual.id] as const] : [];
    const rest = ignored.has(actual) ? [['ignore', [...(ignored.get(actual) ?? [])]] as const] : [];
    const mapping = Object.fromEntries([
      ...kept.slice(0, isPart ? 1 : 0),
      ...bound,
      ...kept.slice(isPart ? 1 : 0),
      ...rest,
    ]);
    this.resources.set(mapping, actual);
    return mapping;
  }

  /** Drops URLs that contain a password or a token from any field: secrets do not belong in a repository. */
  #dropSecrets(actual: Actual, members: Described): void {
    const { decisions, kinds } = this.#drafting;
    const isSingle = kinds.some(({ name, manifest }) => name === actual.kind && manifest?.single === true);
    for (const [name, value] of Object.entries(members)) {
      if (hasUrlSecrets(value)) {
        decisions.drop(actual, name, 'a URL in it holds a password or a token');
        // The field may have identified the resource, unless the kind has only one.
        if (!isSingle) {
          decisions.bind(actual);
        }
      }
    }
  }

  #note(mapping: object, actual: Actual): void {
    const { keys, decisions } = this.#drafting;
    const key = keys.notes.get(actual);
    const notes = [
      ...(key === undefined ? [] : [`key: ${key}`]),
      ...(this.#remarks.get(actual) ?? []),
      ...[...(decisions.dropped.get(actual) ?? [])].map(([name, reason]) => `${name}: omitted, because ${reason}`),
      ...(decisions.ids.has(actual) && !this.#remarks.has(actual) ? ['id: no other field identifies it reliably'] : []),
      ...[...(decisions.ignored.get(actual) ?? [])].map(
        (name) => `ignore: the current value of ${name} cannot be declared`,
      ),
    ];
    if (notes.length > 0) {
      this.notes.set(mapping, notes);
    }
  }
}
