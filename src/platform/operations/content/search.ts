// Operations that search pages in a space or an organization.

import * as z from 'zod';
import { list } from '../model/operation.ts';
import { optionalText, string, text, urls } from '../model/shapes.ts';

const sections = z
  .array(z.looseObject({ id: optionalText, title: optionalText, path: optionalText, body: optionalText, urls }))
  .nullish();
const page = z.looseObject({
  id: string,
  title: optionalText,
  path: optionalText,
  sections,
  ancestors: z.array(z.looseObject({ title: optionalText })).nullish(),
  urls,
});
/** A space with the pages of it that were found. */
const spaceFound = z.looseObject({ id: string, title: optionalText, pages: z.array(page).nullish() });

/** The query is required. Source: docs/platform-notes.md#limits */
const filters = { query: text(1, 512) };
const options = { class: 'search' } as const;

/** Search, best first. */
export const searchOperations = {
  searchOrganization: list(
    'searchOrganization',
    "Searches the organization's spaces.",
    '/v1/orgs/{organizationId}/search',
    spaceFound,
    filters,
    options,
  ),
  searchSpace: list('searchSpace', 'Searches a space.', '/v1/spaces/{spaceId}/search', page, filters, options),
};
