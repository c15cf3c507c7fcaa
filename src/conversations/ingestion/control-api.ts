import { z } from 'zod';
import { ConfigError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { Outbox } from '../../store/outbox.ts';
import { LISTED } from '../polling/listing.ts';
import type { Ingestion } from './ingestion.ts';
import { pushFile } from './push.ts';

const filter = { source: z.string().optional(), key: z.string().optional() };

/**
 * Schema of a request about conversations. A running daemon handles it; otherwise the command does, with the state
 * file.
 */
export const conversationRequest = z.discriminatedUnion('about', [
  z.strictObject({ about: z.literal('status') }),
  z.strictObject({
    about: z.literal('dead'),
    ...filter,
    limit: z.int().min(1).max(LISTED.most).default(LISTED.usual),
  }),
  z.strictObject({ about: z.literal('letter'), key: z.string() }),
  z.strictObject({ about: z.literal('retry'), ...filter }),
  z.strictObject({ about: z.literal('drop'), ...filter }),
  /** `since`: milliseconds since the epoch. */
  z.strictObject({ about: z.literal('resync'), source: z.string(), since: z.number() }),
  /** Absolute paths on the machine of the process that handles the request. */
  z.strictObject({
    about: z.literal('push'),
    files: z.array(z.string()),
    account: z.string(),
    teamDomains: z.array(z.string()).default([]),
  }),
]);
export type ConversationRequest = z.input<typeof conversationRequest>;

export interface ConversationControl {
  readonly ingestion: Ingestion;
  readonly outbox: Outbox;
  /** Names of the configured sources. */
  readonly sources: readonly string[];
  readonly signal: AbortSignal;
}

/** Handles a request. Throws ConfigError if the source or dead letter does not exist, StoreError, and SourceError. */
export async function handleConversationRequest(
  desk: ConversationControl,
  question: ConversationRequest,
): Promise<JsonObject> {
  const { ingestion } = desk;
  switch (question.about) {
    case 'status':
      return { ...plain(await ingestion.status()), outdated: Object.fromEntries(await ingestion.outdated()) };
    case 'dead':
      return lettersOf(desk, question);
    case 'letter':
      return letterOf(desk, question.key);
    case 'retry':
      return { count: await counted(ingestion.retry(filterOf(question)), question.key) };
    case 'drop':
      return { count: await counted(ingestion.dismiss(filterOf(question)), question.key) };
    case 'resync':
      mustBeThere(desk, question.source);
      await ingestion.resync(question.source, question.since);
      return { source: question.source, since: question.since };
    default:
      return pushAll(desk, question);
  }
}

/** Source name of pushed files. */
const PUSH = 'push';

async function pushAll(
  { ingestion, signal }: ConversationControl,
  { files, account, teamDomains = [] }: Extract<ConversationRequest, { about: 'push' }>,
): Promise<JsonObject> {
  // A pushed file is sent at once, without the settle delay.
  const intake = ingestion.intake(PUSH, { settleDelay: 0 });
  const pushed = [];
  try {
    for (const file of files) {
      pushed.push(await pushFile(file, { read: { account, teamDomains }, intake, signal }));
    }
  } finally {
    ingestion.endFiles(PUSH);
  }
  return { files: plainList(pushed), sender: plain(ingestion.sender?.state ?? { kind: 'none' }) };
}

/** Returns the oldest dead letters, and the number of the others. */
async function lettersOf(
  { outbox }: ConversationControl,
  question: Extract<ConversationRequest, { about: 'dead' }>,
): Promise<JsonObject> {
  const letters = await outbox.dead(filterOf(question), question.limit ?? LISTED.usual);
  const { sources } = await outbox.status();
  const all = sources
    .filter(({ source }) => question.source === undefined || source === question.source)
    .reduce((sum, { dead }) => sum + dead, 0);
  return { letters: plainList(letters), more: question.key === undefined ? Math.max(0, all - letters.length) : 0 };
}

async function letterOf({ outbox }: ConversationControl, key: string): Promise<JsonObject> {
  const letter = await outbox.deadLetter(key);
  if (letter === null) {
    throw new ConfigError(
      `dead letter ${JSON.stringify(key)} not found; run octavo conversations dead list to see them`,
    );
  }
  const { payload, ...rest } = letter;
  return { ...plain(rest), conversation: JSON.parse(payload) as Json };
}

async function counted(work: Promise<number>, key: string | undefined): Promise<number> {
  const count = await work;
  if (count === 0 && key !== undefined) {
    throw new ConfigError(
      `dead letter ${JSON.stringify(key)} not found; run octavo conversations dead list to see them`,
    );
  }
  return count;
}

function mustBeThere({ sources }: ConversationControl, source: string): void {
  if (!sources.includes(source)) {
    const known = sources.length === 0 ? 'none is configured' : `configured sources: ${sources.join(', ')}`;
    throw new ConfigError(`source ${JSON.stringify(source)} not found; ${known}`);
  }
}

function filterOf({ source, key }: { source?: string | undefined; key?: string | undefined }) {
  return { ...(source === undefined ? {} : { source }), ...(key === undefined ? {} : { key }) };
}

function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function plainList(values: readonly object[]): readonly JsonObject[] {
  return values.map(plain);
}
