/** HTTP routes for webhooks. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebhookAnswer } from '../conversations/ingestion.ts';
import type { Clock } from '../core/clock.ts';
import { StoreError } from '../core/errors.ts';
import type { WebhookRequest } from '../core/signature.ts';
import type { PushAnswer, PushOutcome } from '../reconcile/push-receiver.ts';

/** Outcome of a webhook request. `full`: the outbox is full; `failed`: the request could not be stored. */
export type HookOutcome = 'kept' | 'refused' | 'full' | 'failed';

/** Receiver of the webhook requests of an organization. */
export interface HookReceiver {
  /** Resolves once the content is stored durably; only then is the request acknowledged. Throws StoreError. */
  deliver(source: string, delivery: WebhookRequest): Promise<WebhookAnswer>;
}

/** Receiver of the webhook of an organization's repository. */
export interface PushHook {
  /** Throws StoreError. */
  receive(request: WebhookRequest): Promise<PushAnswer>;
}

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

/** Returns the URL path of a webhook. */
export function hookPath(organization: string, source: string): string {
  return `/hooks/${encodeURIComponent(organization)}/${encodeURIComponent(source)}`;
}

/** Returns the URL path of the webhook of an organization's repository. No source has this path. */
export function pushHookPath(organization: string): string {
  return `/hooks/${encodeURIComponent(organization)}`;
}

/**
 * Serves `POST /hooks/ORGANIZATION/SOURCE` and, for repositories, `POST /hooks/ORGANIZATION`: reads the raw bytes, has the
 * signature checked, stores the content, and only then acknowledges. The response to a bad signature reveals nothing
 * else.
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
    scope.post('/hooks/:organization', { bodyLimit: MAX_HOOK_SIZE }, async (request, reply) => {
      const { organization } = request.params as { organization: string };
      const { status, outcome, reason } = await receivePush(options, organization, request);
      if (status === 503) {
        reply.header('retry-after', String(TRY_AGAIN));
      }
      return reply.code(status).send(reason === null ? { outcome } : { error: reason });
    });
    done();
  });
}

async function hear(
  { receiver: find, clock }: HookOptions,
  organization: string,
  source: string,
  request: FastifyRequest,
): Promise<WebhookAnswer & { readonly outcome: HookOutcome }> {
  const receiver = find(organization);
  if (receiver === undefined) {
    return { status: 404, reason: 'not found', outcome: 'refused' };
  }
  try {
    const answer = await receiver.deliver(source, rawRequest(request, clock));
    return { ...answer, outcome: answer.status === 202 ? 'kept' : answer.status === 503 ? 'full' : 'refused' };
  } catch (error) {
    if (error instanceof StoreError) {
      return { ...FAILED, outcome: 'failed' };
    }
    throw error;
  }
}

const FAILED = { status: 503, reason: 'cannot be stored now; retry later' } as const;

async function receivePush({ pushHook, clock, onPush }: HookOptions, organization: string, request: FastifyRequest) {
  const hook = pushHook(organization);
  if (hook === undefined) {
    return { status: 404, reason: 'not found', outcome: 'refused' } as const;
  }
  try {
    const answer = await hook.receive(rawRequest(request, clock));
    onPush(organization, answer.outcome);
    return answer;
  } catch (error) {
    if (error instanceof StoreError) {
      onPush(organization, 'failed');
      return { ...FAILED, outcome: 'failed' } as const;
    }
    throw error;
  }
}

function rawRequest({ headers, body }: FastifyRequest, clock: Clock): WebhookRequest {
  return { headers, body: body instanceof Uint8Array ? body : new Uint8Array(), receivedAt: clock.now() };
}
