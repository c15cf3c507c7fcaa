// Writes answers, streams and downloads to the connection, with injected faults.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiAnswer, Download } from '../model/answers.ts';
import type { ChosenFaults } from './faults.ts';

const HTML = '<!doctype html><html><head><title>Please wait</title></head><body><h1>Please wait</h1></body></html>\n';

/** Drops the connection with a reset, as a broken network would. */
export function dropConnection(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** Writes an answer, changed as the fault requires. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: ApiAnswer,
  headers: Readonly<Record<string, string>>,
  end: ChosenFaults['end'],
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

/** Writes a download. */
export function sendBytes(
  response: ServerResponse,
  download: Download,
  headers: Readonly<Record<string, string>>,
): void {
  const { bytes, contentType } = download;
  response.writeHead(200, { ...headers, 'Content-Type': contentType, 'Content-Length': String(bytes.length) });
  response.end(bytes);
}

/** Options of a streamed answer. */
export interface Streaming {
  readonly headers: Readonly<Record<string, string>>;
  readonly end: ChosenFaults['end'];
  /** Waits between two pieces; resolves or rejects early when the signal aborts. */
  pause(signal: AbortSignal): Promise<void>;
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

/** Writes an answer piece by piece, until its end or until the client disconnects. */
export async function stream(
  request: IncomingMessage,
  response: ServerResponse,
  events: readonly unknown[],
  { headers, end, pause }: Streaming,
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
