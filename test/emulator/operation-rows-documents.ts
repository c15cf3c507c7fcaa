import type { Row, Rows } from './operation-world.ts';

const space = '/spaces/{one}';
const cr = `${space}/change-requests/{draft}`;
const gone = '/spaces/{dead}';

/** The two families of content are identical. Source: docs/platform-notes.md#content */
function content(base: string, unknown: string): readonly Row[] {
  const at = `${base}/content`;
  return [
    [`GET ${at}`, 200, { object: 'revision', variables: { version: '1.2' } }],
    [`GET ${at}?metadata=true&computed=false`, 200, { files: [{ git: { path: 'files/logo.svg' } }] }],
    [`GET ${unknown}/content`, 404],
    [`GET ${at}/pages?metadata=false`, 200, { pages: [{ id: '{page}', path: 'login' }, { pages: [] }] }],
    [`GET ${unknown}/content/pages`, 404],
    [`GET ${at}/files`, 200, { count: 1, items: [{ id: '{file}', name: 'logo.svg', size: 6 }] }],
    [`GET ${at}/files?limit=0&computed=false`, 200, { count: 1, items: [] }],
    [`GET ${at}/files?page=x`, 400, 'query.page'],
    [`GET ${unknown}/content/files`, 404],
    [`GET ${at}/files/{file}`, 200, { contentType: 'image/svg+xml', dimensions: { width: 1 } }],
    [`GET ${at}/files/{page}`, 404, 'File'],
    [`GET ${at}/files/{file}/backlinks`, 200, { count: 1, items: [{ kind: 'page', status: 'ok' }] }],
    [`GET ${at}/page/{page}`, 200, { type: 'document', title: 'Login', slug: 'login' }],
    [`GET ${at}/page/{page}?format=document&evaluated=true&dereferenced=reusable-contents`, 200, DOCUMENT],
    [`GET ${at}/page/{page}?evaluated=deterministic-only&dereferenced=true&metadata=false`, 200],
    [`GET ${at}/page/{file}`, 404, 'Page'],
    [`GET ${unknown}/content/page/{page}`, 404],
  ];
}

const DOCUMENT = { document: { object: 'document', data: {} } };
const LINKS = { stats: { total: 5, broken: { total: 1 } } };

const template = `${space}/content/template`;
const refs = (ref: unknown) => ({ id: 'guide', params: { contentRefs: { it: ref } } });

/** Content of spaces and change requests. */
export const documentRows: Rows = {
  'content of spaces': content(space, gone),
  'content of change requests': content(cr, `${space}/change-requests/none`),
  links: [
    [`GET ${space}/links`, 200, { count: 5, ...LINKS }],
    [`GET ${space}/links?status=broken`, 200, { count: 1, items: [{ status: 'broken' }], ...LINKS }],
    [`GET ${space}/links?status=in-app`, 200, { count: 0, items: [] }],
    [`GET ${space}/content/page/{page}/links?status=ok&limit=1`, 200, { count: 3, stats: { total: 4 } }],
    [`GET ${space}/content/page/{exports}/links`, 200, { items: [{ targetReference: { kind: 'page' } }] }],
  ],
  templates: [
    [`POST ${template}`, { id: 'guide' }, 204],
    [`POST ${template}`, { id: 'guide', changeRequestId: '{draft}' }, 204],
    [`POST ${template}`, refs({ kind: 'file', file: '{file}', space: '{one}' }), 204],
    [`POST ${template}`, refs({ kind: 'openapi', spec: '{spec}' }), 204],
    [`POST ${template}`, { id: 'guide', changeRequestId: 'none' }, 400, 'body.changeRequestId: change request "none"'],
    [`POST ${template}`, { id: 'guide', changeRequestId: '{merged}' }, 400, 'is merged'],
    [`POST ${template}`, refs({ kind: 'tag', tag: 't' }), 400, 'body.params.contentRefs.it'],
    [`POST ${template}`, refs({ kind: 'page', page: 'none' }), 400, 'body.params.contentRefs.it: page'],
    [`POST ${template}`, refs({ kind: 'anchor', anchor: 'pdf' }), 400, 'body.params.contentRefs.it: anchor'],
    [`POST ${template}`, refs({ kind: 'page', page: '{page}', space: '{dead}' }), 400, 'does not exist'],
    ['POST /spaces/{inside}/content/template', { id: 'guide' }, 403, 'is locked'],
  ],
  commenters: [
    [`GET ${space}/commenters`, 200, { count: 1, items: [{ object: 'member', id: '{ana}' }] }],
    [`GET ${cr}/commenters?limit=1`, 200, { count: 1 }],
    [`GET ${space}/change-requests/{merged}/commenters`, 200, { count: 0 }],
  ],
  PDF: [
    [`GET ${cr}/pdf`, 200],
    [`GET ${cr}/pdf?page={page}&only=true`, 200],
    [`GET ${cr}/pdf?page=none`, 404, 'Page'],
    [`GET ${cr}/pdf?only=true`, 400, 'must have a page if only is true'],
    [`GET ${space}/change-requests/9/pdf`, 404],
  ],
};
