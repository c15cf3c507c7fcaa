/** Kind of the MCP servers of a site, whose headers can name secrets. */
import { z } from 'zod';
import { isObject, type Json } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import { secretNames, withoutSecretNames } from '../../core/manifest-secrets.ts';
import { type McpServer, operations } from '../../platform/operations/index.ts';
import { itemWrites } from '../model/derived-kind.ts';
import { type FieldTable, fieldTable } from '../model/field-table.ts';
import { hasMembers, ref, request } from '../model/kind.ts';
import { line, reporting, text, url } from '../model/schema.ts';
import { siteItems } from './site-items.ts';

/** Name of a header (RFC 9110, section 5.1). */
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
/** Names of headers whose values give access. */
const CREDENTIAL = /auth|cookie|key|secret|token/i;

const value = text({ min: 1, max: 512, example: 'Bearer $' + '{secret:MCP_TOKEN}' }).superRefine(
  reporting(valueProblem),
);
const headers = z
  .record(z.string().regex(HEADER, { error: 'is not the name of a header' }), value)
  .superRefine((given, context) => {
    for (const [name, each] of Object.entries(given)) {
      if (CREDENTIAL.test(name) && secretNames(each).length === 0) {
        const message = 'gives access, so its value must not be in a manifest; write $' + '{secret:NAME} instead';
        context.addIssue({ code: 'custom', message, path: [name] });
      }
    }
  });

function valueProblem(given: string): string | null {
  if (withoutSecretNames(given).includes('${')) {
    return (
      'has a reference that is not one to a secret; write $' + '{secret:NAME}, with letters, digits, ".", "_" and "-"'
    );
  }
  return /[^\x20-\x7e]/.test(given) ? 'has characters that a header cannot have' : null;
}

const namesOf = (given: unknown): Json => (isObject(given) ? Object.keys(given).sort(compareText) : []);

const fields: FieldTable<McpServer> = {
  name: line({ min: 1, max: 100, example: 'Search' }).describe('The name of the server.'),
  url: {
    schema: url('https://mcp.acme.example').describe('The address of the server.'),
    required: true,
  },
  // Whether the platform returns the values of headers is not documented. Octavo reads only their names.
  headers: {
    schema: headers.describe(
      'The HTTP headers that the platform sends to the server; `{}` for none. Values can name secrets (see [Secrets in manifests](secrets.md)).',
    ),
    required: true,
    secrets: { sentTo: 'url' },
    compare: 'base',
    noBaseNote: 'the values of its headers were not compared: there is no base',
    toEntry: (_value, context, actual) => {
      const names = (actual.fields.headerNames ?? []) as readonly string[];
      const secrets = names.map((header) => [header, `\${secret:${secretName(actual.title, header)}}`] as const);
      if (secrets.length > 0) {
        context.note(actual, 'headers: their values are not imported; add each secret to manifestSecrets');
      }
      return Object.fromEntries(secrets);
    },
  },
  headerNames: { read: ({ headers: given }) => namesOf(given), manifestName: 'headers', toParameter: () => undefined },
  transport: {
    schema: z.enum(['http', 'sse']).describe('How the server is reached. From platform 0.181 on.'),
    unsupportedNote: 'transport was not compared: this version of the platform has none (added in 0.181)',
    read: ({ transport }) => transport ?? undefined,
  },
  condition: {
    schema: text({ max: 1024, example: 'visitor.claims.plan == "pro"' })
      .nullable()
      .describe('Expression that decides which visitors can use it; `null` means everyone. From platform 0.181 on.'),
    unsupportedNote: 'condition was not compared: this version of the platform has none (added in 0.181)',
    read: ({ condition, transport }) => condition ?? (transport == null ? undefined : null),
  },
};

/** Returns the name of the secret that an import writes for a header. */
function secretName(server: string, header: string): string {
  const words = `MCP_${server}_${header}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  return words.slice(0, 100);
}

const table = fieldTable(fields);
const mcpOperations = {
  list: operations.listSiteMcpServers,
  create: operations.createSiteMcpServer,
  update: operations.updateSiteMcpServerById,
  delete: operations.deleteSiteMcpServerById,
};

/** MCP servers of a site, for its assistant. Source: docs/platform-notes.md#mcp-servers */
export const mcpServer = siteItems({
  name: 'mcp-server',
  member: 'mcpServers',
  summary: 'MCP servers that the assistant of the site can use, by key.',
  title: 'name',
  operations: mcpOperations,
  fields,
  complete: (declared) => ({ ...declared, headerNames: namesOf(declared.headers) }),
  impact: ({ fields: { url: address } }) => ({ weight: 1, text: String(address) }),
  writes(change) {
    const parameters = table.parameters(change);
    const outer = { siteId: ref(change.within) };
    if (change.action !== 'create') {
      return itemWrites(change, mcpOperations, parameters, outer);
    }
    // Versions without these settings refuse a creation that has them.
    const { transport, condition, ...rest } = parameters;
    const later = { ...(transport === undefined ? {} : { transport }), ...(condition == null ? {} : { condition }) };
    const path = { ...outer, siteMcpServerId: ref(change.address) };
    const sets = Object.keys(later);
    const update = request(operations.updateSiteMcpServerById, { path, body: later } as never, {
      sets,
      tolerates: [400],
    });
    const { first } = itemWrites(change, mcpOperations, rest, outer);
    return { first: hasMembers(later) ? [...first, update] : first };
  },
});
