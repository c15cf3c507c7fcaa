// Operations that list links and backlinks.

import { z } from 'zod';
import type { ApiAnswer } from '../model/answers.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SPACE } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
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
import { findReferences, LINK_STATUSES, type PageReference, toReference } from './links.ts';
import { createTextContext } from './pages.ts';
import type { PageRecord } from './records.ts';
import { viewLocation, viewTarget } from './references.ts';

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

const paramsOf = (call: { readonly params: object }) => call.params as ContentParams;

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
      const place = requireContentOwner(call, paramsOf(call));
      const file = requireFile(call, place, paramsOf(call).fileId ?? '');
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

/**
 * Operations that list the links of spaces and pages, and the backlinks of files.
 * Source: docs/platform-notes.md#links-and-backlinks
 */
export const linkOperations: readonly ApiOperation[] = [
  operation('listSpaceLinks', 'GET', `${SPACE}/links`, { feature: 'linkListings', query: linksQuery }, (call) => {
    const place = requireContentOwner(call, call.params);
    return listLinks(call, place, getContent(call.store, place).pages);
  }),
  operation(
    'listSpacePageLinks',
    'GET',
    `${SPACE}/content/page/{pageId}/links`,
    { feature: 'linkListings', query: linksQuery },
    (call) => {
      const place = requireContentOwner(call, { spaceId: call.params.spaceId });
      return listLinks(call, place, [requirePage(call, place, call.params.pageId)]);
    },
  ),
  ...CONTENT_FAMILIES.map(backlinksOf),
];
