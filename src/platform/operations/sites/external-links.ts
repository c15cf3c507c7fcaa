import * as z from 'zod';
import { remove, write } from '../model/operation.ts';
import { givenFlag, givenText, optionalFlag, optionalText, string, text, url } from '../model/shapes.ts';

/* External links in a site's structure, from 0.201. Source: docs/platform-notes.md#external-links */

const externalLink = z.looseObject({
  id: string,
  title: optionalText,
  url: optionalText,
  description: optionalText,
  icon: optionalText,
  draft: optionalFlag,
  condition: optionalText,
});
const title = text(2, 128);
const rest = {
  description: text(0, 256).nullable().optional(),
  icon: text(0, 50).nullable().optional(),
  draft: givenFlag,
  condition: text(0, 1024).nullable().optional(),
};
const all = '/v1/orgs/{organizationId}/sites/{siteId}/external-links';
const one = `${all}/{siteExternalLinkId}` as const;

/** Operations on external links in the structure of a site. */
export const externalLinkOperations = {
  createExternalLink: write('createExternalLink', 'Adds an external link to a docs site (0.201).', 'POST', all, {
    body: z.strictObject({ title, url, ...rest, parent: givenText }),
    answer: externalLink,
    repeat: 'never',
    success: [200, 201],
  }),
  updateExternalLink: write('updateExternalLink', 'Updates an external link (0.201).', 'PATCH', one, {
    body: z.strictObject({
      title: title.optional(),
      url: url.optional(),
      ...rest,
      parent: z.string().nullable().optional(),
    }),
    answer: externalLink.optional(),
    repeat: 'idempotent',
  }),
  deleteExternalLink: remove('deleteExternalLink', 'Deletes an external link of a docs site (0.201).', one),
};
