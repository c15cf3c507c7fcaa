// Operations on the content of a space and of a change request: pages, links, templates and PDF files.

import * as z from 'zod';
import { list, read, write } from '../model/operation.ts';
import { format, givenFlag, givenText, string } from '../model/shapes.ts';
import { contentPage, file, link, revision, templateParams } from './content-shapes.ts';

/** Both default to true. Source: docs/platform-notes.md#content */
const scope = { metadata: givenFlag, computed: givenFlag };
const inScope = { query: z.strictObject(scope) };
const pageQuery = z.strictObject({
  format,
  evaluated: z.union([z.boolean(), z.literal('deterministic-only')]).optional(),
  /** Not in every version. Source: docs/platform-notes.md#content */
  dereferenced: z.union([z.boolean(), z.literal('reusable-contents')]).optional(),
  ...scope,
});
/** Source: docs/platform-notes.md#filters */
const linkFilters = { status: z.enum(['ok', 'broken', 'in-app']).optional() };

/**
 * Returns the operations on content, which are the same for a space and for a change request.
 * Source: docs/platform-notes.md#content
 */
function contentFamily<const Base extends string>(on: 'Space' | 'ChangeRequest', base: Base) {
  const subject = on === 'Space' ? 'a space' : 'a change request';
  const content = `${base}/content` as const;
  return {
    revision: read(
      `get${on}Content`,
      `Returns the active revision of ${subject}, with all pages and files.`,
      content,
      revision,
      inScope,
    ),
    pages: read(
      `get${on}Pages`,
      `Returns the pages of ${subject} as a tree.`,
      `${content}/pages`,
      z.looseObject({ pages: z.array(contentPage) }),
      inScope,
    ),
    files: list(`list${on}Files`, `Lists the files of ${subject}.`, `${content}/files`, file, scope),
    file: read(`get${on}File`, `Returns a file of ${subject}.`, `${content}/files/{fileId}`, file, inScope),
    backlinks: list(
      `list${on}FileBacklinks`,
      `Lists the links to a file of ${subject}.`,
      `${content}/files/{fileId}/backlinks`,
      link,
    ),
    page: read(`get${on}Page`, `Returns a page of ${subject}.`, `${content}/page/{pageId}`, contentPage, {
      query: pageQuery,
    }),
  };
}

const ofSpace = contentFamily('Space', '/v1/spaces/{spaceId}');

/** Operations on the content of spaces. */
export const spaceContentOperations = {
  getSpaceContent: ofSpace.revision,
  getSpacePages: ofSpace.pages,
  listSpaceFiles: ofSpace.files,
  getSpaceFile: ofSpace.file,
  listSpaceFileBacklinks: ofSpace.backlinks,
  getSpacePage: ofSpace.page,
  listSpacePageLinks: list(
    'listSpacePageLinks',
    'Lists the links on a page of a space.',
    '/v1/spaces/{spaceId}/content/page/{pageId}/links',
    link,
    linkFilters,
  ),
  listSpaceLinks: list(
    'listSpaceLinks',
    'Lists the links in a space, with the number of broken ones.',
    '/v1/spaces/{spaceId}/links',
    link,
    linkFilters,
  ),
  // It is not documented whether a template can be applied twice.
  applySpaceTemplate: write(
    'applySpaceTemplate',
    'Applies a template to a space, or to one of its change requests.',
    'POST',
    '/v1/spaces/{spaceId}/content/template',
    {
      body: z.strictObject({
        id: string,
        params: templateParams,
        /** Not in every version. Source: docs/platform-notes.md#content */
        changeRequestId: givenText,
      }),
      repeat: 'never',
      success: [200, 201, 204],
    },
  ),
};

const ofChangeRequest = contentFamily('ChangeRequest', '/v1/spaces/{spaceId}/change-requests/{changeRequestId}');

/** Operations on the content of change requests. */
export const changeRequestContentOperations = {
  getChangeRequestContent: ofChangeRequest.revision,
  getChangeRequestPages: ofChangeRequest.pages,
  listChangeRequestFiles: ofChangeRequest.files,
  getChangeRequestFile: ofChangeRequest.file,
  listChangeRequestFileBacklinks: ofChangeRequest.backlinks,
  getChangeRequestPage: ofChangeRequest.page,
  getChangeRequestPdf: read(
    'getChangeRequestPdf',
    'Returns the URL of a change request, or one of its pages, as PDF.',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/pdf',
    z.looseObject({ url: string }),
    { query: z.strictObject({ page: givenText, only: givenFlag }) },
  ),
};
