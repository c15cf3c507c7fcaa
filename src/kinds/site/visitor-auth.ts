/** Sign-in of the visitors of a site. The key that signs their tokens is never kept. */
import { z } from 'zod';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
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
  part: (declared, actual) => {
    const now = isObject(actual) ? actual : {};
    const names = Object.keys(declared as JsonObject);
    return {
      declared,
      actual: Object.fromEntries(names.map((name) => [name, (now[name] ?? null) as Json])),
      unsupported: [],
    };
  },
  toEntry: (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : undefined,
};

function words(name: string, value: unknown): string {
  return value == null ? '' : name === 'backend' ? String(value) : `${name} ${JSON.stringify(value)}`;
}

/** Reads how visitors sign in to a site, without the key. */
export async function readVisitorAuth({ id }: { readonly id: string }, reader: Reader): Promise<Detail> {
  const answer = await unlessMissing(reader.get(operations.getSitePublishingAuthById, { path: { siteId: id } }));
  return answer === null
    ? {}
    : { fields: { visitorAuth: Object.fromEntries(MEMBERS.map((name) => [name, answer[name] ?? null])) } };
}

/** Returns the request that changes how visitors sign in. */
export function visitorAuthWrite(path: { readonly siteId: Ref }, declared: Json): PlannedRequest {
  return request(operations.updateSitePublishingAuthById, { path, body: declared as never });
}
