import { webUrl } from './text-sanitizing.ts';

/** Cluster of similar issues. Times are in milliseconds since the epoch, null if the platform does not return them. */
export interface IssueCluster {
  readonly id: string;
  readonly label: string;
  /** `low`, `medium`, `high`, or an unknown value; null if the platform returns none. */
  readonly impact: string | null;
  /** True if it is muted for change requests on the platform. */
  readonly muted: boolean;
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  /** Issues by week over the past three months, the oldest week first. */
  readonly weeklyPulse: readonly number[];
  /** Number of issues by source. */
  readonly sources: Readonly<Record<string, number>>;
  readonly issues: number;
  readonly conversations: number;
  /** A rich document or a text. */
  readonly summary: unknown;
  /** Address of its page. */
  readonly url: string | null;
  readonly icon: string | null;
}

/** Issue of a cluster, with its conversation. */
export interface ClusterIssue {
  readonly id: string;
  readonly title: string;
  readonly impact: string | null;
  readonly createdAt: number | null;
  /** A rich document or a text. */
  readonly details: unknown;
  readonly conversation: {
    readonly id: string;
    readonly subject: string;
    readonly url: string | null;
    readonly source: string | null;
  } | null;
}

type Text = string | null | undefined;
type Urls = Readonly<Record<string, Text>> | null | undefined;

/**
 * Issue cluster as returned by the client. Almost every field differs between versions.
 * Source: docs/platform-notes.md#issue-clusters
 */
export interface ClusterAnswer {
  readonly id: string;
  readonly label?: Text;
  readonly impact?: Text;
  readonly muted?: boolean | null | undefined;
  readonly createdAt?: Text;
  readonly updatedAt?: Text;
  readonly weeklyPulse?: readonly (number | null)[] | null | undefined;
  readonly sources?: Readonly<Record<string, number | null | undefined>> | null | undefined;
  readonly stats?:
    | {
        readonly issues?: number | null | undefined;
        readonly conversations?: number | null | undefined;
      }
    | null
    | undefined;
  readonly summary?: unknown;
  readonly details?: unknown;
  readonly icon?: unknown;
  readonly urls?: Urls;
}

/** Issue with its conversation, as returned by the client. */
export interface IssueAnswer {
  readonly issue: {
    readonly id: string;
    readonly title?: Text;
    readonly impact?: Text;
    readonly createdAt?: Text;
    readonly details?: unknown;
    readonly summary?: unknown;
    readonly conversation?: Text;
  };
  readonly conversation?:
    | {
        readonly id: string;
        readonly subject?: Text;
        readonly source?: Text;
        readonly urls?: Urls;
      }
    | null
    | undefined;
}

const IMPACT_WEIGHTS: ReadonlyMap<string | null, number> = new Map([
  ['high', 3],
  ['medium', 2],
  ['low', 1],
]);

/** Weight of an impact for sorting; 0 for an unknown one. */
export function impactWeight(impact: string | null): number {
  return IMPACT_WEIGHTS.get(impact) ?? 0;
}

/** Converts the platform's response of any version. No field is required; missing ones become empty. */
export function toCluster(answer: ClusterAnswer): IssueCluster {
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
export function toIssue({ issue, conversation }: IssueAnswer): ClusterIssue {
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

/** Parses a date-time to milliseconds since the epoch; null if there is none. */
export function parseTime(text: Text): number | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
