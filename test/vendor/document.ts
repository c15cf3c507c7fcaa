/** Reads and compiles the vendor's OpenAPI documents. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import formats from 'ajv-formats';
import { Discriminators } from './discriminators.ts';
import { type Places, prepare } from './prepare.ts';
import type { Named, Schema } from './schema.ts';

/** Versions of the vendor's OpenAPI document that exchanges are checked against. */
export const VERSIONS = ['0.146', '0.202'] as const;
export type Version = (typeof VERSIONS)[number];

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

export interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Content;
}

/** An operation of the document, with resolved references to answers. */
export interface VendorOperation {
  readonly id: string;
  readonly method: string;
  /** Without `/v1`, with `{names}`. */
  readonly path: string;
  readonly responses: Readonly<Record<string, Response>>;
}

interface Referring {
  readonly $ref?: string;
}
interface RawOperation {
  readonly operationId: string;
  readonly responses: Readonly<Record<string, Response & Referring>>;
}
interface Raw {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: {
    readonly schemas: Named;
    readonly responses: Readonly<Record<string, Response>>;
  };
}

/** Error of a value, and its place in the document. */
export interface Complaint {
  readonly error: ErrorObject;
  readonly place: string;
}

/** A document that validates values; schemas are compiled when they are first needed. */
export interface VendorDocument {
  readonly version: Version;
  readonly named: Named;
  readonly discriminators: Discriminators;
  readonly operations: readonly VendorOperation[];
  /** Errors of a JSON value. */
  check(schema: Schema, place: string, value: unknown): Complaint[];
}

/** Full package names, so that a search for the packages finds this use. */
const files: Readonly<Record<Version, () => string>> = {
  '0.146': () => import.meta.resolve('gitbook-api-0.146/spec/openapi.json'),
  '0.202': () => import.meta.resolve('gitbook-api-0.202/spec/openapi.json'),
};

/** Reads one of the vendor's OpenAPI documents. */
export function openDocument(version: Version): VendorDocument {
  const raw = JSON.parse(readFileSync(fileURLToPath(files[version]()), 'utf8')) as Raw;
  const named = raw.components.schemas;
  const discriminators = new Discriminators(named);
  return {
    version,
    named,
    discriminators,
    operations: operationsOf(raw),
    check: checker(named, discriminators),
  };
}

function operationsOf({ paths, components }: Raw): VendorOperation[] {
  const last = (reference: string) => reference.slice(reference.lastIndexOf('/') + 1);
  const responseOf = (given: Response & Referring) =>
    given.$ref === undefined ? given : (components.responses[last(given.$ref)] ?? given);
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([, operation]) => operation.operationId !== undefined)
      .map(([method, operation]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        responses: Object.fromEntries(
          Object.entries(operation.responses).map(([status, given]) => [status, responseOf(given)]),
        ),
      })),
  );
}

type Check = VendorDocument['check'];

/** Creates validators lazily: a document has a thousand schemas. */
function checker(named: Named, discriminators: Discriminators): Check {
  const places: Places = new WeakMap();
  const preparing = { discriminators, places };
  const compiled = new Map<string, ValidateFunction>();
  let prepared: Named | undefined;
  let ajv: Ajv | undefined;
  return (schema, place, value) => {
    prepared ??= Object.fromEntries(Object.entries(named).map(([name, one]) => [name, prepare(preparing, one, name)]));
    ajv ??= open(prepared);
    const validate = compiled.get(place) ?? ajv.compile(prepare(preparing, schema, place));
    compiled.set(place, validate);
    return validate(value) ? [] : complaints(validate.errors ?? [], places, prepared);
  };
}

function open(prepared: Named): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    strict: false,
    // The compiled code runs only a few times.
    code: { optimize: false },
    validateSchema: false,
    inlineRefs: false,
    unicodeRegExp: false,
    formats: { emoji: true, icon: true },
  });
  formats.default(ajv);
  for (const [name, schema] of Object.entries(prepared)) {
    ajv.addSchema(schema, name);
  }
  return ajv;
}

/** Errors without derived ones: that a condition failed, and the errors of each of several choices. */
function complaints(errors: readonly ErrorObject[], places: Places, prepared: Named): Complaint[] {
  const choices = errors
    .filter(({ keyword }) => keyword === 'oneOf' || keyword === 'anyOf')
    .map(({ instancePath, schema }) => ({ instancePath, within: within(schema as readonly Schema[], prepared) }));
  const follows = ({ keyword, instancePath, parentSchema }: ErrorObject) =>
    keyword === 'if' ||
    choices.some((choice) => instancePath.startsWith(choice.instancePath) && choice.within.has(parentSchema ?? {}));
  return errors
    .filter((error) => !follows(error))
    .map((error) => ({ error, place: places.get(error.parentSchema ?? {}) ?? '' }));
}

/** All combined schemas. */
function within(schemas: readonly unknown[], prepared: Named, seen = new Set<unknown>()): Set<unknown> {
  for (const schema of schemas) {
    if (typeof schema === 'object' && schema !== null && !seen.has(schema)) {
      seen.add(schema);
      const { $ref } = schema as Schema;
      within([...Object.values(schema), ...($ref === undefined ? [] : [prepared[$ref]])], prepared, seen);
    }
  }
  return seen;
}
