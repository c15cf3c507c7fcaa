import type { Context } from '../operation.ts';
import { progressOf } from '../processing.ts';
import type { SpecRecord } from '../records.ts';

/** Source: docs/platform-notes.md#enumerations */
const STATES = { waiting: 'pending', working: 'progress', done: 'complete' } as const;

/** OpenAPISpec. Source: docs/platform-notes.md#openapi-specifications */
export function viewSpec(context: Context, spec: SpecRecord): unknown {
  const admin = context.caller.permission === 'admin';
  const app = `${context.base}/app/o/${spec.organization}/openapi/${spec.slug}`;
  return {
    object: 'openapi-spec',
    id: spec.id,
    createdAt: spec.createdAt,
    updatedAt: spec.updatedAt,
    slug: spec.slug,
    sourceURL: 'url' in spec.source ? spec.source.url : undefined,
    processingState: STATES[progressOf(spec.run, context.now)],
    visibility: spec.visibility,
    lastVersion: spec.lastVersion,
    lastProcessedAt: spec.lastProcessedAt,
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
