/** HTTP routes for webhooks. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebhookAnswer } from '../conversations/ingestion/ingestion.ts';
import type { Clock } from '../core/clock.ts';
import { StoreError } from '../core/errors.ts';
import type { WebhookRequest } from '../core/signature.ts';

/** Outcome of a webhook request. `full`: the outbox is full; `failed`: the request could not be stored. */
export type HookOutcome = 'kept' | 'refused' | 'full' | 'failed';

/** Receiver of the webhook requests of an organization. */
export interface HookReceiver {
  /** Resolves once the content is stored durably; only then is the request acknowledged. Throws StoreError. */
  deliver(source: string, delivery: WebhookRequest): Promise<WebhookAnswer>;
}

export interface HookOptions {
  /** By organization. */
  readonly receivers: ReadonlyMap<string, HookReceiver>;
  readonly clock: Clock;
  /** Called for every request to a webhook that exists. */
  readonly onOutcome: (organization: string, source: string, outcome: HookOutcome) => void;
}

/** Largest accepted request, in bytes. */
export const MAX_HOOK_SIZE = 5 * 1024 * 1024;
/** Value of `Retry-After`, in seconds. */
const TRY_AGAIN = 60;

/** Returns the URL path of a webhook. */
export function hookPath(organization: string, source: string): string {
  return `/hooks/${encodeURIComponent(organization)}/${encodeURIComponent(source)}`;
}

/**
 * Serves `POST /hooks/ORGANIZATION/SOURCE`: reads the raw bytes, has the signature checked, stores the content, and only
 * then responds 202. The response to a bad signature reveals nothing else.
 */
export function addHooks(app: FastifyInstance, options: HookOptions): void {
  void app.register((scope, _options, done) => {
    // Signatures cover the raw bytes, so nothing is parsed before the check.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post('/hooks/:organization/:source', { bodyLimit: MAX_HOOK_SIZE }, async (request, reply) => {
      const { organization, source } = request.params as { organization: string; source: string };
      const { status, reason, outcome } = await hear(options, organization, source, request);
      if (status !== 404) {
        options.onOutcome(organization, source, outcome);
      }
      if (status === 503) {
        reply.header('retry-after', String(TRY_AGAIN));
      }
      return reply.code(status).send(reason === null ? { kept: true } : { error: reason });
    });
    done();
  });
}

async function hear(
  { receivers, clock }: HookOptions,
  organization: string,
  source: string,
  request: FastifyRequest,
): Promise<WebhookAnswer & { readonly outcome: HookOutcome }> {
  const receiver = receivers.get(organization);
  if (receiver === undefined) {
    return { status: 404, reason: 'not found', outcome: 'refused' };
  }
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  try {
    const answer = await receiver.deliver(source, { headers: request.headers, body, receivedAt: clock.now() });
    return { ...answer, outcome: answer.status === 202 ? 'kept' : answer.status === 503 ? 'full' : 'refused' };
  } catch (error) {
    if (error instanceof StoreError) {
      return { status: 503, reason: 'cannot be stored now; retry later', outcome: 'failed' };
    }
    throw error;
  }
}
