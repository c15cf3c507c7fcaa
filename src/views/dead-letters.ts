/** Views of conversations that the platform refused. Only the view of one has its content. */
import { ConfigError } from '../core/errors.ts';
import { isObject, type Json } from '../core/json.ts';
import type { Actor } from '../store/history.ts';
import type { DeadLetter } from '../store/outbox/outbox.ts';
import type { Backend, OrganizationState } from './model/backend.ts';
import { isoTime } from './model/words.ts';

export interface DeadLetterView {
  readonly key: string;
  readonly source: string;
  readonly reason: string;
  readonly refusedAt: string;
  readonly bytes: number;
}

export interface DeadLettersView {
  readonly organization: string;
  /** Source that was selected; null for all. */
  readonly source: string | null;
  readonly sources: readonly string[];
  /** Oldest first. */
  readonly deadLetters: readonly DeadLetterView[];
  /** Number of others. */
  readonly more: number;
}

export interface DeadLetterPageView {
  readonly organization: string;
  readonly deadLetter: DeadLetterView;
  /** Redacted conversation; null for people who may not read it. */
  readonly conversation: Json;
}

/** Number of dead letters in a list. */
const LISTED = 100;

/** Returns the dead letters of an organization, or of one of its sources. Throws StoreError. */
export async function deadLettersView(
  { id, conversations }: OrganizationState,
  source: string | null,
): Promise<DeadLettersView> {
  const { sources } = await conversations.status();
  const letters = await conversations.deadLetters(source === null ? {} : { source }, LISTED);
  const all = sources
    .filter((each) => source === null || each.source === source)
    .reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return {
    organization: id,
    source,
    sources: sources.filter(({ deadLetters }) => deadLetters > 0).map(({ source }) => source),
    deadLetters: letters.map(toDeadLetter),
    more: Math.max(0, all - letters.length),
  };
}

/**
 * Returns a dead letter; null if there is none with this key. With `reader`, also its content, and this is recorded in
 * the audit. Throws StoreError.
 */
export async function deadLetterView(
  backend: Backend,
  { id, conversations }: OrganizationState,
  key: string,
  reader: Actor | null,
): Promise<DeadLetterPageView | null> {
  const [letter] = await conversations.deadLetters({ key }, 1);
  if (letter === undefined) {
    return null;
  }
  const conversation = reader === null ? null : await readContent(backend, id, key, reader);
  return { organization: id, deadLetter: toDeadLetter(letter), conversation };
}

/** Returns null if somebody has retried or dropped it meanwhile. */
async function readContent({ actions }: Backend, organization: string, key: string, reader: Actor): Promise<Json> {
  try {
    const answer = await actions.conversations(reader, organization, { subcommand: 'dead show', key });
    return isObject(answer) ? (answer.conversation ?? null) : null;
  } catch (error) {
    if (error instanceof ConfigError) {
      return null;
    }
    throw error;
  }
}

export function toDeadLetter({ key, source, reason, at, bytes }: DeadLetter): DeadLetterView {
  return { key, source, reason, refusedAt: isoTime(at), bytes };
}
