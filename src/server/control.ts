import { once } from 'node:events';
import { rmSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { connect } from 'node:net';
import { Client, errors } from 'undici';
import { type ClusterRequest, clusterRequest } from '../clusters/run/control-api.ts';
import { type ConversationRequest, conversationRequest } from '../conversations/ingestion/control-api.ts';
import { AppError, ConfigError, messageOf, RefusedPlanError, StoreError, TransientError } from '../core/errors.ts';
import { isObject, type JsonObject } from '../core/json.ts';
import { createApp, type FailureAnswer, statusOf } from './server.ts';

/** What a person may ask of a running daemon. Each gives what the command shows, and may throw any AppError. */
export interface ControlHandlers {
  approve(checksum: string): Promise<JsonObject>;
  /** `organization` null: all of them. */
  reconcile(organization: string | null): Promise<JsonObject>;
  status(): Promise<JsonObject>;
  /** `organization` null: the only one there is. */
  conversations(organization: string | null, question: ConversationRequest): Promise<JsonObject>;
  /** `organization` null: the only one there is. */
  clusters(organization: string | null, question: ClusterRequest): Promise<JsonObject>;
}

/** The open control socket. */
export interface ControlServer {
  /** Stops answering and removes the socket. */
  close(): Promise<void>;
}

/** One question to a daemon. */
export type ControlRequest =
  | { readonly ask: 'approve'; readonly checksum: string }
  | { readonly ask: 'reconcile'; readonly organization?: string }
  | { readonly ask: 'status' }
  | {
      readonly ask: 'conversations';
      readonly organization?: string | undefined;
      readonly question: ConversationRequest;
    }
  | { readonly ask: 'clusters'; readonly organization?: string | undefined; readonly question: ClusterRequest };

/** Bytes of a question: a shell may name thousands of files to push. */
const LARGEST_QUESTION = 4 * 1024 * 1024;
/** Linux takes so many bytes as the path of a socket. */
const LONGEST_PATH = 107;

/** The control socket of a daemon, beside its state file. */
export function controlSocketPath(storePath: string): string {
  return `${storePath}.sock`;
}

/**
 * Answers on a Unix socket that only this user may open. To be called by whoever holds the store's lock: a socket
 * that lies there but answers nobody is of a daemon that was killed, and is removed. Throws StoreError when a daemon
 * answers there, or the socket cannot be made.
 */
export async function openControl(path: string, handlers: ControlHandlers): Promise<ControlServer> {
  if (Buffer.byteLength(path) > LONGEST_PATH) {
    throw new StoreError(`${path} is too long for a socket (${LONGEST_PATH} bytes); set store.path to a shorter one`);
  }
  if (await answers(path)) {
    throw new StoreError(`${path} is in use by another process; only one Octavo may use a state file`);
  }
  rmSync(path, { force: true });
  const app = createApp(explainToOperator);
  app.post('/approve', async (request, reply) => {
    const checksum = textOf(request.body, 'checksum');
    return checksum === null
      ? reply.code(400).send({ error: 'needs a checksum' })
      : reply.send(await handlers.approve(checksum));
  });
  app.post('/reconcile', async (request, reply) =>
    reply.send(await handlers.reconcile(textOf(request.body, 'organization'))),
  );
  app.post('/conversations', { bodyLimit: LARGEST_QUESTION }, async (request, reply) => {
    const question = conversationRequest.safeParse(isObject(request.body) ? request.body.question : undefined);
    return question.success
      ? reply.send(await handlers.conversations(textOf(request.body, 'organization'), question.data))
      : reply.code(400).send({ error: 'asks nothing that is known here' });
  });
  app.post('/clusters', async (request, reply) => {
    const question = clusterRequest.safeParse(isObject(request.body) ? request.body.question : undefined);
    return question.success
      ? reply.send(await handlers.clusters(textOf(request.body, 'organization'), question.data))
      : reply.code(400).send({ error: 'asks nothing that is known here' });
  });
  app.get('/status', async (_request, reply) => reply.send(await handlers.status()));
  await app.ready();
  await listenPrivately(app.server, path);
  return {
    close: async () => {
      await app.close();
      const closed = once(app.server, 'close');
      app.server.close();
      app.server.closeIdleConnections();
      await closed;
      rmSync(path, { force: true });
    },
  };
}

/** Whoever may open the socket is the operator: an error's own words are for them. */
function explainToOperator(error: unknown): FailureAnswer {
  const code = error instanceof AppError ? error.code : 'unexpected';
  return { status: error instanceof AppError ? 409 : statusOf(error), body: { error: messageOf(error), code } };
}

/**
 * Makes the socket readable and writable for this user alone from its first moment: a socket's mode comes from the
 * process's mask, which is set for no longer than this call takes, so that no other file is made under it.
 */
async function listenPrivately(server: HttpServer, path: string): Promise<void> {
  const mask = process.umask(0o177);
  try {
    server.listen(path);
  } finally {
    process.umask(mask);
  }
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new StoreError(`cannot open the control socket ${path}: ${messageOf(error)}`, { cause: error });
  }
}

function textOf(body: unknown, key: string): string | null {
  const value = isObject(body) ? body[key] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** Whether somebody listens on a socket: one that was killed leaves its socket behind. */
export function answers(path: string): Promise<boolean> {
  return new Promise((done) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      done(true);
    });
    socket.once('error', () => done(false));
  });
}

/**
 * Asks the daemon behind a control socket. Throws TransientError when it ends meanwhile, or cannot do it now. Throws ConfigError when none answers there, RefusedPlanError when what is
 * to be approved is not what the daemon holds, and ConfigError with the daemon's own words for any other refusal.
 */
export async function callControl(path: string, request: ControlRequest): Promise<JsonObject> {
  const { status, answer } = await ask(path, request).catch((error: unknown) => {
    if (error instanceof errors.SocketError) {
      throw new TransientError(
        `the daemon on ${path} ended before it answered; ask again: what it had taken in is not taken twice`,
        true,
        { cause: error },
      );
    }
    throw new ConfigError(
      `no daemon answers on ${path} (${messageOf(error)}); start one with octavo run --config FILE, or name the configuration of the one that runs with --config`,
      { cause: error },
    );
  });
  if (status === 200) {
    return answer;
  }
  const words = `the daemon refused: ${String(answer.error)}`;
  if (answer.code === 'refused-plan') {
    throw new RefusedPlanError(words);
  }
  throw NOT_ITS_FAULT.has(String(answer.code)) ? new TransientError(words, true) : new ConfigError(words);
}

/** Codes of errors that are no mistake of whoever asked. */
const NOT_ITS_FAULT: ReadonlySet<string> = new Set([
  ...['cancelled', 'source', 'store'],
  ...['transient', 'rate-limited', 'rejected', 'not-authorized', 'not-the-platform'],
]);

async function ask(path: string, request: ControlRequest): Promise<{ status: number; answer: JsonObject }> {
  // A file that is pushed takes as long as it takes.
  const client = new Client('http://octavo', { socketPath: path, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const { ask: question, ...body } = request;
    const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
    const response = await client.request(
      question === 'status' ? { path: '/status', method: 'GET' } : { path: `/${question}`, method: 'POST', ...json },
    );
    return { status: response.statusCode, answer: (await response.body.json()) as JsonObject };
  } finally {
    await client.close();
  }
}
