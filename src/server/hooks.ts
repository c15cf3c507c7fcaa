import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebhookAnswer } from '../conversations/ingestion/ingestion.ts';
import type { Delivery } from '../conversations/model/source.ts';
import type { Clock } from '../core/clock.ts';
import { StoreError } from '../core/errors.ts';

/** What became of a webhook's request. `full`: there is no room for it now; `failed`: it cannot be kept now. */
export type HookOutcome = 'kept' | 'refused' | 'full' | 'failed';

/** Who takes the requests of an organization's webhooks. */
export interface HookReceiver {
  /** Resolves once what was sent is durable: its sender is told so only then. Throws StoreError. */
  deliver(source: string, delivery: Delivery): Promise<WebhookAnswer>;
}

export interface HookOptions {
  /** By organization. */
  readonly receivers: ReadonlyMap<string, HookReceiver>;
  readonly clock: Clock;
  /** Told of every request to a webhook that exists. */
  readonly onOutcome: (organization: string, source: string, outcome: HookOutcome) => void;
}

/** The largest request that is read, in bytes. */
export const LARGEST_HOOK = 5 * 1024 * 1024;
/** Seconds after which a sender may try again when there is no room. */
const TRY_AGAIN = 60;

/** The address of a webhook, below the server's own. */
export function hookPath(organization: string, source: string): string {
  return `/hooks/${encodeURIComponent(organization)}/${encodeURIComponent(source)}`;
}

/**
 * Answers `POST /hooks/ORGANIZATION/SOURCE`: reads the bytes as they are, has their signature checked, keeps what they
 * say and answers 202 only then. Whoever sends a bad signature learns nothing but that.
 */
export function addHooks(app: FastifyInstance, options: HookOptions): void {
  void app.register((scope, _options, done) => {
    // Signatures are made over the bytes as they were sent: nothing is parsed before they are checked.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post('/hooks/:organization/:source', { bodyLimit: LARGEST_HOOK }, async (request, reply) => {
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
      return { status: 503, reason: 'it cannot be kept now', outcome: 'failed' };
    }
    throw error;
  }
}
