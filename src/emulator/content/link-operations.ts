// Operations that list links and backlinks.

import { z } from 'zod';
import type { Answer } from '../model/answers.ts';
import { type Call, type Context, type Operation, operation, SPACE } from '../model/operation.ts';
import { list } from '../model/paging.ts';
import { listQuery } from '../model/schema.ts';
import {
  CONTENT_FAMILIES,
  type ContentFamily,
  type ContentParams,
  contentOf,
  fileAt,
  type Place,
  pageAt,
  placeAt,
} from './content.ts';
import { LINK_STATUSES, type Reference, referencesOf, refOf } from './links.ts';
import { surroundings } from './pages.ts';
import type { PageRecord } from './records.ts';
import { viewLocation, viewTarget } from './references.ts';

/** Source: docs/platform-notes.md#filters */
const linksQuery = listQuery.extend({ status: z.enum(LINK_STATUSES).optional() });

/** A target of references, and the pages that refer to it. */
interface Link extends Reference {
  readonly pages: readonly PageRecord[];
}

/** Returns the targets of the pages' references, once for each relation and status. */
function linksOf(context: Context, place: Place, pages: readonly PageRecord[]): Link[] {
  const around = surroundings(context, place);
  const links = new Map<string, Link>();
  for (const page of pages) {
    for (const reference of referencesOf(context, around, page)) {
      const key = JSON.stringify([reference.status, reference.relation, refOf(reference.target)]);
      const before = links.get(key);
      const known = before?.pages ?? [];
      links.set(key, { ...reference, pages: known.includes(page) ? known : [...known, page] });
    }
  }
  return [...links.values()];
}

function viewLink(context: Context, place: Place, link: Link): Record<string, unknown> {
  return {
    status: link.status,
    relation: link.relation,
    targetReference: viewTarget(context, place, link.target),
    locationReferences: link.pages.map((page) => viewLocation(context, place, page)),
  };
}

/**
 * Answers the list, with statistics of all links whatever the filter.
 * Source: docs/platform-notes.md#links-and-backlinks
 */
function listLinks(
  call: Call<string, z.output<typeof linksQuery>>,
  place: Place,
  pages: readonly PageRecord[],
): Answer {
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
function backlinksOf({ base, name }: ContentFamily): Operation {
  return operation(
    `list${name}FileBacklinks`,
    'GET',
    `${base}/content/files/{fileId}/backlinks`,
    { feature: 'linkListings', query: listQuery },
    (call) => {
      const place = placeAt(call, paramsOf(call));
      const file = fileAt(call, place, paramsOf(call).fileId ?? '');
      const links = linksOf(call, place, contentOf(call.store, place).pages);
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
export const linkOperations: readonly Operation[] = [
  operation('listSpaceLinks', 'GET', `${SPACE}/links`, { feature: 'linkListings', query: linksQuery }, (call) => {
    const place = placeAt(call, call.params);
    return listLinks(call, place, contentOf(call.store, place).pages);
  }),
  operation(
    'listSpacePageLinks',
    'GET',
    `${SPACE}/content/page/{pageId}/links`,
    { feature: 'linkListings', query: linksQuery },
    (call) => {
      const place = placeAt(call, { spaceId: call.params.spaceId });
      return listLinks(call, place, [pageAt(call, place, call.params.pageId)]);
    },
  ),
  ...CONTENT_FAMILIES.map(backlinksOf),
];
