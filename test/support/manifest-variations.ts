/** Derives pairs of manifests from the schemas of the kinds, so that a new kind or field is tested without further work. */
import { z } from 'zod';
import { type Address, keyOf, kindOf } from '../../src/core/address.ts';
import { isObject, type Json, type JsonObject, sameJson } from '../../src/core/json.ts';
import type { Kind } from '../../src/kinds/model/kind.ts';
import { NAMED_FILES } from './model.ts';
import { declare, type Manifests } from './world.ts';

/** Manifests that were applied, and those that are applied next. */
export interface Step {
  readonly name: string;
  readonly before: object;
  readonly after: object;
}

type Schema = JsonObject;

/** A manifest as files, with the other files that it may name. */
export function filesOf(manifest: object): Manifests {
  return { ...NAMED_FILES, 'octavo.yaml': JSON.stringify(manifest) };
}

/**
 * Every valid manifest that differs from this one in one place: another value of a field, a field that was not set, a
 * reversed list, or one entry less. Entries and lists are changed in both directions.
 */
export async function variationsOf(kinds: readonly Kind[], manifest: JsonObject): Promise<readonly Step[]> {
  const steps: Step[] = [];
  const addresses = [...(await declare(filesOf(manifest))).keys()];
  for (const { name, value } of new Variations(kinds, addresses).of(manifest)) {
    const declared = await declare(filesOf(value as object)).catch(() => null);
    if (declared !== null) {
      steps.push({ name, before: manifest, after: value as object });
      if (name.startsWith('without ')) {
        steps.push({ name: name.replace('without ', 'with '), before: value as object, after: manifest });
      }
    }
  }
  return steps;
}

interface Variation {
  readonly name: string;
  readonly value: Json;
}

/** Members that every resource accepts: they control how it is planned, and no request sends them. */
const COMMON = ['id', 'renamedFrom', 'protect', 'paused', 'ignore'];
/** Other values to try for one field. */
const VALUES = 2;

class Variations {
  readonly #root: Schema;
  readonly #addresses: readonly Address[];

  /** `addresses` are possible targets of references. */
  constructor(kinds: readonly Kind[], addresses: readonly Address[]) {
    this.#addresses = addresses;
    const sections = kinds.flatMap(({ manifest: rules }) =>
      rules === null ? [] : [[rules.section, rules.single ? rules.entry : z.record(z.string(), rules.entry)] as const],
    );
    const schema = z.strictObject(Object.fromEntries(sections));
    this.#root = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema;
  }

  of(manifest: JsonObject): Iterable<Variation> {
    return this.#changes(manifest, this.#resolve(this.#root), '');
  }

  *#changes(value: Json, schemas: readonly Schema[], name: string): Generator<Variation> {
    if (Array.isArray(value)) {
      yield* this.#changesOfList(value, schemas, name);
    } else if (isObject(value)) {
      yield* this.#changesOfMapping(value, schemas, name);
    } else {
      for (const other of this.#candidates(value, schemas)) {
        yield { name: `${name} = ${JSON.stringify(other)}`, value: other };
      }
    }
  }

  *#changesOfList(list: readonly Json[], schemas: readonly Schema[], name: string): Generator<Variation> {
    const items = schemas.flatMap(({ items: each }) => this.#resolve(each));
    if (list.length > 1) {
      yield { name: `${name} reversed`, value: list.toReversed() };
    }
    for (const [index, item] of list.entries()) {
      yield { name: `without ${name}.${index}`, value: list.toSpliced(index, 1) };
      for (const change of this.#changes(item, items, `${name}.${index}`)) {
        yield { ...change, value: list.with(index, change.value) };
      }
    }
  }

  *#changesOfMapping(mapping: JsonObject, schemas: readonly Schema[], name: string): Generator<Variation> {
    const fitting = schemas.filter(({ properties }) => fits(mapping, properties));
    const schemaOf = (member: string) =>
      fitting.flatMap(({ properties, additionalProperties }) =>
        this.#resolve(isObject(properties) ? properties[member] : additionalProperties),
      );
    for (const [member, value] of Object.entries(mapping)) {
      const path = name === '' ? member : `${name}.${member}`;
      const { [member]: _, ...rest } = mapping;
      yield { name: `without ${path}`, value: rest };
      for (const change of this.#changes(value ?? null, schemaOf(member), path)) {
        yield { ...change, value: { ...mapping, [member]: change.value } };
      }
    }
    const unset = fitting
      .flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []))
      .filter((member) => !(member in mapping) && !COMMON.includes(member));
    for (const member of unset) {
      for (const value of this.#candidates(undefined, schemaOf(member))) {
        yield { name: `${name}.${member} = ${JSON.stringify(value)}`, value: { ...mapping, [member]: value } };
      }
    }
  }

  /** Schemas that a schema consists of: references and unions resolve to others. */
  #resolve(schema: Json | undefined): readonly Schema[] {
    if (!isObject(schema)) {
      return [];
    }
    if (typeof schema.$ref === 'string') {
      const steps = schema.$ref.split('/').slice(1);
      const at = (from: Json | undefined, step: string) => (isObject(from) ? from[step] : undefined);
      return this.#resolve(steps.reduce<Json | undefined>(at, this.#root));
    }
    const union = schema.anyOf ?? schema.oneOf;
    return Array.isArray(union) ? [...union.flatMap((each: Json) => this.#resolve(each)), schema] : [schema];
  }

  /** Other values that a field may have by its schemas; they are not checked for validity here. */
  #candidates(value: Json | undefined, schemas: readonly Schema[]): readonly Json[] {
    const listed = schemas.flatMap((schema): readonly Json[] => [
      ...this.#keys(schema.refersTo),
      ...(Array.isArray(schema.examples) ? (schema.examples as Json[]) : []),
      ...(Array.isArray(schema.enum) ? (schema.enum as Json[]) : []),
      ...(schema.const === undefined ? [] : [schema.const]),
      ...(schema.type === 'boolean' && schema.const === undefined ? [true, false] : []),
    ]);
    const isFree = typeof value === 'string' && schemas.some(({ type, enum: values }) => type === 'string' && !values);
    const nulls = schemas.some(({ type }) => type === 'null') ? [null] : [];
    const others = listed.filter((each) => !sameJson(each, value)).slice(0, VALUES);
    return [...others, ...(isFree ? [`${value}2`] : []), ...(value === null ? [] : nulls)];
  }

  #keys(kinds: Json | undefined): readonly string[] {
    const wanted = Array.isArray(kinds) ? (kinds as readonly Json[]) : [];
    return this.#addresses
      .filter((address) => wanted.includes(kindOf(address)))
      .map((address) => keyOf(address).split('/').at(-1) ?? '');
  }
}

function fits(mapping: JsonObject, properties: Json | undefined): boolean {
  return !isObject(properties) || Object.keys(mapping).every((member) => member in properties);
}
