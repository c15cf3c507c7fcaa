import { createHash } from 'node:crypto';
import { z } from 'zod';
import { keyOf } from '../core/address.ts';
import { isObject, type Json } from '../core/json.ts';
import { hasUrlSecrets, maskUrls } from '../core/text/safe-url.ts';
import { type OpenApiSpec, operations } from '../platform/operations/index.ts';
import { collect, type Kind } from './model/kind.ts';
import { commonFields, FileContent, manifestRules } from './model/manifest.ts';
import { type Progress, request } from './model/request.ts';
import { entry, fileOnly, url } from './model/schema.ts';
import { written } from './model/written.ts';

const SLUG = /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/;

const schema = entry({
  source: z
    .union(
      [
        z.strictObject({
          url: url('https://acme.example/openapi.json').describe('URL that the platform fetches.'),
        }),
        fileOnly,
      ],
      { error: 'must be { url: … } or { file: … }' },
    )
    .optional()
    .describe('The specification: a URL that the platform fetches, or a file in this repository.'),
  visibility: z.enum(['private', 'public']).optional().describe('`public` lets anyone with the link read it.'),
});

interface SpecFields {
  source: { url: string } | { text: string; file: string };
  visibility: 'private' | 'public';
}

/** OpenAPI specifications, named by slug. Source: docs/platform-notes.md#openapi-specifications */
export const openapi: Kind = {
  name: 'openapi',
  dependsOn: [],
  creatable: true,
  deletable: true,
  fields: {
    // The text of a file cannot be read back, so it is compared by its hash with what was last applied.
    source: {
      normalize: keptSource,
      compare: 'base',
      noBaseNote: 'its content was not compared: the platform does not give it back, and there is no base',
    },
    sourceURL: { redacted: true, manifestName: 'source' },
    visibility: { access: true },
  },
  manifest: manifestRules({
    section: 'openapi',
    single: false,
    key: { pattern: SLUG, words: 'a slug: letters and digits, with single "-" between them' },
    entry: schema,
    summary: 'OpenAPI specifications by slug.',
    example: 'petstore: { source: { url: https://acme.example/openapi.json }, visibility: public }',
    declare(key, fields, context) {
      if (fields.source === undefined && fields.id === undefined) {
        context.problem([], 'needs a source: { url: … } or { file: … }');
      }
      if (key.length > 100) {
        context.problem([], `its slug is ${key.length} characters long, must be at most 100`);
      }
      const { source, visibility } = fields;
      if (source instanceof FileContent && source.text === '') {
        context.problem(['source'], `${source.path} is empty; an OpenAPI specification has text`);
      }
      context.add({
        kind: 'openapi',
        key,
        path: [],
        fields:
          source instanceof FileContent
            ? { source: { text: source.text, file: source.path }, visibility }
            : { sourceURL: source?.url, visibility },
        within: null,
        place: null,
        common: commonFields(fields),
      });
    },
    describe(actual, context) {
      const { sourceURL, visibility } = actual.fields;
      const isTellable = typeof sourceURL === 'string' && !hasUrlSecrets(sourceURL);
      if (!isTellable) {
        context.bind(actual);
        context.note(
          actual,
          sourceURL === null
            ? 'its source is a file, which the platform does not give back; put it in as source: { file: … }'
            : 'its source is a URL with a password or a token in it, which do not belong in a repository',
        );
      }
      return context.resource(actual, {
        source: isTellable ? { url: sourceURL } : undefined,
        visibility: visibility ?? undefined,
      });
    },
  }),
  suggestedKeys: ({ title }) => [title],
  naturalKeys: (_fields, address) => [{ by: 'slug', value: keyOf(address) }],
  actualKeys: (actual) => [{ by: 'slug', value: actual.title }],
  impact: (actual) => ({ weight: 5, text: actual.fields.visibility === 'public' ? 'public' : '' }),
  notes(_declared, actual) {
    const code = actual.facts?.errorCode;
    return typeof code === 'string' ? [`the platform could not process it: ${code}`] : [];
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listOpenApiSpecs), (each) => {
      add({
        kind: 'openapi',
        id: each.id,
        title: each.slug,
        fields: { sourceURL: each.sourceURL ?? null, visibility: each.visibility ?? null },
        within: null,
        place: null,
        facts: { errorCode: each.lastProcessErrorCode ?? null },
      });
    });
  },
  writes(change) {
    const path = { specSlug: keyOf(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteOpenApiSpec, { path })] };
    }
    const { source, sourceURL, visibility } = written<SpecFields & { sourceURL: string }>(change);
    const body =
      source !== undefined && 'text' in source
        ? { source: { text: source.text } }
        : sourceURL === undefined
          ? null
          : { source: { url: sourceURL } };
    const learns = (answer: OpenApiSpec) => [[change.address, answer.id] as const];
    const sent = body === null ? [] : [request(operations.putOpenApiSpec, { path, body }, { learns })];
    const shown =
      visibility === undefined ? [] : [request(operations.updateOpenApiSpec, { path, body: { visibility } })];
    const first = [...sent, ...shown];
    if (sent.length === 0) {
      return { first };
    }
    const file = source !== undefined && 'file' in source ? source.file : maskUrls(sourceURL ?? '');
    return {
      first,
      watch: async (reader) => progressOf(await reader.get(operations.getOpenApiSpec, { path }), file),
    };
  },
};

function keptSource(value: Json): Json {
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

/** The platform's words with the file and, where they name a line, that line before them. */
function placed(message: string, file: string): string {
  const line = /\bline (\d+)/i.exec(message)?.[1];
  return `${file}${line === undefined ? '' : `:${line}`}: ${maskUrls(message)}`;
}
