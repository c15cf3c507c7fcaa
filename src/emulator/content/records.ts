/** Records and tables of content and change requests. */

import type { Json, JsonObject } from '../../core/json.ts';
import type { ChangeRequestStatus } from '../model/schema.ts';
import { type Entity, IndexedTable, placeKey, spaceKey } from '../model/store.ts';
import type { Variables } from '../spaces/views.ts';

/** Git object that a page or file was synchronized from. Source: docs/platform-notes.md#content */
export interface GitBlob {
  readonly oid: string;
  readonly path: string;
}

/** Commit that a revision was made from. Source: docs/platform-notes.md#content */
export interface GitCommit {
  readonly oid: string;
  readonly message: string;
  readonly url?: string | undefined;
  readonly ref?: string | undefined;
}

/** Source that a page's text is computed from. Source: docs/platform-notes.md#enumerations */
export interface ComputedSource {
  readonly type: string;
  readonly props: JsonObject;
  readonly dependencies?: JsonObject | undefined;
}

/** A page. Its ancestors are the pages whose path its own begins with. */
export interface PageRecord extends Entity {
  /** The space that has the page, also for a change request's version of the page. */
  readonly space: string;
  /** `document` by default. */
  readonly type?: 'document' | 'group' | 'link' | undefined;
  readonly title: string;
  /** Unique within its space or change request; no slash at either end. */
  readonly path: string;
  readonly description?: string | undefined;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  /** Markdown; empty for a group and a link. */
  readonly body: string;
  /** Target of a link: a content reference. */
  readonly target?: Json | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly hidden?: boolean | undefined;
  /** Excluded from search and from the assistant's answers. */
  readonly noIndex?: boolean | undefined;
  readonly noRobotsIndex?: boolean | undefined;
  readonly computed?: ComputedSource | undefined;
  readonly git?: GitBlob | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An uploaded file. */
export interface FileRecord extends Entity {
  readonly space: string;
  readonly name: string;
  /** Path that links use; unique within its space or change request, no slash at either end. */
  readonly path: string;
  readonly contentType: string;
  /** Content, in base64. */
  readonly data: string;
  readonly dimensions?: { readonly width: number; readonly height: number } | undefined;
  readonly git?: GitBlob | undefined;
}

/** Reusable content, which pages include. */
export interface ReusableRecord extends Entity {
  readonly space: string;
  /** Unique within its space or change request. */
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly git?: GitBlob | undefined;
}

/** Content of a space or change request, each kind in the order of creation. */
export interface Content {
  readonly pages: readonly PageRecord[];
  readonly files: readonly FileRecord[];
  readonly reusableContents: readonly ReusableRecord[];
  readonly variables: Variables;
}

/** Content of a space in a revision that change requests were created from or updated to; `id` is the revision's. */
export interface SnapshotRecord extends Entity {
  readonly content: Content;
}

/** Content of a change request; `id` is the change request's. */
export interface ChangeRequestContentRecord extends Entity {
  /** The snapshot of the space when the change request was created or last updated. */
  readonly base: string;
  /** Content with the change request's own changes; absent if there are none. */
  readonly head?: Content | undefined;
}

/** Origin of a revision. The first revision of a space or change request is not stored, since its parents are known. */
export interface RevisionRecord extends Entity {
  readonly parents: readonly string[];
  readonly type: 'edits' | 'merge' | 'update';
  readonly createdAt: string;
  /** The change request whose merge created this revision. */
  readonly mergedFrom?: string | undefined;
  readonly git?: GitCommit | undefined;
}

/** A requested review. Source: docs/platform-notes.md#reviews */
export interface RequestedReviewer {
  readonly user: string;
  /** Absent if the token's user is unknown to the platform. */
  readonly requestedBy?: string | undefined;
  readonly createdAt: string;
  /** The change request's revision at the time of the request. */
  readonly revision: string;
}

/** A change request. Its organization is that of its space, also after a transfer. */
export interface ChangeRequestRecord extends Entity {
  readonly space: string;
  /** Counts from 1 within the space. */
  readonly number: number;
  readonly status: ChangeRequestStatus;
  readonly subject: string;
  readonly description?: Json | undefined;
  /** Absent if the token's user is unknown to the platform. */
  readonly createdBy?: string | undefined;
  /** Other users who edited it. */
  readonly contributors?: readonly string[] | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: string;
  readonly revisionInitial: string;
  readonly revisionMergedAncestor?: string | undefined;
  readonly revisionMerged?: string | undefined;
  readonly conversationsIssuesCluster?: string | undefined;
  /** The finding that the platform drafted it for. */
  readonly siteTopic?: { readonly site: string; readonly topic: string; readonly finding: string } | undefined;
  readonly requestedReviewers: readonly RequestedReviewer[];
}

/** Tables of content and change requests. */
export function contentTables() {
  return {
    pages: new IndexedTable<PageRecord, 'space' | 'place'>({
      space: spaceKey,
      place: (page) => placeKey(page.space, page.path),
    }),
    files: new IndexedTable<FileRecord, 'space'>({ space: spaceKey }),
    reusableContents: new IndexedTable<ReusableRecord, 'space'>({ space: spaceKey }),
    snapshots: new IndexedTable<SnapshotRecord>({}),
    changeRequestContents: new IndexedTable<ChangeRequestContentRecord>({}),
    revisions: new IndexedTable<RevisionRecord>({}),
    changeRequests: new IndexedTable<ChangeRequestRecord, 'space' | 'place'>({
      space: spaceKey,
      place: (record) => placeKey(record.space, String(record.number)),
    }),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof contentTables> {}
}
