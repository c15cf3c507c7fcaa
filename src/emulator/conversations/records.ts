/** Records and tables of conversations, issues and clusters. */

import { z } from 'zod';
import { PART_ROLES, text } from '../model/schema.ts';
import { type Entity, IndexedTable, type Run, runningKey } from '../model/store.ts';

export const WEEK = 7 * 24 * 60 * 60 * 1000;

/** Number of weeks in a cluster's `weeklyPulse`: three months. */
export const WEEKS = 13;

/** RFC 3339: a time zone and seconds are required. */
export const dateTime = z.iso
  .datetime({ offset: true, error: 'must be a date-time' })
  .refine((value) => /T\d\d:\d\d:\d\d/.test(value), { error: 'must be a date-time' });

const anyUrl = text(1, 2048).refine((value) => URL.canParse(value), { error: 'must be a URL' });

/** A conversation to ingest. Source: docs/platform-notes.md#conversations */
export const conversationInput = z.strictObject({
  id: text(1, 255),
  subject: text(0, 512).optional(),
  parts: z.array(z.strictObject({ type: z.literal('message'), role: z.enum(PART_ROLES), body: z.string() })),
  metadata: z
    .strictObject({
      url: anyUrl.optional(),
      attributes: z.record(z.string(), z.string()).optional(),
      createdAt: dateTime.optional(),
    })
    .optional(),
});

export type ConversationInput = z.output<typeof conversationInput>;

/** Content of an ingested conversation, without its id. */
export type ConversationContent = Readonly<Omit<ConversationInput, 'id'>>;

/** Further content of a context record. Source: docs/platform-notes.md#context-records */
export interface RecordContent {
  readonly type: 'ticket' | 'document';
  readonly description?: string | undefined;
  readonly metadata?: Readonly<Record<string, string | number>> | undefined;
}

/** `externalId` is the id that was sent: unique within its source, and therefore not the conversation's `id` here. */
export interface ConversationRecord extends Entity {
  readonly organization: string;
  /** Set for a context record of this site, which is processed into the site's topics. */
  readonly site?: string | undefined;
  readonly record?: RecordContent | undefined;
  readonly source: string;
  readonly externalId: string;
  readonly content: ConversationContent;
  /** The time that was sent; otherwise when it was first received. */
  readonly createdAt: string;
  /** Time at which this content was received. */
  readonly ingestedAt: string;
  /** Number of times that it was received. */
  readonly received: number;
  /** Number of times that it was received without a change. */
  readonly repeats: number;
  /** Set until it is processed into an issue. */
  readonly run: Run | null;
  readonly processedAt?: string | undefined;
}

/** Weight of each word stem: whole numbers, so that additions and removals are exact. */
export type Terms = Readonly<Record<string, number>>;

/** Source: docs/platform-notes.md#enumerations */
export type Impact = 'low' | 'medium' | 'high';

/** Status of a finding of a site. Source: docs/platform-notes.md#findings */
export type FindingStatus = 'candidate' | 'open' | 'done' | 'canceled';

/** An issue. Each conversation with a text has one. */
export interface IssueRecord extends Entity {
  readonly organization: string;
  /** Set for a finding of this site, which belongs to a context record. */
  readonly site?: string | undefined;
  /** Status of a finding; `open` by default. */
  readonly status?: FindingStatus | undefined;
  /** Set until a change request for the finding is drafted. */
  readonly run?: Run | null | undefined;
  /** The user who requested the draft; absent if unknown to the platform. */
  readonly requestedBy?: string | undefined;
  readonly conversation: string;
  /** Absent while no other issue is similar. */
  readonly cluster?: string | undefined;
  readonly title: string;
  readonly excerpt: string;
  readonly impact: Impact;
  readonly terms: Terms;
  readonly createdAt: string;
  readonly ingestedAt: string;
}

/** A cluster. Everything else is computed from its issues, including the label and impact if they are not set. */
export interface ClusterRecord extends Entity {
  readonly organization: string;
  /** Set for a topic of this site. */
  readonly site?: string | undefined;
  readonly label?: string | undefined;
  readonly impact?: Impact | undefined;
  readonly muted: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Returns the scope within which records are compared: the site of a site's records, otherwise the organization. */
export function getScope({ site, organization }: Pick<ClusterRecord, 'site' | 'organization'>): string {
  return site ?? organization;
}

/**
 * Returns the organization of a record, unless the record belongs to a site.
 * Source: docs/platform-notes.md#context-records
 */
const ownOf = ({ organization, site }: Pick<ClusterRecord, 'site' | 'organization'>) =>
  site === undefined ? organization : undefined;
const siteOf = ({ site }: Pick<ClusterRecord, 'site'>) => site;

/** Tables of conversations and context records, issues and clusters. */
export function conversationTables() {
  return {
    conversations: new IndexedTable<ConversationRecord, 'organization' | 'site' | 'origin' | 'running'>({
      organization: ownOf,
      site: siteOf,
      origin: (record) => originKey(getScope(record), record.source, record.externalId),
      running: runningKey,
    }),
    conversationIssues: new IndexedTable<IssueRecord, 'organization' | 'site' | 'cluster' | 'conversation' | 'running'>(
      {
        organization: ownOf,
        site: siteOf,
        cluster: (issue) => issue.cluster,
        conversation: (issue) => issue.conversation,
        running: runningKey,
      },
    ),
    issuesClusters: new IndexedTable<ClusterRecord, 'organization' | 'site'>({ organization: ownOf, site: siteOf }),
  };
}

/**
 * Returns the key by which a record is unique: a conversation's id is unique within its source, a context record's
 * within its site. Source: docs/platform-notes.md#conversations
 */
export function originKey(scope: string, source: string, externalId: string): string {
  return JSON.stringify([scope, source, externalId]);
}

declare module '../model/store.ts' {
  interface Tables extends ReturnType<typeof conversationTables> {}
}
