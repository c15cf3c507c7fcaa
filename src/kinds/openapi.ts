/** Kind of the OpenAPI specifications. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { keyOf } from '../core/address.ts';
import { isObject, type Json } from '../core/json.ts';
import { hasUrlSecrets, maskUrls } from '../core/text/safe-url.ts';
import { type OpenApiSpec, operations } from '../platform/operations/index.ts';
import { listedKind } from './model/derived-kind.ts';
import { access, writtenFields } from './model/field-table.ts';
import { type Progress, request } from './model/kind.ts';
import { FileContent } from './model/manifest.ts';
import { fileOnly, url } from './model/schema.ts';

const SLUG = /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/;

const source = z
  .union(
    [
      z.strictObject({
        url: url('https://acme.example/openapi.json').describe('URL that the platform fetches.'),
      }),
      fileOnly,
    ],
    { error: 'must be { url: … } or { file: … }' },
  )
  .describe('The specification: a URL that the platform fetches, or a file in this repository.');

/** OpenAPI specifications, named by slug. Source: docs/platform-notes.md#openapi-specifications */
export const openapi = listedKind({
  name: 'openapi',
  section: 'openapi',
  title: 'slug',
  summary: 'OpenAPI specifications by slug.',
  operations: { list: operations.listOpenApiSpecs, delete: operations.deleteOpenApiSpec },
  fields: {
    // The platform does not return the text of a file, so its hash is compared with what was last applied.
    source: {
      schema: source,
      normalize: normalizeSource,
      compare: 'base',
      noBaseNote: 'its content was not compared: the platform does not return it, and there is no base',
      fromEntry: (value) =>
        value instanceof FileContent ? { text: value.text, file: value.path } : (value as { readonly url: string }),
      toEntry: (_value, _context, { fields }) => (isSafeUrl(fields.sourceURL) ? { url: fields.sourceURL } : undefined),
    },
    sourceURL: { redacted: true, manifestName: 'source' },
    visibility: access(
      z.enum(['private', 'public']).describe('`public` lets anyone with the link read it.'),
      ({ fields }) => (fields.visibility === 'public' ? [{ who: 'everyone with the link', role: 'read' }] : []),
    ),
  },
  complete: ({ source: given, visibility }) =>
    isObject(given) && typeof given.url === 'string'
      ? { sourceURL: given.url, visibility }
      : { source: given, visibility },
  check(entry, key, context) {
    if (entry.source === undefined && entry.id === undefined) {
      context.problem([], 'needs a source: { url: … } or { file: … }');
    }
    if (key.length > 100) {
      context.problem([], `its slug is ${key.length} characters long; the maximum is 100`);
    }
    if (entry.source instanceof FileContent && entry.source.text === '') {
      context.problem(['source'], `${entry.source.path} is empty; an OpenAPI specification has text`);
    }
  },
  manifest: { key: { pattern: SLUG, words: 'a slug: letters and digits, with single "-" between them' } },
  naturalKeys: (_fields, address) => [{ by: 'slug', value: keyOf(address) }],
  renamedKey: undefined,
  facts: ({ lastProcessErrorCode }) => ({ errorCode: lastProcessErrorCode ?? null }),
  impact: (actual) => ({ weight: 5, text: actual.fields.visibility === 'public' ? 'public' : '' }),
  notes(_declared, actual) {
    const code = actual.facts?.errorCode;
    return typeof code === 'string' ? [`the platform could not process it: ${code}`] : [];
  },
  beforeDescribe(actual, context) {
    const { sourceURL } = actual.fields;
    if (!isSafeUrl(sourceURL)) {
      context.bind(actual);
      context.note(
        actual,
        sourceURL === null
          ? 'its source is a file, which the platform does not return; declare it as source: { file: … }'
          : 'its source is a URL with a password or a token, which must not be committed',
      );
    }
  },
  writes(change) {
    const path = { specSlug: keyOf(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteOpenApiSpec, { path })] };
    }
    const { source: given, sourceURL, visibility } = writtenFields(change) as Written;
    const sent = given ? { text: given.text } : sourceURL === undefined ? null : { url: sourceURL };
    const shown =
      visibility === undefined ? [] : [request(operations.updateOpenApiSpec, { path, body: { visibility } })];
    if (sent === null) {
      return { first: shown };
    }
    const learns = (answer: OpenApiSpec) => [[change.address, answer.id] as const];
    const put = request(operations.putOpenApiSpec, { path, body: { source: sent } }, { learns });
    const file = given?.file ?? maskUrls(sourceURL ?? '');
    return {
      first: [put, ...shown],
      watch: async (reader) => progressOf(await reader.get(operations.getOpenApiSpec, { path }), file),
    };
  },
  example: 'petstore: { source: { url: https://acme.example/openapi.json }, visibility: public }',
});

interface Written {
  readonly source?: { readonly text: string; readonly file: string };
  readonly sourceURL?: string;
  readonly visibility?: 'private' | 'public';
}

function isSafeUrl(url: Json | undefined): url is string {
  return typeof url === 'string' && !hasUrlSecrets(url);
}

function normalizeSource(value: Json): Json {
  if (!isObject(value) || typeof value.text !== 'string') {
    return value;
  }
  const digest = createHash('sha256').update(value.text).digest('hex');
  return { file: String(value.file), sha256: digest };
}

/**
 * Returns the progress of processing. There is no failed state, only errors of the last processing.
 * Source: docs/platform-notes.md#openapi-specifications
 */
function progressOf(spec: OpenApiSpec, file: string): Progress {
  if (spec.processingState !== 'complete' && spec.processingState != null) {
    return { state: 'working' };
  }
  if (!spec.lastProcessErrorCode) {
    return { state: 'done' };
  }
  const errors = Array.isArray(spec.lastProcessedErrors) ? spec.lastProcessedErrors : [];
  const lines = errors.filter(isObject).map((error) => placed(String(error.message ?? ''), file));
  const reasons = lines.length === 0 ? [file] : lines;
  return {
    state: 'failed',
    reason: `the platform could not process it: ${spec.lastProcessErrorCode}: ${reasons.join('; ')}`,
  };
}

/** Returns the platform's message, prefixed with the file and, if it names one, the line. */
function placed(message: string, file: string): string {
  const line = /\bline (\d+)/i.exec(message)?.[1];
  return `${file}${line === undefined ? '' : `:${line}`}: ${maskUrls(message)}`;
}
