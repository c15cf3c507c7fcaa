import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Answer } from './answers.ts';
import type { Download } from './downloads.ts';
import type { Trouble } from './faults.ts';

const HTML = '<!doctype html><html><head><title>Please wait</title></head><body><h1>Please wait</h1></body></html>\n';

/** Drops the connection with a reset, as a broken network would. */
export function drop(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}

/** Writes the answer, spoiled the way the fault says. */
export function send(
  request: IncomingMessage,
  response: ServerResponse,
  answer: Answer,
  headers: Readonly<Record<string, string>>,
  end: Trouble['end'],
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

/** Writes bytes that are no answer of the API. */
export function sendBytes(
  response: ServerResponse,
  download: Download,
  headers: Readonly<Record<string, string>>,
): void {
  const { bytes, contentType } = download;
  response.writeHead(200, { ...headers, 'Content-Type': contentType, 'Content-Length': String(bytes.length) });
  response.end(bytes);
}
