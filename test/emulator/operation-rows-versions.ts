import type { PlatformVersion } from '../../src/emulator/emulator.ts';
import { TAGGED } from './operation-rows-integrations.ts';
import { at, long, ORG, type Row, SITE } from './operation-world.ts';

const SORT = `${SITE}/structure/sort`;
const LINKS = `${SITE}/external-links`;
const TITLE = { localizedTitle: { fr: 'Titre' } };
const TEXTS = { ...TITLE, localizedDescription: { fr: 'Texte' } };
const MCP = `${SITE}/mcp-servers`;
const SERVER = { name: 'Search', url: 'https://mcp.acme.example', headers: {} };
const monochrome = { light: 'default-light', dark: 'default-dark' };
const FROM_167 = {
  socialAccounts: [],
  styling: { ...TAGGED.styling, codeTheme: { default: monochrome, openapi: monochrome } },
};
const STATUS = { title: 'Status', url: 'https://status.acme.example' };

const REDIRECTS = `${SITE}/redirects`;
const TO = { kind: 'site-section', siteSectionId: '{section}' };
const STATUS_URL = { kind: 'external', url: STATUS.url };

/**
 * Operations and fields that only some versions have.
 * Source: docs/platform-notes.md#changes-by-version
 */
export const versionRows: Readonly<Record<PlatformVersion, readonly Row[]>> = {
  '0.146': [
    [`GET ${SITE}/share-links?search=part`, 400, 'query.search: unknown parameter'],
    [`PATCH ${SITE}/sections/{api}`, { siteSectionGroupId: '{group}' }, 400, 'siteSectionGroupId: unknown field'],
    [`GET ${REDIRECTS}`, 200, { items: [{ draft: undefined, permanent: undefined }] }],
    [`POST ${REDIRECTS}`, { source: '/a', destination: TO, draft: true }, 400, 'body.draft: unknown field'],
    [`POST ${REDIRECTS}`, { source: '/a*', destination: TO }, 400, 'body.source'],
    [`POST ${REDIRECTS}`, { source: '/a', destination: STATUS_URL }, 400, 'body.destination.kind'],
    [`PUT ${REDIRECTS}`, { redirects: [{ source: '/a', destination: TO }] }, 404, 'No such operation'],
    [`GET ${REDIRECTS}?draft=true`, 400, 'query.draft: unknown parameter'],
    [`GET ${ORG}/change-requests?status=draft`, 200, { count: 1 }],
    [`GET ${ORG}/change-requests?status=draft&status=open`, 400, 'query.status: must be one status'],
    [`PATCH ${ORG}`, { title: '  ' }, 400, 'body.title: must match'],
    [`GET ${ORG}/sites/a%20b`, 404],
    [`POST ${LINKS}`, STATUS, 404, 'No such operation'],
    [`GET ${SITE}/permissions/teams`, 404, 'No such operation'],
    [`GET ${SITE}/permissions/aggregate`, 200, { items: [{ origin: { type: 'organization' } }, {}] }],
    [`PATCH ${SITE}/sections/{api}`, { draft: true }, 400, 'body.draft: unknown field'],
    [`PATCH ${SITE}/section-groups/{group}`, TITLE, 400, 'body.localizedTitle: unknown field'],
    [
      `PATCH ${SORT}`,
      { item: at('site-section', '{api}'), position: { after: at('site-external-link', 'x') } },
      400,
      'body.position.after.type',
    ],
    [`PATCH ${SORT}`, { item: at('site-external-link', 'x'), position: { after: at('site-section', '{api}') } }, 400],
  ],
  '0.167': [
    [`PUT ${REDIRECTS}`, { redirects: [{ source: '/a*', destination: STATUS_URL }] }, 200],
    [`PUT ${REDIRECTS}`, { redirects: [{ source: '/a', destination: TO, permanent: true }] }, 400, 'body.permanent'],
    [`POST ${REDIRECTS}`, { source: '/a+b', destination: TO }, 400, 'body.source'],
    [`GET ${REDIRECTS}?orderBy=source`, 400, 'query.orderBy: unknown parameter'],
    [`GET ${SITE}/share-links?search=part`, 200, { count: 1 }],
    [`GET ${SITE}/share-links?search=x`, 200, { count: 0 }],
    [`PUT ${SITE}/customization`, { ...TAGGED, ...FROM_167 }, 200, { footer: TAGGED.footer, ...FROM_167 }],
    [`PUT ${SITE}/customization`, TAGGED, 400, 'body.socialAccounts: required'],
    [`PATCH ${SITE}`, { agentsContext: 'excluded' }, 400, 'body.agentsContext: unknown field'],
    [`PATCH ${SITE}`, { defaultLevel: 'read' }, 400, 'body.defaultLevel: unknown field'],
    [`GET ${SITE}/permissions/users`, 200, { count: 1 }],
    [`PATCH ${ORG}`, { title: '  ' }, 400, 'body.title: must match'],
    [`PATCH ${ORG}`, { title: ' A b ' }, 200, { title: ' A b ' }],
    [`GET ${ORG}/sites/a%20b`, 400, 'path.siteId'],
    [`GET ${ORG}/change-requests`, 200, { count: 0 }],
    [`GET ${ORG}/change-requests?status=draft`, 200, { count: 1 }],
    [`GET ${ORG}/change-requests?status=draft&status=merged`, 200, { count: 2 }],
    [`GET ${ORG}/change-requests?status=lost`, 400, 'query.status'],
    [`POST ${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 201],
    ['POST /spaces/{one}/transfer', { organization: 'none' }, 404, 'Organization "none" not found'],
  ],
  '0.181': [
    [`PATCH ${SITE}`, { defaultLevel: 'read' }, 200, { defaultLevel: 'read' }],
    [`PATCH ${SITE}`, { defaultLevel: null }, 200, { defaultLevel: null }],
    [`GET ${SITE}`, 200, { defaultLevel: 'inherit' }],
    [`POST ${SITE}/section-groups/{group}/sections`, { sectionId: '{api}' }, 404, 'No such operation'],
    [`DELETE ${SITE}/section-groups/{group}/sections/{api}`, 404, 'No such operation'],
    [`PATCH ${SITE}/sections/{api}`, { siteSectionGroupId: '{group}' }, 200, { sectionGroup: '{group}' }],
    [`PATCH ${SITE}/sections/{api}`, { siteSectionGroupId: null, title: 'New' }, 200, { title: 'New' }],
    [`PATCH ${SITE}/sections/{api}`, { siteSectionGroupId: 'none' }, 400, 'body.siteSectionGroupId'],
    [`PATCH ${SITE}/sections/none`, { siteSectionGroupId: null }, 404],
    [
      `PATCH ${SITE}/publishing/auth`,
      { backend: 'custom', logoutURL: 'https://acme.example/out' },
      200,
      { logoutURL: 'https://acme.example/out' },
    ],
    [`POST ${MCP}`, { ...SERVER, condition: null }, 201, { transport: 'http' }],
    [`POST ${MCP}`, { ...SERVER, transport: 'sse', condition: 'true' }, 201, { transport: 'sse', condition: 'true' }],
    [`PATCH ${MCP}/{mcp}`, { condition: 'true', transport: 'sse' }, 200, { condition: 'true', transport: 'sse' }],
    ['POST /spaces/{two}/transfer', { organization: 'org_other' }, 404, 'No such operation'],
    ['GET /git/installations/{git}', 200, { repositoryRef: { name: 'refs/heads/main' } }],
    [`GET ${SITE}/spaces/git/installations`, 404, 'No such operation'],
    [`PATCH ${SITE}/sections/{api}`, { draft: true, ...TEXTS }, 200, { draft: true, ...TEXTS }],
    [`PATCH ${SITE}/sections/{api}`, { localizedTitle: {} }, 200, { localizedTitle: undefined }],
    [`PATCH ${SITE}/sections/{api}`, { localizedTitle: null }, 400, 'body.localizedTitle'],
    [`PATCH ${SITE}/sections/{api}`, { localizedTitle: { xx: 'Titre' } }, 400, 'body.localizedTitle'],
    [`PATCH ${SITE}/sections/{api}`, { localizedTitle: { fr: long(129) } }, 400, 'body.localizedTitle.fr'],
    [`POST ${SITE}/sections`, { spaceId: '{two}', draft: true }, 201, { draft: true }],
    [`PATCH ${SITE}/section-groups/{group}`, { draft: true, ...TITLE }, 200, { draft: true, ...TITLE }],
    [`POST ${SITE}/section-groups`, { title: 'Soon', draft: true }, 201, { draft: true }],
    [`POST ${SITE}/section-groups`, { title: 'Soon', ...TITLE }, 400, 'body.localizedTitle: unknown field'],
    [`POST ${LINKS}`, STATUS, 404, 'No such operation'],
    [`GET ${ORG}/members?sort=name`, 400, 'query.sort: "name" is not one of its values'],
  ],
  '0.201': [
    [`POST ${REDIRECTS}`, { source: '/a+b', destination: TO, permanent: true }, 201, { permanent: true }],
    [`GET ${ORG}/members?sort=name`, 200, { count: 2 }],
    [`POST ${LINKS}`, STATUS, 201],
    [`PUT ${SITE}/customization`, { ...TAGGED, ...FROM_167 }, 400, 'body.pdf: unknown field'],
    ['GET /spaces/{one}/links', 404, 'No such operation'],
    ['POST /spaces/{one}/content/template', { id: 'guide' }, 201],
    [`GET ${SITE}`, 200, { appliedType: undefined, permissions: { access: true } }],
  ],
  '0.202': [
    [
      `GET ${SITE}/permissions/aggregate`,
      200,
      {
        items: [{ origin: { type: 'organization' } }, { disabled: false, origin: { type: 'site', reason: 'member' } }],
      },
    ],
    [`GET ${SITE}`, 200, { appliedType: 'basic', defaultLevel: 'inherit', permissions: { access: true } }],
    [`GET ${SITE}/sections`, 200, { items: [{ draft: false }, { draft: false }] }],
    [`GET ${ORG}/members?sort=name`, 200, { items: [{ sites: 0 }, { sites: 0 }] }],
    [`GET ${ORG}`, 200, { permissions: { access: true } }],
  ],
};
