/** Sign-in of the visitors of a site. The key that signs their tokens is never kept. */
import { z } from 'zod';
import type { Change } from '../../core/change.ts';
import { isObject, type Json, type JsonObject, present } from '../../core/json.ts';
import type { Actual } from '../../core/resource.ts';
import type { PartComparison } from '../../plan/rules.ts';
import type { Reader } from '../../platform/client.ts';
import { operations } from '../../platform/operations/index.ts';
import { access, type Field } from '../model/field-table.ts';
import { type Detail, type PlannedRequest, type Ref, request, unlessMissing } from '../model/kind.ts';
import { url } from '../model/schema.ts';

/** Members that a manifest can declare. All others that the platform returns are dropped, such as the key. */
const MEMBERS = ['backend', 'fallbackURL', 'logoutURL'] as const;

const schema = z
  .strictObject({
    backend: z
      .enum(['custom', 'integration'])
      .describe('Who signs the tokens of visitors: a server of your own (`custom`), or an integration on the site.'),
    fallbackURL: url('https://acme.example/login')
      .nullable()
      .optional()
      .describe('Where visitors without a valid token are sent; `null` for nowhere.'),
    logoutURL: url('https://acme.example/logout')
      .nullable()
      .optional()
      .describe('Where visitors are sent to sign out; `null` for nowhere. From platform 0.181 on.'),
  })
  .describe(
    'How visitors sign in, for the visibility `visitor-auth` (see [Sign-in](site-settings.md#sign-in-of-visitors)).',
  );

/** Sign-in of the visitors of a site. Source: docs/platform-notes.md#visitor-authentication */
export const visitorAuthField: Field = {
  ...access(schema, ({ fields: { visitorAuth } }) =>
    isObject(visitorAuth)
      ? [
          {
            who: 'visitors who sign in',
            role: `signs in through ${MEMBERS.map((name) => words(name, visitorAuth[name]))
              .filter(Boolean)
              .join(', ')}`,
          },
        ]
      : [],
  ),
  isListed: false,
  unsupportedNote: 'visitorAuth was not compared: the platform does not return that of this site',
  part: compare,
  // Of a site that other visitors read, only what somebody has set.
  toEntry: (value, _context, { fields: { visibility } }) => {
    const set = Object.entries(isObject(value) ? value : {}).filter(([, member]) => member !== null);
    const isSet = set.length > 1 || set[0]?.[1] === 'integration';
    return visibility === 'visitor-auth' || isSet ? Object.fromEntries(set) : undefined;
  },
};

function words(name: string, value: unknown): string {
  return value == null ? '' : name === 'backend' ? String(value) : `${name} ${JSON.stringify(value)}`;
}

/** Compares the declared members. Without `logoutURL`, this version of the platform has none. */
function compare(declared: Json, actual: Json): PartComparison {
  const now = (isObject(actual) ? actual : {}) as JsonObject;
  const isUnsupported = (name: string) => name === 'logoutURL' && now.logoutURL === undefined;
  const members = Object.entries(declared as JsonObject).filter(([name]) => !isUnsupported(name));
  return {
    declared: Object.fromEntries(members),
    actual: Object.fromEntries(members.map(([name]) => [name, now[name] ?? null])),
    unsupported: Object.keys(declared as JsonObject).filter(isUnsupported),
  };
}

/** Reads the sign-in of visitors, without the key. Every version with `logoutURL` returns the default level of a site. */
export async function readVisitorAuth({ id, facts }: Actual, reader: Reader): Promise<Detail> {
  const answer = await unlessMissing(reader.get(operations.getSitePublishingAuthById, { path: { siteId: id } }));
  if (answer === null) {
    return {};
  }
  const { backend = null, fallbackURL = null, logoutURL = facts?.hasLevel === true ? null : undefined } = answer;
  return { fields: { visitorAuth: present({ backend, fallbackURL, logoutURL }) as Json } };
}

/** Returns the requests that change the sign-in of visitors. A new site does not show whether it can have `logoutURL`. */
export function visitorAuthWrites(
  path: { readonly siteId: Ref },
  change: Change,
  declared: Json,
): readonly PlannedRequest[] {
  const { logoutURL, ...rest } = declared as JsonObject;
  const write = (body: JsonObject, more?: Partial<Pick<PlannedRequest, 'sets' | 'tolerates'>>) =>
    request(operations.updateSitePublishingAuthById, { path, body: body as never }, more);
  if (logoutURL === undefined || change.action === 'create') {
    const later = logoutURL == null ? [] : [write({ ...rest, logoutURL }, { sets: ['visitorAuth'], tolerates: [400] })];
    return [write(rest), ...later];
  }
  return [write(compare(declared, change.actual.visitorAuth ?? null).declared as JsonObject)];
}
