/** Operations on content: reading it, its links and downloads, templates, and spaces that are created with content. */

import { z } from 'zod';
import { templateParams } from '../documents/content-reference.ts';
import { getText, parseMarkdown, walkNodes } from '../documents/markdown.ts';
import {
  type ApiAnswer,
  ApiError,
  created,
  type Download,
  found,
  noContent,
  ok,
  referenced,
} from '../model/answers.ts';
import { refuseLaterValues } from '../model/features.ts';
import {
  type ApiOperation,
  CHANGE_REQUEST,
  type Context,
  type OperationCall,
  ORGANIZATION,
  operation,
  SPACE,
} from '../model/operation.ts';
import { list, listBySeq } from '../model/paging.ts';
import { omitUndefined, withDefaults } from '../model/patch.ts';
import { editMode, emoji, flag, id, language, listQuery, text } from '../model/schema.ts';
import { findCallingUser, requireOrganization } from '../organizations/people.ts';
import { referencedParent } from '../spaces/spaces.ts';
import { requireSpace, type SpaceRecord, spaceById, viewSpace } from '../spaces/views.ts';
import {
  CONTENT_FAMILIES,
  type ContentFamily,
  type ContentOwner,
  copyContent,
  findChangeRequest,
  getContent,
  refuseLocked,
  requireContentOwner,
  requireFile,
  requirePage,
} from './content.ts';
import { templatePage, writeContent } from './edit.ts';
import { findReferences, LINK_STATUSES, type PageReference, toReference } from './links.ts';
import {
  createTextContext,
  DEFAULT_PAGE_OPTIONS,
  type PageOptions,
  renderMarkdown,
  viewFile,
  viewLocation,
  viewPage,
  viewPages,
  viewRevision,
  viewTarget,
} from './pages.ts';
import type { PageRecord } from './records.ts';

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
  return { ...DEFAULT_PAGE_OPTIONS, ...omitUndefined(query) };
}

function readOperations({ base, name }: ContentFamily): readonly ApiOperation[] {
  return [
    operation(`get${name}Content`, 'GET', `${base}/content`, { query: revisionQuery }, (call) =>
      ok(viewRevision(call, requireContentOwner(call), optionsOf(call.query))),
    ),
    operation(`get${name}Pages`, 'GET', `${base}/content/pages`, { query: revisionQuery }, (call) =>
      ok({ pages: viewPages(call, requireContentOwner(call), optionsOf(call.query)) }),
    ),
    operation(`get${name}Page`, 'GET', `${base}/content/page/{pageId}`, { query: pageQuery }, (call) => {
      const place = requireContentOwner(call);
      const page = requirePage(call, place, call.params.pageId);
      return ok(viewPage(call, place, page, optionsOf(call.query)));
    }),
    operation(`list${name}Files`, 'GET', `${base}/content/files`, { query: filesQuery }, (call) => {
      const place = requireContentOwner(call);
      const { files } = getContent(call.store, place);
      return listBySeq(call, files, (_, file) => viewFile(call, place, file, optionsOf(call.query)));
    }),
    operation(`get${name}File`, 'GET', `${base}/content/files/{fileId}`, { query: revisionQuery }, (call) => {
      const place = requireContentOwner(call);
      return ok(viewFile(call, place, requireFile(call, place, call.params.fileId), optionsOf(call.query)));
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
  writeContent(call, place, { pages: [templatePage(call, place, body)] }, findCallingUser(call)?.id);
  return call.features.templateCreates ? created(undefined) : noContent();
}

/** Source: docs/platform-notes.md#filters */
const linksQuery = listQuery.extend({ status: z.enum(LINK_STATUSES).optional() });

/** A target of references, and the pages that refer to it. */
interface Link extends PageReference {
  readonly pages: readonly PageRecord[];
}

/** Returns the targets of the pages' references, once for each relation and status. */
function linksOf(context: Context, place: ContentOwner, pages: readonly PageRecord[]): Link[] {
  const scope = createTextContext(context, place);
  const links = new Map<string, Link>();
  for (const page of pages) {
    for (const reference of findReferences(context, scope, page)) {
      const key = JSON.stringify([reference.status, reference.relation, toReference(reference.target)]);
      const before = links.get(key);
      const known = before?.pages ?? [];
      links.set(key, { ...reference, pages: known.includes(page) ? known : [...known, page] });
    }
  }
  return [...links.values()];
}

function viewLink(context: Context, place: ContentOwner, link: Link): Record<string, unknown> {
  return {
    status: link.status,
    relation: link.relation,
    targetReference: viewTarget(context, place, link.target),
    locationReferences: link.pages.map((page) => viewLocation(context, place, page)),
  };
}

/**
 * Answers the list. Its statistics cover all links, regardless of the filter. Source:
 * docs/platform-notes.md#links-and-backlinks
 */
function listLinks(
  call: OperationCall<string, z.output<typeof linksQuery>>,
  place: ContentOwner,
  pages: readonly PageRecord[],
): ApiAnswer {
  const links = linksOf(call, place, pages);
  const { status } = call.query;
  const answer = list(call, {
    items: links.map((link, at) => ({ link, at })).filter(({ link }) => status === undefined || link.status === status),
    key: ({ at }) => [at, 0],
    view: (_, { link }) => viewLink(call, place, link),
  });
  // Change requests are not examined, so the count of links that they broke is 0.
  const broken = { total: links.filter((link) => link.status === 'broken').length, changeRequest: 0 };
  return { ...answer, body: { ...(answer.body as object), stats: { total: links.length, broken } } };
}

/**
 * Lists the pages that refer to a file. Documents disagree on the items, so each is both a link item and the page that
 * has the link. Source: docs/platform-notes.md#links-and-backlinks
 */
function backlinksOf({ base, name }: ContentFamily): ApiOperation {
  return operation(
    `list${name}FileBacklinks`,
    'GET',
    `${base}/content/files/{fileId}/backlinks`,
    { feature: 'linkListings', query: listQuery },
    (call) => {
      const place = requireContentOwner(call);
      const file = requireFile(call, place, call.params.fileId);
      const links = linksOf(call, place, getContent(call.store, place).pages);
      const backlinks = links
        .filter(({ target }) => target.kind === 'file' && target.file.id === file.id)
        .flatMap((link) => link.pages.map((page) => ({ ...link, pages: [page], page })));
      return list(call, {
        items: backlinks,
        key: ({ page, relation }) => [page.seq, relation === 'reference' ? 0 : 1],
        view: (_, link) => ({
          ...viewLink(call, place, link),
          ...(viewLocation(call, place, link.page) as object),
        }),
      });
    },
  );
}

/*
 * Downloads that the API links to: files, and change requests as PDF. As on the platform, an address needs no token; the
 * address of a PDF works for an hour.
 */

/** Prefix of the addresses of downloads; not part of the API. */
export const DOWNLOAD_PREFIX = '/app/';

/** Lifetime of the address of a PDF, in milliseconds. */
const PRINT_LIFE = 60 * 60 * 1000;

type DownloadContext = Omit<Context, 'caller'>;

const TEXT_BLOCKS = new Set(['paragraph', 'heading', 'code', 'tableRow']);

function linesOf(title: string, markdown: string): string[] {
  const blocks = [...walkNodes(parseMarkdown(markdown))].filter((node) => TEXT_BLOCKS.has(node.type));
  const texts = blocks.flatMap((block) =>
    (block.type === 'tableRow' ? block.children.map(getText).join(' | ') : getText(block)).split('\n'),
  );
  return [title, ...texts, ''];
}

function isPrinted(page: PageRecord, root: PageRecord | undefined, isOnly: boolean): boolean {
  return (
    page.type !== 'link' &&
    (root === undefined || page.id === root.id || (!isOnly && page.path.startsWith(`${root.path}/`)))
  );
}

function print(context: DownloadContext, spaceId: string, changeRequestId: string, query: URLSearchParams): Download {
  if (!(Date.parse(query.get('until') ?? '') > context.now)) {
    throw new ApiError(404, 'This address has expired');
  }
  const place = requireContentOwner({ ...context, params: { spaceId, changeRequestId } });
  const scope = createTextContext(context, place);
  const { pages } = getContent(context.store, place);
  const name = query.get('page');
  const named = pages.find(({ id }) => id === name);
  const root = name === null ? undefined : found(named, 'Page', name);
  const lines = pages
    .filter((page) => isPrinted(page, root, query.get('only') === 'true'))
    .flatMap((page) =>
      linesOf(page.title, renderMarkdown(scope, page, { evaluated: 'true', dereferenced: 'reusable-contents' })),
    );
  return { contentType: 'application/pdf', bytes: pdf(lines) };
}

function file(context: DownloadContext, spaceId: string, fileId: string, query: URLSearchParams): Download {
  const changeRequestId = query.get('changeRequest') ?? undefined;
  const place = requireContentOwner({ ...context, params: { spaceId, changeRequestId } });
  const { contentType, data } = requireFile(context, place, fileId);
  return { contentType, bytes: Buffer.from(data, 'base64') };
}

/** Returns the download at an address. Throws an ApiError where there is none. */
export function download(context: DownloadContext, path: string, search: string): Download {
  const [kind, space = '', id = ''] = path.slice(DOWNLOAD_PREFIX.length).split('/');
  const query = new URLSearchParams(search);
  if (kind === 'files') {
    return file(context, space, id, query);
  }
  if (kind === 'print') {
    return print(context, space, id, query);
  }
  throw new ApiError(404, 'The app is not part of the embedded platform');
}

/**
 * Returns a PDF with these lines in Helvetica on one page that is as large as they need. Characters that are not in
 * Latin-1 become question marks.
 */
export function pdf(lines: readonly string[]): Buffer {
  const texts = lines.map((line) => line.replace(/[^ -~\u00a0-\u00ff]/gu, '?').replace(/[\\()]/g, '\\$&'));
  const [width, height] = [
    lines.reduce((most, { length }) => Math.max(most, length), 0) * 10 + 100,
    lines.length * 14 + 100,
  ];
  const stream = `BT /F1 10 Tf 14 TL 50 ${height - 50} Td\n${texts.map((line) => `(${line}) Tj T*`).join('\n')}\nET`;
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Count 1 /Kids [3 0 R] >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Resources << /Font << /F1 4 0 R >> >> /Contents 5 0 R >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`);
  let length = '%PDF-1.4\n'.length;
  const offsets = objects.map((object) => {
    length += object.length;
    return `${String(length - object.length).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 6\n0000000000 65535 f \n${offsets.join('')}trailer\n<< /Size 6 /Root 1 0 R >>`;
  return Buffer.from(`%PDF-1.4\n${objects.join('')}${table}\nstartxref\n${length}\n%%EOF\n`, 'latin1');
}

/** Decision of this emulator: `only=true` requires a page. Source: docs/platform-notes.md#change-requests */
const printQuery = z
  .strictObject({ only: flag.optional(), page: z.string().optional() })
  .refine((query) => query.only !== true || query.page !== undefined, { error: 'must have a page if only is true' });

/** At most one of the ways to fill it. Source: docs/platform-notes.md#writable-fields */
const spaceCreation = z
  .strictObject({
    title: text(0, 50).optional(),
    emoji: emoji.optional(),
    parent: id.optional(),
    language: language.optional(),
    editMode: editMode.optional(),
    template: z.strictObject({ id, params: templateParams.optional() }).optional(),
    computedSource: z
      .looseObject({
        // Source: docs/platform-notes.md#enumerations
        type: z.union([
          z.enum(['builtin:openapi', 'builtin:translation']),
          z.string().regex(/^integration:[^:]+:[^:]+$/),
        ]),
      })
      .optional(),
    empty: z.literal(true).optional(),
  })
  .refine((body) => [body.template, body.computedSource, body.empty].filter((way) => way !== undefined).length <= 1, {
    error: 'must have at most one of template, computedSource and empty',
  });

function location(context: Context, space: SpaceRecord): string {
  return `${context.base}/v1/spaces/${space.id}`;
}

/** Operations on the content of spaces and change requests, and the creation of spaces with content. */
export const contentOperations: readonly ApiOperation[] = [
  // The content of spaces and change requests. Source: docs/platform-notes.md#content
  ...CONTENT_FAMILIES.flatMap(readOperations),
  operation('applySpaceTemplate', 'POST', `${SPACE}/content/template`, { body: templateBody }, templateContent),
  // Links of spaces and pages, and backlinks of files. Source: docs/platform-notes.md#links-and-backlinks
  operation('listSpaceLinks', 'GET', `${SPACE}/links`, { feature: 'linkListings', query: linksQuery }, (call) => {
    const place = requireContentOwner(call);
    return listLinks(call, place, getContent(call.store, place).pages);
  }),
  operation(
    'listSpacePageLinks',
    'GET',
    `${SPACE}/content/page/{pageId}/links`,
    { feature: 'linkListings', query: linksQuery },
    (call) => {
      const place = requireContentOwner(call);
      return listLinks(call, place, [requirePage(call, place, call.params.pageId)]);
    },
  ),
  ...CONTENT_FAMILIES.map(backlinksOf),
  // A change request as PDF: all pages, or one page with its child pages. Source: docs/platform-notes.md#change-requests
  operation('getChangeRequestPdf', 'GET', `${CHANGE_REQUEST}/pdf`, { query: printQuery }, (call) => {
    const place = requireContentOwner(call);
    const { page, only } = call.query;
    const parameters = new URLSearchParams({
      ...(page === undefined ? {} : { page: requirePage(call, place, page).id }),
      ...(only === true ? { only: 'true' } : {}),
      until: new Date(call.now + PRINT_LIFE).toISOString(),
    });
    return ok({ url: `${call.base}/app/print/${place.space.id}/${place.changeRequest?.id ?? ''}?${parameters}` });
  }),
  // Creation of spaces with content. Source: docs/platform-notes.md#spaces
  operation(
    'createSpace',
    'POST',
    `${ORGANIZATION}/spaces`,
    { feature: 'spaceCreation', body: spaceCreation.optional() },
    (call) => {
      const { store, body } = call;
      const organization = requireOrganization(call);
      refuseLaterValues(call, 'traditionalChinese', [body?.language], 'body.language');
      if (body?.parent !== undefined) {
        referencedParent(store, organization.id, body.parent);
      }
      const identity = store.identify('spc');
      const made: SpaceRecord = {
        ...identity,
        rank: identity.seq,
        organization: organization.id,
        title: body?.title ?? 'Untitled',
        emoji: body?.emoji,
        parent: body?.parent,
        language: body?.language,
        editMode: body?.editMode ?? 'live',
        defaultLevel: null,
        mergeRules: { type: 'inherit' },
        createdAt: call.at,
        updatedAt: call.at,
        revision: store.identify('rev').id,
      };
      const space = withDefaults(made, body, call.defaults.space);
      const pages = body?.template === undefined ? [] : [templatePage(call, { space }, body.template)];
      store.spaces.put(space);
      if (pages.length > 0) {
        writeContent(call, { space }, { pages });
      }
      return created(viewSpace(call, spaceById(store, space.id)), location(call, space));
    },
  ),
  operation('duplicateSpace', 'POST', `${SPACE}/duplicate`, {}, (call) => {
    const { store } = call;
    const space = requireSpace(call);
    const identity = store.identify('spc');
    const copy = store.spaces.put({
      ...space,
      ...identity,
      rank: identity.seq,
      createdAt: call.at,
      updatedAt: call.at,
      revision: store.identify('rev').id,
    });
    copyContent(store, space, copy);
    return created(viewSpace(call, copy), location(call, copy));
  }),
];
