import { parseTime } from './cluster.ts';
import { clusterKey, isSupersededSubject, readDraftMarker, readMarker } from './ownership-marker.ts';

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
}

/** Change request as returned by the client. */
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

/** Returns the id of the cluster or topic that the platform links to a change request; null if there is no link. */
function platformLink(answer: Pick<ChangeRequestAnswer, 'conversationsIssuesCluster' | 'siteTopic'>): string | null {
  return answer.conversationsIssuesCluster || answer.siteTopic?.topic || null;
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
 * Assigns a change request to its cluster: by the platform's link, the marker in the description, the stored link, or
 * the marker in a draft's subject, in this order. Null if it belongs to none. `known`: stored links by change request
 * id.
 */
export function toClusterChangeRequest(
  answer: ChangeRequestAnswer,
  known: ReadonlyMap<string, KnownLink>,
): ClusterChangeRequest | null {
  // A subject may contain a label of the platform, so a description takes precedence.
  const mark = readMarker(answer.description);
  const record = known.get(answer.id);
  const inSubject = mark === null ? readDraftMarker(answer.subject) : null;
  const cluster = platformLink(answer) || mark?.cluster || record?.cluster || inSubject?.cluster;
  if (!cluster) {
    return null;
  }
  const createdAt = parseTime(answer.createdAt) ?? 0;
  return {
    id: answer.id,
    space: answer.space,
    cluster: clusterKey(cluster),
    status: answer.status,
    subject: answer.subject ?? '',
    url: answer.urls?.app ?? answer.urls?.location ?? null,
    createdAt,
    updatedAt: parseTime(answer.updatedAt) ?? createdAt,
    superseded:
      answer.status === 'archived' &&
      (record?.superseded === true || (mark?.superseded ?? isSupersededSubject(answer.subject ?? ''))),
    isEmptyMerge: answer.status === 'merged' && isUnedited(answer, record?.revision ?? null),
  };
}

/**
 * Returns whether nothing was edited: the revision is the one at creation or the last one recorded, or the merge
 * created no new revision.
 */
function isUnedited(
  { revision, revisionInitial, revisionMergedAncestor, revisionMerged }: ChangeRequestAnswer,
  created: string | null,
): boolean {
  const isBase = (each: string | null | undefined) =>
    Boolean(each) && (each === revisionInitial || each === revisionMergedAncestor);
  return isBase(revision) || isBase(revisionMerged) || (Boolean(created) && revision === created);
}
