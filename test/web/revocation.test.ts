/** Event streams of people whose session has ended. */
import { expect, test } from 'vitest';
import { openPageApp, type PageApp, tokenEntry } from './page-app.ts';

const UI = {
  tokens: [tokenEntry('ana@acme.example', 'ana-token'), tokenEntry('ben@acme.example', 'ben-token')],
  roles: [{ role: 'viewer', people: ['*'] }],
};

interface Beating extends PageApp {
  readonly url: string;
  /** Lets 25 seconds pass, after which streams are checked. */
  beat(): Promise<void>;
}

/** Starts a server whose streams are checked when the test says so. */
async function open(): Promise<Beating> {
  const waiting: (() => void)[] = [];
  const sleep = (_milliseconds: number, signal?: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      waiting.push(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason));
    });
  const page = await openPageApp({
    ui: UI,
    backend: (backend) => ({ ...backend, clock: { ...backend.clock, sleep } }),
  });
  const beat = async () => {
    for (const wake of waiting.splice(0)) {
      wake();
    }
  };
  const url = await page.server.listen();
  return { ...page, url, beat };
}

/** Signs in with a token. Returns the cookie. */
async function signIn({ url }: Beating, token: string): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    ...{ method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) },
    headers: { 'sec-fetch-site': 'same-origin' },
  });
  return answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

/** Opens a stream. Returns everything that it sends until it ends. */
async function stream({ url }: Beating, cookie: string): Promise<{ readonly ended: Promise<string> }> {
  const answer = await fetch(`${url}/events`, { headers: { cookie } });
  expect(answer.status).toBe(200);
  return { ended: answer.text() };
}

test('a stream ends at once when its person signs out, and nobody else’s does', async () => {
  await using page = await open();
  const [ana, ben] = await Promise.all(['ana-token', 'ben-token'].map((token) => signIn(page, token)));
  const [ofAna, ofBen] = await Promise.all([ana, ben].map((cookie) => stream(page, cookie ?? '')));
  await fetch(`${page.url}/sign-out`, {
    ...{ method: 'POST', redirect: 'manual' },
    headers: { cookie: ana ?? '', 'sec-fetch-site': 'same-origin' },
  });
  expect(await ofAna?.ended).toBe('retry: 3000\n\n');
  await page.beat();
  await page.server.close();
  expect(await ofBen?.ended).toBe('retry: 3000\n\n:\n\n');
});

test('a stream ends at the next heartbeat when the session is too old, and is not opened again', async () => {
  await using page = await open();
  const cookie = await signIn(page, 'ana-token');
  const { ended } = await stream(page, cookie);
  page.advance(8 * 3_600_000);
  await page.beat();
  expect(await ended).toBe('retry: 3000\n\n');
  expect((await fetch(`${page.url}/events`, { headers: { cookie } })).status).toBe(401);
});
