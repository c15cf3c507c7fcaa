/** Describes the webhook of an organization's repository. */
import type { LastPush, PushStatus } from '../../reconcile/push-receiver.ts';
import { isoTime } from './words.ts';

export interface WebhookView {
  /** Time of the last delivery with a valid signature; null if there was none. */
  readonly lastAt: string | null;
  /** The last delivery, and refused requests since then. */
  readonly sentence: string;
  /** Time of the last refused request since the daemon started, if it is later than the last delivery. */
  readonly refusedAt: string | null;
  /** True if the forge has to be set up, or set up differently. */
  readonly needsAttention: boolean;
}

/** Describes the state of a webhook. */
export function webhookView({ last, refusedAt }: PushStatus): WebhookView {
  const isRefused = refusedAt !== null && refusedAt > (last?.at ?? Number.NEGATIVE_INFINITY);
  const refused = isRefused ? '; requests are refused since then: the secret or the format differs' : '';
  return {
    lastAt: isoTime(last?.at ?? null),
    sentence: `${last === null ? 'no delivery has arrived yet' : describeLast(last)}${refused}`,
    refusedAt: isRefused ? isoTime(refusedAt) : null,
    needsAttention: isRefused || last === null,
  };
}

function describeLast({ outcome, mismatch }: LastPush): string {
  switch (outcome) {
    case 'accepted':
      return 'a push, which was fetched at once';
    case 'repeated':
      return 'a push that was received before';
    case 'ping':
      return 'a ping';
    case 'ignored':
      return IGNORED[mismatch ?? 'event'];
  }
}

const IGNORED = {
  event: 'ignored, because it was not a push',
  repository: 'ignored, because it was a push to another repository',
  ref: 'ignored, because it was a push to another branch or tag',
} as const satisfies Record<NonNullable<LastPush['mismatch']>, string>;
