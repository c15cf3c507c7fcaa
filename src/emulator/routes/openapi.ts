import { z } from 'zod';
import { type Answer, created, deleted, invalid, notFound, ok } from '../answers.ts';
import { organizationAt } from '../lookup.ts';
import { errorsOf } from '../openapi-text.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { settle } from '../processing.ts';
import type { SpecRecord } from '../records.ts';
import { id, listQuery, text, url } from '../schema.ts';
import type { Store } from '../store.ts';
import { viewSpec } from '../views/spec.ts';
import { SPEC_VISIBILITIES } from '../vocabulary.ts';

/** Source: docs/platform-notes.md#limits */
const slug = text(1, 100).refine((value) => /^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$/.test(value), {
  error: 'must be letters, digits and single hyphens between them',
});

/** A URL or a text. Source: docs/platform-notes.md#writable-fields */
const source = z.union([z.strictObject({ url: url() }), z.strictObject({ text: id })], {
  error: 'must be {url} (an http or https URL) or {text}',
});

function specAt(store: Store, organization: string, slug: string): SpecRecord {
  organizationAt(store, organization);
  const spec = store.specs.one('slug', `${organization}/${slug}`);
  if (spec === undefined) {
    throw notFound('OpenAPI specification', slug);
  }
  return spec;
}

/** Creates the spec, or gives it another source; either way it is processed anew. */
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
    run: { startedAt: context.now, due: context.now + context.processing.openapi },
    errors: errorsOf(given),
  });
  settle(store, context.now);
  return store.specs.get(spec.id) ?? spec;
}

function checkSlug(given: string): string {
  const result = slug.safeParse(given);
  if (!result.success) {
    throw invalid('path.specSlug', result.error.issues.map((issue) => issue.message).join('; '));
  }
  return given;
}

function putSpec(context: Context, organization: string, slug: string, given: SpecRecord['source']): Answer {
  const current = context.store.specs.one('slug', `${organization}/${slug}`);
  const spec = writeSource(context, organization, checkSlug(slug), given, current);
  return current === undefined ? created(viewSpec(context, spec)) : ok(viewSpec(context, spec));
}

/** Operations on OpenAPI specifications. Source: docs/platform-notes.md#openapi-specifications */
export const openapiOperations: readonly Operation[] = [
  operation({
    name: 'listOpenapiSpecs',
    method: 'GET',
    path: '/orgs/{organizationId}/openapi',
    query: listQuery,
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      return listBySeq(call, call.store.specs.by('organization', organization.id), (spec) => viewSpec(call, spec));
    },
  }),
  operation({
    name: 'createOpenapiSpec',
    method: 'POST',
    path: '/orgs/{organizationId}/openapi',
    body: z.strictObject({ slug, source }),
    handle: (call) => {
      const { store, body } = call;
      const organization = organizationAt(store, call.params.organizationId);
      if (store.specs.one('slug', `${organization.id}/${body.slug}`) !== undefined) {
        throw invalid('body.slug', `"${body.slug}" is already in use`);
      }
      return created(viewSpec(call, writeSource(call, organization.id, body.slug, body.source)));
    },
  }),
  operation({
    name: 'getOpenapiSpec',
    method: 'GET',
    path: '/orgs/{organizationId}/openapi/{specSlug}',
    handle: (call) => ok(viewSpec(call, specAt(call.store, call.params.organizationId, call.params.specSlug))),
  }),
  operation({
    name: 'putOpenapiSpec',
    method: 'PUT',
    path: '/orgs/{organizationId}/openapi/{specSlug}',
    body: z.strictObject({ source }),
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      return putSpec(call, organization.id, call.params.specSlug, call.body.source);
    },
  }),
  operation({
    name: 'updateOpenapiSpec',
    method: 'PATCH',
    path: '/orgs/{organizationId}/openapi/{specSlug}',
    body: z.strictObject({ visibility: z.enum(SPEC_VISIBILITIES) }),
    handle: (call) => {
      const spec = specAt(call.store, call.params.organizationId, call.params.specSlug);
      const { visibility } = call.body;
      return ok(viewSpec(call, call.store.specs.put({ ...spec, visibility, updatedAt: call.at })));
    },
  }),
  operation({
    name: 'deleteOpenapiSpec',
    method: 'DELETE',
    path: '/orgs/{organizationId}/openapi/{specSlug}',
    handle: (call) => {
      const organization = organizationAt(call.store, call.params.organizationId);
      const spec = call.store.specs.one('slug', `${organization.id}/${call.params.specSlug}`);
      return deleted(spec !== undefined && call.store.specs.remove(spec.id));
    },
  }),
];
