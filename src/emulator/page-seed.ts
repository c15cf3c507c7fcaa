import { z } from 'zod';
import type { PageRecord } from './records.ts';
import { placeKey, type Store } from './store.ts';

/** A page as somebody would write it; the API has no operation for that. */
export interface PageSeed {
  readonly title: string;
  /** Such as `guides/sso`; `guides` is then above it. Of the title where it is left out. */
  readonly path?: string | undefined;
  readonly description?: string | undefined;
  /** Markdown; empty where it is left out. */
  readonly body?: string | undefined;
}

/** What the control over HTTP accepts as pages. */
export const pageSeedsSchema: z.ZodType<PageSeed[]> = z.array(
  z.strictObject({
    title: z.string(),
    path: z.string().optional(),
    description: z.string().optional(),
    body: z.string().optional(),
  }),
);

/** Writes pages into a space; one with the path of another takes its place. */
export function writePages(store: Store, space: string, seeds: readonly PageSeed[], at: string): PageRecord[] {
  return seeds.map((seed) => {
    const path = (seed.path ?? slugOf(seed.title)).replace(/^\/+|\/+$/g, '');
    const before = store.pages.one('place', placeKey(space, path));
    return store.pages.put({
      ...(before ?? store.identify('page')),
      space,
      title: seed.title,
      path,
      description: seed.description,
      body: seed.body ?? '',
      createdAt: before?.createdAt ?? at,
      updatedAt: at,
    });
  });
}

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');
  return slug === '' ? 'page' : slug;
}
