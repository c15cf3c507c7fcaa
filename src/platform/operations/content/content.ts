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
      `The active revision of ${subject}: pages, files and all.`,
      content,
      revision,
      inScope,
    ),
    pages: read(
      `get${on}Pages`,
      `The pages of ${subject}, as a tree.`,
      `${content}/pages`,
      z.looseObject({ pages: z.array(contentPage) }),
      inScope,
    ),
    files: list(`list${on}Files`, `The files of ${subject}.`, `${content}/files`, file, scope),
    file: read(`get${on}File`, `A file of ${subject}.`, `${content}/files/{fileId}`, file, inScope),
    backlinks: list(
      `list${on}FileBacklinks`,
      `What links to a file of ${subject}.`,
      `${content}/files/{fileId}/backlinks`,
      link,
    ),
    page: read(`get${on}Page`, `A page of ${subject}.`, `${content}/page/{pageId}`, contentPage, { query: pageQuery }),
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
    'Links on a page of a space.',
    '/v1/spaces/{spaceId}/content/page/{pageId}/links',
    link,
    linkFilters,
  ),
  listSpaceLinks: list(
    'listSpaceLinks',
    'Links in a space, with how many are broken.',
    '/v1/spaces/{spaceId}/links',
    link,
    linkFilters,
  ),
  // It is not documented whether a template can be applied twice.
  applySpaceTemplate: write(
    'applySpaceTemplate',
    'Applies a template to a space, or to a change request of it.',
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
    'Where a change request, or a page of it, is to be had as PDF.',
    '/v1/spaces/{spaceId}/change-requests/{changeRequestId}/pdf',
    z.looseObject({ url: string }),
    { query: z.strictObject({ page: givenText, only: givenFlag }) },
  ),
};
