/** Forges that redirect, ask for absurd waits or answer with something else: no secret leaves, and no status is lost. */

import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppError, RateLimitedError } from '../../src/core/errors.ts';
import { openForge, openForgeStatuses, openPulls } from '../../src/forge/open-forge.ts';
import { countCases, SEED } from '../support/campaign.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { serveLocally, textOf } from '../support/local-server.ts';
import { ensureHookAt } from './samples.ts';

const FORGES = ['github', 'gitlab', 'gitea', 'bitbucket'] as const;
const TOKEN = FakeForge.token;
const SECRET = 'webhook-secret-never-to-be-seen';
const COMMIT = 'a'.repeat(40);
const HOUR = 3_600_000;
const { signal } = new AbortController();

interface Received {
  readonly method: string;
  readonly path: string;
  readonly text: string;
}
type Answer = readonly [status: number, headers: Record<string, string | string[]>, body: string];

/** Server with one answer for each request, which keeps everything that it receives. */
async function serve(answer: (request: Received) => Answer) {
  const received: Received[] = [];
  const read = async (request: IncomingMessage): Promise<Received> => {
    const body = await textOf(request);
    const { method = '', url = '', rawHeaders } = request;
    return { method, path: url, text: `${rawHeaders.join('\n')}\n${url}\n${body}` };
  };
  const server = await serveLocally(async (request, response) => {
    const each = await read(request);
    received.push(each);
    const [status, headers, body] = answer(each);
    response.writeHead(status, headers).end(body);
  });
  return {
    received,
    origin: server.url,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}

const json = (body: unknown): Answer => [200, { 'content-type': 'application/json' }, JSON.stringify(body)];
const redirect = (status: number, location: string): Answer => [status, { location }, ''];

const setStatus = (type: (typeof FORGES)[number], origin: string) =>
  openForgeStatuses(
    { type, apiUrl: `${origin}/api/v4`, repository: 'acme/docs', token: TOKEN, ref: 'main' },
    signal,
    'octavo/0',
  ).setStatus(COMMIT, { state: 'success', context: 'octavo/org_1', description: 'done', url: null });

const createHook = (forge: (typeof FORGES)[number], apiUrl: string) => ensureHookAt(apiUrl, forge);

const failureOf = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(AppError);
  expect(String(error)).not.toMatch(/never-to-be-seen/);
  return error as AppError;
};

describe.each(FORGES)('%s', (type) => {
  test.each([
    [401, 'not-authorized'],
    [403, 'not-authorized'],
    [404, 'rejected'],
    [422, 'rejected'],
    [500, 'transient'],
    [503, 'transient'],
  ])('%i is reported as %s, without the answer and the token', async (status, code) => {
    await using forge = await serve(() => [status, {}, '{"message":"a-private-title"}']);
    const error = await failureOf(setStatus(type, forge.origin));
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(`answers with ${status} when asked to set the commit status`);
    expect(String(error)).not.toContain('a-private-title');
  });

  test('a rate limit is reported with the time to wait, and a lost answer as one', async () => {
    await using slow = await serve(() => [429, { 'retry-after': '7' }, '{}']);
    expect(await failureOf(setStatus(type, slow.origin))).toMatchObject({ code: 'rate-limited', after: 7000 });
    await using silent = await serveLocally((request) => request.socket.destroy());
    const lost = await failureOf(setStatus(type, silent.url));
    expect(lost).toMatchObject({ code: 'transient', maybeDone: true });
  });

  test.each([301, 302, 303, 307, 308])(
    'a redirect (%i) to another host gets no request, and no secret',
    async (code) => {
      await using other = await serve(() => json([]));
      await using forge = await serve(({ path }) => redirect(code, other.origin + path));
      const error = await failureOf(setStatus(type, forge.origin));
      expect(error).toMatchObject({ code: 'not-the-platform' });
      expect(error.message).toContain(`a redirect to ${other.origin} (${code}), which is not followed`);
      await failureOf(createHook(type, forge.origin));
      expect(other.received).toEqual([]);
    },
  );

  test.each([301, 302, 303])(
    'a redirect (%i) that would turn the status into a question is a failure',
    async (code) => {
      await using forge = await serve(({ path }) => (path.endsWith('?') ? json([]) : redirect(code, `${path}?`)));
      await failureOf(setStatus(type, forge.origin));
      expect(forge.received.map(({ method }) => method)).toEqual(['POST']);
    },
  );

  test.each([307, 308])('a redirect (%i) within the forge is followed with the same request', async (code) => {
    await using forge = await serve(({ path }) =>
      path.startsWith('/moved') ? json({ id: 1 }) : redirect(code, `/moved${path}`),
    );
    await setStatus(type, forge.origin);
    const [first, second] = forge.received;
    expect(second?.method).toBe('POST');
    expect(second?.text.split('\n').at(-1)).toBe(first?.text.split('\n').at(-1));
    expect(second?.text).toContain(TOKEN);
  });

  test('redirects without an end are a failure', async () => {
    await using forge = await serve(({ path }) => redirect(307, `${path}x`));
    await failureOf(setStatus(type, forge.origin));
    expect(forge.received).toHaveLength(4);
  });
});

/** All forges read responses with the same function. */
test.each([false, true])('a response without an end is an error at 64 MiB; compressed: %s', async (isCompressed) => {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  await using server = await serveLocally((_, response) => {
    const encoding = isCompressed ? { 'content-encoding': 'gzip' } : {};
    response.writeHead(200, { 'content-type': 'application/json', ...encoding });
    const body = Readable.from(Iterator.from({ next: () => ({ done: false, value: chunk }) }));
    const sent = isCompressed ? body.pipe(createGzip()).pipe(response) : body.pipe(response);
    response.on('close', () => body.destroy());
    sent.on('error', () => body.destroy());
  });
  const error = await failureOf(setStatus('github', server.url));
  expect(error.message).toMatch(/^\w+ was asked to .+: the response is larger than 64 MiB; /);
});

const list = (path: string, next: string): Answer => [
  200,
  { 'content-type': 'application/json', link: next },
  path.includes('graphql') ? '{"data":{"viewer":{"databaseId":7}}}' : path.endsWith('/user') ? '{"id":7}' : '[]',
];

const pull = (origin: string, forge: 'github' | 'gitlab' | 'gitea') => ({
  ...{ forge, apiUrl: `${origin}/api/v4`, repository: 'acme/docs', number: 1, head: COMMIT, base: null },
  ...{ run: [1, 1] as const, runUrl: null, filesUrl: null, token: TOKEN, tokenVariable: 'TOKEN' },
});
const own = (origin: string, forge: 'github' | 'gitlab' | 'gitea') =>
  openForge(pull(origin, forge), TOKEN, signal, 'octavo/0');

describe.each(['github', 'gitlab', 'gitea'] as const)('%s', (forgeType) => {
  test.each([
    ['comments', (url: string) => own(url, forgeType)?.listOwn()],
    ['hooks', (url: string) => createHook(forgeType, url)],
    [
      'pull requests',
      (url: string) => openPulls(pull(url, forgeType), TOKEN, signal, 'octavo/0').findOpen({ from: 'a', into: 'b' }),
    ],
  ])('a list of %s that continues at another host gets no request there', async (_what, work) => {
    await using other = await serve(() => json([]));
    let left = 3;
    await using forge = await serve(({ path }) => {
      left -= 1;
      return list(path, left < 0 ? '' : `<${other.origin}${path}?page=2>; rel="next"`);
    });
    const ended = await Promise.resolve(work(forge.origin)).then(
      () => 'read',
      (error: unknown) => String(error),
    );
    expect(other.received).toEqual([]);
    // Pages are counted, or their number is taken from the link.
    expect(ended).not.toContain(other.origin);
  });
});

// Gitea does not paginate comments.
test.each(['github', 'gitlab'] as const)('a list of %s that does not end is read for 500 pages', async (type) => {
  const user = { id: 7, login: 'octavo' };
  await using forge = await serve(({ path }) => {
    const page = Number(new URLSearchParams(path.split('?')[1]).get('page') ?? 1) + 1;
    const link = `<http://forge.example${path.split('?')[0]}?page=${page}>; rel="next"`;
    const isList = /comments|notes/.test(path);
    const [, headers, body] = isList ? json([{ id: page, body: 'x', user, author: user }]) : list(path, link);
    return [200, { ...headers, link, 'x-next-page': String(page) }, body];
  });
  await own(forge.origin, type)
    ?.listOwn()
    .catch((error: unknown) => expect(String(error)).toContain('the list has more than 500 pages'));
  expect(forge.received.filter(({ path }) => /comments|notes/.test(path))).toHaveLength(500);
});

test.each(['github', 'gitlab', 'gitea'] as const)('JSON of %s beyond the limits is not read', async (type) => {
  await using forge = await serve(() => [
    200,
    { 'content-type': 'application/json' },
    '['.repeat(1000) + ']'.repeat(1000),
  ]);
  const error = await failureOf(Promise.resolve(own(forge.origin, type)?.listOwn()));
  expect(error.message).toContain('the response is nested more than 500 levels deep, and is not read');
});

const number = fc.oneof(
  fc.constantFrom('', '0', '-1', '-99999999', '1e9', '99999999999999999999', 'Infinity', 'NaN', '0x10', 'soon', '7'),
  fc.integer({ min: -10, max: 10_000_000 }).map(String),
  fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('2100-01-01') }).map((date) => date.toUTCString()),
);

test('no wait that a forge asks for is shorter than a second or longer than an hour', async () => {
  const headers = fc.record(
    { 'retry-after': number, 'x-ratelimit-remaining': fc.constantFrom('0', '5', ''), 'x-ratelimit-reset': number },
    { requiredKeys: [] },
  );
  const answers = fc.record({ type: fc.constantFrom(...FORGES), status: fc.constantFrom(403, 429), headers });
  let current: Answer = [429, {}, ''];
  await using forge = await serve(() => current);
  await fc.assert(
    fc.asyncProperty(answers, async ({ type, status, headers: given }) => {
      current = [status, { 'content-type': 'application/json', ...given }, '{}'];
      const error = await failureOf(setStatus(type, forge.origin));
      if (error instanceof RateLimitedError && error.after !== null) {
        expect(error.after).toBeGreaterThanOrEqual(1000);
        expect(error.after).toBeLessThanOrEqual(HOUR);
      }
    }),
    { seed: SEED, numRuns: countCases({ sample: 60, ci: 300, full: 3000 }) },
  );
});

test('whatever a forge answers is a success or a failure without its words', async () => {
  const bodies = fc.oneof(
    fc.constantFrom('', '{', 'null', '[]', '[null]', '0', '"text"', '{"id":{}}', '<html>', `{"message":"${SECRET}"}`),
    fc.json({ maxDepth: 3 }),
    fc.uint8Array({ maxLength: 50 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
  );
  const types = fc.constantFrom('application/json', 'text/html', 'application/octet-stream', 'x', '');
  const statuses = fc.constantFrom(200, 201, 204, 304, 400, 401, 404, 409, 422, 500, 502);
  let current: Answer = [200, {}, ''];
  await using forge = await serve(() => current);
  const answers = fc.tuple(statuses, types, bodies, fc.constantFrom(...FORGES), fc.constantFrom(setStatus, createHook));
  await fc.assert(
    fc.asyncProperty(answers, async ([status, type, body, forgeType, work]) => {
      current = [status, type === '' ? {} : { 'content-type': type }, status === 204 || status === 304 ? '' : body];
      await work(forgeType, forge.origin).catch(async (error: unknown) => failureOf(Promise.reject(error)));
    }),
    { seed: SEED, numRuns: countCases({ sample: 100, ci: 500, full: 5000 }) },
  );
});
