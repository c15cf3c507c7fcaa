/** Records and tables of content and change requests, and the seeds that content is written from. */

import { z } from 'zod';
import type { Json } from '../../core/json.ts';
import { contentRef } from '../documents/content-reference.ts';
import { type ChangeRequestStatus, emoji, icon } from '../model/schema.ts';
import { type Entity, IndexedTable, placeKey, spaceKey } from '../model/store.ts';
import type { Variables } from '../spaces/views.ts';

/** Git object that a page or file was synchronized from. Source: docs/platform-notes.md#content */
export interface GitBlob {
  readonly oid: string;
  readonly path: string;
}

const jsonObject = z.record(z.string(), z.json());

/** Source: docs/platform-notes.md#enumerations */
const computed = z.strictObject({
  type: z.union([z.enum(['builtin:openapi', 'builtin:translation']), z.string().regex(/^integration:[^:]+:[^:]+$/)]),
  props: jsonObject,
  dependencies: jsonObject.optional(),
});

const notEmpty = z.string().min(1, { error: 'must not be empty' });

const pageSeed = z
  .strictObject({
    title: notEmpty,
    /** For example `guides/sso`, which is below `guides`. Derived from the title by default. */
    path: z.string().optional(),
    /** `document` by default. */
    type: z.enum(['document', 'group', 'link']).optional(),
    description: z.string().optional(),
    emoji: emoji.optional(),
    icon: icon.optional(),
    /** Markdown; empty by default. */
    body: z.string().optional(),
    /** Target of a link; only links have one. */
    target: contentRef.optional(),
    variables: z.record(z.string(), z.string()).optional(),
    hidden: z.boolean().optional(),
    noIndex: z.boolean().optional(),
    noRobotsIndex: z.boolean().optional(),
    /** Source that the body is computed from. */
    computed: computed.optional(),
  })
  .refine((seed) => (seed.type === 'link') === (seed.target !== undefined), {
    error: 'must have a target if it is a link, and only then',
  });

const fileSeed = z
  .strictObject({
    name: notEmpty,
    /** Path that links use; `files/NAME` by default. */
    path: z.string().optional(),
    contentType: z.string().optional(),
    text: z.string().optional(),
    /** Base64, instead of a text. */
    data: z.base64().optional(),
    dimensions: z.strictObject({ width: z.number().positive(), height: z.number().positive() }).optional(),
  })
  .refine((seed) => seed.text === undefined || seed.data === undefined, {
    error: 'must have a text or data, not both',
  });

/** Markdown that pages include with `{% include "TITLE" %}`. */
const reusable = z.strictObject({ title: notEmpty, body: z.string() });

const commit = z.strictObject({
  oid: z.string(),
  message: z.string(),
  url: z.string().optional(),
  ref: z.string().optional(),
});

/** Pages that the control accepts. */
export const pageSeedsSchema = z.array(pageSeed);

/** An edit that the control accepts. */
export const contentSeedSchema = z.strictObject({
  pages: pageSeedsSchema.optional(),
  files: z.array(fileSeed).optional(),
  reusableContents: z.array(reusable).optional(),
  /** Null removes a variable; variables that are not named stay as they are. */
  variables: z.record(z.string(), z.string().max(256).nullable()).optional(),
  /** Ids of pages, files and reusable contents to remove. */
  remove: z.array(z.string()).optional(),
  /** The commit of a synchronization with git. */
  git: commit.optional(),
});

type Lists<T> = {
  readonly [K in keyof T]: T[K] extends (infer Item)[] | undefined ? readonly Item[] | undefined : T[K];
};

/** A page as an author would write it; the API has no operation for that. */
export type PageSeed = z.output<typeof pageSeed>;
/** A file as an author would upload it. */
export type FileSeed = z.output<typeof fileSeed>;
/** A reusable content. */
export type ReusableSeed = z.output<typeof reusable>;
/** An edit of the content of a space or a change request. */
export type ContentSeed = Lists<z.output<typeof contentSeedSchema>>;

/** A page. Its ancestors are the pages whose path its own begins with. */
export interface PageRecord extends Entity, Omit<Readonly<PageSeed>, 'path' | 'body'> {
  /** The space that has the page, also for a change request's version of the page. */
  readonly space: string;
  /** Unique within its space or change request; no slash at either end. */
  readonly path: string;
  /** Markdown; empty for a group and a link. */
  readonly body: string;
  readonly git?: GitBlob | undefined;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** An uploaded file. */
export interface FileRecord extends Entity, Pick<Readonly<FileSeed>, 'name' | 'dimensions'> {
  readonly space: string;
  /** Path that links use; unique within its space or change request, no slash at either end. */
  readonly path: string;
  readonly contentType: string;
  /** Content, in base64. */
  readonly data: string;
  readonly git?: GitBlob | undefined;
}

/** Reusable content, which pages include. Its title is unique within its space or change request. */
export interface ReusableRecord extends Entity, Readonly<ReusableSeed> {
  readonly space: string;
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
  readonly git?: ContentSeed['git'];
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
