/** Operations on the MCP servers of a site. Source: docs/platform-notes.md#mcp-servers */
import { z } from 'zod';
import { created, deleted, ok } from '../model/answers.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { omitUndefined, patched, pick } from '../model/patch.ts';
import { condition, listQuery, text, url } from '../model/schema.ts';
import type { McpServerRecord } from './records.ts';
import { findPart, requirePart, requireSite, siteLocation } from './views.ts';

const headers = z.record(z.string(), text(1, 512));
const settings = {
  name: text(1, 100),
  url: url(),
  transport: z.enum(['sse', 'http']).optional(),
  headers,
  condition: condition.nullable().optional(),
};
const creation = z.strictObject(settings);
const update = creation.partial();

const LIST = `${SITE}/mcp-servers` as const;
const ONE = `${LIST}/{siteMcpServerId}` as const;

/** Renders a server with the values of its headers, which the vendor's document does not exclude. */
function viewServer(context: Context, server: McpServerRecord): unknown {
  const later = context.features.mcpTransports ? pick(server, 'transport', 'condition') : {};
  const site = context.store.sites.get(server.site);
  const location = site === undefined ? '' : `${siteLocation(context, site)}/mcp-servers/${server.id}`;
  return { object: 'site-mcp-server', ...pick(server, 'id', 'name', 'url', 'headers'), ...later, urls: { location } };
}

function refuseLaterSettings(call: Context & { readonly body: Readonly<Record<string, unknown>> }): void {
  refuseUnknown(call, 'mcpTransports', call.body, 'transport');
  refuseUnknown(call, 'mcpTransports', call.body, 'condition');
}

export const mcpServerOperations: readonly ApiOperation[] = [
  operation('listSiteMcpServers', 'GET', LIST, { query: listQuery }, (call) =>
    listBySeq(call, call.store.mcpServers.by('site', requireSite(call).id), viewServer),
  ),
  operation('createSiteMcpServer', 'POST', LIST, { body: creation }, (call) => {
    const site = requireSite(call);
    refuseLaterSettings(call);
    const { transport = 'http', condition: given, ...body } = call.body;
    const { id, seq } = call.store.identify('mcp');
    const server = { id, seq, site: site.id, transport, condition: given ?? undefined, ...body };
    return created(viewServer(call, call.store.mcpServers.put(server)));
  }),
  operation('getSiteMcpServerById', 'GET', ONE, {}, (call) =>
    ok(viewServer(call, requirePart(call, call.store.mcpServers, 'MCP server', call.params.siteMcpServerId))),
  ),
  operation('updateSiteMcpServerById', 'PATCH', ONE, { body: update }, (call) => {
    const server = requirePart(call, call.store.mcpServers, 'MCP server', call.params.siteMcpServerId);
    refuseLaterSettings(call);
    const { condition: given, ...body } = call.body;
    const next = { ...server, ...omitUndefined(body), condition: patched(server.condition, given) };
    return ok(viewServer(call, call.store.mcpServers.put(next)));
  }),
  operation('deleteSiteMcpServerById', 'DELETE', ONE, {}, (call) => {
    const server = findPart<McpServerRecord>(call.store.mcpServers, requireSite(call), call.params.siteMcpServerId);
    return deleted(server !== undefined && call.store.mcpServers.remove(server.id));
  }),
];
