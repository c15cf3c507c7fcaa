/** Receives the webhook of an organization's repository: requests a fetch for each new push, and keeps comments that are commands. */
import * as z from 'zod';
import type { OrganizationConfig } from '../config/config.ts';
import { forgeTarget } from '../config/forge.ts';
import type { Clock } from '../core/clock.ts';
import type { WebhookRequest } from '../core/signature.ts';
import { type AnnouncedComment, type PushWebhook, readPush } from '../forge/webhooks.ts';
import type { Note } from '../store/record.ts';
import type { Store } from '../store/store.ts';

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

/** The last delivery with a valid signature, other than a comment. */
export type LastPush = Readonly<z.output<typeof lastSchema>>;

/** State of the webhook of a repository. */
export interface PushStatus {
  /** Null: none has arrived yet. */
  readonly last: LastPush | null;
  /** Time of the last refused request since the start, in milliseconds since the epoch; null if there was none. */
  readonly refusedAt: number | null;
}

/** Deliveries are remembered this long, in milliseconds, and at most this many. An older one only causes a fetch. */
const MEMORY = 24 * 3_600_000;

const MAX_MEMORY = 1000;

/** Comments that are kept until they are judged; more only come from somebody who floods a pull request. */
const MAX_COMMENTS = 50;

const announcedSchema = z
  .array(z.object({ pull: z.number(), comment: z.number(), text: z.string() }))
  .max(MAX_COMMENTS);

/** Opens the note of an organization's webhook. */
function webhookNote({ note }: Pick<Store, 'note'>, name: 'last' | 'seen' | 'comments', id: string): Note {
  return note(`push-webhook/${name}/${id}`);
}

/** Returns the latest comments that the webhook of an organization announced, oldest first. Throws StoreError. */
export async function readAnnounced(store: Pick<Store, 'note'>, id: string): Promise<readonly AnnouncedComment[]> {
  return announcedSchema.safeParse(await webhookNote(store, 'comments', id).read()).data ?? [];
}

const seenSchema = z.array(z.tuple([z.string(), z.number()])).max(MAX_MEMORY);

/** Opens the receiver of an organization; null if no webhook of its repository is configured. `onPush` requests a fetch, and `onComment` a look at the comments. */
export function openPushReceiver(
  { id, source, forge }: OrganizationConfig,
  store: Pick<Store, 'note'>,
  clock: Pick<Clock, 'now'>,
  onPush: () => void,
  onComment: () => void,
): PushReceiver | null {
  if (source?.git === undefined || forge?.webhookSecret === undefined) {
    return null;
  }
  const { type, repository } = forgeTarget(forge, source.git.url);
  if (type === null || repository === null) {
    return null;
  }
  const hasComments = forge.approveByComment !== undefined;
  const webhook = { forge: type, secret: forge.webhookSecret, repository, ref: source.git.ref, hasComments };
  return createPushReceiver(webhook, (name) => webhookNote(store, name, id), clock, onPush, onComment);
}

/** Receiver of one organization. */
export type PushReceiver = ReturnType<typeof createPushReceiver>;

/** `note` opens a note of this webhook. `onPush` requests a fetch; requests during a fetch are coalesced. `onComment` is called after a command was kept. */
export function createPushReceiver(
  webhook: PushWebhook,
  note: (name: 'last' | 'seen' | 'comments') => Note,
  clock: Pick<Clock, 'now'>,
  onPush: () => void,
  onComment: () => void,
) {
  /** Settles when the last push was remembered. Another replica may remember pushes meanwhile, so nothing is cached. */
  let remembered: Promise<unknown> = Promise.resolve();
  let refusedAt: number | null = null;
  const keep = async (comment: AnnouncedComment) => {
    const known = announcedSchema.safeParse(await note('comments').read()).data ?? [];
    await note('comments').write([...known.slice(1 - MAX_COMMENTS), { ...comment }]);
    onComment();
  };
  const push = async (id: string, comment: AnnouncedComment | null): Promise<'accepted' | 'repeated'> => {
    const stored = await note('seen')
      .read()
      .catch((error: unknown) => {
        if (comment === null) {
          onPush();
        }
        throw error;
      });
    const seen = new Map(seenSchema.safeParse(stored).data ?? []);
    if (seen.has(id)) {
      return 'repeated';
    }
    seen.set(id, clock.now());
    forgetOld(seen, clock.now());
    if (comment === null) {
      onPush();
    } else {
      await keep(comment);
    }
    await note('seen').write([...seen]);
    return 'accepted';
  };
  const pushInTurn = (id: string, comment: AnnouncedComment | null) => {
    const pushed = remembered.then(() => push(id, comment));
    remembered = pushed.catch(() => undefined);
    return pushed;
  };
  return {
    /** Resolves once the delivery is remembered durably. Throws StoreError; the fetch is requested nevertheless. */
    async receive(request: WebhookRequest): Promise<PushAnswer> {
      const result = readPush(webhook, request);
      if (result.kind === 'refused') {
        refusedAt = request.receivedAt;
        return { status: result.status, outcome: 'refused', reason: result.reason };
      }
      const isRead = result.kind === 'push' || result.kind === 'comment';
      const comment = result.kind === 'comment' ? result.comment : null;
      const outcome = isRead ? await pushInTurn(result.id, comment) : result.kind;
      const mismatch = result.kind === 'ignored' ? result.reason : null;
      // People comment more often than they push, and pages show whether pushes arrive.
      if (comment === null && mismatch !== 'comment') {
        await note('last').write({ at: clock.now(), outcome, mismatch });
      }
      return { status: outcome === 'accepted' ? 202 : 200, outcome, reason: null };
    },
    /** Returns the last deliveries. Throws StoreError. */
    async status(): Promise<PushStatus> {
      return { last: lastSchema.safeParse(await note('last').read()).data ?? null, refusedAt };
    },
  };
}

function forgetOld(seen: Map<string, number>, now: number): void {
  for (const [id, at] of seen) {
    if (seen.size <= MAX_MEMORY && now - at <= MEMORY) {
      return;
    }
    seen.delete(id);
  }
}
