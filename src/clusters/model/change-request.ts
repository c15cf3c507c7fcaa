import { timeOf } from './cluster.ts';
import { clusterKey, draftMarkOf, markOf, saysGaveWay } from './ownership-marker.ts';

/** A change request that belongs to a cluster, whoever made it. */
export interface ClusterChangeRequest {
  readonly id: string;
  /** The space's id. */
  readonly space: string;
  /** The cluster, by its `clusterKey`. */
  readonly cluster: string;
  /** `draft`, `open`, `merged`, `archived`, or a word that Octavo does not know. */
  readonly status: string;
  readonly subject: string;
  readonly url: string | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** It was archived because it gave way to another, which says nothing about the cluster. */
  readonly gaveWay: boolean;
  /** It was merged without any edit, so that nothing was fixed. */
  readonly isEmptyMerge: boolean;
}

/** A change request as the client gives it. */
export interface ChangeRequestAnswer {
  readonly id: string;
  readonly space: string;
  readonly status: string;
  readonly subject?: string | null | undefined;
  readonly description?: unknown;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly revision?: string | null | undefined;
  readonly revisionInitial?: string | null | undefined;
  readonly revisionMergedAncestor?: string | null | undefined;
  readonly revisionMerged?: string | null | undefined;
  readonly conversationsIssuesCluster?: string | null | undefined;
  readonly siteTopic?: { readonly topic?: string | null | undefined } | null | undefined;
  readonly urls?: Readonly<Record<string, string | null | undefined>> | null | undefined;
}

/** The cluster, or the topic in its place, that the platform itself says a change request is of; null: it says none. */
function linkOf(answer: Pick<ChangeRequestAnswer, 'conversationsIssuesCluster' | 'siteTopic'>): string | null {
  return answer.conversationsIssuesCluster || answer.siteTopic?.topic || null;
}

/** What is known of a change request besides what the platform answers. */
export interface KnownLink {
  readonly cluster: string;
  readonly gaveWay: boolean;
  /** Its revision when it was created here; null: not known. */
  readonly revision: string | null;
}

/** Whether two names mean one cluster: an id, and the cluster of a change request. */
export function isOfCluster({ cluster }: Pick<ClusterChangeRequest, 'cluster'>, id: string): boolean {
  return cluster === clusterKey(id);
}

/**
 * The change request with its cluster, which the platform's link says, else the mark in its description, else what was
 * recorded, else the mark in a draft's subject; null where it belongs to none. `known` is by the change request's id.
 */
export function changeRequestOf(
  answer: ChangeRequestAnswer,
  known: ReadonlyMap<string, KnownLink>,
): ClusterChangeRequest | null {
  // What stands in a subject may come from a label: a description that is there knows better.
  const mark = markOf(answer.description);
  const record = known.get(answer.id);
  const inSubject = mark === null ? draftMarkOf(answer.subject) : null;
  const cluster = linkOf(answer) || mark?.cluster || record?.cluster || inSubject?.cluster;
  if (!cluster) {
    return null;
  }
  const createdAt = timeOf(answer.createdAt) ?? 0;
  return {
    id: answer.id,
    space: answer.space,
    cluster: clusterKey(cluster),
    status: answer.status,
    subject: answer.subject ?? '',
    url: answer.urls?.app ?? answer.urls?.location ?? null,
    createdAt,
    updatedAt: timeOf(answer.updatedAt) ?? createdAt,
    gaveWay:
      answer.status === 'archived' &&
      (record?.gaveWay === true || (mark?.gaveWay ?? saysGaveWay(answer.subject ?? ''))),
    isEmptyMerge: answer.status === 'merged' && isUnedited(answer, record?.revision ?? null),
  };
}

/**
 * Whether nothing was edited: the change request has the revision that it was created with or last followed, or its
 * merge made no new revision.
 */
function isUnedited(
  { revision, revisionInitial, revisionMergedAncestor, revisionMerged }: ChangeRequestAnswer,
  created: string | null,
): boolean {
  const isBase = (each: string | null | undefined) =>
    Boolean(each) && (each === revisionInitial || each === revisionMergedAncestor);
  return isBase(revision) || isBase(revisionMerged) || (Boolean(created) && revision === created);
}
