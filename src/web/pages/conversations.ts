/** Page of the ingestion of conversations: sources, outbox, dead letters and redactions. */

import { html } from 'hono/html';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import type { SenderState } from '../../conversations/model/source.ts';
import { REDACTION_TYPES, type RedactionType } from '../../conversations/model/ticket.ts';
import { counted } from '../../plan/render/words.ts';
import { stackedBar } from '../charts/stacked-bar.ts';
import { link } from '../html/link.ts';
import { stateBadge, type Tone } from '../html/state.ts';
import { table } from '../html/table.ts';
import { age, observed, shown } from '../html/text.ts';
import type { OrganizationState } from '../model/backend.ts';
import { organizationPath } from '../model/paths.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime } from '../model/words.ts';
import { defineOrganizationPage, type Html, type PageRequest } from '../page.ts';
import { deadLetterTable, toDeadLetter } from './dead-letters.ts';

type SourceState = IngestionStatus['sources'][number];

/** Number of dead letters in the view. */
const SHOWN_LETTERS = 5;

export type ConversationsView = Awaited<ReturnType<typeof load>>;

/** Describes the ingestion of an organization. Throws StoreError. */
async function load({ conversations, config, id }: OrganizationState, { now }: PageRequest) {
  const status = await conversations.status();
  const outdated = await conversations.outdated();
  const configured = new Map(config.conversations.sources.map((source) => [source.name, source]));
  const sources = status.sources.map((source) =>
    toSource(source, configured.get(source.source), outdated.get(source.source) ?? 0, now),
  );
  const outbox = toOutbox(status);
  const isConfigured = configured.size > 0 || sources.length > 0;
  return {
    organization: id,
    sentence: isConfigured ? sentenceOf(status.sender, sources, outbox) : 'No source of conversations is configured',
    isConfigured,
    sender: status.sender.kind,
    /** Why nothing is sent; null if it is. */
    senderReason: 'reason' in status.sender ? status.sender.reason : null,
    sources,
    outbox,
    /** Number of redacted values by type since the state file was created; only those above 0. */
    redactions: countsOf(status, 'redacted.')
      .map(({ name, count }) => ({ type: name as RedactionType, count }))
      .sort((a, b) => REDACTION_TYPES.indexOf(a.type) - REDACTION_TYPES.indexOf(b.type)),
    /** Tickets that were read and not sent, by reason. */
    skipped: countsOf(status, 'skipped.').map(({ name, count }) => ({ reason: name, count })),
    /** The oldest ones. */
    deadLetters: outbox.deadLetters === 0 ? [] : (await conversations.deadLetters({}, SHOWN_LETTERS)).map(toDeadLetter),
  };
}

type ConfiguredSource = OrganizationState['config']['conversations']['sources'][number];

const KINDS = ['zendesk', 'intercom', 'freshdesk', 'github', 'webhook', 'folder'] as const;

/** States of a source, with their labels. */
const STATES = {
  working: ['ok', 'working'],
  failing: ['bad', 'failing'],
  stale: ['bad', 'not polled'],
  'not-read': ['wait', 'not polled yet'],
  other: ['none', 'not polled'],
} as const satisfies Record<string, readonly [Tone, string]>;

type ConversationSourceView = ReturnType<typeof toSource>;

function toSource(
  { source, polledAt, error, waiting, waitingSince, sending, deadLetters }: SourceState,
  configured: ConfiguredSource | undefined,
  outdated: number,
  now: number,
) {
  // A webhook is not polled, so it has no interval.
  const isPolled = configured !== undefined && configured.webhook === undefined;
  const age = freshness(polledAt, now, isPolled ? configured.pollInterval : null);
  return {
    name: source,
    /** Such as `zendesk`; null if it is not configured, such as pushed files. */
    kind: configured === undefined ? null : (KINDS.find((kind) => configured[kind] !== undefined) ?? null),
    state: stateOf(isPolled, error, age),
    freshness: age,
    error,
    waiting,
    waitingSince: isoTime(waitingSince),
    sending,
    deadLetters,
    /** Waiting conversations that were redacted with other settings than those of now. */
    outdated,
  };
}

function stateOf(isPolled: boolean, error: string | null, { asOf, isStale }: Freshness): keyof typeof STATES {
  if (!isPolled) {
    return 'other';
  }
  if (error !== null) {
    return 'failing';
  }
  if (asOf === null) {
    return 'not-read';
  }
  return isStale ? 'stale' : 'working';
}

type OutboxView = ReturnType<typeof toOutbox>;

function toOutbox({ sources, outbox }: IngestionStatus) {
  const sum = (count: (source: SourceState) => number) => sources.reduce((total, each) => total + count(each), 0);
  return {
    waiting: sum(({ waiting }) => waiting),
    /** Being sent, without those in doubt. */
    sending: sum(({ sending, inDoubt }) => sending - inDoubt),
    /** Being sent again, because a response was lost. */
    inDoubt: sum(({ inDoubt }) => inDoubt),
    deadLetters: sum(({ deadLetters }) => deadLetters),
    bytes: outbox.stored.bytes,
    maxItems: outbox.limit.items,
    maxBytes: outbox.limit.bytes,
    isFull: outbox.isFull,
  };
}

/** Describes the ingestion: the worst of what is true of it, then what waits. */
function sentenceOf(sender: SenderState, sources: readonly ConversationSourceView[], outbox: OutboxView): string {
  const failing = sources.filter(({ state }) => state === 'failing' || state === 'stale').length;
  const parts = [
    ...('reason' in sender ? [SENDER_WORDS[sender.kind]] : []),
    ...(outbox.isFull ? ['the outbox is full, so sources wait'] : []),
    ...(failing > 0 ? [`${counted(failing, 'source')} cannot be read`] : []),
    ...(outbox.deadLetters > 0
      ? [`${counted(outbox.deadLetters, 'dead letter')} ${outbox.deadLetters === 1 ? 'needs' : 'need'} a person`]
      : []),
    outbox.waiting === 0
      ? 'nothing waits'
      : `${counted(outbox.waiting, 'conversation')} ${outbox.waiting === 1 ? 'waits' : 'wait'}`,
  ];
  const text = parts.join('; ');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

const SENDER_WORDS = {
  failing: 'the platform fails, so nothing is sent',
  refused: 'the platform refuses the token, so nothing is sent',
  unsupported: 'the platform has no ingestion, so nothing is sent',
} as const;

/** Sums the counters of all sources whose name starts with a prefix, largest first. */
function countsOf({ sources }: IngestionStatus, prefix: string): { name: string; count: number }[] {
  const sums = new Map<string, number>();
  for (const { counts } of sources) {
    for (const [key, value] of Object.entries(counts)) {
      if (key.startsWith(prefix) && value > 0) {
        const name = key.slice(prefix.length);
        sums.set(name, (sums.get(name) ?? 0) + value);
      }
    }
  }
  return [...sums].map(([name, count]) => ({ name, count })).sort((a, b) => b.count - a.count);
}

export const conversationsPage = defineOrganizationPage<ConversationsView>({
  path: '/conversations',
  load,
  title: ({ organization }) => `Conversations of ${organization}`,
  render: (view, request) =>
    html`<h1>Conversations</h1>
<p class="sentence">${shown(view.sentence)}.</p>
${view.isConfigured ? content(view, request) : html`<p>Set <code>conversations.sources</code> in the configuration of the daemon to ingest support conversations.</p>`}`,
  topic: ({ organization }) => organization,
});

function content(view: ConversationsView, request: PageRequest): Html {
  const { senderReason } = view;
  return html`${senderReason === null ? '' : html`<p>Sender: ${stateBadge({ tone: 'bad', word: view.sender })} ${shown(senderReason)}</p>`}
<h2>Outbox</h2>
${outboxChart(view.outbox)}
<h2>Sources</h2>
${sourceTable(view.sources, request.now)}
<h2>Dead letters</h2>
${deadLetters(view, request)}
<h2>Redactions</h2>
${counts(view)}`;
}

const MEGABYTE = 1_000_000;

function outboxChart({ waiting, sending, inDoubt, deadLetters, bytes, maxItems, maxBytes, isFull }: OutboxView): Html {
  const all = waiting + sending + inDoubt + deadLetters;
  const size = `${(bytes / MEGABYTE).toFixed(1)} of ${(maxBytes / MEGABYTE).toFixed(0)} MB`;
  const sentence = `${counted(all, 'conversation')} of at most ${maxItems.toLocaleString('en')} in the outbox, ${size}.`;
  const chart = stackedBar('outbox', sentence, 'State', [
    { text: 'waiting', count: waiting, tone: 'wait' },
    { text: 'being sent', count: sending, tone: 'busy' },
    { text: 'sent again after a lost response', count: inDoubt, tone: 'none' },
    { text: 'dead letters', count: deadLetters, tone: 'bad' },
  ]);
  return html`${isFull ? html`<p>${stateBadge({ tone: 'bad', word: 'full' })} Sources wait until there is room.</p>` : ''}${chart}`;
}

function sourceTable(sources: readonly ConversationSourceView[], now: number): Html {
  const rows = sources.map((source) => {
    const [tone, word] = STATES[source.state];
    const state = html`${stateBadge({ tone, word: source.state === 'other' ? (source.kind ?? 'pushed') : word })}${source.error === null ? '' : html` ${shown(source.error)}`}`;
    const since = source.waitingSince === null ? '' : html`, oldest ${age(source.waitingSince, now)}`;
    const old =
      source.outdated === 0 ? '' : html`, ${source.outdated.toLocaleString('en')} redacted with earlier settings`;
    return [
      html`${shown(source.name)}`,
      state,
      observed(source.freshness, now, '–'),
      html`${source.waiting.toLocaleString('en')}${since}${old}`,
      source.deadLetters,
    ];
  });
  return table({
    caption: 'Sources',
    head: ['Source', 'State', 'Last poll', 'Waiting', 'Dead letters'],
    rows,
    empty: 'No source is configured.',
  });
}

function deadLetters({ organization, outbox, deadLetters: letters }: ConversationsView, request: PageRequest): Html {
  if (outbox.deadLetters === 0) {
    return html`<p>The platform refused none.</p>`;
  }
  const path = organizationPath(organization, '/refused');
  return html`${deadLetterTable(organization, letters, request)}
<p>${link(path, `All ${counted(outbox.deadLetters, 'dead letter')}`)}</p>`;
}

function counts({ redactions, skipped }: ConversationsView): Html {
  const values = redactions.map(({ type, count }) => [type.replaceAll('_', ' '), count.toLocaleString('en')]);
  const reasons = skipped.map(({ reason, count }) => [shown(reason.replaceAll('-', ' ')), count.toLocaleString('en')]);
  const redacted = { caption: 'Redacted values by kind', head: ['Kind', 'Number'], empty: 'Nothing was redacted yet.' };
  const left = { caption: 'Tickets that are not sent, by reason', head: ['Reason', 'Number'], empty: '' };
  return html`${table({ ...redacted, rows: values })}
${reasons.length === 0 ? '' : html`<h2>Tickets that are not sent</h2>${table({ ...left, rows: reasons })}`}`;
}
