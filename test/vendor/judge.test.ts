import { describe, expect, test } from 'vitest';
import { openDocument, VERSIONS } from './document.ts';
import { type Exchange, Judge } from './judge.ts';

/* The validator detects planted errors, reports their place, and reports nothing about valid exchanges. */

const judges = Object.fromEntries(VERSIONS.map((version) => [version, new Judge(openDocument(version))]));
const judge = judges['0.146'] as Judge;

const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' };
const TEAM = {
  object: 'team',
  id: 'tea_1',
  title: 'Writers',
  members: 2,
  spaces: 0,
  createdAt: '2026-03-01T12:00:00.000Z',
  permissions: { admin: true, view: true },
};

function exchange(method: string, target: string, body: unknown, status: number, answer: unknown): Exchange {
  const [path = '', query] = target.split('?');
  return {
    method,
    path: `/v1${path}`,
    search: query === undefined ? '' : `?${query}`,
    requestType: body === undefined ? undefined : 'application/json',
    requestBody: body === undefined ? '' : JSON.stringify(body),
    status,
    answerHeaders: answer === undefined ? {} : JSON_TYPE,
    answerBody: answer === undefined ? '' : JSON.stringify(answer),
  };
}

const answered = (answer: unknown, target = '/orgs/o/teams/tea_1') => exchange('GET', target, undefined, 200, answer);
const listed = (query: string) => exchange('GET', `/orgs/o/sites${query}`, undefined, 200, { items: [] });
const refused = exchange('PATCH', '/orgs/o', { title: 1, nonsense: true }, 400, {
  error: { code: 400, message: 'No' },
});
const wrote = (body: unknown) => ({ ...exchange('PATCH', '/orgs/o/teams/tea_1', body, 200, TEAM) });
const asked = (...events: string[]) => ({
  ...exchange('POST', '/orgs/o/sites/s/ask', { question: 'Why?', scope: { mode: 'default' } }, 200, undefined),
  answerHeaders: { 'content-type': 'text/event-stream' },
  answerBody: events.map((data) => `data: ${data}\n\n`).join(''),
});
const page = (nodes: unknown[]) => ({
  object: 'document',
  data: {},
  nodes: [{ object: 'block', type: 'paragraph', nodes }],
});
const described = (nodes: unknown[]) =>
  exchange('POST', '/spaces/s/change-requests/1/comments', { body: { document: page(nodes) } }, 400, {
    error: { code: 400, message: 'No' },
  });

describe.each(VERSIONS)('the judge of version %s', (version) => {
  const rows: Record<string, Exchange> = {
    'a documented response': answered(TEAM),
    'a list': exchange('GET', '/orgs/o/teams?limit=3&page=x', undefined, 200, {
      items: [TEAM],
      count: 1,
      next: { page: 'y' },
    }),
    'numbers, booleans and lists in a query': listed('?limit=3&published=true&type=basic&type=premium'),
    'a list of one in a query': listed('?type=basic'),
    'an empty response': exchange('DELETE', '/orgs/o/teams/tea_1', undefined, 204, undefined),
    'a refused request': refused,
    'a stream': asked('done'),
  };
  test.each(Object.entries(rows))('accepts %s', (_, row) => {
    expect(judges[version]?.judge(row)).toEqual([]);
  });
});

type Planted = readonly [what: string, exchange: Exchange, says: readonly object[]];

const inAnswers: readonly Planted[] = [
  [
    'a required field that is missing',
    answered({ ...TEAM, title: undefined }),
    [
      {
        side: 'answer',
        in: 'body',
        pointer: '',
        keyword: 'required',
        params: { missingProperty: 'title' },
        place: 'OrganizationTeam',
      },
    ],
  ],
  [
    'an invalid type',
    answered({ ...TEAM, members: '2' }),
    [{ pointer: '/members', keyword: 'type', params: { type: 'integer' } }],
  ],
  ['an invalid constant', answered({ ...TEAM, object: 'site' }), [{ pointer: '/object', keyword: 'enum' }]],
  [
    'an invalid format',
    answered({ ...TEAM, createdAt: 'today' }),
    [{ pointer: '/createdAt', keyword: 'format', place: 'Timestamp' }],
  ],
  ['null for a field that is not nullable', answered({ ...TEAM, id: null }), [{ pointer: '/id', keyword: 'type' }]],
  [
    'an undocumented field',
    answered({ ...TEAM, colour: 'red' }),
    [{ pointer: '', keyword: 'undeclared', params: { property: 'colour' }, place: 'OrganizationTeam' }],
  ],
  [
    'two invalid items of a list',
    exchange('GET', '/orgs/o/teams', undefined, 200, { items: [TEAM, { ...TEAM, title: 1, x: 2 }] }),
    [
      { pointer: '/items/1/title', keyword: 'type' },
      { pointer: '/items/1', keyword: 'undeclared', params: { property: 'x' } },
    ],
  ],
  [
    'a status that is not declared',
    exchange('GET', '/orgs/o/teams/tea_1', undefined, 202, TEAM),
    [{ in: 'status', keyword: 'undeclared', params: { status: 202 } }],
  ],
  [
    'an error that is not as errors are',
    exchange('GET', '/orgs/o/teams/tea_1', undefined, 418, { error: 'Teapot' }),
    [
      { in: 'status', params: { status: 418 } },
      { in: 'body', pointer: '/error', keyword: 'type', place: 'Error/properties/error' },
    ],
  ],
  [
    'an invalid content type',
    { ...answered(TEAM), answerHeaders: { 'content-type': 'text/html' } },
    [{ in: 'type', params: { type: 'text/html' } }],
  ],
  ['a truncated response', { ...answered(TEAM), answerBody: '{"object":' }, [{ in: 'body', keyword: 'json' }]],
  ['an empty response', { ...answered(TEAM), answerBody: '' }, [{ in: 'body', keyword: 'missing' }]],
  [
    'a response for an operation without one',
    exchange('DELETE', '/orgs/o/teams/tea_1', undefined, 204, TEAM),
    [{ in: 'body', keyword: 'undeclared' }],
  ],
  [
    'a header that is missing',
    exchange('POST', '/spaces/s/duplicate', undefined, 201, undefined),
    [
      { in: 'header', keyword: 'missing', params: { name: 'Location' } },
      { in: 'body', keyword: 'missing' },
    ],
  ],
  [
    'an event of a stream',
    asked('{"type":"answer"}', 'done'),
    [{ in: 'body', keyword: 'required', params: { missingProperty: 'answer' } }],
  ],
];

const inRequests: readonly Planted[] = [
  [
    'a required field that is missing',
    wrote({}),
    [
      {
        side: 'request',
        in: 'body',
        keyword: 'required',
        params: { missingProperty: 'title' },
        place: 'updateTeamInOrganizationById/requestBody',
      },
    ],
  ],
  [
    'a text that is too long',
    wrote({ title: 'x'.repeat(65) }),
    [{ pointer: '/title', keyword: 'maxLength', params: { limit: 64 } }],
  ],
  [
    'an additional field that is not allowed',
    exchange(
      'PUT',
      '/orgs/o/sites/s/adaptive-schema',
      { jsonSchema: { type: 'object', properties: {}, additionalProperties: false, title: 'T' } },
      200,
      {
        object: 'site-adaptive-schema',
        jsonSchema: { type: 'object', properties: {}, additionalProperties: false },
        updatedAt: TEAM.createdAt,
      },
    ),
    [
      {
        side: 'request',
        pointer: '/jsonSchema',
        keyword: 'additionalProperties',
        params: { additionalProperty: 'title' },
      },
      { side: 'request', pointer: '/jsonSchema', keyword: 'undeclared', params: { property: 'title' } },
    ],
  ],
  ['no body', wrote(undefined), [{ in: 'body', keyword: 'missing' }]],
  [
    'a body for an operation without one',
    exchange('DELETE', '/orgs/o/teams/tea_1', { now: true }, 204, undefined),
    [{ side: 'request', in: 'body', keyword: 'undeclared' }],
  ],
  [
    'an invalid content type',
    { ...wrote({ title: 'T' }), requestType: 'text/plain' },
    [{ in: 'type', params: { type: 'text/plain' } }],
  ],
  [
    'an undocumented query parameter',
    listed('?colour=red'),
    [
      {
        in: 'query',
        keyword: 'additionalProperties',
        params: { additionalProperty: 'colour' },
        place: 'listSites/query',
      },
    ],
  ],
  [
    'a query parameter of another type',
    listed('?published=perhaps'),
    [{ in: 'query', pointer: '/published', keyword: 'type' }],
  ],
  [
    'a query parameter that is not one of several',
    listed('?type=huge'),
    [{ in: 'query', pointer: '/type/0', keyword: 'enum', place: 'SiteType' }],
  ],
  [
    'a query parameter beyond its limit',
    listed('?limit=1001'),
    [{ in: 'query', pointer: '/limit', keyword: 'maximum' }],
  ],
  [
    'a required query parameter that is missing',
    exchange('GET', '/orgs/o/search', undefined, 200, { items: [] }),
    [{ in: 'query', keyword: 'required', params: { missingProperty: 'query' } }],
  ],
  [
    'a path parameter that is not as it may be',
    exchange('DELETE', '/integrations/a%20b', undefined, 204, undefined),
    [{ in: 'path', pointer: '/integrationName', keyword: 'pattern' }],
  ],
  [
    'an undocumented operation',
    exchange('GET', '/nothing', undefined, 200, {}),
    [{ operation: 'GET /nothing', in: 'operation', keyword: 'undeclared' }],
  ],
  [
    'an undocumented method',
    exchange('PUT', '/orgs/o/sites', {}, 200, {}),
    [{ operation: 'PUT /orgs/o/sites', in: 'operation' }],
  ],
];

describe.each([
  ['responses', inAnswers],
  ['requests', inRequests],
] as const)('the judge of %s', (_, planted) => {
  test.each(planted)('finds %s', (_what, row, says) => {
    const disagreements = judge.judge(row);
    expect(disagreements).toHaveLength(says.length);
    expect(disagreements).toMatchObject(says);
  });
});

describe('a choice between schemas', () => {
  const sent = (nodes: unknown[]) => ({ ...described(nodes), status: 200, answerBody: '' });
  const bodyOf = (nodes: unknown[]) => judge.judge(sent(nodes)).filter(({ side }) => side === 'request');
  const text = (leaf: object) => [{ object: 'text', leaves: [leaf] }];

  test('is accepted if one matches', () => {
    expect(bodyOf(text({ object: 'leaf', text: 'A', marks: [] }))).toEqual([]);
  });

  test('reports the problems of the intended alternative at any depth', () => {
    const pointer = '/body/document/nodes/0/nodes/0/leaves/0';
    expect(bodyOf(text({ object: 'leaf', text: 1, marks: [] }))).toMatchObject([
      { pointer: `${pointer}/text`, keyword: 'type' },
    ]);
    expect(bodyOf(text({ object: 'leaf', text: 'A' }))).toMatchObject([
      { pointer, keyword: 'required', params: { missingProperty: 'marks' } },
    ]);
  });

  test('reports an unknown tag', () => {
    expect(bodyOf([{ object: 'blob' }])).toMatchObject([
      { pointer: '/body/document/nodes/0/nodes/0/object', keyword: 'enum' },
    ]);
  });
});
