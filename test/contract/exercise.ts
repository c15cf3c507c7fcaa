/** Sends the embedded platform's tables of requests through the client. */
import { findOperation, type RequestMethod } from '../../src/commands/api/operations.ts';
import { systemClock } from '../../src/core/clock.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { openWriter, type Writer } from '../../src/platform/client.ts';
import { openConnection } from '../../src/platform/connection.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { AnyInput, Operation } from '../../src/platform/operations/model/operation.ts';
import { memberSchemas, RequestSchema } from '../../src/platform/operations/model/request-schema.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { rows } from '../emulator/operation-rows.ts';
import { type OperationWorld, openOperationWorld, readRow } from '../emulator/operation-world.ts';

/** A platform with one of everything, and clients for it. */
export interface Stage extends OperationWorld {
  readonly writer: Writer;
  /** A client that the platform does not know. */
  readonly stranger: Writer;
  close(): Promise<void>;
}

/** `through` receives the platform's address and returns the one that clients use. */
export async function openStage(through?: (url: string) => Promise<string>): Promise<Stage> {
  const world = await openOperationWorld();
  const { emulator } = world;
  const baseUrl = (await through?.(emulator.url)) ?? emulator.url;
  const open = (token: string) =>
    openConnection({
      ...{ baseUrl, token, userAgent: 'octavo/0.0.0', concurrency: 4, clock: systemClock, random: () => 0 },
    });
  const connections = [open(emulator.token), open('unknown')] as const;
  const [writer, stranger] = connections.map((connection) =>
    openWriter(connection, { organization: emulator.organization, priority: 'person' }),
  ) as [Writer, Writer];
  return {
    ...{ ...world, writer, stranger },
    async close() {
      await Promise.all(connections.map((connection) => connection.close(0)));
      await emulator.close();
    },
  };
}

/** A row of the tables as a call of the client. */
export interface Call {
  readonly input: AnyInput;
  /** Expected status. */
  readonly status: number;
  /** Required content of the answer. */
  readonly says: unknown;
}

/** Calls of an operation: those that the client sends, and those that it refuses without sending them. */
export interface Calls {
  readonly sent: readonly Call[];
  readonly unsent: readonly Call[];
}

/** Reads the rows of every operation, by its name. Rows with or without a body that the client cannot express are skipped. */
export function callsOf(ids: OperationWorld['ids']): ReadonlyMap<string, Calls> {
  const calls = new Map(all.map(({ name }) => [name, { sent: [] as Call[], unsent: [] as Call[] }]));
  for (const row of rows) {
    const { method, path, body, status, says } = readRow(row, ids);
    const { pathname, searchParams } = new URL(`/v1${path}`, 'http://platform');
    const operation = findOperation(all, method as RequestMethod, pathname);
    if (operation !== null && (body === undefined) === (operation.body === null)) {
      const input = { path: pathOf(operation, pathname), query: queryOf(operation, searchParams), body };
      calls.get(operation.name)?.[isSent(operation, input) ? 'sent' : 'unsent'].push({ input, status, says });
    }
  }
  return calls;
}

function pathOf({ path }: Operation, pathname: string): Record<string, string> {
  const parts = pathname.split('/').map(decodeURIComponent);
  const names = path.split('/').map((part) => /^\{(\w+)\}$/.exec(part)?.[1]);
  return Object.fromEntries(names.flatMap((name, at) => (name === undefined ? [] : [[name, parts[at] ?? '']])));
}

/** The query with numbers, booleans and lists where the client has them. */
export function queryOf({ query }: Operation, search: URLSearchParams): Record<string, unknown> | undefined {
  const members = memberSchemas(query?.json ?? {});
  const entries = [...new Set(search.keys())].map((name) => {
    const texts = search.getAll(name);
    const [text = ''] = texts;
    const values = [
      ...(texts.length > 1 ? [] : [text, text === 'true' || (text === 'false' ? false : Number(text))]),
      texts,
    ];
    return [name, values.find((value) => new RequestSchema(members[name] ?? {}).safeParse(value).success) ?? texts];
  });
  return entries.length === 0 ? undefined : Object.fromEntries(entries);
}

function isSent(operation: Operation, { query, body }: AnyInput): boolean {
  const isQuery = operation.query === null ? query === undefined : operation.query.safeParse(query ?? {}).success;
  return isQuery && (operation.body === null || operation.body.safeParse(body).success);
}

/** Makes the call for any type of operation. */
export function call(writer: Writer, operation: Operation, input: AnyInput): Promise<unknown> {
  const { get, send, stream } = writer as unknown as Record<
    'get' | 'send' | 'stream',
    (operation: Operation, input: AnyInput) => Promise<unknown>
  >;
  if (operation.streamed) {
    return Array.fromAsync(stream(operation, input) as unknown as AsyncIterable<unknown>);
  }
  return operation.method === 'GET' ? get(operation, input) : send(operation, input);
}

/** Method and path, without the names of its parameters, because documents name them differently. */
export function signature(method: string, path: string): string {
  return `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`;
}

const signatures = new Map(
  OPERATIONS.map((operation) => [operation.name, signature(operation.method, `/v1${operation.path}`)]),
);

/** Operations of the embedded platform, as method and path. */
export const emulated: readonly string[] = [...signatures.values()];

/** Operations that the embedded platform serves, with the responses that code reads. */
export const all: readonly Operation[] = allOperations()
  .filter(({ method, path }) => emulated.includes(signature(method, path)))
  .map((operation) => (operations as Readonly<Record<string, Operation>>)[operation.name] ?? operation);

/** A call that was sent, its result, and the answers of the platform: operation as method and path, and status. */
export interface Exchange extends Call {
  readonly value?: unknown;
  readonly error?: unknown;
  readonly answers: readonly { readonly operation: string; readonly status: number | null }[];
}

/** Sends every call of every operation, each to the platform in its initial state; by the operation's name. */
export async function exerciseAll({ emulator, ids, writer }: Stage): Promise<ReadonlyMap<string, readonly Exchange[]>> {
  const state = emulator.state();
  const calls = callsOf(ids);
  const done = new Map<string, Exchange[]>();
  for (const operation of all) {
    const exchanges: Exchange[] = [];
    for (const one of calls.get(operation.name)?.sent ?? []) {
      emulator.restore(state);
      emulator.requests.reset();
      const outcome = await call(writer, operation, one.input).then(
        (value) => ({ value }),
        (error: unknown) => ({ error }),
      );
      const answers = emulator.requests.entries.map((entry) => ({
        operation: signatures.get(entry.operation) ?? entry.operation,
        status: entry.status,
      }));
      exchanges.push({ ...one, ...outcome, answers });
    }
    done.set(operation.name, exchanges);
  }
  emulator.restore(state);
  return done;
}
