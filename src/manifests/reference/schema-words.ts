import { isObject } from '../../core/json.ts';
import type { JsonSchema } from './schema-notes.ts';

/** A mapping inside a field, with the suffix of its path: `[]` for the items of a list, `.*` for free keys. */
export interface InnerSchema {
  readonly schema: JsonSchema;
  readonly suffix: '' | '[]' | '.*';
}

/** Describes the fields of a JSON Schema in words. */
export class SchemaWords {
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
    return this.alternatives(schema).flatMap((alternative): InnerSchema[] => {
      const items = asSchema(alternative.items);
      const values = asSchema(alternative.additionalProperties);
      if (items !== undefined) {
        return this.inside(items).flatMap(({ schema: inner, suffix }) =>
          suffix === '' ? [{ schema: inner, suffix: '[]' }] : [],
        );
      }
      if (values !== undefined) {
        return this.inside(values).flatMap(({ schema: inner, suffix }) =>
          suffix === '' ? [{ schema: inner, suffix: '.*' }] : [],
        );
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
    const resolved = this.dereference(schema);
    const options = resolved.anyOf ?? resolved.oneOf;
    return Array.isArray(options)
      ? (options as JsonSchema[]).flatMap((option) => this.alternatives(option)).filter(({ type }) => type !== 'null')
      : [resolved];
  }

  private takesNull(schema: JsonSchema): boolean {
    const resolved = this.dereference(schema);
    const options = resolved.anyOf ?? resolved.oneOf;
    return (
      Array.isArray(options) &&
      (options as JsonSchema[]).some((option) => option.type === 'null' || this.takesNull(option))
    );
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
