import { z } from 'zod';
import { type Answer, created, noContent, ok } from '../answers.ts';
import { refuseLocked } from '../change-request-work.ts';
import { contentOf, type Place } from '../content.ts';
import {
  CONTENT_FAMILIES,
  type ContentFamily,
  type ContentParams,
  fileAt,
  pageAt,
  placeAt,
} from '../content-family.ts';
import { templateParams } from '../content-ref.ts';
import { callingUser, changeRequestOf, referenced, spaceAt } from '../lookup.ts';
import { type Call, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { flag, id, listQuery } from '../schema.ts';
import { applyTemplate } from '../template.ts';
import { type PageOptions, viewFile, viewPage, viewPages, WHOLE } from '../views/page.ts';
import { viewRevision } from '../views/revision.ts';

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
    format: query.format ?? WHOLE.format,
    metadata: query.metadata ?? WHOLE.metadata,
    computed: query.computed ?? WHOLE.computed,
    evaluated: query.evaluated ?? WHOLE.evaluated,
    dereferenced: query.dereferenced ?? WHOLE.dereferenced,
  };
}

const paramsOf = (call: { readonly params: object }) => call.params as ContentParams;

function revisionOperations({ base, name }: ContentFamily): readonly Operation[] {
  return [
    operation({
      name: `get${name}Revision`,
      method: 'GET',
      path: `${base}/content`,
      query: revisionQuery,
      handle: (call) => ok(viewRevision(call, placeAt(call, paramsOf(call)), optionsOf(call.query))),
    }),
    operation({
      name: `list${name}Pages`,
      method: 'GET',
      path: `${base}/content/pages`,
      query: revisionQuery,
      handle: (call) => ok({ pages: viewPages(call, placeAt(call, paramsOf(call)), optionsOf(call.query)) }),
    }),
    operation({
      name: `get${name}Page`,
      method: 'GET',
      path: `${base}/content/page/{pageId}`,
      query: pageQuery,
      handle: (call) => {
        const place = placeAt(call, paramsOf(call));
        const page = pageAt(call, place, paramsOf(call).pageId ?? '');
        return ok(viewPage(call, place, page, optionsOf(call.query)));
      },
    }),
  ];
}

function fileOperations({ base, name }: ContentFamily): readonly Operation[] {
  return [
    operation({
      name: `list${name}Files`,
      method: 'GET',
      path: `${base}/content/files`,
      query: filesQuery,
      handle: (call) => {
        const place = placeAt(call, paramsOf(call));
        const { files } = contentOf(call.store, place);
        return listBySeq(call, files, (file) => viewFile(call, place, file, optionsOf(call.query)));
      },
    }),
    operation({
      name: `get${name}File`,
      method: 'GET',
      path: `${base}/content/files/{fileId}`,
      query: revisionQuery,
      handle: (call) => {
        const place = placeAt(call, paramsOf(call));
        return ok(viewFile(call, place, fileAt(call, place, paramsOf(call).fileId ?? ''), optionsOf(call.query)));
      },
    }),
  ];
}

const templateBody = z.strictObject({ id, params: templateParams.optional(), changeRequestId: id.optional() });

/** Into the change request, where one is named, else into the space; 403 where the space is locked. */
function templateContent(
  call: Call<'/spaces/{spaceId}/content/template', unknown, z.output<typeof templateBody>>,
): Answer {
  const { store, body } = call;
  const space = spaceAt(store, call.params.spaceId);
  refuseLocked(space);
  const name = body.changeRequestId;
  const place: Place =
    name === undefined
      ? { space }
      : {
          space,
          changeRequest: referenced(
            changeRequestOf(store, space.id, name),
            'body.changeRequestId',
            'change request',
            name,
          ),
        };
  applyTemplate(call, place, body, callingUser(store, call.caller)?.id);
  return call.features.templateCreates ? created(undefined) : noContent();
}

/** Operations on the content of spaces and change requests. Source: docs/platform-notes.md#content */
export const contentOperations: readonly Operation[] = [
  ...CONTENT_FAMILIES.flatMap((family) => [...revisionOperations(family), ...fileOperations(family)]),
  operation({
    name: 'applySpaceTemplate',
    method: 'POST',
    path: '/spaces/{spaceId}/content/template',
    body: templateBody,
    handle: templateContent,
  }),
];
