import { expect, test } from 'vitest';
import { findDocumentProblems } from '../../src/emulator/documents/rich-document.ts';
import { type Body, document, sharedFixture } from './fixture.ts';

/* Background processing: OpenAPI specifications and translations, and the documents that instruct translations. */

const { emulator, call, org, clock } = await sharedFixture({ processing: { openapi: 300, translation: 600 } });

async function processed(slug: string, source: unknown): Promise<Body> {
  await org('PUT', `/openapi/${slug}`, { source });
  clock.advance(300);
  return org('GET', `/openapi/${slug}`);
}

test('a specification is pending, then in progress, then complete', async () => {
  const states = [(await org('PUT', '/openapi/states', { source: { url: 'https://a.example' } })).processingState];
  for (let n = 0; n < 3; n += 1) {
    clock.advance(100);
    states.push((await org('GET', '/openapi/states')).processingState);
  }
  expect(states).toEqual(['pending', 'progress', 'progress', 'complete']);
  const spec = await org('GET', '/openapi/states');
  expect(spec).toMatchObject({
    lastVersion: expect.any(String),
    lastProcessedAt: new Date(clock.now()).toISOString(),
    sourceURL: 'https://a.example',
  });
  expect(spec).not.toHaveProperty('lastProcessErrorCode');
});

test('every processed update of a specification is another version', async () => {
  const first = await processed('versions', { text: 'openapi: 3.1.0' });
  const second = await processed('versions', { text: '{"swagger": "2.0"}' });
  const broken = await processed('versions', { text: 'nothing' });
  expect(second.lastVersion).not.toBe(first.lastVersion);
  expect(broken).toMatchObject({ lastVersion: second.lastVersion, lastProcessErrorCode: 'PARSE_ERROR' });
  expect(first).not.toHaveProperty('sourceURL');
  const { updatedAt, processingState } = await org('PATCH', '/openapi/versions', { visibility: 'public' });
  expect({ updatedAt, processingState }).toEqual({
    updatedAt: new Date(clock.now()).toISOString(),
    processingState: 'complete',
  });
});

/** Aliases of aliases, a hundred of each. */
function bomb(): string {
  const list = (name: string) => `[${Array(100).fill(`*${name}`).join(', ')}]`;
  return `a: &a [x, x]\nb: &b ${list('a')}\nc: &c ${list('b')}\nopenapi: ${list('c')}\n`;
}

test.each([
  [{ url: 'https://a.example/timeout' }, 'FETCH_TIMEOUT', 'took too long'],
  [{ url: 'https://a.example/missing' }, 'FETCH_ERROR', 'answered 404'],
  [{ text: 'openapi: 3.1.0\ninfo:\n  title: [1, 2\npaths: {}\n' }, 'PARSE_ERROR', 'line 4'],
  [{ text: '{"openapi": "3.1.0",\n "info": {' }, 'PARSE_ERROR', 'line 2'],
  [{ text: 'title: only' }, 'PARSE_ERROR', 'neither "openapi" nor "swagger"'],
  [{ text: '- a list' }, 'PARSE_ERROR', 'not a mapping'],
  [{ text: ' ' }, 'PARSE_ERROR', 'not a mapping'],
  [{ text: bomb() }, 'PARSE_ERROR', 'too many aliases'],
])('a specification of %j fails with %s', async (source, code, message) => {
  const spec = await processed('broken', source);
  expect(spec).toMatchObject({
    processingState: 'complete',
    lastProcessErrorCode: code,
  });
  expect(spec.lastProcessedErrors[0]).toEqual({ code, message: expect.stringContaining(message) });
  await org('DELETE', '/openapi/broken');
});

async function translate(language = 'fr'): Promise<{ path: string; space: string }> {
  const space = (await org('POST', '/spaces', { title: 'Guide', language: 'en' })).id;
  const { id } = await org('POST', '/translations', { source: { space, language: 'en' }, language });
  return { path: `/translations/${id}`, space };
}

test('a translation is pending, then running, then completed with a new space', async () => {
  const { path } = await translate();
  const before = (await org('GET', '/spaces')).count;
  const states = [(await org('GET', path)).status];
  for (let n = 0; n < 2; n += 1) {
    clock.advance(300);
    states.push((await org('GET', path)).status);
  }
  expect(states).toEqual(['pending', 'running', 'completed']);
  expect((await org('GET', '/spaces')).count).toBe(before + 1);
  const { result, stats } = await org('GET', path);
  expect((await call('GET', `/spaces/${result.space}`)).body).toMatchObject({
    title: 'Guide (fr)',
    language: 'fr',
    revision: result.revision,
    organization: emulator.organization,
  });
  expect(stats).toMatchObject({ runs: 1, totalDuration: 600, latestRunDuration: 600, totalPages: 1 });
});

test('the space of a translation appears in time without a request for the translation', async () => {
  await translate('it');
  const before = (await org('GET', '/spaces')).count;
  clock.advance(600);
  expect((await org('GET', '/spaces')).count).toBe(before + 1);
});

test('a repeated translation keeps the old revision until it has a new one', async () => {
  const { path } = await translate('de');
  clock.advance(600);
  const first = (await org('GET', path)).result;
  await org('POST', `${path}/run`);
  expect(await org('GET', path)).toMatchObject({ status: 'pending', result: first });
  clock.advance(600);
  const { result, stats } = await org('GET', path);
  expect(result.space).toBe(first.space);
  expect(result.revision).not.toBe(first.revision);
  expect(stats.runs).toBe(2);
});

test('deleting a translation keeps its space, and deleting the source keeps both', async () => {
  const { path, space } = await translate('es');
  clock.advance(600);
  const { result } = await org('GET', path);
  await call('DELETE', `/spaces/${space}`);
  expect((await org('GET', path)).status).toBe('completed');
  await org('DELETE', path);
  expect((await call('GET', `/spaces/${result.space}`)).body).not.toHaveProperty('deletedAt');
});

const paragraph = (document('x') as Body).nodes[0];
const text = paragraph.nodes[0];
const block = (type: string, rest: object) => ({ object: 'block', type, ...rest });
const inDocument = (...nodes: unknown[]) => ({ object: 'document', data: {}, nodes });
const inParagraph = (...nodes: unknown[]) => inDocument(block('paragraph', { nodes }));
const item = block('list-item', { nodes: [paragraph] });
const inline = (type: string, rest: object) => ({ object: 'inline', type, ...rest });

test.each([
  [inDocument()],
  [document('x')],
  [inDocument(block('list-unordered', { nodes: [item] }))],
  [inDocument(block('list-ordered', { data: { start: 2 }, nodes: [item] }))],
  [inDocument(block('divider', { data: {}, isVoid: true }))],
  [inDocument(block('hint', { data: { style: 'info' }, nodes: [paragraph] }))],
  [inDocument(block('code', { data: { syntax: 'ts' }, nodes: [block('code-line', { data: {}, nodes: [text] })] }))],
  [inParagraph(inline('link', { data: { ref: { kind: 'url', url: 'https://a.example' } }, nodes: [text] }))],
  [inParagraph(inline('emoji', { data: { code: '1f4d6' }, isVoid: true }), text)],
])('accepts %j as a document', (value) => {
  expect(findDocumentProblems(value, 'd')).toEqual([]);
});

test.each([
  ['text', 'd.object: must be document'],
  [{ object: 'document', nodes: [] }, 'd.data: required'],
  [{ object: 'document', data: {} }, 'd.nodes: must be an array'],
  [{ object: 'document', data: {}, nodes: [], extra: 1 }, 'd.extra: unknown field'],
  [inDocument(text), 'd.nodes.0: text is not allowed at this level'],
  [inDocument(item), 'd.nodes.0: list-item is not allowed at this level'],
  [inDocument(inline('link', {})), 'd.nodes.0: link is not allowed at this level'],
  [inDocument(block('heading-4', { nodes: [] })), 'd.nodes.0.type: unknown block "heading-4"'],
  [inDocument(block('heading-1', { nodes: [] })), 'd.nodes.0.data: required'],
  [inDocument(block('divider', { data: {} })), 'd.nodes.0.isVoid: must be true'],
  [inDocument(block('hint', { data: { style: 'x' }, nodes: [] })), 'd.nodes.0.data.style: must be one of info'],
  [inDocument(block('list-unordered', { nodes: [paragraph] })), 'd.nodes.0.nodes.0: list-unordered contains list-item'],
  [
    inDocument(block('list-unordered', { nodes: [block('list-item', { nodes: [text] })] })),
    'd.nodes.0.nodes.0.nodes.0: text is not allowed',
  ],
  [inParagraph(paragraph), 'd.nodes.0.nodes.0: must be text or an inline'],
  [inParagraph({ object: 'text', leaves: [{ object: 'leaf', text: 'x' }] }), 'leaves.0.marks: required'],
  [inParagraph({ object: 'text', leaves: [{ object: 'leaf', marks: [] }] }), 'leaves.0.text: required'],
  [
    inParagraph({ object: 'text', leaves: [{ object: 'leaf', text: '', marks: [{ object: 'mark', type: 'red' }] }] }),
    'marks.0: unknown mark',
  ],
  [inParagraph(inline('link', { nodes: [] })), 'd.nodes.0.nodes.0.data.ref: required'],
  [inParagraph(inline('emoji', { data: { code: 'x' } })), 'd.nodes.0.nodes.0.isVoid: must be true'],
])('rejects %j as a document', (value, fault) => {
  expect(findDocumentProblems(value, 'd').join('\n')).toContain(fault);
});
