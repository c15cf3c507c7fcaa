/** The HTTP server of the emulator, which writes answers, streams and downloads with injected faults. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.ts';
import { answer, apiRouter } from './api.ts';
import { DOWNLOAD_PREFIX, download } from './content/operations.ts';
import { CONTROL_PREFIX, type Controls, control, type Latency } from './control.ts';
import { type ChosenFaults, type FaultInjector, NO_FAULTS, seededRandom } from './http/faults.ts';
import type { LimitDecision, RequestLimiter } from './http/limits.ts';
import { readJson, receiveBody } from './http/receive.ts';
import type { RequestLog } from './http/request-log.ts';
import { type ApiRoute, type Match, Router } from './http/router.ts';
import { type ApiAnswer, ApiError, errorBody } from './model/answers.ts';
import type { Features } from './model/features.ts';
import type { Caller, Context, Processing } from './model/operation.ts';
import { type CreationDefaults, pick } from './model/patch.ts';
import type { EmulatorStore } from './model/store.ts';

/** Dependencies of the server. */
export interface ServerContext {
  readonly store: EmulatorStore;
  readonly clock: Clock;
  /** Returns the caller of a token. */
  callerOf(token: string): Caller | undefined;
  isAdmin(token: string): boolean;
  readonly limiter: RequestLimiter;
  readonly faults: FaultInjector;
  readonly requests: RequestLog;
  features: Features;
  readonly processing: Processing;
  readonly defaults: CreationDefaults;
  /** Operations of the platform, emulated or not. */
  readonly documented: readonly ApiRoute[];
  readonly pageSize: number;
  readonly randomSeed: number;
  latency: Latency;
}

/** A parsed request. */
type Received = ReturnType<typeof takeApart>;

function takeApart(request: IncomingMessage, response: ServerResponse, body: Buffer | null) {
  const target = request.url ?? '/';
  const mark = target.indexOf('?');
  return {
    request,
    response,
    method: request.method ?? 'GET',
    path: mark === -1 ? target : target.slice(0, mark),
    search: mark === -1 ? '' : target.slice(mark),
    token: /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '',
    body,
  };
}

/** Creates the server for a store. */
export function createHttpServer(listener: ServerContext, controls: Controls): Server {
  const router = apiRouter();
  const documented = new Router(listener.documented);
  const random = seededRandom(listener.randomSeed);
  return createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    receiveBody(request)
      .then(async (body) => {
        const received = takeApart(request, response, body);
        if (received.path.startsWith(CONTROL_PREFIX)) {
          answerControl(listener, controls, received);
        } else if (received.path.startsWith(DOWNLOAD_PREFIX)) {
          answerDownload(listener, received);
        } else {
          await answerRequest(listener, { router, documented }, random, received);
        }
      })
      // The client disconnected while it was sending, or a fault's hook threw: nothing is answered.
      .catch(() => request.socket.destroy());
  });
}

/** Returns the address that the caller used, so that URLs in answers also work through mapped ports. */
function baseOf(request: IncomingMessage): string {
  return `http://${request.headers.host ?? 'localhost'}`;
}

function answerControl(listener: ServerContext, controls: Controls, received: Received): void {
  const { method, path, token, body, request } = received;
  const read = () => readJson(body, request.headers['content-type']);
  const result = control(controls, listener.isAdmin(token), method, path, read);
  send(request, received.response, result, dateHeader(listener.clock));
}

/** Answers a download: it needs no token, and is not logged, rate limited or failed by faults. */
function answerDownload(listener: ServerContext, { method, path, search, request, response }: Received): void {
  const headers = dateHeader(listener.clock);
  try {
    if (method !== 'GET' && method !== 'HEAD') {
      throw new ApiError(404, 'No such operation');
    }
    const { bytes, contentType } = download(contextOf(listener, baseOf(request)), path, search);
    response.writeHead(200, { ...headers, 'Content-Type': contentType, 'Content-Length': String(bytes.length) });
    response.end(bytes);
  } catch (error) {
    if (!(error instanceof ApiError)) {
      throw error;
    }
    send(request, response, { status: error.status, body: errorBody(error.status, error.message) }, headers);
  }
}

/** Returns the date by the injected clock, which Reset uses too. */
function dateHeader(clock: Clock): Record<string, string> {
  return { Date: new Date(clock.now()).toUTCString() };
}

/** Answers a request: 1. log it, 2. count it, 3. choose faults, 4. run the operation, 5. wait, 6. answer. */
async function answerRequest(
  listener: ServerContext,
  { router, documented }: { readonly router: Router; readonly documented: Router<ApiRoute> },
  random: () => number,
  received: Received,
): Promise<void> {
  const { method, path, search, token, request, response } = received;
  const now = listener.clock.now();
  const match = router.find(method, path);
  const caller = listener.callerOf(token);
  const operation = match?.operation.name ?? 'unknown';
  const close = listener.requests.open({
    method,
    operation,
    path: `${path}${search}`,
    user: caller?.user ?? null,
    agent: request.headers['user-agent'] ?? '',
    at: now,
  });
  const admission = listener.limiter.admit(token, match?.operation.limit ?? (method === 'GET' ? 'read' : 'write'), now);
  const chosenFaults = admission.admitted ? listener.faults.choose({ method, operation, path }) : NO_FAULTS;
  const isUnserved = match === undefined && documented.find(method, path) !== undefined;
  const result = decide(listener, { ...received, isUnserved }, caller, match, admission, chosenFaults);
  const latency = latencyOf(listener.latency, random) + chosenFaults.delay;
  await wait(listener, latency);
  if (result === undefined) {
    // As a broken network would.
    request.socket.resetAndDestroy();
    return;
  }
  close(result.status);
  const retryAfter = chosenFaults.end?.kind === '429' ? chosenFaults.end.retryAfter : undefined;
  const headers = {
    ...dateHeader(listener.clock),
    ...admission.headers,
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
  if (result.events === undefined) {
    send(request, response, result, headers, chosenFaults.end);
    return;
  }
  const pause = (signal: AbortSignal) => wait(listener, latencyOf(listener.latency, random), signal);
  await stream(request, response, result.events, headers, chosenFaults.end, pause);
}

/** Returns the answer; undefined drops the connection. */
function decide(
  listener: ServerContext,
  received: Received & { readonly isUnserved: boolean },
  caller: Caller | undefined,
  match: Match | undefined,
  admission: LimitDecision,
  chosenFaults: ChosenFaults,
): ApiAnswer | undefined {
  if (!admission.admitted) {
    return tooMany(admission.wait);
  }
  for (const hook of chosenFaults.before) {
    hook();
  }
  const { end } = chosenFaults;
  switch (end?.kind) {
    case 'status':
      return { status: end.status, body: errorBody(end.status, end.message ?? `Injected fault ${end.status}`) };
    case '429':
      return tooMany(end.retryAfter ?? 1);
    case 'html':
      return { status: end.status ?? 200 };
    case 'reset-before':
      return undefined;
  }
  const result = answer(contextOf(listener, baseOf(received.request)), caller, match, {
    ...pick(received, 'method', 'path', 'search', 'body', 'isUnserved'),
    contentType: received.request.headers['content-type'],
    prefer: received.request.headers.prefer,
  });
  for (const hook of chosenFaults.after) {
    hook();
  }
  return end?.kind === 'reset-after' ? undefined : result;
}

function contextOf(listener: ServerContext, base: string): Omit<Context, 'caller'> {
  const { store, features, processing, defaults, pageSize } = listener;
  const now = listener.clock.now();
  return { store, now, at: new Date(now).toISOString(), base, features, processing, defaults, pageSize };
}

/** 429 with a message that names a wait in seconds. Source: docs/platform-notes.md#rate-limits */
function tooMany(wait: number): ApiAnswer {
  const unit = wait === 1 ? 'second' : 'seconds';
  return { status: 429, body: errorBody(429, `Too many requests. Please retry in ${wait} ${unit}.`) };
}

/** Waits, unless the duration is 0. */
async function wait({ clock }: ServerContext, milliseconds: number, signal?: AbortSignal): Promise<void> {
  if (milliseconds > 0) {
    await clock.sleep(milliseconds, signal);
  }
}

function latencyOf(latency: Latency, random: () => number): number {
  return typeof latency === 'number' ? latency : latency.min + random() * (latency.max - latency.min);
}

const HTML = '<!doctype html><html><head><title>Please wait</title></head><body><h1>Please wait</h1></body></html>\n';

/** Writes an answer, changed as the fault requires. */
function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ApiAnswer,
  headers: Readonly<Record<string, string>>,
  end?: ChosenFaults['end'],
): void {
  if (end?.kind === 'html') {
    response.writeHead(answer.status, { ...headers, 'Content-Type': 'text/html; charset=utf-8' });
    response.end(HTML);
    return;
  }
  const location = {
    ...(answer.location === undefined ? {} : { Location: answer.location }),
    ...(answer.preference === undefined ? {} : { 'Preference-Applied': answer.preference }),
  };
  if (answer.body === undefined) {
    const length = answer.status === 204 ? {} : { 'Content-Length': '0' };
    response.writeHead(answer.status, { ...headers, ...location, ...length });
    response.end();
    return;
  }
  const whole = Buffer.from(JSON.stringify(answer.body));
  const body = end?.kind === 'half' ? whole.subarray(0, Math.floor(whole.length / 2)) : whole;
  const contentType = end?.kind === 'wrong-content-type' ? 'text/plain' : 'application/json; charset=utf-8';
  response.writeHead(answer.status, {
    ...headers,
    ...location,
    'Content-Type': contentType,
    'Content-Length': String(body.length),
  });
  if (end?.kind === 'truncate') {
    response.write(body.subarray(0, Math.floor(body.length / 2)), () => request.socket.destroy());
    return;
  }
  response.end(body);
}

/** Formats one event: a line that begins with `data:`, and an empty line. Source: docs/platform-notes.md#ask */
function pieceOf(data: string): string {
  return `data: ${data}\n\n`;
}

/** Last event. The vendor's client stops at an event with that name, and reads everything else as JSON. */
const END = `event: done\n${pieceOf('done')}`;

/**
 * Returns the pieces to send, changed as the fault requires: `half` sends half of them, `truncate` half of one more.
 */
function piecesOf(events: readonly unknown[], end: ChosenFaults['end']): string[] {
  const pieces = [...events.map((event) => pieceOf(JSON.stringify(event))), END];
  const half = Math.floor(pieces.length / 2);
  if (end?.kind === 'half') {
    return pieces.slice(0, half);
  }
  if (end?.kind === 'truncate') {
    const broken = pieces[half] ?? '';
    return [...pieces.slice(0, half), broken.slice(0, Math.floor(broken.length / 2))];
  }
  return pieces;
}

/** Writes a piece; resolves once it is flushed to the network. */
function flush(response: ServerResponse, piece: string): Promise<void> {
  return new Promise((resolve) => {
    response.write(piece, () => resolve());
  });
}

/**
 * Writes an answer piece by piece, until its end or until the client disconnects. `pause` waits between two pieces; it
 * resolves or rejects early when the signal aborts.
 */
async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  events: readonly unknown[],
  headers: Readonly<Record<string, string>>,
  end: ChosenFaults['end'],
  pause: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const gone = new AbortController();
  const closed = new Promise<void>((resolve) => {
    response.once('close', () => {
      gone.abort();
      resolve();
    });
  });
  const contentType = end?.kind === 'wrong-content-type' ? 'text/plain' : 'text/event-stream; charset=utf-8';
  response.writeHead(200, { ...headers, 'Content-Type': contentType, 'Cache-Control': 'no-cache' });
  for (const [at, piece] of piecesOf(events, end).entries()) {
    if (at > 0) {
      await pause(gone.signal).catch(() => {});
    }
    if (gone.signal.aborted || response.destroyed) {
      return;
    }
    await Promise.race([flush(response, piece), closed]);
  }
  if (end?.kind === 'truncate') {
    request.socket.destroy();
    return;
  }
  response.end();
}
