import { long, ORG, type Row, type Rows } from './operation-world.ts';

const path = `${ORG}/conversations`;
const part = { type: 'message', role: 'user', body: 'Hello' };
const one = { id: 'n-1', parts: [part] };

const takes = (body: unknown): Row => [`POST ${path}`, body, 204];
const refuses = (body: unknown, says: string): Row => [`POST ${path}`, body, 400, says];
const withPart = (change: object) => ({ ...one, parts: [{ ...part, ...change }] });
const withMetadata = (metadata: unknown) => ({ ...one, metadata });

/** Conversations, and the clusters that the platform makes of them. */
export const conversationRows: Rows = {
  'conversations taken': [
    takes(one),
    takes([one]),
    takes([]),
    takes({ id: 'n-1', parts: [] }),
    takes([one, { ...one, subject: 'Later' }]),
    takes({ id: long(255), subject: long(512), parts: [withPart({ body: '' }).parts[0]] }),
    takes(withPart({ role: 'assistant' })),
    takes(withPart({ role: 'team-member', body: '<p>Hello</p>' })),
    takes(withMetadata({})),
    takes(
      withMetadata({
        url: 'https://acme.zendesk.example/agent/tickets/1',
        attributes: { plan: 'pro', priority: '' },
        createdAt: '2026-02-28T23:59:59.5+02:00',
      }),
    ),
    takes(Array.from({ length: 100 }, (_, at) => ({ ...one, id: `n-${at}` }))),
  ],
  'conversations refused': [
    refuses(undefined, 'body: '),
    refuses('text', 'body: '),
    refuses({ parts: [] }, 'body.id: required'),
    refuses({ id: 'n-1' }, 'body.parts: required'),
    refuses({ ...one, id: '' }, 'body.id: must be 1-255 characters'),
    refuses({ ...one, id: long(256) }, 'body.id: must be 1-255 characters'),
    refuses({ ...one, id: 1 }, 'body.id: expected string'),
    refuses({ ...one, subject: long(513) }, 'body.subject: must be at most 512 characters'),
    refuses({ ...one, subject: null }, 'body.subject: expected string'),
    refuses({ ...one, source: 'zendesk' }, 'body.source: unknown field'),
    refuses({ ...one, parts: part }, 'body.parts: expected array'),
    refuses(withPart({ type: 'note' }), 'body.parts.0.type: must be message'),
    refuses(withPart({ role: 'agent' }), 'body.parts.0.role: must be one of user, assistant, team-member'),
    refuses(withPart({ body: null }), 'body.parts.0.body: expected string'),
    refuses(withPart({ html: '' }), 'body.parts.0.html: unknown field'),
    refuses(withMetadata(null), 'body.metadata: expected object'),
    refuses(withMetadata({ id: 1 }), 'body.metadata.id: unknown field'),
    refuses(withMetadata({ url: 'tickets/1' }), 'body.metadata.url: must be a URL'),
    refuses(withMetadata({ url: `https://a.example/${long(2048)}` }), 'body.metadata.url: must be 1-2048'),
    refuses(withMetadata({ attributes: { priority: 1 } }), 'body.metadata.attributes.priority: expected string'),
    refuses(withMetadata({ attributes: [] }), 'body.metadata.attributes: expected record'),
    refuses(withMetadata({ createdAt: '2026-02-28' }), 'body.metadata.createdAt: must be a date-time'),
    refuses(withMetadata({ createdAt: '2026-02-28T12:00Z' }), 'body.metadata.createdAt: must be a date-time'),
    refuses(withMetadata({ createdAt: '2026-02-28T12:00:00' }), 'body.metadata.createdAt: must be a date-time'),
    refuses(withMetadata({ createdAt: '2026-02-30T12:00:00Z' }), 'body.metadata.createdAt: must be a date-time'),
    refuses(withMetadata({ createdAt: 1_767_225_600 }), 'body.metadata.createdAt: '),
    refuses([one, { ...one, id: '' }], 'body.1.id: must be 1-255 characters'),
    refuses([[one]], 'body.0: expected object'),
    refuses(
      Array.from({ length: 101 }, (_, at) => ({ ...one, id: `n-${at}` })),
      'body: must have at most 100 conversations',
    ),
  ],
  conversations: [
    [`GET ${path}`, 200, { count: 3 }],
    [`GET ${path}?source=email`, 200, { count: 0 }],
    [
      `GET ${path}/{conversation}`,
      200,
      { conversation: { object: 'conversation', id: '{conversation}', subject: 'PDF export is empty' }, metadata: {} },
    ],
    [`GET ${path}/z-1`, 404],
  ],
  issues: [
    [`GET ${path}-issues`, 200, { count: 3 }],
    [`GET ${path}-issues?cluster={cluster}`, 200, { count: 2 }],
    [`GET ${path}-issues?conversation={conversation}`, 200, { count: 1 }],
    [`GET ${path}-issues?conversation={conversation}&cluster=none`, 200, { count: 0 }],
    [`GET ${path}-issues/{issue}`, 200, { issue: { id: '{issue}', cluster: '{cluster}' } }],
  ],
  clusters: [
    [`GET ${path}-clusters`, 200, { count: 1, items: [{ id: '{cluster}' }] }],
    [`GET ${path}-clusters?sort=updatedAt&order=asc`, 200, { count: 1 }],
    [`GET ${path}-clusters?sort=issues`, 400, 'query.sort: must be updatedAt'],
    [`GET ${path}-clusters/{cluster}`, 200, { object: 'issues-cluster', muted: false }],
    [`PATCH ${path}-clusters/{cluster}`, { muted: true }, 200, { id: '{cluster}', muted: true }],
  ],
};
