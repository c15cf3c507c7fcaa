// Operations that read the content of spaces and change requests, and apply templates.

import { z } from 'zod';
import { templateParams } from '../documents/content-reference.ts';
import { type ApiAnswer, created, noContent, ok, referenced } from '../model/answers.ts';
import { type ApiOperation, type OperationCall, operation, SPACE } from '../model/operation.ts';
import { listBySeq } from '../model/paging.ts';
import { flag, id, listQuery } from '../model/schema.ts';
import { findCallingUser } from '../organizations/people.ts';
import { requireSpace } from '../spaces/views.ts';
import { findChangeRequest, refuseLocked } from './change-request.ts';
import {
  CONTENT_FAMILIES,
  type ContentFamily,
  type ContentOwner,
  type ContentParams,
  getContent,
  requireContentOwner,
  requireFile,
  requirePage,
} from './content.ts';
import { DEFAULT_PAGE_OPTIONS, type PageOptions, viewFile, viewPage, viewPages } from './pages.ts';
import { viewRevision } from './references.ts';
import { applyTemplate } from './template.ts';

/** Both default to true. Source: docs/platform-notes.md#content */
const revisionFields = { metadata: flag.optional(), computed: flag.optional() };
const revisionQuery = z.strictObject(revisionFields);
const filesQuery = listQuery.extend(revisionFields);

/** Without a format the text is Markdown. Source: docs/platform-notes.md#content */
const pageQuery = z.strictObject({
  ...revisionFields,
  format: z.enum(['document', 'markdown']).optional(),
  evaluated: z.enum(['true', 'false', 'deterministic-only']).optional(),
  dereferenced: z.enum(['true', 'false', 'reusable-contents']).optional(),
});

function optionsOf(query: z.output<typeof pageQuery>): PageOptions {
  return {
    format: query.format ?? DEFAULT_PAGE_OPTIONS.format,
    metadata: query.metadata ?? DEFAULT_PAGE_OPTIONS.metadata,
    computed: query.computed ?? DEFAULT_PAGE_OPTIONS.computed,
    evaluated: query.evaluated ?? DEFAULT_PAGE_OPTIONS.evaluated,
    dereferenced: query.dereferenced ?? DEFAULT_PAGE_OPTIONS.dereferenced,
  };
}

const paramsOf = (call: { readonly params: object }) => call.params as ContentParams;

function revisionOperations({ base, name }: ContentFamily): readonly ApiOperation[] {
  return [
    operation(`get${name}Content`, 'GET', `${base}/content`, { query: revisionQuery }, (call) =>
      ok(viewRevision(call, requireContentOwner(call, paramsOf(call)), optionsOf(call.query))),
    ),
    operation(`get${name}Pages`, 'GET', `${base}/content/pages`, { query: revisionQuery }, (call) =>
      ok({ pages: viewPages(call, requireContentOwner(call, paramsOf(call)), optionsOf(call.query)) }),
    ),
    operation(`get${name}Page`, 'GET', `${base}/content/page/{pageId}`, { query: pageQuery }, (call) => {
      const place = requireContentOwner(call, paramsOf(call));
      const page = requirePage(call, place, paramsOf(call).pageId ?? '');
      return ok(viewPage(call, place, page, optionsOf(call.query)));
    }),
  ];
}

function fileOperations({ base, name }: ContentFamily): readonly ApiOperation[] {
  return [
    operation(`list${name}Files`, 'GET', `${base}/content/files`, { query: filesQuery }, (call) => {
      const place = requireContentOwner(call, paramsOf(call));
      const { files } = getContent(call.store, place);
      return listBySeq(call, files, (_, file) => viewFile(call, place, file, optionsOf(call.query)));
    }),
    operation(`get${name}File`, 'GET', `${base}/content/files/{fileId}`, { query: revisionQuery }, (call) => {
      const place = requireContentOwner(call, paramsOf(call));
      return ok(viewFile(call, place, requireFile(call, place, paramsOf(call).fileId ?? ''), optionsOf(call.query)));
    }),
  ];
}

const templateBody = z.strictObject({ id, params: templateParams.optional(), changeRequestId: id.optional() });

/**
 * Applies a template to the change request in the body, or to the space if there is none. Throws a 403 if the space is
 * locked.
 */
function templateContent(
  call: OperationCall<'/spaces/{spaceId}/content/template', unknown, z.output<typeof templateBody>>,
): ApiAnswer {
  const { store, body } = call;
  const space = requireSpace(call);
  refuseLocked(space);
  const name = body.changeRequestId;
  const place: ContentOwner =
    name === undefined
      ? { space }
      : {
          space,
          changeRequest: referenced(
            findChangeRequest(store, space.id, name),
            'body.changeRequestId',
            'change request',
            name,
          ),
        };
  applyTemplate(call, place, body, findCallingUser(call)?.id);
  return call.features.templateCreates ? created(undefined) : noContent();
}

/** Operations on the content of spaces and change requests. Source: docs/platform-notes.md#content */
export const contentOperations: readonly ApiOperation[] = [
  ...CONTENT_FAMILIES.flatMap((family) => [...revisionOperations(family), ...fileOperations(family)]),
  operation('applySpaceTemplate', 'POST', `${SPACE}/content/template`, { body: templateBody }, templateContent),
];
