import type { Json, JsonObject } from '../../core/json.ts';
import { type Entity, placeKey, spaceKey, Table } from '../model/table.ts';
import type { ChangeRequestStatus } from '../model/vocabulary.ts';
import type { Variables } from '../spaces/records.ts';

/** Where a git synchronization found a page or file. Source: docs/platform-notes.md#content */
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
  /** The space it is in, also where it is a change request's version of it. */
  readonly space: string;
  /** `document` where it is absent. */
  readonly type?: 'document' | 'group' | 'link' | undefined;
  readonly title: string;
  /** Unique within what contains it; no slash at either end. */
  readonly path: string;
  readonly description?: string | undefined;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  /** Markdown; empty for a group and a link. */
  readonly body: string;
  /** Where a link leads: a content reference. */
  readonly target?: Json | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly hidden?: boolean | undefined;
  /** Neither found by a search nor answered from. */
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
  /** Where links find it; unique within what contains it, no slash at either end. */
  readonly path: string;
  readonly contentType: string;
  /** Its bytes, in base64. */
  readonly data: string;
  readonly dimensions?: { readonly width: number; readonly height: number } | undefined;
  readonly git?: GitBlob | undefined;
}

/** A text that pages include. */
export interface ReusableRecord extends Entity {
  readonly space: string;
  /** Unique within what contains it. */
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  readonly git?: GitBlob | undefined;
}

/** All that a space or a change request contains, each kind in the order of creation. */
export interface Content {
  readonly pages: readonly PageRecord[];
  readonly files: readonly FileRecord[];
  readonly reusableContents: readonly ReusableRecord[];
  readonly variables: Variables;
}

/** What a space contained in a revision that change requests began with or pulled; `id` is the revision's. */
export interface SnapshotRecord extends Entity {
  readonly content: Content;
}

/** What a change request contains; `id` is the change request's. */
export interface ChangeRequestContentRecord extends Entity {
  /** The snapshot of the space when the change request was created or last updated. */
  readonly base: string;
  /** What was made of it; absent while nobody changed anything. */
  readonly head?: Content | undefined;
}

/** How a revision came about. That of a new space or change request is not remembered: its parents say it all. */
export interface RevisionRecord extends Entity {
  readonly parents: readonly string[];
  readonly type: 'edits' | 'merge' | 'update';
  readonly createdAt: string;
  /** The change request whose merge it is. */
  readonly mergedFrom?: string | undefined;
  readonly git?: GitCommit | undefined;
}

/** A requested review. Source: docs/platform-notes.md#reviews */
export interface RequestedReviewer {
  readonly user: string;
  /** Absent where the token's user is nobody that the platform knows. */
  readonly requestedBy?: string | undefined;
  readonly createdAt: string;
  /** The change request's revision when it was asked for. */
  readonly revision: string;
}

/** Its organization is that of its space, wherever the space is moved to. */
export interface ChangeRequestRecord extends Entity {
  readonly space: string;
  /** Counts from 1 within the space. */
  readonly number: number;
  readonly status: ChangeRequestStatus;
  readonly subject: string;
  readonly description?: Json | undefined;
  /** Absent where the token's user is nobody that the platform knows. */
  readonly createdBy?: string | undefined;
  /** Who wrote in it besides. */
  readonly contributors?: readonly string[] | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision: string;
  readonly revisionInitial: string;
  readonly revisionMergedAncestor?: string | undefined;
  readonly revisionMerged?: string | undefined;
  readonly conversationsIssuesCluster?: string | undefined;
  /** What it was drafted for, where the platform drafted it. */
  readonly siteTopic?: { readonly site: string; readonly topic: string; readonly finding: string } | undefined;
  readonly requestedReviewers: readonly RequestedReviewer[];
}

/** Tables of what spaces and change requests contain, and of change requests. */
export function contentTables(changed: () => void) {
  return {
    pages: new Table<PageRecord, 'space' | 'place'>(
      { space: spaceKey, place: (page) => placeKey(page.space, page.path) },
      changed,
    ),
    files: new Table<FileRecord, 'space'>({ space: spaceKey }, changed),
    reusableContents: new Table<ReusableRecord, 'space'>({ space: spaceKey }, changed),
    snapshots: new Table<SnapshotRecord>({}, changed),
    changeRequestContents: new Table<ChangeRequestContentRecord>({}, changed),
    revisions: new Table<RevisionRecord>({}, changed),
    changeRequests: new Table<ChangeRequestRecord, 'space' | 'place'>(
      { space: spaceKey, place: (record) => placeKey(record.space, String(record.number)) },
      changed,
    ),
  };
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof contentTables> {}
}
