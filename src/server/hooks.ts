/** HTTP routes for webhooks. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Ingestion, WebhookAnswer } from '../conversations/ingestion.ts';
import type { Clock } from '../core/clock.ts';
import { StoreError } from '../core/errors.ts';
import type { WebhookRequest } from '../core/signature.ts';
import type { PushAnswer, PushOutcome, PushReceiver } from '../reconcile/push-receiver.ts';

/** Outcome of a webhook request. `full`: the outbox is full; `failed`: the request could not be stored. */
export type HookOutcome = 'kept' | 'refused' | 'full' | 'failed';

/** Receiver of the webhook requests of an organization: answers once the content is stored durably. Throws StoreError. */
export type HookReceiver = Pick<Ingestion, 'deliver'>;
/** Receiver of the webhook of an organization's repository. Throws StoreError. */
export type PushHook = Pick<PushReceiver, 'receive'>;

export interface HookOptions {
  /** Returns the receiver of an organization; undefined for an unknown one. */
  readonly receiver: (organization: string) => HookReceiver | undefined;
  /** Returns the receiver for the repository of an organization; undefined if it has no webhook. */
  readonly pushHook: (organization: string) => PushHook | undefined;
  readonly clock: Clock;
  /** Called for every request to a webhook that exists. */
  readonly onOutcome: (organization: string, source: string, outcome: HookOutcome) => void;
  /** Called for every request to the webhook of a repository. */
  readonly onPush: (organization: string, outcome: PushOutcome | 'failed') => void;
}

/** Largest accepted request, in bytes. */
export const MAX_HOOK_SIZE = 5 * 1024 * 1024;
/** Value of `Retry-After`, in seconds. */
const TRY_AGAIN = 60;

/** Returns the URL path of the webhook of an organization's repository. No source has this path. */
export function pushHookPath(organization: string): string {
  return `/hooks/${encodeURIComponent(organization)}`;
}

/**
 * Serves `POST /hooks/ORGANIZATION/SOURCE` and, for repositories, `POST /hooks/ORGANIZATION`: reads the raw bytes, has the
 * signature checked, stores the content, and only then acknowledges. The response to a bad signature reveals nothing
 * else.
 */
export function addHooks(app: FastifyInstance, { receiver, pushHook, clock, onOutcome, onPush }: HookOptions): void {
  void app.register((scope, _options, done) => {
    // Signatures cover the raw bytes, so nothing is parsed before the check.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post('/hooks/:organization/:source', { bodyLimit: MAX_HOOK_SIZE }, async (request, reply) => {
      const { organization, source } = request.params as { organization: string; source: string };
      const delivery = rawRequest(request, clock);
      const answer = await orFailed(async () => receiver(organization)?.deliver(source, delivery));
      if (answer !== undefined && answer.status !== 404) {
        onOutcome(organization, source, 'outcome' in answer ? answer.outcome : (OUTCOMES[answer.status] ?? 'refused'));
      }
      return respond(reply, answer, { kept: true });
    });
    scope.post('/hooks/:organization', { bodyLimit: MAX_HOOK_SIZE }, async (request, reply) => {
      const { organization } = request.params as { organization: string };
      const delivery = rawRequest(request, clock);
      const answer = await orFailed(async () => pushHook(organization)?.receive(delivery));
      if (answer !== undefined) {
        onPush(organization, answer.outcome);
      }
      return respond(reply, answer, { outcome: answer?.outcome });
    });
    done();
  });
}

/** Outcomes of answers that do not refuse the request. */
const OUTCOMES: Readonly<Record<number, HookOutcome>> = { 202: 'kept', 503: 'full' };
const FAILED = { status: 503, reason: 'cannot be stored now; retry later', outcome: 'failed' } as const;

async function orFailed<T>(receive: () => Promise<T>): Promise<T | typeof FAILED> {
  try {
    return await receive();
  } catch (error) {
    if (error instanceof StoreError) {
      return FAILED;
    }
    throw error;
  }
}

/** Sends the answer of a receiver, or 404 if there is none. */
function respond(
  reply: FastifyReply,
  answer: Pick<WebhookAnswer | PushAnswer, 'status' | 'reason'> | undefined,
  accepted: object,
) {
  const { status, reason } = answer ?? { status: 404, reason: 'not found' };
  if (status === 503) {
    reply.header('retry-after', String(TRY_AGAIN));
  }
  return reply.code(status).send(reason === null ? accepted : { error: reason });
}

function rawRequest({ headers, body }: FastifyRequest, clock: Clock): WebhookRequest {
  return { headers, body: body instanceof Uint8Array ? body : new Uint8Array(), receivedAt: clock.now() };
}
