import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Heard, Webhook } from '../conversations/source.ts';
import type { Clock } from '../core/clock.ts';
import { StoreError } from '../core/errors.ts';

/** What a webhook said, after its signature was found good. */
export type HeardGood = Exclude<Heard, { kind: 'refused' }>;

/** What became of a webhook's request. `known`: the same was there before; `full`: there is no room for it now. */
export type HookOutcome = 'kept' | 'known' | 'full' | 'refused' | 'failed';

/** One webhook that is answered. */
export interface Hook {
  readonly organization: string;
  readonly webhook: Webhook;
  /** Resolves once it is durable: the sender is told so only then. Throws StoreError. */
  keep(heard: HeardGood): Promise<'kept' | 'known' | 'full'>;
}

export interface HookOptions {
  readonly hooks: readonly Hook[];
  readonly clock: Clock;
  /** Told of every request to a hook that exists. */
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
 * say and answers 200 only then. Whoever sends a bad signature learns nothing but that.
 */
export function addHooks(app: FastifyInstance, options: HookOptions): void {
  const hooks = new Map(options.hooks.map((hook) => [`${hook.organization}/${hook.webhook.name}`, hook]));
  void app.register((scope, _options, done) => {
    // Signatures are made over the bytes as they were sent: nothing is parsed before they are checked.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body));
    scope.post('/hooks/:organization/:source', { bodyLimit: LARGEST_HOOK }, async (request, reply) => {
      const { organization, source } = request.params as { organization: string; source: string };
      const hook = hooks.get(`${organization}/${source}`);
      if (hook === undefined) {
        return reply.code(404).send({ error: 'not found' });
      }
      const answer = await hear(hook, request, options.clock);
      options.onOutcome(organization, source, answer.outcome);
      if (answer.outcome === 'full' || answer.outcome === 'failed') {
        reply.header('retry-after', String(TRY_AGAIN));
      }
      return reply.code(answer.status).send(answer.body);
    });
    done();
  });
}

interface HookAnswer {
  readonly status: number;
  readonly outcome: HookOutcome;
  readonly body: Readonly<Record<string, string>>;
}

async function hear(hook: Hook, request: FastifyRequest, clock: Clock): Promise<HookAnswer> {
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  const heard = hook.webhook.hear({ headers: request.headers, body, receivedAt: clock.now() });
  if (heard.kind === 'refused') {
    return { status: heard.status, outcome: 'refused', body: { error: heard.reason } };
  }
  try {
    const outcome = await hook.keep(heard);
    return outcome === 'full'
      ? { status: 503, outcome, body: { error: 'there is no room for it now' } }
      : { status: 200, outcome, body: { outcome } };
  } catch (error) {
    if (error instanceof StoreError) {
      return { status: 503, outcome: 'failed', body: { error: 'it cannot be kept now' } };
    }
    throw error;
  }
}
