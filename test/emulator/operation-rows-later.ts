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

/** Operations that later versions have: context records, topics and findings of a site, and external links. */
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
  'site issues': [
    [`GET ${ISSUES}?topic={topic}&status=open&priority=low`, 200],
    [`GET ${ISSUES}/{finding}`, 200],
    [`PATCH ${ISSUES}/{finding}`, { status: 'done' }, 200],
  ],
  'external links': [
    [`POST ${LINKS}`, STATUS, 201, { object: 'site-external-link', draft: false, ...STATUS }],
    [`POST ${LINKS}`, { ...STATUS, parent: '{group}', icon: 'gear' }, 201, { sectionGroup: '{group}', icon: 'gear' }],
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
