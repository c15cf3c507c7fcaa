import { webUrl } from './text-sanitizing.ts';

/** A cluster of issues that are alike. Times are in milliseconds since the epoch, null where the platform tells none. */
export interface IssueCluster {
  readonly id: string;
  readonly label: string;
  /** `low`, `medium`, `high`, or a word that Octavo does not know; null where the platform tells none. */
  readonly impact: string | null;
  /** Muted for change requests, on the platform. */
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

/** An issue of a cluster, and the conversation that it came from. */
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
 * An issue cluster as the client reads it. Versions differ in nearly every field.
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

/** An issue with its conversation, as the client gives them. */
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

/** Converts the platform's answer, in either of its shapes. Missing values are empty; none is required. */
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

/** Converts an issue. The link of a conversation leads to its source, else to its page on the platform. */
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

/** A date-time in milliseconds since the epoch; null where there is none. */
export function parseTime(text: Text): number | null {
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : time;
}
