/** Rows of operations that only later versions of the platform have. */
import { at, long, ORG, type Row, type Rows, SITE } from './operation-world.ts';

const record = (id: string, title: string, body = title) => ({ id, type: 'ticket', title, body });
const RECORDS = `${SITE}/context-records`;
const TOPICS = `${SITE}/topics`;
const FINDINGS = `${SITE}/findings`;
const ISSUES = `${SITE}/issues`;
const one = record('n', 'N');
const refuses = (body: unknown, says: string): Row => [`PUT ${RECORDS}`, body, 400, says];

const LINKS = `${SITE}/external-links`;
const SORT = `${SITE}/structure/sort`;
const STATUS = { title: 'Status', url: 'https://status.acme.example' };

const REDIRECTS = `${SITE}/redirects`;
const TO = {
  section: { kind: 'site-section', siteSectionId: '{section}' },
  space: { kind: 'site-space', siteSpaceId: '{own}' },
  page: { kind: 'site-page', siteSpaceId: '{own}', pageId: '{page}' },
  path: { kind: 'path', spaceId: '{one}', path: 'login' },
  url: { kind: 'external', url: 'https://acme.example/new' },
};

/** Operations that later versions have: context records, topics and findings of a site, external links, and redirects. */
export const laterRows: Rows = {
  'site context': [
    [`PUT ${RECORDS}`, [], 204],
    [`PUT ${RECORDS}`, [{ ...one, type: 'document', title: long(256), description: long(512), body: '' }], 204],
    [`PUT ${RECORDS}`, [{ ...one, metadata: { plan: 'pro', seats: 3 }, createdAt: '2026-02-28T12:00:00Z' }], 204],
    [`PUT ${RECORDS}`, Array.from({ length: 100 }, (_, at) => record(`${at}`, 'N')), 204],
    refuses(one, 'body: expected array'),
    refuses([{ ...one, title: '' }], 'body.0.title: must be 1-256 characters'),
    refuses([{ ...one, title: long(257) }], 'body.0.title: must be 1-256 characters'),
    refuses([{ ...one, title: undefined }], 'body.0.title: required'),
    refuses([{ ...one, id: '' }], 'body.0.id: must not be empty'),
    refuses([{ ...one, type: 'mail' }], 'body.0.type: must be one of ticket, document'),
    refuses([{ ...one, body: undefined }], 'body.0.body: required'),
    refuses([{ ...one, description: long(513) }], 'body.0.description: must be at most 512 characters'),
    refuses([{ ...one, url: 'tickets/1' }], 'body.0.url: must be a URL'),
    refuses([{ ...one, createdAt: '2026-02-28' }], 'body.0.createdAt: must be a date-time'),
    refuses([{ ...one, metadata: { vip: true } }], 'body.0.metadata.vip: '),
    refuses([{ ...one, parts: [] }], 'body.0.parts: unknown field'),
    refuses([one, { ...one, title: '' }], 'body.1.title'),
    refuses(
      Array.from({ length: 101 }, (_, at) => record(`${at}`, 'N')),
      'at most 100 context records',
    ),
    [`GET ${RECORDS}`, 200],
    [`GET ${RECORDS}/{record}`, 200],
    [`GET ${RECORDS}/1`, 404, 'Context record "1" not found'],
    [`GET ${TOPICS}`, 200],
    [`GET ${TOPICS}?limit=1`, 400, 'query.limit: unknown parameter'],
    [`GET ${TOPICS}/{topic}`, 200],
    ['GET /orgs/org_acme/sites/{plain}/topics/{topic}', 404, 'Site topic'],
    [`PATCH ${TOPICS}/{topic}`, { usageSettings: { changeRequests: false } }, 200],
    [`GET ${FINDINGS}?topic={topic}&status=open&severity=low`, 200],
    [`GET ${FINDINGS}/{finding}`, 200],
    [`PATCH ${FINDINGS}/{finding}`, { status: 'candidate' }, 200],
    [`POST ${FINDINGS}/{finding}/change-requests`, 202],
    [`GET ${FINDINGS}/{finding}/change-requests`, 200],
  ],
  redirects: [
    [`GET ${REDIRECTS}`, 200, { count: 1, items: [{ object: 'site-redirect', source: '/old', draft: false }] }],
    [`GET ${REDIRECTS}?search=LD&draft=false&orderBy=source`, 200, { count: 1 }],
    [`GET ${REDIRECTS}?draft=true`, 200, { count: 0 }],
    [`POST ${REDIRECTS}`, { source: '/a', destination: TO.section }, 201, { permanent: false, captureWildcard: false }],
    [
      `POST ${REDIRECTS}`,
      { source: '/a/*', destination: TO.url, permanent: true, captureWildcard: true, draft: true },
      201,
      { draft: true, permanent: true, captureWildcard: true, destination: TO.url },
    ],
    [`POST ${REDIRECTS}`, { source: '/old', draft: true, destination: TO.page }, 201, { destination: TO.page }],
    [`POST ${REDIRECTS}`, { source: '/p', destination: TO.path }, 201, { destination: TO.page }],
    ...['old', '//evil.example', '/a//b', '/a/', '/*', '/a*b', '/a b', '/a?b', '/'].map(
      (source): Row => [`POST ${REDIRECTS}`, { source, destination: TO.url }, 400, 'body.source: must be a path'],
    ),
    [`POST ${REDIRECTS}`, { source: `/${long(512)}`, destination: TO.url }, 400, 'body.source: must be at most 512'],
    [`POST ${REDIRECTS}`, { source: '/old', destination: TO.url }, 400, 'body.source: source is already in use'],
    [`POST ${REDIRECTS}`, { source: '/a', destination: { kind: 'external', url: 'javascript:alert(1)' } }, 400],
    [
      `POST ${REDIRECTS}`,
      { source: '/a', destination: { ...TO.section, siteSectionId: 'none' } },
      400,
      'does not exist',
    ],
    [`POST ${REDIRECTS}`, { source: '/a', destination: { ...TO.page, pageId: 'none' } }, 400, 'does not exist'],
    [`POST ${REDIRECTS}`, { source: '/a', destination: { ...TO.path, path: 'none' } }, 400, 'does not exist'],
    [`PATCH ${REDIRECTS}/{redirect}`, { destination: TO.space, permanent: true }, 200, { permanent: true }],
    [`PATCH ${REDIRECTS}/none`, { permanent: true }, 404, 'Site redirect "none" not found'],
    [`DELETE ${REDIRECTS}/{redirect}`, 205],
    [`DELETE ${REDIRECTS}/none`, 204],
    [`GET ${SITE}/redirect?source=/old`, 200, { redirect: { id: '{redirect}' } }],
    [`GET ${SITE}/redirect?source=/new`, 404, 'Site redirect "/new" not found'],
    [
      `PUT ${REDIRECTS}`,
      {
        redirects: [
          { source: '/old', destination: TO.url },
          { source: '/b', destination: TO.section, intent: 'draft' },
          { source: '/b', intent: 'publish' },
          { source: '/b', destination: null },
          { source: '/b', destination: null },
          { source: '/c', destination: { ...TO.space, siteSpaceId: 'none' } },
        ],
      },
      200,
      {
        results: [
          { status: 'updated', source: '/old', draft: false, id: '{redirect}' },
          { status: 'created', source: '/b', draft: true },
          { status: 'published', source: '/b', draft: false },
          { status: 'deleted', source: '/b', draft: false },
          { status: 'error', source: '/b', draft: false },
          { status: 'error', source: '/c', draft: false },
        ],
      },
    ],
    [`PUT ${REDIRECTS}`, { redirects: [] }, 400, 'body.redirects: must not be empty'],
    [
      `PUT ${REDIRECTS}`,
      { redirects: Array.from({ length: 501 }, (_, at) => ({ source: `/r${at}`, destination: TO.url })) },
      400,
      'body.redirects: must have at most 500 redirects',
    ],
  ],
  'site issues': [
    [`GET ${ISSUES}?topic={topic}&status=open&priority=low`, 200],
    [`GET ${ISSUES}/{finding}`, 200],
    [`PATCH ${ISSUES}/{finding}`, { status: 'done' }, 200],
  ],
  'git sync': [
    ['GET /git/installations/{git}', 200, { target: { type: 'site', siteId: '{site}' }, priority: 'git' }],
    ['GET /git/installations/none', 404, 'Git Sync installation "none" not found'],
    [`GET ${SITE}/spaces/git/installations`, 200, { items: [{ id: '{git}', status: 'active' }] }],
    [`GET ${SITE}`, 200, { gitSync: { installationId: '{git}', repoName: 'acme/docs' } }],
  ],
  'external links': [
    [`POST ${LINKS}`, STATUS, 201, { object: 'site-external-link', draft: false, ...STATUS }],
    [`POST ${LINKS}`, { ...STATUS, parent: '{group}', icon: 'gear' }, 201, { sectionGroup: '{group}', icon: 'gear' }],
    [
      `POST ${LINKS}`,
      { ...STATUS, localizedTitle: { fr: 'État' }, localizedDescription: null },
      201,
      { localizedTitle: { fr: 'État' }, localizedDescription: undefined },
    ],
    [`PATCH ${LINKS}/{link}`, { localizedTitle: null }, 200, { localizedTitle: undefined }],
    [`POST ${LINKS}`, { ...STATUS, url: 'ftp://acme.example' }, 400, 'body.url'],
    [`POST ${LINKS}`, { ...STATUS, parent: 'none' }, 400, 'body.parent'],
    [`POST ${ORG}/sites/{plain}/external-links`, STATUS, 400, 'has no sections'],
    [`PATCH ${LINKS}/{link}`, { parent: '{group}', draft: true }, 200, { sectionGroup: '{group}', draft: true }],
    [`DELETE ${LINKS}/{link}`, 205],
    [
      `PATCH ${SORT}`,
      { item: at('site-external-link', '{link}'), position: { before: at('site-section', '{section}') } },
      200,
      { object: 'site-external-link', id: '{link}' },
    ],
    [
      `PATCH ${SORT}`,
      { item: at('site-section', '{section}'), position: { after: at('site-external-link', '{link}') } },
      200,
      { id: '{section}' },
    ],
    [
      `PATCH ${SORT}`,
      { item: at('site-external-link', 'none'), position: { after: at('site-section', '{api}') } },
      400,
    ],
  ],
};
