import { type Address, addressOf } from '../../core/address.ts';
import { append } from '../../core/lists.ts';
import type { Declared, Source } from '../../core/resource.ts';
import { didYouMean, quote } from '../../core/text/suggest.ts';
import { type EntryPath, Reference, type WrittenFields, type WrittenResource } from '../../kinds/model/manifest.ts';
import { checkEntry } from './check-entry.ts';
import { plainFields } from './fields.ts';
import { entryAddress, type KindIndex, type SectionKind } from './kind-index.ts';
import type { Position } from './lines.ts';
import type { Locator } from './locate.ts';
import type { NodePair } from './nodes.ts';

/** A reference of a resource, with its source position. */
export interface PlacedReference {
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

/** Entry to read, and what reading it needs. */
export interface EntryInput {
  readonly kind: SectionKind;
  readonly writtenKey: string;
  readonly pair: NodePair;
  readonly value: unknown;
  readonly broken: boolean;
  readonly locator: Locator;
  readonly kinds: KindIndex;
  readonly shown: string;
  positionOf(offset: number): Position;
  report(offset: number, message: string, address: Address): void;
}

/** Validates an entry, and lets its kind declare its resources. Problems are reported as they are found. */
export function readEntry(input: EntryInput): ReadEntry {
  const { kind, writtenKey, pair, locator } = input;
  const rules = kind.manifest;
  const key = rules.normalizeKey?.(writtenKey) ?? writtenKey;
  const address = entryAddress(kind, writtenKey);
  const source = sourceAt(input, []);
  const broken: ReadEntry = { kind: kind.name, key, address, source, broken: true, resources: [] };
  if (input.broken) {
    return broken;
  }
  const keyFits = rules.single || rules.key.pattern.test(writtenKey);
  if (!keyFits) {
    input.report(
      locator.offsetOfKey(pair, []),
      `${quote(writtenKey)} cannot be a key here; use ${rules.key.words}`,
      address,
    );
  }
  const checked = checkEntry(rules.entry, input.value);
  for (const problem of checked.problems ?? []) {
    const offset =
      problem.at === 'key' ? locator.offsetOfKey(pair, problem.path) : locator.offsetOfValue(pair, problem.path);
    input.report(offset, problem.message, address);
  }
  if (!keyFits || checked.problems !== null) {
    return broken;
  }
  const resources = declare(input, key, checked.entry, broken);
  return resources === null ? broken : { ...broken, broken: false, resources };
}

function declare(
  input: EntryInput,
  key: string,
  entry: unknown,
  { address, source }: Pick<ReadEntry, 'address' | 'source'>,
): ReadResource[] | null {
  const written: WrittenResource[] = [];
  const problems: { readonly path: EntryPath; readonly message: string }[] = [];
  input.kind.manifest.declare(key, entry, {
    add: (resource) => void written.push(resource),
    problem: (path, message) => void problems.push({ path, message }),
  });
  for (const resource of written) {
    append(problems, unknownIgnored(input.kinds, resource));
  }
  if (problems.length === 0) {
    return written.map((resource) =>
      place(input, resource, resource.path.length === 0 ? source : sourceAt(input, resource.path)),
    );
  }
  const owners = new Map(written.map((resource) => [JSON.stringify(resource.path), resource]));
  for (const { path, message } of problems) {
    input.report(input.locator.offsetOfValue(input.pair, path), message, ownerOf(owners, path) ?? address);
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

function unknownIgnored(kinds: KindIndex, resource: WrittenResource) {
  const { ignore } = resource.common;
  if (ignore === undefined) {
    return [];
  }
  const fields = Object.keys(kinds.byName.get(resource.kind)?.fields ?? {});
  return ignore.flatMap((name, index) =>
    fields.includes(name)
      ? []
      : [
          {
            path: [...resource.path, 'ignore', index],
            message: `cannot ignore ${quote(name)}: no such field${didYouMean(name, fields, `; valid fields: ${fields.join(', ')}`)}`,
          },
        ],
  );
}

function place(input: EntryInput, written: WrittenResource, source: Source): ReadResource {
  const address = addressOf(written.kind, written.key);
  const found: Reference[] = [];
  collectReferences(written.fields, found);
  const { id, renamedFrom, protect, paused, ignore } = written.common;
  return {
    address,
    fields: found.length === 0 ? null : written.fields,
    source,
    idSource: id === undefined ? source : valueSource(input, [...written.path, 'id']),
    references: found.map((reference) => ({ reference, source: valueSource(input, reference.path) })),
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

function sourceAt(input: EntryInput, path: EntryPath): Source {
  return { file: input.shown, ...input.positionOf(input.locator.offsetOfKey(input.pair, path)) };
}

function valueSource(input: EntryInput, path: EntryPath): Source {
  return { file: input.shown, ...input.positionOf(input.locator.offsetOfValue(input.pair, path)) };
}
