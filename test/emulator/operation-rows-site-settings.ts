/** Rows of operations on the settings of a site that are not part of its structure. */
import { long, ORG, type Rows, SITE } from './operation-world.ts';

const MCP = `${SITE}/mcp-servers`;
const SERVER = { name: 'Search', url: 'https://mcp.acme.example', headers: { Authorization: 'Bearer 1' } };

const LINKS = `${SITE}/share-links`;
const AUTH = `${SITE}/publishing/auth`;

/** MCP servers, share links and the sign-in of visitors of a site. */
export const siteSettingsRows: Rows = {
  'mcp servers': [
    [`GET ${MCP}`, 200, { count: 1, items: [{ object: 'site-mcp-server', name: 'Docs', headers: {} }] }],
    [`POST ${MCP}`, SERVER, 201, { ...SERVER, object: 'site-mcp-server' }],
    [`POST ${MCP}`, { ...SERVER, transport: 'sse' }, 400, 'body.transport: unknown field'],
    [`PATCH ${MCP}/{mcp}`, { condition: 'true' }, 400, 'body.condition: unknown field'],
    [`POST ${MCP}`, { ...SERVER, headers: undefined }, 400, 'body.headers: required'],
    [`POST ${MCP}`, { ...SERVER, name: '' }, 400, 'body.name: must be 1-100 characters'],
    [`POST ${MCP}`, { ...SERVER, url: 'mcp' }, 400, 'body.url: must be an http or https URL'],
    [`POST ${MCP}`, { ...SERVER, headers: { A: long(513) } }, 400, 'body.headers.A: must be 1-512 characters'],
    [`POST ${MCP}`, { ...SERVER, transport: 'ws' }, 400, 'body.transport'],
    [`GET ${MCP}/{mcp}`, 200, { id: '{mcp}', headers: {} }],
    [`GET ${ORG}/sites/{plain}/mcp-servers/{mcp}`, 404, 'MCP server'],
    [`PATCH ${MCP}/{mcp}`, { headers: { B: '2' } }, 200, { headers: { B: '2' } }],
    [`PATCH ${MCP}/none`, { name: 'x' }, 404, 'MCP server "none" not found'],
    [`DELETE ${MCP}/{mcp}`, 205],
    [`DELETE ${ORG}/sites/{plain}/mcp-servers/{mcp}`, 204],
  ],
  'share links': [
    [`GET ${LINKS}`, 200, { count: 1, items: [{ object: 'share-link', name: 'Partners', active: true }] }],
    [`POST ${LINKS}`, { name: '' }, 201, { name: '', active: true }],
    [`POST ${LINKS}`, {}, 400, 'body.name: required'],
    [`POST ${LINKS}`, { name: long(51) }, 400, 'body.name: must be at most 50 characters'],
    [`POST ${LINKS}`, { name: 'x', active: false }, 400, 'body.active: unknown field'],
    [`PATCH ${LINKS}/{shareLink}`, { active: false }, 200, { name: 'Partners', active: false }],
    [`PATCH ${LINKS}/{shareLink}`, { name: 'Guests' }, 200, { name: 'Guests', active: true }],
    [`PATCH ${LINKS}/{shareLink}`, {}, 400, 'must have at least one field'],
    [`PATCH ${LINKS}/none`, { active: true }, 404, 'Share link "none" not found'],
    [`DELETE ${LINKS}/{shareLink}`, 205],
    [`DELETE ${LINKS}/none`, 204],
  ],
  'visitor authentication': [
    [`GET ${AUTH}`, 200, { object: 'publishing-auth', backend: 'custom' }],
    [
      `PATCH ${AUTH}`,
      { backend: 'integration', fallbackURL: 'https://acme.example/login' },
      200,
      { backend: 'integration', fallbackURL: 'https://acme.example/login' },
    ],
    [`PATCH ${AUTH}`, { backend: 'custom', fallbackURL: null }, 200, { backend: 'custom' }],
    [`PATCH ${AUTH}`, { fallbackURL: null }, 400, 'body.backend: must be one of custom, integration'],
    [`PATCH ${AUTH}`, { backend: 'own' }, 400, 'body.backend'],
    [`PATCH ${AUTH}`, { backend: 'custom', fallbackURL: 'x' }, 400, 'body.fallbackURL: must be an http or https URL'],
    [`PATCH ${AUTH}`, { backend: 'custom', logoutURL: null }, 400, 'body.logoutURL: unknown field'],
    [`POST ${AUTH}/regenerate`, 200, { object: 'publishing-auth', backend: 'custom' }],
    [`GET ${ORG}/sites/none/publishing/auth`, 404, 'Site "none" not found'],
  ],
};
