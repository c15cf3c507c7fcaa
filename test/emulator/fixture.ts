/** Starts an emulator for a test file, with a client that shares no code with the product. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Clock } from '../../src/core/clock.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/emulator.ts';

/** A clock that advances only on request. */
class ManualClock implements Clock {
  #now = Date.parse('2026-03-01T12:00:00.000Z');
  #sleepers: { readonly at: number; wake(): void }[] = [];

  now(): number {
    return this.#now;
  }

  monotonic(): number {
    return this.#now;
  }

  sleep(milliseconds: number): Promise<void> {
    return new Promise((wake) => {
      this.#sleepers.push({ at: this.#now + milliseconds, wake });
    });
  }

  get sleeping(): readonly number[] {
    return this.#sleepers.map((sleeper) => sleeper.at - this.#now);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
    const due = this.#sleepers.filter((sleeper) => sleeper.at <= this.#now);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.at > this.#now);
    for (const sleeper of due) {
      sleeper.wake();
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: tests inspect answers of every shape
export type Body = any;

export interface Reply {
  readonly status: number;
  readonly body: Body;
  readonly headers: Headers;
}

/** An emulator, and a client for it that shares no code with the product's client. */
export interface Fixture {
  readonly emulator: Emulator;
  readonly clock: ManualClock;
  /** Sends a request below `/v1`. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  /** Sends a request below the organization; throws unless it answers 2xx. */
  org(method: string, path: string, body?: unknown): Promise<Body>;
}

/** Functions that send requests to an emulator, or to a proxy of it at another address. */
export function clientOf(url: string, { token, organization }: Emulator): Pick<Fixture, 'call' | 'org'> {
  const call: Fixture['call'] = async (method, path, body, headers) => {
    const response = await fetch(`${url}${path.startsWith('/_') ? '' : '/v1'}${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, body: json ? JSON.parse(text) : text, headers: response.headers };
  };
  const org: Fixture['org'] = async (method, path, body) =>
    bodyOf(method, path, await call(method, `/orgs/${organization}${path}`, body));
  return { call, org };
}

export async function fixture(options: EmulatorOptions = {}): Promise<Fixture> {
  const clock = new ManualClock();
  const emulator = await startEmulator({ clock, ...options });
  return { emulator, clock, ...clientOf(emulator.url, emulator) };
}

/** A fixture that is closed at the end of the test. */
export async function start(options: EmulatorOptions = {}): Promise<Fixture> {
  const made = await fixture(options);
  onTestFinished(() => made.emulator.close());
  return made;
}

export interface SpaceFixture extends Fixture {
  readonly space: string;
  /** Sends a request below the space; throws unless it answers 2xx. */
  at(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Body>;
}

/** A fixture with a space, closed at the end of the test. */
export async function startSpace(options: EmulatorOptions = {}): Promise<SpaceFixture> {
  const made = await start(options);
  const space = (await made.org('POST', '/spaces', { title: 'Guides' })).id;
  const at: SpaceFixture['at'] = async (method, path, body, headers) =>
    bodyOf(method, path, await made.call(method, `/spaces/${space}${path}`, body, headers));
  return { ...made, space, at };
}

function bodyOf(method: string, path: string, { status, body }: Reply): Body {
  if (status >= 300) {
    throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`);
  }
  return body;
}

/** A temporary folder that is removed at the end of the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'octavo-emulator-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

/** A header with a token. */
export const as = (token: string) => ({ Authorization: `Bearer ${token}` });

/** A fixture for the whole file, closed at its end. */
export async function sharedFixture(options: EmulatorOptions = {}): Promise<Fixture> {
  const made = await fixture(options);
  afterAll(() => made.emulator.close());
  return made;
}

/** The id of the member with that email. */
export async function memberId(fixture: Fixture, email: string): Promise<string> {
  const { items } = await fixture.org('GET', '/members');
  return items.find((item: Body) => item.user.email === email).id;
}

/** A rich document of one paragraph. */
export function document(text: string): unknown {
  const leaf = { object: 'leaf', text, marks: [] };
  return {
    object: 'document',
    data: {},
    nodes: [{ object: 'block', type: 'paragraph', nodes: [{ object: 'text', leaves: [leaf] }] }],
  };
}
