/** Requests to the web page of a daemon, as browsers and programs send them. */
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { largest } from '../src/core/lists.ts';
import { median } from './figures.ts';
import type { CaseContext } from './runner.ts';

/** Upper limit for any page, in milliseconds. */
const GOAL = 200;
/** Upper limit for the HTML of any page, in bytes. */
const BYTES = 100_000;
/** Counted requests of a page after the first one. */
const WARM = 5;

interface Answer {
  readonly text: string;
  readonly milliseconds: number;
}

/** Requests a page. Throws an error unless the answer is 200. */
export async function load(url: string, accept = 'text/html'): Promise<Answer> {
  const started = performance.now();
  const response = await fetch(url, { headers: { accept } });
  const text = await response.text();
  if (response.status !== 200) {
    throw new Error(`${url}: ${response.status} ${text.slice(0, 200)}`);
  }
  return { text, milliseconds: performance.now() - started };
}

/** Requests the JSON of a page. */
export async function loadJson<T>(url: string): Promise<T> {
  return JSON.parse((await load(url, 'application/json')).text) as T;
}

/** Measures pages by their names, each as HTML and as JSON: the first request, and the following ones. */
export async function measurePages(
  { record }: CaseContext,
  address: string,
  pages: Readonly<Record<string, string>>,
): Promise<void> {
  const cold: number[] = [];
  const warm: number[][] = [];
  const sizes: number[] = [];
  for (const [name, path] of Object.entries(pages)) {
    for (const [form, accept] of [
      ['', 'text/html'],
      [' as JSON', 'application/json'],
    ] as const) {
      const first = await load(`${address}${path}`, accept);
      const next: number[] = [];
      for (let request = 0; request < WARM; request += 1) {
        next.push((await load(`${address}${path}`, accept)).milliseconds);
      }
      record(`${name}${form}: first request`, 'milliseconds', first.milliseconds);
      record(`${name}${form}: later requests`, 'milliseconds', next);
      sizes.push(form === '' ? Buffer.byteLength(first.text) : 0);
      cold.push(first.milliseconds);
      warm.push(next);
    }
  }
  record('largest page, bytes', 'count', largest(sizes), BYTES);
  record('slowest page, first request', 'milliseconds', largest(cold), GOAL);
  record('slowest page, later requests: median', 'milliseconds', largest(warm.map(median)), GOAL);
  record('slowest page, later requests: slowest', 'milliseconds', largest(warm.flat()), GOAL);
}

/** Opens event streams, as browsers do. Returns a function that closes them. */
export async function openStreams(address: string, count: number): Promise<() => void> {
  const streams = await Promise.all(
    Array.from({ length: count }, async () => {
      const request = get(`${address}/events`, { agent: false });
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      if (response.statusCode !== 200) {
        throw new Error(`/events: ${response.statusCode}`);
      }
      return response.resume();
    }),
  );
  return () => {
    for (const stream of streams) {
      stream.destroy();
    }
  };
}
