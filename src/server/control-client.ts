/** Control API of the daemon on a Unix socket: the client. Separate from the server, so that commands do not load it. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { basename, resolve } from 'node:path';
import { Client, errors } from 'undici';
import type { z } from 'zod';
import { ConfigError, messageOf, RefusedPlanError, TransientError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { REQUESTS, RequestKind } from './requests.ts';

type ControlCommand = {
  [Kind in RequestKind]: {
    readonly command: (typeof REQUESTS)[Kind]['path'];
    readonly organization?: string | undefined;
    readonly request: z.input<(typeof REQUESTS)[Kind]['schema']>;
  };
}[RequestKind];

/**
 * A request to a daemon; `command` is its path, and `user` the name of the user who runs the command. `path` of a page, with
 * its query.
 */
export type ControlRequest = { readonly user?: string } & (
  | ControlCommand
  | { readonly command: 'views'; readonly path: string }
);

/** Settings that decide where the control socket is. */
interface RuntimeSettings {
  readonly store: { readonly path?: string | undefined };
  readonly runtime: { readonly directory: string };
}

/** Returns the path of the control socket of a daemon on this machine. */
export function controlSocketPath({ store, runtime }: RuntimeSettings): string {
  return resolve(runtime.directory, `${basename(store.path ?? 'octavo')}.sock`);
}

/** Returns true if a process listens on a socket. A killed process leaves its socket behind. */
export async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  const isOpen = once(socket, 'connect').then(
    () => true,
    () => false,
  );
  return isOpen.finally(() => socket.destroy());
}

/** Header of requests with the version of the command, and of responses with the version of the daemon. */
export const VERSION_HEADER = 'x-octavo-version';
/** Status of a response to a command of another version, for which the daemon does nothing. */
export const OTHER_VERSION = 412;

/** The daemon is of another version, so its answers may have other members. */
export class UnknownAnswerError extends ConfigError {}

/**
 * Sends a request to the daemon on a control socket. `own` is the version of the caller. Returns the answer. Throws
 * TransientError if the daemon stops meanwhile or cannot handle the request now, RefusedPlanError if it does not hold the
 * plan to approve, UnknownAnswerError if it is of another version, and ConfigError if no daemon responds or for any other
 * refusal, with the message of the daemon.
 */
export async function callControl<T extends object = JsonObject>(
  path: string,
  request: ControlRequest,
  own: string,
): Promise<T> {
  const { status, answer, version } = await send(path, request, own).catch((error: unknown) => {
    if (error instanceof errors.SocketError) {
      throw new TransientError(
        `the daemon on ${path} stopped before it responded; run the command again: nothing is processed twice`,
        true,
        { cause: error },
      );
    }
    throw new ConfigError(
      `no daemon responds on ${path} (${messageOf(error)}); start one with octavo run --config FILE, or pass the --config of the running daemon`,
      { cause: error },
    );
  });
  const hint = version === own ? '' : versionHint(version, own);
  if (status === OTHER_VERSION) {
    throw new UnknownAnswerError(`the daemon on ${path} refused, and nothing was done${hint}`);
  }
  if (status === 200) {
    if (version !== own) {
      throw new UnknownAnswerError(`the daemon on ${path} answered in an unknown form${hint}`);
    }
    return answer as object as T;
  }
  const message = `the daemon refused: ${String(answer.error)}${hint}`;
  if (answer.code === 'refused-plan') {
    throw new RefusedPlanError(message);
  }
  throw TRANSIENT_CODES.has(String(answer.code)) ? new TransientError(message, true) : new ConfigError(message);
}

/** Returns what to do about a daemon of another version; older ones do not send theirs. */
function versionHint(daemon: string | null, own: string): string {
  const other = daemon === null ? 'does not report its version' : `has version ${daemon}`;
  return `; the daemon ${other}, and this command ${own}: use the octavo command of the same version, or upgrade and restart the daemon`;
}

/** Codes of errors that the request did not cause. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  'cancelled',
  'source',
  'store',
  'transient',
  'rate-limited',
  'rejected',
  'not-authorized',
  'not-the-platform',
]);

async function send(
  path: string,
  request: ControlRequest,
  own: string,
): Promise<{ status: number; answer: JsonObject; version: string | null }> {
  // A push has no time limit.
  const client = new Client('http://octavo', { socketPath: path, headersTimeout: 0, bodyTimeout: 0 });
  try {
    const { command, ...body } = request;
    const response = await client.request({
      path: `/${command}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', [VERSION_HEADER]: own },
      body: JSON.stringify(body),
    });
    const header = response.headers[VERSION_HEADER];
    const answer = (await response.body.json()) as JsonObject;
    return { status: response.statusCode, answer, version: typeof header === 'string' ? header : null };
  } finally {
    await client.close();
  }
}
