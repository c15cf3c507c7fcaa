import { spaceContent } from '../content.ts';
import { organizationAt, spaceAt } from '../lookup.ts';
import { type Operation, operation } from '../operation.ts';
import { asRead } from '../page-text.ts';
import { list } from '../paging.ts';
import { listQuery, text } from '../schema.ts';
import { type PageHit, searchPages } from '../search.ts';
import { viewPageHit } from '../views/page.ts';

/** An empty query is rejected, since it is required. Source: docs/platform-notes.md#limits */
const searchQuery = listQuery.extend({ query: text(1, 512) });

/** An organization's result shows so many pages of a space. */
const PAGES_PER_SPACE = 10;

/** The order of what was found is what pages of a list go by, so that a list can start after any of it. */
const best = (hit: PageHit | undefined) => -(hit?.score ?? 0);

/** Operations that search pages. Source: docs/platform-notes.md#search */
export const searchOperations: readonly Operation[] = [
  operation({
    name: 'searchOrganization',
    method: 'GET',
    path: '/orgs/{organizationId}/search',
    query: searchQuery,
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const spaces = store.spaces.by('organization', organization.id);
      const hits = searchPages(
        spaces.flatMap((space) => asRead(spaceContent(store, space))),
        call.query.query,
      );
      const bySpace = Map.groupBy(hits, (hit) => hit.page.space);
      return list(call, {
        items: spaces
          .flatMap((space) => ({ space, pages: bySpace.get(space.id) ?? [] }))
          .filter((item) => item.pages.length > 0),
        key: ({ space, pages }) => [best(pages[0]), space.seq],
        view: ({ space, pages }) => ({
          id: space.id,
          title: space.title,
          pages: pages.slice(0, PAGES_PER_SPACE).map((hit) => viewPageHit(call, hit)),
        }),
      });
    },
  }),
  operation({
    name: 'searchSpace',
    method: 'GET',
    path: '/spaces/{spaceId}/search',
    query: searchQuery,
    handle: (call) => {
      const space = spaceAt(call.store, call.params.spaceId);
      return list(call, {
        items: searchPages(asRead(spaceContent(call.store, space)), call.query.query),
        key: (hit) => [best(hit), hit.page.seq],
        view: (hit) => viewPageHit(call, hit),
      });
    },
  }),
];
