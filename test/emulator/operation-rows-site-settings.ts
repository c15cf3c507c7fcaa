/** Rows of operations on the settings of a site that are not part of its structure. */
import { long, ORG, type Rows, SITE } from './operation-world.ts';

const MCP = `${SITE}/mcp-servers`;
const SERVER = { name: 'Search', url: 'https://mcp.acme.example', headers: { Authorization: 'Bearer 1' } };

/** MCP servers of a site. */
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
};
