/** OpenAPI specifications: records, operations and processing. */

import { type Document, LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { isObject } from '../../core/json.ts';
import { type ApiAnswer, created, deleted, invalid, ok } from '../model/answers.ts';
import { type ApiOperation, type Context, ORGANIZATION, operation, type PathContext } from '../model/operation.ts';
import { pick } from '../model/patch.ts';
import { id, listQuery, SPEC_VISIBILITIES, type SpecVisibility, text, url } from '../model/schema.ts';
import {
  type Entity,
  findDue,
  getProgress,
  IndexedTable,
  organizationKey,
  type Run,
  runningKey,
  type StoreFamily,
  startRun,
} from '../model/store.ts';
import { listOwned, requireOrganization, requireOwned } from '../organizations/people.ts';

const SPEC = `${ORGANIZATION}/openapi/{specSlug}` as const;

export interface SpecError {
  readonly message: string;
  readonly code: 'FETCH_TIMEOUT' | 'FETCH_ERROR' | 'PARSE_ERROR';
}

/** A specification. `id` is used in `lastVersion` and addresses; paths use the slug. */
export interface SpecRecord extends Entity {
  readonly organization: string;
  readonly slug: string;
  readonly source: { readonly url: string } | { readonly text: string };
  readonly visibility: SpecVisibility;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly run: Run | null;
  /** Errors that the current run will find. */
  readonly errors: readonly SpecError[];
  readonly lastVersion?: string | undefined;
  readonly lastProcessedAt?: string | undefined;
  readonly lastProcessedErrors: readonly SpecError[];
}

/** Returns the errors of a source. Addresses are never fetched: words in them determine the result. */
function errorsOf(source: SpecRecord['source']): SpecError[] {
  if ('text' in source) {
    return errorsOfText(source.text);
  }
  if (source.url.includes('timeout')) {
    return [{ message: `Fetching ${source.url} took too long`, code: 'FETCH_TIMEOUT' }];
  }
  if (source.url.includes('missing')) {
    return [{ message: `Fetching ${source.url} answered 404`, code: 'FETCH_ERROR' }];
  }
  return [];
}

/** Returns the errors of a document, which must be a YAML (or JSON) mapping with a version of OpenAPI or Swagger. */
function errorsOfText(text: string): SpecError[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  if (document.errors.length > 0) {
    return document.errors.map((error) => ({
      message: `line ${lines.linePos(error.pos[0]).line}: ${error.message}`,
      code: 'PARSE_ERROR' as const,
    }));
  }
  const value = readValue(document);
  if (value === undefined) {
    return [{ message: 'the document has too many aliases', code: 'PARSE_ERROR' }];
  }
  if (!isObject(value)) {
    return [{ message: 'line 1: the document is not a mapping', code: 'PARSE_ERROR' }];
  }
  if (typeof value.openapi !== 'string' && typeof value.swagger !== 'string') {
    return [{ message: 'line 1: neither "openapi" nor "swagger" has a version', code: 'PARSE_ERROR' }];
  }
  return [];
}

/** Returns the document's value; undefined if its aliases would expand too much. */
function readValue(document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch {
    return undefined;
  }
}

/** Source: docs/platform-notes.md#enumerations */
const STATES = { waiting: 'pending', working: 'progress', done: 'complete' } as const;

/** OpenAPISpec. Source: docs/platform-notes.md#openapi-specifications */
export function viewSpec(context: Context, spec: SpecRecord): unknown {
  const admin = context.caller.permission === 'admin';
  const app = `${context.base}/app/o/${spec.organization}/openapi/${spec.slug}`;
  return {
    object: 'openapi-spec',
    ...pick(spec, 'id', 'createdAt', 'updatedAt', 'slug', 'visibility', 'lastVersion', 'lastProcessedAt'),
    sourceURL: 'url' in spec.source ? spec.source.url : undefined,
    processingState: STATES[getProgress(spec.run, context.now)],
    lastProcessErrorCode: spec.lastProcessedErrors[0]?.code,
    lastProcessedErrors: spec.lastProcessedErrors.length === 0 ? undefined : spec.lastProcessedErrors,
    permissions: { view: true, edit: admin },
    urls: {
      location: `${context.base}/v1/orgs/${spec.organization}/openapi/${spec.slug}`,
      app,
      published: spec.visibility === 'public' ? `${context.base}/openapi/${spec.id}` : undefined,
    },
  };
}

/** Source: docs/platform-notes.md#limits */
const slug = text(1, 100).refine((value) => /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(value), {
  error: 'must be letters, digits and single hyphens between them',
});

/** A URL or a text. Source: docs/platform-notes.md#writable-fields */
const source = z.union([z.strictObject({ url: url() }), z.strictObject({ text: id })], {
  error: 'must be {url} (an http or https URL) or {text}',
});

function requireSpec(call: PathContext<'organizationId' | 'specSlug'>): SpecRecord {
  const { organizationId, specSlug } = call.params;
  const spec = call.store.specs.one('slug', `${organizationId}/${specSlug}`);
  return requireOwned(call, spec, 'OpenAPI specification', specSlug);
}

/** Creates the specification or replaces its source, and starts processing. */
function writeSource(
  context: Context,
  organization: string,
  slug: string,
  given: SpecRecord['source'],
  current?: SpecRecord,
): SpecRecord {
  const { store } = context;
  if ('text' in given && !context.features.openapiText) {
    throw invalid('body.source.text', 'unknown field');
  }
  const spec = store.specs.put({
    ...(current ?? {
      ...store.identify('spec'),
      organization,
      slug,
      visibility: 'private',
      createdAt: context.at,
      lastProcessedErrors: [],
    }),
    source: given,
    updatedAt: context.at,
    run: startRun(context, context.processing.openapi),
    errors: errorsOf(given),
  });
  store.settle(context.now);
  return store.specs.get(spec.id) ?? spec;
}

function checkSlug(given: string): string {
  const result = slug.safeParse(given);
  if (!result.success) {
    throw invalid('path.specSlug', result.error.issues.map((issue) => issue.message).join('; '));
  }
  return given;
}

function putSpec(context: Context, organization: string, slug: string, given: SpecRecord['source']): ApiAnswer {
  const current = context.store.specs.one('slug', `${organization}/${slug}`);
  const spec = writeSource(context, organization, checkSlug(slug), given, current);
  return current === undefined ? created(viewSpec(context, spec)) : ok(viewSpec(context, spec));
}

const createOpenApiSpecBody = z.strictObject({ slug, source });
const updateOpenApiSpecBody = z.strictObject({ visibility: z.enum(SPEC_VISIBILITIES) });

/** Operations on OpenAPI specifications. Source: docs/platform-notes.md#openapi-specifications */
export const openapiOperations: readonly ApiOperation[] = [
  operation('listOpenApiSpecs', 'GET', `${ORGANIZATION}/openapi`, { query: listQuery }, (call) =>
    listOwned(call, call.store.specs, viewSpec),
  ),
  operation('createOpenApiSpec', 'POST', `${ORGANIZATION}/openapi`, { body: createOpenApiSpecBody }, (call) => {
    const { store, body } = call;
    const organization = requireOrganization(call);
    if (store.specs.one('slug', `${organization.id}/${body.slug}`) !== undefined) {
      throw invalid('body.slug', `"${body.slug}" is already in use`);
    }
    return created(viewSpec(call, writeSource(call, organization.id, body.slug, body.source)));
  }),
  operation('getOpenApiSpec', 'GET', SPEC, {}, (call) => ok(viewSpec(call, requireSpec(call)))),
  operation('putOpenApiSpec', 'PUT', SPEC, { body: z.strictObject({ source }) }, (call) => {
    const organization = requireOrganization(call);
    return putSpec(call, organization.id, call.params.specSlug, call.body.source);
  }),
  operation('updateOpenApiSpec', 'PATCH', SPEC, { body: updateOpenApiSpecBody }, (call) => {
    const spec = requireSpec(call);
    const { visibility } = call.body;
    return ok(viewSpec(call, call.store.specs.put({ ...spec, visibility, updatedAt: call.at })));
  }),
  operation('deleteOpenApiSpec', 'DELETE', SPEC, {}, (call) => {
    const organization = requireOrganization(call);
    const spec = call.store.specs.one('slug', `${organization.id}/${call.params.specSlug}`);
    return deleted(spec !== undefined && call.store.specs.remove(spec.id));
  }),
];

/** Tables of specifications, and their processing. A run that found errors keeps the last good version. */
export const openapiStore = {
  tables: openapiTables,
  settle(store, now) {
    for (const { record, run } of findDue(store.specs, now)) {
      store.specs.put({
        ...record,
        run: null,
        lastVersion: record.errors.length === 0 ? store.identify('ver').id : record.lastVersion,
        lastProcessedAt: new Date(run.due).toISOString(),
        lastProcessedErrors: record.errors,
      });
    }
  },
} satisfies StoreFamily;

function openapiTables() {
  return {
    specs: new IndexedTable<SpecRecord, 'organization' | 'slug' | 'running'>({
      organization: organizationKey,
      slug: (spec) => `${spec.organization}/${spec.slug}`,
      running: runningKey,
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof openapiTables> {}
}
