import { type ClusterIssue, type IssueCluster, parseTime } from './cluster.ts';
import { webUrl } from './text-sanitizing.ts';

type Text = string | null | undefined;
type Count = number | null | undefined;

/** Topic of a site, as returned by the client. */
export interface TopicAnswer {
  readonly id: string;
  readonly label?: Text;
  readonly createdAt?: Text;
  readonly updatedAt?: Text;
  readonly icon?: unknown;
  readonly summary?: unknown;
  readonly usageSettings?: { readonly changeRequests?: boolean | null | undefined } | null | undefined;
  readonly records?: Count;
  readonly findings?: { readonly open?: Count } | null | undefined;
  readonly urls?: Readonly<Record<string, Text>> | null | undefined;
}

/** Finding of a site, as returned by the client. Older versions call findings issues. */
export interface FindingAnswer {
  readonly id: string;
  readonly topic?: Text;
  readonly title?: Text;
  readonly status?: Text;
  readonly severity?: Text;
  readonly priority?: Text;
  readonly description?: unknown;
  readonly createdAt?: Text;
}

const WEEK = 7 * 86_400_000;
/** Number of weeks in a pulse, as in issue clusters: three months. */
const WEEKS = 13;
/** Impacts, lowest first. */
const LEVELS: readonly string[] = ['low', 'medium', 'high'];

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

/** Returns whether a finding is open, as is one without a status. */
export function isOpen({ status }: FindingAnswer): boolean {
  return (status ?? 'open') === 'open';
}

function levelOf({ severity, priority }: FindingAnswer): string | null {
  return severity ?? priority ?? null;
}

/** Returns the worst impact. Unknown impacts rank below known ones. */
function worstOf(findings: readonly FindingAnswer[]): string | null {
  const levels = findings.flatMap((finding) => levelOf(finding) ?? []);
  return levels.reduce<string | null>(
    (worst, level) => (worst === null || LEVELS.indexOf(level) > LEVELS.indexOf(worst) ? level : worst),
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
