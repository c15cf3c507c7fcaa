// Views of context records, topics and findings.

import { bullets, paragraph, richDocument } from '../documents/build.ts';
import type { Context } from '../model/operation.ts';
import { byTypicality } from './clustering.ts';
import { rateCluster } from './processing.ts';
import type { ClusterRecord, ConversationRecord, IssueRecord } from './records.ts';
import { findDrafts } from './site-context.ts';

/** Number of findings that a summary names. */
const EXAMPLES = 5;
const ICONS = { low: 'circle-info', medium: 'circle-exclamation', high: 'triangle-exclamation' } as const;

function siteUrl(context: Context, { organization, site }: { organization: string; site?: string | undefined }) {
  return `${context.base}/v1/orgs/${organization}/sites/${site}`;
}

/** ContextRecord, without its body. Source: docs/platform-notes.md#context-records */
export function viewContextRecord(context: Context, record: ConversationRecord): unknown {
  const topic = context.store.conversationIssues.one('conversation', record.id)?.cluster;
  return {
    object: 'context-record',
    id: record.id,
    title: record.content.subject,
    description: record.record?.description,
    type: record.record?.type,
    createdAt: record.createdAt,
    processedAt: record.processedAt,
    connection: `api_${record.site}`,
    connector: 'builtin:api',
    topics: topic === undefined ? [] : [topic],
    urls: {
      location: `${siteUrl(context, record)}/context-records/${record.id}`,
      source: record.content.metadata?.url,
    },
  };
}

/** SiteTopic. The number of findings is included only by versions that have findings. */
export function viewTopic(context: Context, topic: ClusterRecord): unknown {
  const findings = byTypicality(context.store.conversationIssues.by('cluster', topic.id));
  const impact = topic.impact ?? rateCluster(findings.map((finding) => finding.impact));
  const label = topic.label ?? findings[0]?.title ?? '';
  const open = findings.filter(({ status = 'open' }) => status === 'open').length;
  return {
    object: 'context-topic',
    id: topic.id,
    label,
    createdAt: topic.createdAt,
    updatedAt: topic.updatedAt,
    icon: ICONS[impact],
    summary: richDocument([
      paragraph(`${findings.length === 1 ? '1 record is' : `${findings.length} records are`} about: ${label}`),
      bullets(findings.slice(0, EXAMPLES).map((finding) => finding.title)),
    ]),
    usageSettings: { changeRequests: !topic.muted },
    pages: 0,
    records: new Set(findings.map((finding) => finding.conversation)).size,
    findings: context.features.siteFindings ? { open, total: findings.length } : undefined,
    questions: NO_QUESTIONS,
    urls: { location: `${siteUrl(context, topic)}/topics/${topic.id}` },
  };
}

/** Statistics of questions about a topic, which the emulator does not collect. */
const NO_QUESTIONS = {
  total: 0,
  answers: 0,
  feedback: { positive: 0, negative: 0, unrated: 0 },
  answered: { yes: 0, partially: 0, no: 0 },
  relevance: { relevant: 0, spam: 0, 'off-topic': 0, unclear: 0 },
  types: { exploring: 0, 'how-to': 0, troubleshooting: 0, reference: 0, unknown: 0 },
  channelTypes: {},
  channels: {},
  weeklyPulse: new Array<number>(13).fill(0),
};

/** SiteFinding; in 0.167, an issue with a priority. */
export function viewFinding(context: Context, finding: IssueRecord): unknown {
  const { siteFindings } = context.features;
  const conversation = context.store.conversations.get(finding.conversation);
  return {
    object: siteFindings ? 'site-finding' : 'site-issue',
    id: finding.id,
    topic: finding.cluster ?? null,
    title: finding.title,
    status: finding.status ?? 'open',
    ...(siteFindings ? findingOnly(context, finding) : { priority: finding.impact }),
    description: richDocument([paragraph(finding.excerpt === '' ? finding.title : finding.excerpt)]),
    createdAt: finding.createdAt,
    updatedAt: conversation?.processedAt ?? finding.ingestedAt,
    urls: { location: `${siteUrl(context, finding)}/${siteFindings ? 'findings' : 'issues'}/${finding.id}` },
  };
}

function findingOnly(context: Context, finding: IssueRecord) {
  return {
    scan: `scan_${finding.site}`,
    changeRequests: findDrafts(context.store, finding).length,
    pages: 0,
    records: 1,
    questions: 0,
    type: 'content-gap',
    severity: finding.impact,
    autoFixable: true,
  };
}
