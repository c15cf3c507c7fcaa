/** Comparison of the fields of a declared resource with those of the actual one. */
import type { Address } from '../core/address.ts';
import type { FieldChange } from '../core/change.ts';
import { isObject, type Json, sameJson } from '../core/json.ts';
import { append } from '../core/lists.ts';
import type { BaseEntry, Declared, Fields } from '../core/resource.ts';
import { maskUrlsIn } from '../core/text/safe-url.ts';
import type { FieldRules, KindRules, PeopleAddresses } from './rules.ts';

/** Difference between a declared resource and the actual one. */
export interface Difference {
  readonly updates: readonly FieldChange[];
  readonly moves: readonly FieldChange[];
  /** Fields that only a new resource can have as declared. */
  readonly replaces: readonly FieldChange[];
  readonly notes: readonly string[];
  /** The declared fields that can be applied now: people who have not joined are left out. */
  readonly wanted: Fields;
  readonly missingPeople: readonly string[];
}

/** People and resources that a plan can refer to. */
export interface DiffContext {
  /** Ids of the members of the organization, by email address. */
  readonly people: ReadonlyMap<string, string>;
  readonly addresses: PeopleAddresses;
  /** Returns true if the resource of an address will not exist after this plan. */
  readonly isPending: (address: Address) => boolean;
}

/** Returns a value as it is compared, recorded and shown: passwords and tokens in URLs are digests. */
export function normalizeValue(rules: FieldRules | undefined, value: Json): Json {
  return maskUrlsIn(rules?.normalize === undefined ? value : rules.normalize(value));
}

/** Returns the declared fields as they are recorded: large texts by their hash. */
export function normalizeFields(kind: KindRules, fields: Fields): Fields {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, normalizeValue(kind.fields[name], value)]],
    ),
  );
}

/** Returns the declared fields without people who have not joined and references to pending resources. */
export function applicableFields(
  kind: KindRules,
  declared: Declared,
  { people, addresses, isPending }: DiffContext,
): Pick<Difference, 'wanted' | 'missingPeople'> {
  const wanted: Record<string, Json> = {};
  const missingPeople: string[] = [];
  for (const [name, value] of Object.entries(declared.fields)) {
    const rules = kind.fields[name];
    if (value === undefined) {
      continue;
    }
    if (rules?.shape === 'people' && isObject(value)) {
      const isMissing = (person: string) => !people.has(person);
      append(missingPeople, Object.keys(value).filter(isMissing));
      wanted[name] = Object.fromEntries(Object.entries(value).filter(([person]) => !isMissing(person))) as Json;
    } else if (rules?.references === undefined) {
      wanted[name] = value;
    } else {
      const refers = rules.references(value);
      const named = refers.filter((address) => addresses.isPerson(address));
      const strangers = named.map((address) => addresses.emailOf(address)).filter((person) => !people.has(person));
      append(missingPeople, strangers);
      if (strangers.length === 0 && !refers.some(isPending)) {
        wanted[name] = value;
      }
    }
  }
  return { wanted, missingPeople };
}

/** Compares a declared resource with the actual one, field by field, both in normal form. */
export function diffFields(
  kind: KindRules,
  declared: Declared,
  actual: Fields,
  base: BaseEntry | null,
  context: DiffContext,
): Difference {
  const { wanted, missingPeople } = applicableFields(kind, declared, context);
  const updates: FieldChange[] = [];
  const moves: FieldChange[] = [];
  const replaces: FieldChange[] = [];
  const notes: string[] = [];
  for (const [path, value] of Object.entries(wanted)) {
    const rules = kind.fields[path] ?? {};
    if (value === undefined || rules.declarationOnly === true || isIgnored(declared, path)) {
      continue;
    }
    if (rules.unsupportedNote !== undefined && actual[path] === undefined) {
      notes.push(rules.unsupportedNote);
      continue;
    }
    if (rules.compare === 'base' && base === null) {
      append(notes, rules.noBaseNote === undefined ? [] : [rules.noBaseNote]);
      continue;
    }
    const part = rules.part?.(value, actual[path] ?? null) ?? { declared: value, actual: actual[path] ?? null };
    for (const place of 'unsupported' in part ? part.unsupported : []) {
      notes.push(`${path}.${place} was not compared: this version of the platform has no such setting`);
    }
    const before = rules.compare === 'base' ? base?.fields[path] : normalizeValue(rules, part.actual);
    const wantedNow = normalizeValue(rules, part.declared);
    const keepsOthers = rules.keepsOthers?.(declared.fields) === true && isObject(before) && isObject(wantedNow);
    const after = keepsOthers ? ({ ...before, ...wantedNow } as Json) : wantedNow;
    if (rules.fixed === 'create' || sameJson(before ?? null, after)) {
      continue;
    }
    const change: FieldChange = { path, from: before ?? null, to: after };
    (rules.fixed === 'replace' ? replaces : rules.move === true ? moves : updates).push(change);
  }
  return { updates, moves, replaces, notes, wanted, missingPeople };
}

/** Reports whether a field is only set on creation. A group of fields, such as `permissions`, is ignored as a whole. */
function isIgnored({ ignore }: Declared, path: string): boolean {
  return ignore.includes(path) || ignore.includes(path.split('.', 1)[0] ?? path);
}

/** Finds every address that these fields refer to. */
export function referencesOf(kind: KindRules, fields: Fields) {
  const found: { readonly address: Address; readonly field: string; readonly rules: FieldRules }[] = [];
  for (const field of Object.keys(kind.fields)) {
    const value = fields[field] ?? null;
    const rules = kind.fields[field];
    if (value !== null && rules?.references !== undefined) {
      for (const address of rules.references(value)) {
        found.push({ address, field, rules });
      }
    }
  }
  return found;
}

/** The rule of a field that holds one reference. */
export function reference(rules: Omit<FieldRules, 'refers'> = {}): FieldRules {
  return { ...rules, references: (value) => (typeof value === 'string' ? [value] : []) };
}
