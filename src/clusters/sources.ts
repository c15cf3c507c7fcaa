/** Reads clusters from either source that a platform has: its issue clusters, or the topics of a site. */
import type { Clock } from '../core/clock.ts';
import { RejectedError } from '../core/errors.ts';
import type { Reader, Writer } from '../platform/client.ts';
import { isMissingOperation } from '../platform/conversations-probe.ts';
import { operations } from '../platform/operations/index.ts';
import type { Answer, Input, Item } from '../platform/operations/model/operation.ts';
import { type ClusterIssue, type IssueCluster, impactWeight, parseTime, webUrl } from './cluster.ts';

/** Change request as listed by the platform. */
export type ChangeRequestItem = Item<typeof operations.listOrganizationChangeRequests>;

/** Error messages for a platform without clusters, by source. */
export const NO_CLUSTERS = {
  clusters:
    'this platform has no issue clusters (404); from 0.167 on, a site has topics instead: name it in conversations.site',
  topics: 'this platform has neither issue clusters nor topics of the site that conversations.site names (404)',
} as const;

/**
 * Source of clusters: the organization's issue clusters, or the topics of a site. All other code is independent of it.
 * Every method throws AppError. Source: docs/platform-notes.md#topics
 */
export interface ClusterSource {
  readonly kind: 'clusters' | 'topics';
  /** True if the organization's list of change requests accepts several statuses at once. */
  readonly takesStatuses: boolean;
  /** Returns additional filters that this list needs to be complete. */
  listQuery(): NonNullable<Input<typeof operations.listOrganizationChangeRequests>['query']>;
  /**
   * Reads a page, newest-updated first; `page` null for the first one. `next`: cursor of the next page; null after the
   * last one. Returns null if the platform has no clusters.
   */
  page(
    page: string | null,
  ): Promise<{ readonly clusters: readonly IssueCluster[]; readonly next: string | null } | null>;
  /** Reads the cluster with this id; null if it does not exist. */
  one(id: string): Promise<IssueCluster | null>;
  /** Reads the issues of a cluster, or enough of them to describe it. */
  issues(id: string): Promise<readonly ClusterIssue[]>;
  /** Mutes or unmutes a cluster for change requests. Returns whether it is muted afterwards. */
  mute(writer: Writer, id: string, muted: boolean): Promise<boolean>;
  /** Fields of a new change request that link it to the cluster on the platform. */
  link(id: string): { readonly conversationsIssuesCluster?: string };
  /** Lists the change requests of a cluster that the list of all may omit. */
  requestsOf(id: string): Promise<readonly ChangeRequestItem[]>;
}

const NEWEST_FIRST = { sort: 'updatedAt', order: 'desc', limit: 1000 } as const;
/** Number of issues from which the most representative ones are picked. */
const ISSUES = 200;

/** Opens the organization's issue clusters. */
export function openIssueClusters(reader: Reader): ClusterSource {
  return {
    kind: 'clusters',
    // Platforms with clusters accept one status. Source: docs/platform-notes.md#change-request-lists
    takesStatuses: false,
    listQuery: () => ({}),
    page: async (page) => {
      const query = { ...NEWEST_FIRST, ...(page === null ? {} : { page }) };
      const read = reader.get(operations.listConversationClusters, { query });
      const answer = await (page === null ? nullIfNotFound(read) : read);
      return answer === null ? null : { clusters: answer.items.map(toCluster), next: answer.next?.page ?? null };
    },
    one: async (clusterId) => {
      const answer = await nullIfNotFound(reader.get(operations.getConversationCluster, { path: { clusterId } }));
      return answer === null ? null : toCluster(answer);
    },
    issues: async (cluster) => {
      const { items } = await reader.get(operations.listConversationIssues, { query: { cluster, limit: ISSUES } });
      return items.map(toIssue);
    },
    mute: async (writer, clusterId, muted) => {
      const answer = await writer.send(operations.updateConversationCluster, { path: { clusterId }, body: { muted } });
      return toCluster(answer).muted;
    },
    link: (id) => ({ conversationsIssuesCluster: id }),
    // The list of all change requests contains them.
    requestsOf: async () => [],
  };
}

/**
 * Converts an issue cluster. Almost every field differs between versions, so none but the id is required; missing ones
 * become empty. Source: docs/platform-notes.md#issue-clusters
 */
export function toCluster(answer: Item<typeof operations.listConversationClusters>): IssueCluster {
  return {
    id: answer.id,
    label: answer.label ?? '',
    impact: answer.impact ?? null,
    muted: answer.muted ?? false,
    createdAt: parseTime(answer.createdAt),
    updatedAt: parseTime(answer.updatedAt),
    weeklyPulse: (answer.weeklyPulse ?? []).map((count) => count ?? 0),
    sources: Object.fromEntries(Object.entries(answer.sources ?? {}).map(([name, count]) => [name, count ?? 0])),
    issues: answer.stats?.issues ?? 0,
    conversations: answer.stats?.conversations ?? 0,
    summary: answer.summary ?? answer.details ?? null,
    url: webUrl(answer.urls?.app) ?? webUrl(answer.urls?.location),
    icon: typeof answer.icon === 'string' ? answer.icon : null,
  };
}

/** Converts an issue. The conversation links to its source if known, otherwise to its page on the platform. */
export function toIssue({ issue, conversation }: Item<typeof operations.listConversationIssues>): ClusterIssue {
  const id = conversation?.id ?? issue.conversation ?? null;
  const { urls } = conversation ?? {};
  return {
    id: issue.id,
    title: issue.title ?? '',
    impact: issue.impact ?? null,
    createdAt: parseTime(issue.createdAt),
    details: issue.details ?? issue.summary ?? null,
    conversation:
      id === null
        ? null
        : {
            id,
            subject: conversation?.subject ?? '',
            url: webUrl(urls?.source) ?? webUrl(urls?.app) ?? webUrl(urls?.location),
            source: conversation?.source ?? null,
          },
  };
}

/** Topic of a site. */
export type TopicAnswer = Answer<typeof operations.getSiteTopic>;
/** Finding of a site. Older versions call findings issues. */
export type FindingAnswer = Item<typeof operations.listSiteFindings>;

/** Name under which a site lists its findings; null if unknown. */
export interface FindingsName {
  is: 'findings' | 'issues' | null;
}

const STATUSES = ['draft', 'open', 'merged', 'archived'] as const;

/**
 * Opens the topics of a site. Their issues are its findings. `found` outlives a source, so that the name of findings is
 * detected only once.
 */
export function openSiteTopics(reader: Reader, siteId: string, clock: Clock, found: FindingsName): ClusterSource {
  // The list omits the platform's own drafts for findings by default (0.202).
  const listQuery = () => (found.is === 'findings' ? ({ finding: 'all' } as const) : {});
  const listOpen = (topic?: string) => listOpenFindings(reader, siteId, found, topic);
  return {
    kind: 'topics',
    takesStatuses: true,
    listQuery,
    // All topics: their list is not paginated and has no order. Source: docs/platform-notes.md#topics
    page: async () => {
      const answer = await nullIfNotFound(reader.get(operations.listSiteTopics, { path: { siteId } }));
      if (answer === null) {
        return null;
      }
      const findings = answer.items.length === 0 ? [] : await listOpen();
      const now = clock.now();
      const byTopic = findings === null ? null : Map.groupBy(findings, ({ topic }) => topic);
      const clusters = answer.items.map((topic) =>
        topicToCluster(topic, byTopic && (byTopic.get(topic.id) ?? []), now),
      );
      return { clusters: clusters.sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0)), next: null };
    },
    one: async (siteTopicId) => {
      const answer = await nullIfNotFound(reader.get(operations.getSiteTopic, { path: { siteId, siteTopicId } }));
      return answer === null ? null : topicToCluster(answer, await listOpen(siteTopicId), clock.now());
    },
    issues: async (topic) => ((await listOpen(topic)) ?? []).map(findingToIssue),
    mute: async (writer, siteTopicId, muted) => {
      const body = { usageSettings: { changeRequests: !muted } };
      const answer = await writer.send(operations.updateSiteTopic, { path: { siteId, siteTopicId }, body });
      return answer.usageSettings?.changeRequests === false;
    },
    // No documented field links a change request to a topic, so the description does.
    link: () => ({}),
    // Those that the platform drafted on its own.
    requestsOf: async (topic) => {
      const query = { ...listQuery(), status: [...STATUSES], topic };
      try {
        return await Array.fromAsync(reader.pages(operations.listOrganizationChangeRequests, { query }));
      } catch (error) {
        if (error instanceof RejectedError) {
          return [];
        }
        throw error;
      }
    },
  };
}

/** Lists the open findings, of one topic if named; null if the platform lists neither findings nor issues. */
async function listOpenFindings(
  { pages }: Reader,
  siteId: string,
  found: FindingsName,
  topic?: string,
): Promise<readonly FindingAnswer[] | null> {
  const input = { path: { siteId }, query: { ...(topic === undefined ? {} : { topic }), status: 'open' as const } };
  const tries = [
    ['findings', () => Array.fromAsync(pages(operations.listSiteFindings, input))],
    ['issues', () => Array.fromAsync(pages(operations.listSiteIssues, input))],
  ] as const;
  // Try the known name first, then the other one: the platform may have been upgraded.
  for (const [name, list] of found.is === 'issues' ? tries.toReversed() : tries) {
    const findings = await list().catch(nullIfMissing);
    found.is = findings === null ? null : name;
    if (findings !== null) {
      // A finding without a status is open.
      const open = findings.filter(({ status }) => (status ?? 'open') === 'open');
      return topic === undefined ? open : open.filter((each) => each.topic === topic);
    }
  }
  return null;
}

function nullIfMissing(error: unknown): null {
  if (isMissingOperation(error)) {
    return null;
  }
  throw error;
}

const WEEK = 7 * 86_400_000;
/** Number of weeks in a pulse, as in issue clusters: three months. */
const WEEKS = 13;

/**
 * Converts a topic to a cluster. `findings` are its open findings, which count as its issues; null when the platform
 * lists none. The impact is that of the worst finding. Its records count as conversations. A topic is muted unless its
 * context may be used to propose change requests. Source: docs/platform-notes.md#topics
 */
export function topicToCluster(
  topic: TopicAnswer,
  findings: readonly FindingAnswer[] | null,
  now: number,
): IssueCluster {
  const open = findings ?? [];
  return {
    id: topic.id,
    label: topic.label ?? '',
    impact: worstOf(open),
    muted: topic.usageSettings?.changeRequests === false,
    createdAt: parseTime(topic.createdAt),
    updatedAt: parseTime(topic.updatedAt),
    weeklyPulse: pulseOf(open, now),
    sources: {},
    issues: findings === null ? (topic.findings?.open ?? 0) : open.length,
    conversations: topic.records ?? 0,
    summary: topic.summary ?? null,
    url: webUrl(topic.urls?.app) ?? webUrl(topic.urls?.location),
    icon: typeof topic.icon === 'string' ? topic.icon : null,
  };
}

/** Converts a finding to an issue. The platform does not return the records of a finding. */
export function findingToIssue(finding: FindingAnswer): ClusterIssue {
  return {
    id: finding.id,
    title: finding.title ?? '',
    impact: levelOf(finding),
    createdAt: parseTime(finding.createdAt),
    details: finding.description ?? null,
    conversation: null,
  };
}

function levelOf({ severity, priority }: FindingAnswer): string | null {
  return severity ?? priority ?? null;
}

/** Returns the worst impact. Unknown impacts rank below known ones. */
function worstOf(findings: readonly FindingAnswer[]): string | null {
  const levels = findings.flatMap((finding) => levelOf(finding) ?? []);
  return levels.reduce<string | null>(
    (worst, level) => (worst === null || impactWeight(level) > impactWeight(worst) ? level : worst),
    null,
  );
}

/** Counts findings by week, oldest first. */
function pulseOf(findings: readonly FindingAnswer[], now: number): readonly number[] {
  const pulse = new Array<number>(WEEKS).fill(0);
  for (const { createdAt } of findings) {
    const time = parseTime(createdAt);
    const week = time === null ? -1 : WEEKS - 1 - Math.max(0, Math.floor((now - time) / WEEK));
    if (week >= 0) {
      pulse[week] = (pulse[week] ?? 0) + 1;
    }
  }
  return pulse;
}

/** Returns null for status 404; throws every other error. */
export async function nullIfNotFound<T>(read: Promise<T>): Promise<T | null> {
  return read.catch((error: unknown) => {
    if (error instanceof RejectedError && error.status === 404) {
      return null;
    }
    throw error;
  });
}
