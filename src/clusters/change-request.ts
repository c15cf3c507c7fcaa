/** Change requests of clusters, and the marks by which Octavo recognizes its own. */
import { createHash } from 'node:crypto';
import { isObject } from '../core/json.ts';
import { leafOf, paragraph, type RichNode, textNode, textOf } from '../platform/rich-text/node.ts';
import { cut, parseTime } from './cluster.ts';
import type { Redaction } from './redaction.ts';
import type { ChangeRequestItem } from './sources.ts';

/** A change request that belongs to a cluster, made by Octavo or by a person. */
export interface ClusterChangeRequest {
  readonly id: string;
  /** Id of the space. */
  readonly space: string;
  /** `clusterKey` of the cluster. */
  readonly cluster: string;
  /** `draft`, `open`, `merged`, `archived`, or an unknown value. */
  readonly status: string;
  readonly subject: string;
  readonly url: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** True if it was archived because another one superseded it, which is not a decision about the cluster. */
  readonly superseded: boolean;
  /** True if it was merged without any edit, so that nothing was fixed. */
  readonly isEmptyMerge: boolean;
  /** True if its description has Octavo's ownership marker. */
  readonly isDescribed: boolean;
  /** True if its subject is that of an Octavo draft. */
  readonly isDraftSubject: boolean;
}

/** Stored data about a change request, in addition to the platform's response. */
export interface KnownLink {
  readonly cluster: string;
  readonly superseded: boolean;
  /** Revision at creation; null if unknown. */
  readonly revision: string | null;
}

/** Returns whether a change request belongs to the cluster with this id. */
export function isOfCluster({ cluster }: Pick<ClusterChangeRequest, 'cluster'>, id: string): boolean {
  return cluster === clusterKey(id);
}

/**
 * Assigns a change request to its cluster, and redacts its subject: by the platform's link, the marker in the description, the stored link, or
 * the marker in a draft's subject, in this order. Null if it belongs to none. `known`: stored links by change request
 * id.
 */
export function toClusterChangeRequest(
  answer: ChangeRequestItem,
  known: ReadonlyMap<string, KnownLink>,
  redaction: Pick<Redaction, 'text'>,
): ClusterChangeRequest | null {
  // A subject may contain a label of the platform, so a description takes precedence.
  const mark = readMarker(answer.description);
  const record = known.get(answer.id);
  const subject = answer.subject ?? '';
  const inSubject = readDraftMarker(subject);
  const cluster =
    answer.conversationsIssuesCluster ||
    answer.siteTopic?.topic ||
    mark?.cluster ||
    record?.cluster ||
    (mark === null && inSubject?.cluster);
  if (!cluster) {
    return null;
  }
  const createdAt = parseTime(answer.createdAt) ?? 0;
  return {
    id: answer.id,
    space: answer.space,
    cluster: clusterKey(cluster),
    status: answer.status,
    subject: redaction.text(subject),
    url: answer.urls?.app ?? answer.urls?.location ?? null,
    createdAt,
    updatedAt: parseTime(answer.updatedAt) ?? createdAt,
    superseded:
      answer.status === 'archived' &&
      (record?.superseded === true || (mark?.superseded ?? subject.startsWith(SUBJECT))),
    isEmptyMerge: answer.status === 'merged' && isUnedited(answer, record?.revision ?? null),
    isDescribed: mark !== null,
    isDraftSubject: inSubject !== null,
  };
}

/**
 * Returns whether nothing was edited: the revision is the one at creation or the last one recorded, or the merge
 * created no new revision.
 */
function isUnedited(
  { revision, revisionInitial, revisionMergedAncestor, revisionMerged }: ChangeRequestItem,
  created: string | null,
): boolean {
  const isBase = (each: string | null | undefined) =>
    Boolean(each) && (each === revisionInitial || each === revisionMergedAncestor);
  return isBase(revision) || isBase(revisionMerged) || (Boolean(created) && revision === created);
}

/** Contents of the ownership marker in a description. */
export interface OwnershipMarker {
  /** Id of the cluster. */
  readonly cluster: string;
  /** True if another change request of the cluster superseded it, or a limit was exceeded. */
  readonly superseded: boolean;
  /** Random word that distinguishes drafts of two daemons for one cluster; null for none. */
  readonly claim: string | null;
}

const OPENED_START = 'Opened by Octavo for issue cluster ';
const SUPERSEDED_START = 'Given up by Octavo for issue cluster ';
const MARKED = /^(\S+)(?: \(claim ([a-z0-9]+)\))?$/;

/**
 * Builds the last paragraph of a description, which `readMarker` reads. The id is formatted as code; labels and titles
 * are inserted as plain text, so they cannot imitate it.
 */
export function markerParagraph({ cluster, superseded, claim }: OwnershipMarker): RichNode {
  const id = leafOf(clusterKey(cluster), new Set(['code']));
  const own = claim === null ? [] : [leafOf(` (claim ${claim})`, new Set())];
  return paragraph([textNode([leafOf(superseded ? SUPERSEDED_START : OPENED_START, new Set()), id, ...own])]);
}

/** Reads the marker of a description; null if it has none. If there are several, the last one counts. */
export function readMarker(description: unknown): OwnershipMarker | null {
  const nodes = isObject(description) && Array.isArray(description.nodes) ? (description.nodes as unknown[]) : [];
  return nodes.reduceRight<OwnershipMarker | null>((found, node) => found ?? readMarkerParagraph(node), null);
}

/** Maximum length of an id that is used unchanged: with its claim, it fits in a subject of 100 characters. */
const MAX_ID_LENGTH = 60;

/** Returns the id of a cluster for markers, or its digest if the id is too long or contains white space. */
export function clusterKey(id: string): string {
  if (id.length <= MAX_ID_LENGTH && /^\S+$/.test(id)) {
    return id;
  }
  return `sha256:${createHash('sha256').update(id).digest('hex').slice(0, 40)}`;
}

const DRAFT = 'Octavo draft ';
const DRAFT_SUBJECT = /^Octavo draft ([a-z0-9]{8}) for cluster (\S+)$/;

/**
 * Builds the subject of a draft until it is opened. Every platform keeps the subject from the creation on, so a draft
 * can be recognized after a crash even if the platform drops other fields.
 */
export function draftSubject(claim: string, cluster: string): string {
  return `${DRAFT}${claim} for cluster ${clusterKey(cluster)}`;
}

/** Reads the marker in a draft's subject; null if it has none. */
export function readDraftMarker(subject: string | null | undefined): OwnershipMarker | null {
  const [, claim, cluster] = DRAFT_SUBJECT.exec(subject ?? '') ?? [];
  return claim === undefined || cluster === undefined ? null : { cluster, superseded: false, claim };
}

/** Returns whether a subject looks like one that Octavo gives to drafts or to superseded change requests. */
export function isReservedSubject(subject: string): boolean {
  return subject.startsWith(SUBJECT) || subject.startsWith(DRAFT);
}

/** Prefix of the subject of a superseded change request: lists include subjects even when they omit descriptions. */
const SUBJECT = 'Given up: ';

/** Builds the subject of a superseded change request. */
export function supersededSubject(subject: string): string {
  return cut(`${SUBJECT}${subject}`, 100);
}

function readMarkerParagraph(node: unknown): OwnershipMarker | null {
  if (!isObject(node) || node.type !== 'paragraph') {
    return null;
  }
  const text = textOf(node as unknown as RichNode).trim();
  const start = [OPENED_START, SUPERSEDED_START].find((words) => text.startsWith(words));
  const [, cluster = '', claim = null] = MARKED.exec(start === undefined ? '' : text.slice(start.length)) ?? [];
  return cluster !== '' && codeOf(node as unknown as RichNode).trim() === cluster
    ? { cluster, superseded: start === SUPERSEDED_START, claim }
    : null;
}

/** Returns the text that is formatted as code. */
function codeOf(node: RichNode): string {
  const own = (node.leaves ?? []).filter(({ marks }) => marks?.some(({ type }) => type === 'code'));
  return own.map(({ text }) => text).join('') + (node.nodes ?? []).map(codeOf).join('');
}
