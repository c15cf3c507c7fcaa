import { z } from 'zod';
import { ConfigError } from '../../core/errors.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import type { DeadLetter, Outbox } from '../../store/outbox/outbox.ts';
import { LISTED } from '../polling/listing.ts';
import type { Ingestion } from './ingestion.ts';
import type { IngestionStatus } from './ingestion-status.ts';
import { pushFile } from './push.ts';

const filter = { source: z.string().optional(), key: z.string().optional() };

/**
 * Schema of a request about conversations. A running daemon handles it; otherwise the command does, with the state
 * file.
 */
export const conversationRequest = z.discriminatedUnion('subcommand', [
  z.strictObject({ subcommand: z.literal('status') }),
  z.strictObject({
    subcommand: z.literal('dead list'),
    ...filter,
    limit: z.int().min(1).max(LISTED.most).default(LISTED.usual),
  }),
  z.strictObject({ subcommand: z.literal('dead show'), key: z.string() }),
  z.strictObject({ subcommand: z.literal('dead retry'), ...filter }),
  z.strictObject({ subcommand: z.literal('dead drop'), ...filter }),
  /** `since`: milliseconds since the epoch. */
  z.strictObject({ subcommand: z.literal('resync'), source: z.string(), since: z.number() }),
  /** Absolute paths on the machine of the process that handles the request. */
  z.strictObject({
    subcommand: z.literal('push'),
    files: z.array(z.string()),
    account: z.string(),
    teamDomains: z.array(z.string()).default([]),
  }),
]);
export type ConversationRequest = z.input<typeof conversationRequest>;

/** Returns what a request is about, for the audit: a source or a key. */
export function requestSubject(request: ConversationRequest): string {
  if (request.subcommand === 'push') {
    return request.account;
  }
  const { key = '', source = '' }: { key?: string | undefined; source?: string | undefined } = {
    ...('key' in request ? { key: request.key } : {}),
    ...('source' in request ? { source: request.source } : {}),
  };
  return key === '' ? source : key;
}

export interface ConversationControl {
  readonly ingestion: Ingestion;
  readonly outbox: Outbox;
  /** Names of the configured sources. */
  readonly sources: readonly string[];
  readonly signal: AbortSignal;
}

/** Handles a request. Throws ConfigError if the source or dead letter does not exist, StoreError, and SourceError. */
export async function handleConversationRequest(
  control: ConversationControl,
  request: ConversationRequest,
): Promise<JsonObject> {
  const { ingestion } = control;
  switch (request.subcommand) {
    case 'status':
      return describeStatus(await ingestion.status(), await ingestion.outdated());
    case 'dead list':
      return listDeadLetters(control, request);
    case 'dead show':
      return showDeadLetter(control, request.key);
    case 'dead retry':
      return { count: await counted(ingestion.retry(filterOf(request)), request.key) };
    case 'dead drop':
      return { count: await counted(ingestion.drop(filterOf(request)), request.key) };
    case 'resync':
      requireSource(control, request.source);
      await ingestion.resync(request.source, request.since);
      return { source: request.source, since: toIsoTime(request.since) };
    default:
      return pushAll(control, request);
  }
}

/** Source name of pushed files. */
const PUSH = 'push';

async function pushAll(
  { ingestion, signal }: ConversationControl,
  { files, account, teamDomains = [] }: Extract<ConversationRequest, { subcommand: 'push' }>,
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
  return { files: pushed.map(plain), sender: plain(ingestion.sender?.state ?? { kind: 'none' }) };
}

/** Returns the oldest dead letters, and the number of the others. */
async function listDeadLetters(
  { outbox }: ConversationControl,
  request: Extract<ConversationRequest, { subcommand: 'dead list' }>,
): Promise<JsonObject> {
  const letters = await outbox.dead(filterOf(request), request.limit ?? LISTED.usual);
  const { sources } = await outbox.status();
  const all = sources
    .filter(({ source }) => request.source === undefined || source === request.source)
    .reduce((sum, { deadLetters }) => sum + deadLetters, 0);
  return {
    deadLetters: letters.map(describeLetter),
    more: request.key === undefined ? Math.max(0, all - letters.length) : 0,
  };
}

async function showDeadLetter({ outbox }: ConversationControl, key: string): Promise<JsonObject> {
  const letter = await outbox.deadLetter(key);
  if (letter === null) {
    throw new ConfigError(
      `dead letter ${JSON.stringify(key)} not found; run octavo conversations dead list to see them`,
    );
  }
  const { payload, ...rest } = letter;
  return { ...describeLetter(rest), conversation: JSON.parse(payload) as Json };
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

function requireSource({ sources }: ConversationControl, source: string): void {
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

function describeLetter({ at, ...rest }: DeadLetter): JsonObject {
  return { ...plain(rest), refusedAt: toIsoTime(at) };
}

function describeStatus({ sources, ...rest }: IngestionStatus, outdated: ReadonlyMap<string, number>): JsonObject {
  return {
    ...plain(rest),
    sources: sources.map(({ polledAt, waitingSince, ...source }) => ({
      ...plain(source),
      polledAt: toIsoTime(polledAt),
      waitingSince: toIsoTime(waitingSince),
    })),
    outdated: Object.fromEntries(outdated),
  };
}

function toIsoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}
