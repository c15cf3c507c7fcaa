/** Reference page of all sections and fields, generated from the JSON Schema. */

import { isObject } from '../core/json.ts';
import { append } from '../core/lists.ts';
import type { Kind } from '../kinds/model/kind.ts';
import { commonShape } from '../kinds/model/schema.ts';
import { type JsonSchema, manifestJsonSchema } from './json-schema.ts';
import { indexKinds, type SectionKind } from './kind-index.ts';

interface Row {
  readonly field: string;
  readonly value: string;
  readonly meaning: string;
}

/** Returns a Markdown reference of all sections and fields of manifests, generated from the validating schemas. */
export function manifestReference(kinds: readonly Kind[]): string {
  const schema = manifestJsonSchema(kinds);
  const words = new SchemaWords(schema);
  const sections = [...indexKinds(kinds).sections.values()];
  const [first] = sections;
  const parts = [
    '# Manifests',
    'A manifest is a YAML file with one or more of these sections. A field that you omit is not managed.',
    sections
      .map(({ manifest }) => `- [\`${manifest.section}\`](#${manifest.section.toLowerCase()}): ${manifest.summary}`)
      .join('\n'),
    ...sections.map((kind) => sectionPart(kind, entrySchema(kind, schema, words), words)),
  ];
  if (first !== undefined) {
    const rows = rowsOf(entrySchema(first, schema, words), '', words).filter(({ field }) => isCommon(field));
    parts.push('## Fields of every resource', table(rows));
  }
  return `${parts.join('\n\n')}\n`;
}

function entrySchema(kind: SectionKind, schema: JsonSchema, words: SchemaWords): JsonSchema {
  const section = words.resolve(words.members(schema).get(kind.manifest.section) ?? {});
  const entry = kind.manifest.single ? section : words.values(section);
  return words.resolve(entry ?? {});
}

function sectionPart(kind: SectionKind, entry: JsonSchema, words: SchemaWords): string {
  const { section, single, summary, example, key } = kind.manifest;
  const indented = example.trimEnd().replace(/^(?=.)/gm, '  ');
  const rows = rowsOf(entry, '', words).filter(({ field }) => !isCommon(field));
  return [
    `## ${section}`,
    single ? summary : `${summary}\n\nKey format: ${key.words}.`,
    `\`\`\`yaml\n${section}:\n${indented}\n\`\`\``,
    table(rows),
  ].join('\n\n');
}

/** Returns a row for each field, including the fields of nested mappings and lists. */
function rowsOf(schema: JsonSchema, prefix: string, words: SchemaWords, above: readonly JsonSchema[] = []): Row[] {
  const required = words.required(schema);
  const rows: Row[] = [];
  for (const [name, member] of words.members(schema)) {
    if (prefix !== '' && Object.hasOwn(commonShape, name)) {
      continue;
    }
    const field = `${prefix}${name}`;
    const value = `${words.type(member)}${required.has(name) ? '; required' : ''}`;
    rows.push({ field, value, meaning: words.description(member) });
    for (const { schema: inner, suffix } of words.inside(member)) {
      if (!above.includes(inner)) {
        append(rows, rowsOf(inner, `${field}${suffix}.`, words, [...above, schema, inner]));
      }
    }
  }
  return rows;
}

function isCommon(field: string): boolean {
  return Object.hasOwn(commonShape, field.split('.')[0] ?? '');
}

function table(rows: readonly Row[]): string {
  const lines = rows.map(({ field, value, meaning }) => `| \`${field}\` | ${cell(value)} | ${cell(meaning)} |`);
  return ['| field | value | meaning |', '|---|---|---|', ...lines].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** Alternatives of a field whose members are listed. */
const MOST_ALTERNATIVES = 4;

/** A mapping inside a field, with the suffix of its path: `[]` for the items of a list, `.*` for free keys. */
interface InnerSchema {
  readonly schema: JsonSchema;
  readonly suffix: '' | '[]' | '.*';
}

/** Describes the fields of a JSON Schema in words. */
class SchemaWords {
  private readonly definitions: JsonSchema;

  constructor(root: JsonSchema) {
    this.definitions = asSchema(root.definitions) ?? {};
  }

  /** Follows references, and removes an alternative that only adds `null`. */
  resolve(schema: JsonSchema): JsonSchema {
    const alternatives = this.alternatives(schema);
    const [only] = alternatives;
    return alternatives.length === 1 && only !== undefined ? only : this.dereference(schema);
  }

  members(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
    return new Map(Object.entries(asSchema(this.resolve(schema).properties) ?? {}) as [string, JsonSchema][]);
  }

  /** Returns the schema of the values of a mapping with free keys. */
  values(schema: JsonSchema): JsonSchema | undefined {
    return asSchema(this.resolve(schema).additionalProperties);
  }

  required(schema: JsonSchema): ReadonlySet<string> {
    const { required } = this.resolve(schema);
    return new Set(Array.isArray(required) ? (required as string[]) : []);
  }

  description(schema: JsonSchema): string {
    const described = [schema, this.dereference(schema), ...this.alternatives(schema)];
    const found = described.find(({ description }) => typeof description === 'string')?.description;
    return typeof found === 'string' ? found : '';
  }

  /** Returns the mappings with named fields that a field contains. */
  inside(schema: JsonSchema): InnerSchema[] {
    const alternatives = this.alternatives(schema);
    // A choice of many mappings, such as what a link can lead to, is described where it is used.
    return (alternatives.length > MOST_ALTERNATIVES ? [] : alternatives).flatMap((alternative): InnerSchema[] => {
      const items = asSchema(alternative.items);
      const inner = items ?? asSchema(alternative.additionalProperties);
      if (inner !== undefined) {
        const suffix = items === undefined ? '.*' : '[]';
        return this.inside(inner).flatMap((each) => (each.suffix === '' ? [{ schema: each.schema, suffix }] : []));
      }
      return isObject(alternative.properties) && !isNamedFile(alternative) ? [{ schema: alternative, suffix: '' }] : [];
    });
  }

  /** Returns the type of a field: `text, 2 to 64 characters, or null`. */
  type(schema: JsonSchema): string {
    const kinds = this.alternatives(schema).map((alternative) => this.one(alternative));
    return [...new Set(this.takesNull(schema) ? [...kinds, '`null`'] : kinds)].join(', or ');
  }

  private one(schema: JsonSchema): string {
    const { type } = schema;
    const options = 'const' in schema ? [schema.const] : schema.enum;
    if (Array.isArray(options)) {
      return options.map((value) => `\`${String(value)}\``).join(', ');
    }
    if (type === 'string') {
      return `text${lengthWords(schema)}${formatWords(schema)}`;
    }
    if (type === 'array') {
      return `list of ${this.type(asSchema(schema.items) ?? {})}`;
    }
    if (type === 'integer' || type === 'number') {
      return `${type === 'integer' ? 'whole number' : 'number'}${rangeWords(schema)}`;
    }
    if (type === 'boolean') {
      return '`true`, `false`';
    }
    if (isNamedFile(schema)) {
      return '`{ file: path }`';
    }
    const values = asSchema(schema.additionalProperties);
    return values !== undefined && Object.keys(values).length > 0
      ? `mapping of keys to ${this.type(values)}`
      : 'mapping';
  }

  private alternatives(schema: JsonSchema): JsonSchema[] {
    return (
      this.options(schema)
        ?.flatMap((option) => this.alternatives(option))
        .filter(({ type }) => type !== 'null') ?? [this.dereference(schema)]
    );
  }

  private takesNull(schema: JsonSchema): boolean {
    return this.options(schema)?.some((option) => option.type === 'null' || this.takesNull(option)) === true;
  }

  /** Returns the alternatives as written; undefined if the schema has none. */
  private options(schema: JsonSchema): readonly JsonSchema[] | undefined {
    const { anyOf, oneOf } = this.dereference(schema);
    const options = anyOf ?? oneOf;
    return Array.isArray(options) ? (options as JsonSchema[]) : undefined;
  }

  private dereference(schema: JsonSchema): JsonSchema {
    const all = Array.isArray(schema.allOf) ? (schema.allOf as JsonSchema[])[0] : undefined;
    const { $ref } = all ?? schema;
    if (typeof $ref !== 'string') {
      return schema;
    }
    const found = asSchema(this.definitions[$ref.replace('#/definitions/', '')]);
    return found === undefined ? {} : this.dereference(found);
  }
}

function asSchema(value: unknown): JsonSchema | undefined {
  return isObject(value) ? value : undefined;
}

function isNamedFile(schema: JsonSchema): boolean {
  return isObject(schema.properties) && Object.keys(schema.properties).join() === 'file';
}

function lengthWords({ minLength, maxLength }: JsonSchema): string {
  if (typeof maxLength !== 'number') {
    return '';
  }
  return typeof minLength === 'number'
    ? `, ${minLength} to ${maxLength} characters`
    : `, at most ${maxLength} characters`;
}

function formatWords({ format }: JsonSchema): string {
  return format === 'uri' ? ', an address' : format === 'date' ? ', YYYY-MM-DD' : '';
}

/** Omits the bounds that zod adds for safe integers, because they carry no information. */
function rangeWords({ minimum, maximum }: JsonSchema): string {
  const least = typeof minimum === 'number' && minimum > Number.MIN_SAFE_INTEGER ? `, at least ${minimum}` : '';
  const most = typeof maximum === 'number' && maximum < Number.MAX_SAFE_INTEGER ? `, at most ${maximum}` : '';
  return least + most;
}
