/** Control API of the daemon on a Unix socket: the server. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { ZodError, ZodType } from 'zod';
import { type ClusterRequest, clusterRequest } from '../clusters/control-api.ts';
import { type ConversationRequest, conversationRequest } from '../conversations/control-api.ts';
import { AppError, messageOf, StoreError } from '../core/errors.ts';
import { makeDirectory } from '../core/files/disk.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { type DeliveryRequest, deliveryRequest } from '../notify/deliveries.ts';
import { type ActionRequest, actionRequest } from '../reconcile/approvals.ts';
import type { Actor } from '../store/history.ts';
import { type SessionRequest, sessionRequest } from '../store/sessions.ts';
import { isListening, OTHER_VERSION, VERSION_HEADER } from './control-client.ts';
import { createApp, type FailureAnswer, statusOf } from './server.ts';

/**
 * Handlers of control requests. Each returns what the command prints, and may throw any AppError. `organization` null: the
 * only one there is.
 */
export interface ControlHandlers {
  act(by: Actor, organization: string | null, request: ActionRequest): Promise<JsonObject>;
  conversations(by: Actor, organization: string | null, request: ConversationRequest): Promise<JsonObject>;
  clusters(by: Actor, organization: string | null, request: ClusterRequest): Promise<JsonObject>;
  deliveries(by: Actor, request: DeliveryRequest): Promise<JsonObject>;
  sessions(by: Actor, request: SessionRequest): Promise<JsonObject>;
}

/** Returns the view model of the page at a path; null if there is no such page. */
export type ViewLoader = (by: Actor, path: string) => Promise<object | null>;

/** The open control socket. */
export type ControlServer = Awaited<ReturnType<typeof openControl>>;

/** Largest request body, in bytes: a push may name thousands of files. */
const MAX_REQUEST_SIZE = 4 * 1024 * 1024;
const IN_USE = 'is in use by another daemon; set runtime.directory to another directory for this one';
/** Maximum length of a socket path on Linux, in bytes. */
const MAX_PATH_LENGTH = 107;

/**
 * Opens the control API on a Unix socket that only this user can open. The caller must hold the lock of the store: a
 * socket that does not respond was left by a killed daemon, and is removed. Throws StoreError if another daemon responds
 * on the socket, or if the socket cannot be created.
 */
export async function openControl(path: string, handlers: ControlHandlers, loadView: ViewLoader, version: string) {
  if (Buffer.byteLength(path) > MAX_PATH_LENGTH) {
    throw new StoreError(
      `${path} is too long for a socket (${MAX_PATH_LENGTH} bytes); set runtime.directory to a shorter one`,
    );
  }
  if (await isListening(path)) {
    throw new StoreError(`${path} ${IN_USE}`);
  }
  makeRoom(path);
  const app = createApp(explainFully);
  app.addHook('onRequest', async ({ headers }, reply) => {
    reply.header(VERSION_HEADER, version);
    // Nothing is done for a command that could not read the answer.
    if ((headers[VERSION_HEADER] ?? version) !== version) {
      return reply.code(OTHER_VERSION).send({ error: 'the command has another version' });
    }
  });
  addRequest(app, '/actions', actionRequest, (...all) => handlers.act(...all));
  addRequest(app, '/conversations', conversationRequest, (...all) => handlers.conversations(...all), MAX_REQUEST_SIZE);
  addRequest(app, '/clusters', clusterRequest, (...all) => handlers.clusters(...all));
  addRequest(app, '/deliveries', deliveryRequest, (by, _, request) => handlers.deliveries(by, request));
  addRequest(app, '/sessions', sessionRequest, (by, _, request) => handlers.sessions(by, request));
  app.post('/views', async ({ body }, reply) => {
    const page = textOf(body, 'path') ?? '';
    const view = await loadView(actorOf(body), page);
    return view === null
      ? reply.code(404).send({ error: `there is no page ${JSON.stringify(page)}` })
      : reply.send(view);
  });
  await app.ready();
  await listenPrivately(app.server, path);
  return {
    /** Stops answering and removes the socket. */
    close: async (): Promise<void> => {
      await app.close();
      const closed = once(app.server, 'close');
      app.server.close();
      app.server.closeIdleConnections();
      await closed;
      rmSync(path, { force: true });
    },
  };
}

/** Schema of requests, which differ by their subcommand. */
type RequestSchema<T> = ZodType<T> & {
  readonly options: readonly { readonly shape: { readonly subcommand: { readonly value: string } } }[];
};

/** Adds a route whose requests have to match a schema. */
function addRequest<T>(
  app: FastifyInstance,
  path: string,
  schema: RequestSchema<T>,
  handle: (by: Actor, organization: string | null, request: T) => Promise<JsonObject>,
  bodyLimit?: number,
): void {
  const names = schema.options.map(({ shape }) => shape.subcommand.value);
  app.post(path, bodyLimit === undefined ? {} : { bodyLimit }, async ({ body }, reply) => {
    const parsed = schema.safeParse(requestIn(body));
    return parsed.success
      ? reply.send(await handle(actorOf(body), textOf(body, 'organization'), parsed.data))
      : reply.code(400).send({ error: describeInvalid(body, parsed.error, names) });
  });
}

/** Only a user who can open the socket is believed, which is the user of the daemon. */
function actorOf(body: unknown): Actor {
  return { name: textOf(body, 'user') ?? '', method: 'socket' };
}

function requestIn(body: unknown): unknown {
  return isObject(body) ? body.request : undefined;
}

/** Describes a request that its schema does not accept. `valid`: names of the known subcommands. */
function describeInvalid(body: unknown, { issues }: ZodError, valid: readonly string[]): string {
  const name = textOf(requestIn(body), 'subcommand') ?? '';
  if (!valid.includes(name)) {
    return `unknown subcommand ${JSON.stringify(name)}; valid subcommands: ${valid.join(', ')}`;
  }
  const problems = issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join('.')}: ${message}`));
  return `request "${name}" is not valid: ${problems.join('; ')}`;
}

/** Returns errors in full, because only the operator can open the socket. */
function explainFully(error: unknown): FailureAnswer {
  const code = error instanceof AppError ? error.code : 'unexpected';
  return { status: error instanceof AppError ? 409 : statusOf(error), body: { error: messageOf(error), code } };
}

/** Creates the directory of the socket, and removes a socket that a killed daemon has left. Throws StoreError. */
function makeRoom(path: string): void {
  try {
    makeDirectory(dirname(path));
    rmSync(path, { force: true });
  } catch (error) {
    throw cannotOpen(path, error);
  }
}

function cannotOpen(path: string, cause: unknown): StoreError {
  return new StoreError(`cannot open the control socket ${path}: ${messageOf(cause)}`, { cause });
}

/**
 * Creates the socket so that only this user can ever read or write it. The mode of a socket comes from the umask of the
 * process. The umask is changed during this synchronous call only, so that no other file is affected.
 */
async function listenPrivately(server: HttpServer, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  await once(server, 'listening').catch((error: unknown) => {
    throw cannotOpen(path, error);
  });
}

function textOf(body: unknown, key: string): string | null {
  const value = isObject(body) ? body[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}
