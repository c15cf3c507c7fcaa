import { parseTime } from './cluster.ts';
import { clusterKey, isSupersededSubject, readDraftMarker, readMarker } from './ownership-marker.ts';

/** A change request that belongs to a cluster, made by Octavo or by a person. */
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
  readonly superseded: boolean;
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
function platformLink(answer: Pick<ChangeRequestAnswer, 'conversationsIssuesCluster' | 'siteTopic'>): string | null {
  return answer.conversationsIssuesCluster || answer.siteTopic?.topic || null;
}

/** Stored facts about a change request, in addition to the platform's answer. */
export interface KnownLink {
  readonly cluster: string;
  readonly superseded: boolean;
  /** Its revision when it was created here; null: not known. */
  readonly revision: string | null;
}

/** Returns whether a change request belongs to the cluster with this id. */
export function isOfCluster({ cluster }: Pick<ClusterChangeRequest, 'cluster'>, id: string): boolean {
  return cluster === clusterKey(id);
}

/**
 * The change request with its cluster, which the platform's link says, else the mark in its description, else what was
 * recorded, else the mark in a draft's subject; null where it belongs to none. `known` is by the change request's id.
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
