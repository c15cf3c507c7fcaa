/** Requests about conversations, from the control socket or a command, and the push of files. */
import { z } from 'zod';
import { AppError, CancelledError, ConfigError } from '../core/errors.ts';
import type { Json, JsonObject } from '../core/json.ts';
import type { Outbox } from '../store/outbox/outbox.ts';
import type { DeadLetter } from '../store/outbox/tables.ts';
import type { Ingestion, IngestionStatus } from './ingestion.ts';
import type { Intake } from './intake.ts';
import { LISTED } from './model/ticket.ts';
import {
  fileInput,
  MAX_BATCH_SIZE,
  orSourceError,
  type ReadOptions,
  sizeOf,
  type TicketRecord,
} from './sources/files/input.ts';
import { readTickets } from './sources/files/read-tickets.ts';
import { appendRejects, rejectFileOf } from './sources/files/reject-file.ts';

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

interface ConversationControl {
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
      return { count: await counted(ingestion.retry(request), request.key) };
    case 'dead drop':
      return { count: await counted(ingestion.drop(request), request.key) };
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
      pushed.push(await pushFile(file, { account, teamDomains }, intake, signal));
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
  const letters = await outbox.dead(request, request.limit ?? LISTED.usual);
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
    throw letterNotFound(key);
  }
  const { payload, ...rest } = letter;
  return { ...describeLetter(rest), conversation: JSON.parse(payload) as Json };
}

async function counted(work: Promise<number>, key: string | undefined): Promise<number> {
  const count = await work;
  if (count === 0 && key !== undefined) {
    throw letterNotFound(key);
  }
  return count;
}

function letterNotFound(key: string): ConfigError {
  return new ConfigError(
    `dead letter ${JSON.stringify(key)} not found; run octavo conversations dead list to see them`,
  );
}

function requireSource({ sources }: ConversationControl, source: string): void {
  if (!sources.includes(source)) {
    const known = sources.length === 0 ? 'none is configured' : `configured sources: ${sources.join(', ')}`;
    throw new ConfigError(`source ${JSON.stringify(source)} not found; ${known}`);
  }
}

function plain(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function describeLetter({ at, ...rest }: DeadLetter): JsonObject {
  return { ...rest, refusedAt: toIsoTime(at) };
}

function describeStatus({ sources, ...rest }: IngestionStatus, outdated: ReadonlyMap<string, number>): JsonObject {
  return {
    ...plain(rest),
    sources: sources.map(({ polledAt, arrivedAt, waitingSince, ...source }) => ({
      ...plain(source),
      polledAt: toIsoTime(polledAt),
      arrivedAt: toIsoTime(arrivedAt),
      waitingSince: toIsoTime(waitingSince),
    })),
    outdated: Object.fromEntries(outdated),
  };
}

function toIsoTime(time: number | null): string | null {
  return time === null ? null : new Date(time).toISOString();
}

/** Counts of a pushed file. */
export type PushedFile = Awaited<ReturnType<typeof pushFile>>;

/** Records in one deposit. */
const BATCH = 100;
/** Length of their text, in UTF-16 units. */
const MAX_SIZE = MAX_BATCH_SIZE / 2;
/** Deposits that are redacted or stored at a time: with fewer, the redaction threads wait for this one, or it for them. */
const IN_PROGRESS = 4;

/**
 * Ingests a file. Content that is unchanged since an earlier push is not sent again. Resolves when everything is
 * durable. Throws SourceError, StoreError, and CancelledError after the signal aborts.
 */
export async function pushFile(path: string, read: ReadOptions, intake: Intake, signal: AbortSignal) {
  const counts = { ticket: 0, skipped: 0, gone: 0, rejected: 0 };
  let batch: TicketRecord[] = [];
  let size = 0;
  let listed = 0;
  let threads = 0;
  // Stored in the order in which they were read: while one is stored, the next are redacted, and one more is read.
  const deposits: Promise<unknown>[] = [];
  const rejectFile = rejectFileOf(path);
  const flush = async () => {
    listed += await orSourceError(`cannot write the reject file ${rejectFile}`, appendRejects(rejectFile, batch));
    const found = batch.map((record) => record.found);
    batch = [];
    size = 0;
    if (deposits.length >= IN_PROGRESS) {
      await deposits.shift();
    }
    const deposit = intake.take(found, {}, signal, { after: deposits.at(-1) });
    deposit.catch(() => {});
    deposits.push(deposit);
  };
  try {
    for await (const record of readTickets(fileInput(path, signal), read)) {
      signal.throwIfAborted();
      counts[record.found.kind] += 1;
      threads += record.found.kind === 'ticket' && record.found.ticket.mails !== undefined ? 1 : 0;
      batch.push(record);
      size += sizeOf(record.found);
      if (batch.length === BATCH || size >= MAX_SIZE) {
        await flush();
      }
    }
    if (batch.length > 0) {
      await flush();
    }
    await Promise.all(deposits);
  } catch (error) {
    await Promise.allSettled(deposits);
    throw signal.aborted ? stopped(signal.reason) : error;
  }
  return {
    file: path,
    records: counts.ticket + counts.skipped + counts.gone + counts.rejected,
    tickets: counts.ticket,
    /** Tickets that are mail threads. */
    threads,
    skipped: counts.skipped + counts.gone,
    rejected: counts.rejected,
    /** File that lists rejected and empty records, with lines and reasons; null: there are none. */
    rejectFile: listed === 0 ? null : rejectFile,
  };
}

function stopped(reason: unknown): AppError {
  const words =
    'interrupted; the conversations read so far are stored; push again to continue, unchanged ones are not sent twice';
  return reason instanceof AppError ? reason : new CancelledError(words);
}
