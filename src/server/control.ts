/** Control API of the daemon on a Unix socket: the server. */
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { dirname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { AppError, messageOf, StoreError } from '../core/errors.ts';
import { makeDirectory } from '../core/files/disk.ts';
import { isObject } from '../core/json.ts';
import type { Actor } from '../store/history.ts';
import { isListening, OTHER_VERSION, VERSION_HEADER } from './control-client.ts';
import { REQUESTS, type RequestHandlers, type RequestKind, readRequest, subcommandsOf } from './requests.ts';
import { createApp, type FailureAnswer, statusOf } from './server.ts';

/** Returns the view model of the page at a path; null if there is no such page. */
export type ViewLoader = (by: Actor, path: string) => Promise<object | null>;

/** The open control socket. */
export type ControlServer = Awaited<ReturnType<typeof openControl>>;

/** Largest body of a request about conversations, in bytes: a push may name thousands of files. */
const MAX_PUSH_SIZE = 4 * 1024 * 1024;
const IN_USE = 'is in use by another daemon; set runtime.directory to another directory for this one';
/** Maximum length of a socket path on Linux, in bytes. */
const MAX_PATH_LENGTH = 107;

/**
 * Opens the control API on a Unix socket that only this user can open. The caller must hold the lock of the store: a
 * socket that does not respond was left by a killed daemon, and is removed. Throws StoreError if another daemon responds
 * on the socket, or if the socket cannot be created.
 */
export async function openControl(path: string, handlers: RequestHandlers, loadView: ViewLoader, version: string) {
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
  for (const kind of Object.keys(REQUESTS) as RequestKind[]) {
    addRequest(app, kind, handlers);
  }
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

/** Adds the route of a kind of request. */
function addRequest(app: FastifyInstance, kind: RequestKind, handlers: RequestHandlers): void {
  const limit = kind === 'conversations' ? { bodyLimit: MAX_PUSH_SIZE } : {};
  app.post(`/${REQUESTS[kind].path}`, limit, async ({ body }, reply) => {
    const request = isObject(body) ? body.request : undefined;
    const read = readRequest(kind, request);
    return typeof read === 'function'
      ? reply.send(await read(handlers, actorOf(body), textOf(body, 'organization')))
      : reply.code(400).send({ error: describeInvalid(kind, textOf(request, 'subcommand') ?? '', read) });
  });
}

/** Only a user who can open the socket is believed, which is the user of the daemon. */
function actorOf(body: unknown): Actor {
  return { name: textOf(body, 'user') ?? '', method: 'socket' };
}

/** Describes a request that its schema does not accept. */
function describeInvalid(kind: RequestKind, subcommand: string, problems: readonly string[]): string {
  const valid = subcommandsOf(kind);
  return valid.includes(subcommand)
    ? `request "${subcommand}" is not valid: ${problems.join('; ')}`
    : `unknown subcommand ${JSON.stringify(subcommand)}; valid subcommands: ${valid.join(', ')}`;
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
