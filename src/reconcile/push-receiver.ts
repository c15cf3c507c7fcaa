/** Receives the webhook of an organization's repository, and requests a fetch for each new push. */
import * as z from 'zod';
import type { OrganizationConfig } from '../config/config.ts';
import { forgeTarget } from '../config/forge.ts';
import type { Clock } from '../core/clock.ts';
import type { WebhookRequest } from '../core/signature.ts';
import { type PushResult, type PushWebhook, readPush } from '../forge/webhooks.ts';
import type { Note } from '../store/record.ts';

/** Outcome of a webhook request. `repeated`: the delivery was received before. */
export type PushOutcome = 'accepted' | 'repeated' | 'ignored' | 'ping' | 'refused';

/** Response to a webhook request. */
export interface PushAnswer {
  readonly status: 200 | 202 | 400 | 401 | 415;
  readonly outcome: PushOutcome;
  /** Reason for the sender; null if the request is not refused. */
  readonly reason: string | null;
}

const lastSchema = z.object({
  /** Milliseconds since the epoch. */
  at: z.number(),
  outcome: z.enum(['accepted', 'repeated', 'ignored', 'ping']),
  /** Part of an ignored delivery that does not match. */
  mismatch: z.enum(['event', 'repository', 'ref']).nullable(),
});

/** The last delivery with a valid signature. */
export type LastPush = Readonly<z.output<typeof lastSchema>>;

/** State of the webhook of a repository. */
export interface PushStatus {
  /** Null: none has arrived yet. */
  readonly last: LastPush | null;
  /** Time of the last refused request since the start, in milliseconds since the epoch; null if there was none. */
  readonly refusedAt: number | null;
}

interface PushReceiverOptions {
  readonly webhook: PushWebhook;
  /** Opens a note of this webhook. */
  readonly note: (name: 'last' | 'seen') => Note;
  readonly clock: Clock;
  /** Requests a fetch. Requests during a fetch are coalesced. */
  readonly onPush: () => void;
}

/** Deliveries are remembered this long, in milliseconds, and at most this many. An older one only causes a fetch. */
const MEMORY = 24 * 3_600_000;

const MAX_MEMORY = 1000;

const seenSchema = z.array(z.tuple([z.string(), z.number()])).max(MAX_MEMORY);

/** Returns the webhook of the repository; null if it is not configured. */
export function pushWebhook({ source, forge }: OrganizationConfig): PushWebhook | null {
  if (source?.git === undefined || forge?.webhookSecret === undefined) {
    return null;
  }
  const { type, repository } = forgeTarget(forge, source.git.url);
  return type === null || repository === null
    ? null
    : { forge: type, secret: forge.webhookSecret, repository, ref: source.git.ref };
}

/** Receiver of one organization. */
export class PushReceiver {
  readonly #options: PushReceiverOptions;
  /** Settles when the last push was remembered. Another replica may remember pushes meanwhile, so nothing is cached. */
  #remembered: Promise<unknown> = Promise.resolve();
  #refusedAt: number | null = null;

  constructor(options: PushReceiverOptions) {
    this.#options = options;
  }

  /** Resolves once the delivery is remembered durably. Throws StoreError; the fetch is requested nevertheless. */
  async receive(request: WebhookRequest): Promise<PushAnswer> {
    const result = readPush(this.#options.webhook, request);
    if (result.kind === 'refused') {
      this.#refusedAt = request.receivedAt;
      return { status: result.status, outcome: 'refused', reason: result.reason };
    }
    const outcome = result.kind === 'push' ? await this.#pushInTurn(result.id) : result.kind;
    await this.#remember({ at: this.#options.clock.now(), outcome, mismatch: mismatchOf(result) });
    return { status: outcome === 'accepted' ? 202 : 200, outcome, reason: null };
  }

  /** Returns the last deliveries. Throws StoreError. */
  async status(): Promise<PushStatus> {
    const last = lastSchema.safeParse(await this.#options.note('last').read());
    return { last: last.success ? last.data : null, refusedAt: this.#refusedAt };
  }

  #pushInTurn(id: string): Promise<'accepted' | 'repeated'> {
    const push = this.#remembered.then(() => this.#push(id));
    this.#remembered = push.catch(() => undefined);
    return push;
  }

  async #push(id: string): Promise<'accepted' | 'repeated'> {
    const { note, clock, onPush } = this.#options;
    const seen = await this.#load().catch((error: unknown) => {
      onPush();
      throw error;
    });
    if (seen.has(id)) {
      return 'repeated';
    }
    seen.set(id, clock.now());
    forgetOld(seen, clock.now());
    onPush();
    await note('seen').write([...seen]);
    return 'accepted';
  }

  async #load(): Promise<Map<string, number>> {
    const stored = seenSchema.safeParse(await this.#options.note('seen').read());
    return new Map(stored.success ? stored.data : []);
  }

  #remember(last: LastPush): Promise<void> {
    return this.#options.note('last').write({ ...last });
  }
}

function mismatchOf(result: PushResult): LastPush['mismatch'] {
  return result.kind === 'ignored' ? result.reason : null;
}

function forgetOld(seen: Map<string, number>, now: number): void {
  for (const [id, at] of seen) {
    if (seen.size <= MAX_MEMORY && now - at <= MEMORY) {
      return;
    }
    seen.delete(id);
  }
}
