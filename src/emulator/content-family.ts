import { contentOf, type Place } from './content.ts';
import type { FileRecord, PageRecord } from './content-records.ts';
import { changeRequestAt, found, spaceAt } from './lookup.ts';
import type { Context } from './operation.ts';

/**
 * Path parameters of both families of content: of a space and of a change request.
 * Source: docs/platform-notes.md#content
 */
export interface ContentParams {
  readonly spaceId: string;
  readonly changeRequestId?: string;
  readonly pageId?: string;
  readonly fileId?: string;
}

/** One of the two families: its paths begin alike, and its operations are named alike. */
export interface ContentFamily {
  readonly base: '/spaces/{spaceId}' | '/spaces/{spaceId}/change-requests/{changeRequestId}';
  readonly name: '' | 'ChangeRequest';
}

export const CONTENT_FAMILIES: readonly ContentFamily[] = [
  { base: '/spaces/{spaceId}', name: '' },
  { base: '/spaces/{spaceId}/change-requests/{changeRequestId}', name: 'ChangeRequest' },
];

/** What the path names, or 404. */
export function placeAt({ store }: Pick<Context, 'store'>, params: ContentParams): Place {
  const space = spaceAt(store, params.spaceId);
  return params.changeRequestId === undefined
    ? { space }
    : { space, changeRequest: changeRequestAt(store, space.id, params.changeRequestId) };
}

/** The page that the path names, or 404. */
export function pageAt({ store }: Pick<Context, 'store'>, place: Place, id: string): PageRecord {
  return found(
    contentOf(store, place).pages.find((page) => page.id === id),
    'Page',
    id,
  );
}

/** The file that the path names, or 404. */
export function fileAt({ store }: Pick<Context, 'store'>, place: Place, id: string): FileRecord {
  return found(
    contentOf(store, place).files.find((file) => file.id === id),
    'File',
    id,
  );
}
