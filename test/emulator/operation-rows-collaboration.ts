import { document } from './fixture.ts';
import { long, ORG, type Row, type Rows } from './operation-world.ts';

const requests = '/spaces/{one}/change-requests';
const cr = `${requests}/{draft}`;
const merged = `${requests}/{merged}`;
const reviewers = `${cr}/requested-reviewers`;
const commentBody = { body: { markdown: 'Hello' } };
const broken = { ...(document('x') as object), nodes: [{ object: 'text', leaves: [] }] };

/** Change requests: creation, reading, changes and merges. */
const changeRequests: Rows = {
  'change requests made': [
    [`POST ${requests}`, {}, 201, { object: 'change-request', status: 'draft', subject: '', number: 3, comments: 0 }],
    [`POST ${requests}`, { subject: long(100) }, 201, { outdated: false, createdBy: { id: '{ana}' }, space: '{one}' }],
    [`POST ${requests}`, { subject: 'S', status: 'open', anything: 1 }, 201, { status: 'draft' }],
    [`POST ${requests}`, { conversationsIssuesCluster: '{cluster}' }, 201, { conversationsIssuesCluster: '{cluster}' }],
    [`POST ${requests}`, { description: document('d') }, 201, { description: document('d') }],
    [`POST ${requests}`, { template: { id: 't' } }, 201],
    [
      `POST ${requests}`,
      { template: { id: 't', params: { contentRefs: { a: { kind: 'page', page: '{page}' } } } } },
      201,
    ],
    [
      `POST ${requests}`,
      { template: { id: 't', params: { contentRefs: { a: { kind: 'page', page: 'none' } } } } },
      400,
      'body.params.contentRefs.a: page',
    ],
    [`POST ${requests}`, 400, 'body: '],
    [`POST ${requests}`, { conversationsIssuesCluster: 'none' }, 400, 'cluster "none" does not exist'],
    [`POST ${requests}`, { conversationsIssuesCluster: null }, 400, 'body.conversationsIssuesCluster'],
    [`POST ${requests}`, { description: 'text' }, 400, 'body.description.object'],
    [`POST ${requests}`, { description: broken }, 400, 'body.description.nodes.0: text is not allowed at this level'],
    ['POST /spaces/{inside}/change-requests', { subject: 'S' }, 403, 'is locked'],
  ],
  'change requests listed': [
    [`GET ${requests}`, 200, { count: 0 }],
    [`GET ${requests}?status=draft`, 200, { count: 1, items: [{ id: '{draft}' }] }],
    [`GET ${requests}?status=merged`, 200, { count: 1, items: [{ id: '{merged}' }] }],
    [`GET ${requests}?status=draft&creator={ana}`, 200, { count: 1 }],
    [`GET ${requests}?status=draft&contributor={bo}`, 200, { count: 0 }],
    [`GET ${requests}?status=draft&requestedReviewer={bo}`, 200, { count: 1 }],
    [`GET ${requests}?status=draft&conversationsIssuesCluster={cluster}`, 200, { count: 1 }],
    [`GET ${ORG}/change-requests`, 200, { count: 0 }],
    [`GET ${ORG}/change-requests?status=draft`, 200, { count: 1, items: [{ id: '{draft}' }] }],
    [`GET ${ORG}/change-requests?status=merged`, 200, { count: 1, items: [{ id: '{merged}' }] }],
    [
      `GET ${ORG}/change-requests?status=draft&conversationsIssuesCluster={cluster}`,
      200,
      { items: [{ id: '{draft}' }] },
    ],
    [`GET ${ORG}/change-requests?status=draft&conversationsIssuesCluster=none`, 200, { count: 0 }],
    [`GET ${ORG}/change-requests?status=draft&status=open`, 400, 'query.status: must be one status'],
    ['GET /orgs/org_other/change-requests', 200, { count: 0 }],
  ],
  'change requests changed': [
    [`GET ${cr}`, 200, { id: '{draft}', number: 1 }],
    [`GET ${requests}/1`, 200, { id: '{draft}' }],
    [`GET ${requests}/9`, 404],
    ['GET /spaces/{two}/change-requests/{draft}', 404],
    [`PATCH ${cr}`, {}, 200, { status: 'draft', subject: 'Drafted' }],
    [
      `PATCH ${cr}`,
      { status: 'open', subject: 'S', description: document('d') },
      200,
      { status: 'open', subject: 'S' },
    ],
    [`PATCH ${cr}`, { status: 'archived' }, 200, { status: 'archived' }],
    [`PATCH ${cr}`, { description: null }, 400, 'body.description.object'],
    [`PATCH ${cr}`, { description: broken }, 400, 'body.description.nodes.0'],
    [`PATCH ${merged}`, { subject: 'S' }, 400, 'is merged'],
    [`POST ${cr}/merge`, 200, { result: 'merge' }],
    [`POST ${cr}/merge`, { force: true }, 400, 'body.force: unknown field'],
    [`POST ${merged}/merge`, 400, 'is merged'],
    [`POST ${cr}/update`, 200, { result: 'update' }],
    [`POST ${merged}/update`, 400, 'is merged'],
  ],
  'requested reviewers': [
    [`GET ${reviewers}`, 200, { count: 1, items: [{ kind: 'user', user: { id: '{bo}' } }] }],
    [
      `POST ${reviewers}`,
      { users: ['{ana}', '{bo}'] },
      200,
      { users: [{ user: { id: '{bo}' } }, { user: { id: '{ana}' } }] },
    ],
    [`POST ${reviewers}`, { users: ['{ana}'], subject: 'S', description: document('d') }, 200],
    [`POST ${reviewers}`, { users: ['none'] }, 400, 'body.users: user "none" does not exist'],
    [`POST ${reviewers}`, { users: ['{ana}'], description: broken }, 400, 'body.description.nodes.0'],
    [`POST ${merged}/requested-reviewers`, { users: ['{ana}'] }, 400, 'is merged'],
    [`DELETE ${reviewers}/{bo}`, 205],
    [`DELETE ${reviewers}/{ana}`, 204],
  ],
};

/**
 * The two families of comments are identical except for one field of a reply. Source: docs/platform-notes.md#comments
 */
function comments(base: string, comment: string, reply: string, resolvedReply: Row): Rows {
  const path = `${base}/comments`;
  const one = `${path}/{${comment}}`;
  const replies = `${one}/replies`;
  const here = `${replies}/{${reply}}`;
  return {
    [`comments of ${base}`]: [
      [`GET ${path}`, 200, { count: 1, items: [{ id: `{${comment}}`, status: 'open', replies: 1 }] }],
      [`GET ${path}?status=open&authors={ana}&order=asc`, 200, { count: 1 }],
      [`GET ${path}?status=resolved`, 200, { count: 0 }],
      [`GET ${path}?authors={bo}&authors={ana}`, 200, { count: 1 }],
      [`GET ${path}?authors={bo}`, 200, { count: 0 }],
      [`GET ${path}?targetPage={page}`, 200, { count: 0 }],
      [
        `POST ${path}`,
        commentBody,
        200,
        { object: 'comment', body: commentBody.body, postedBy: { id: '{ana}' }, status: 'open' },
      ],
      [`POST ${path}`, { ...commentBody, page: '{page}', node: 'n' }, 200, { target: { page: { id: '{page}' } } }],
      [`POST ${path}`, { ...commentBody, tableCell: { record: 'r', definition: 'd' } }, 200],
      [`POST ${path}`, { body: { document: document('Hi') } }, 200, { body: { markdown: 'Hi' } }],
      [`POST ${path}`, { body: { document: broken } }, 400, 'body.body.document.nodes.0'],
      [`POST ${path}`, { ...commentBody, page: 'none' }, 400, 'page "none" does not exist'],
      [`GET ${one}`, 200, { id: `{${comment}}`, body: { markdown: 'Well' } }],
      [`GET ${one}?format=document`, 200, { body: { document: document('Well') } }],
      [`PUT ${one}`, { resolved: true }, 200, { status: 'resolved', resolvedBy: { id: '{ana}' } }],
      [`PUT ${one}`, commentBody, 200, { body: commentBody.body, editedAt: '2026-03-01T12:00:00.000Z' }],
      [`PUT ${one}`, { addedReactions: ['+1'] }, 200, { reactions: [{ emoji: '+1', count: 1 }] }],
      [`DELETE ${one}`, 205],
    ],
    [`replies of ${base}`]: [
      [`GET ${replies}`, 200, { count: 1, items: [{ object: 'comment-reply', id: `{${reply}}` }] }],
      [`POST ${replies}`, commentBody, 200, { object: 'comment-reply', body: commentBody.body }],
      [`GET ${here}?format=document`, 200, { id: `{${reply}}`, body: { document: document('Yes') } }],
      [`PUT ${here}`, commentBody, 200, { body: commentBody.body }],
      resolvedReply,
      [`DELETE ${here}`, 205],
    ],
  };
}

const search: Rows = {
  search: [
    [`GET ${ORG}/search?query=password`, 200, { count: 1, items: [{ id: '{one}', title: 'One' }] }],
    [`GET ${ORG}/search?query=nothing`, 200, { count: 0, items: [] }],
    [`GET ${ORG}/search?query=${'x'.repeat(512)}`, 200, { count: 0 }],
    [`GET ${ORG}/search`, 400, 'query.query: required'],
    ['GET /spaces/{one}/search?query=password', 200, { count: 1, items: [{ id: '{page}' }] }],
    ['GET /spaces/{two}/search?query=password', 200, { count: 0 }],
    ['GET /spaces/{one}/search', 400, 'query.query: required'],
  ],
};

/** Collaboration on a space's content: change requests, comments, and search. */
export const collaborationRows: Rows = {
  ...changeRequests,
  ...comments('/spaces/{one}', 'comment', 'reply', [
    'PUT /spaces/{one}/comments/{comment}/replies/{reply}',
    { resolved: true },
    400,
    'body.resolved: unknown field',
  ]),
  ...comments(cr, 'crComment', 'crReply', [
    `PUT ${cr}/comments/{crComment}/replies/{crReply}`,
    { resolved: true },
    200,
  ]),
  ...search,
};
