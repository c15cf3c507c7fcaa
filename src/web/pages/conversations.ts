/** Page of the ingestion of conversations: sources, outbox, dead letters and redactions. */

import { html } from 'hono/html';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import type { SenderState } from '../../conversations/model/source.ts';
import { REDACTION_TYPES, type RedactionType } from '../../conversations/model/ticket.ts';
import { counted } from '../../plan/render/words.ts';
import { stackedBar } from '../charts/stacked-bar.ts';
import { link, pathTo } from '../html/link.ts';
import { stateBadge, type Tone } from '../html/state.ts';
import { table } from '../html/table.ts';
import { age, observed, shown } from '../html/text.ts';
import type { OrganizationState } from '../model/backend.ts';
import { type Freshness, freshness } from '../model/status.ts';
import { isoTime } from '../model/words.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';
import { type DeadLetterView, deadLetterTable, toDeadLetter } from './dead-letters.ts';

type SourceState = IngestionStatus['sources'][number];

/** Source of conversations. */
export interface ConversationSourceView {
  readonly name: string;
  /** Such as `zendesk`; null if it is not configured, such as pushed files. */
  readonly kind: string | null;
  readonly state: 'working' | 'failing' | 'stale' | 'not-read' | 'other';
  readonly freshness: Freshness;
  readonly error: string | null;
  readonly waiting: number;
  readonly waitingSince: string | null;
  readonly sending: number;
  readonly deadLetters: number;
  /** Waiting conversations that were redacted with other settings than those of now. */
  readonly outdated: number;
}

export interface OutboxView {
  readonly waiting: number;
  /** Being sent, without those in doubt. */
  readonly sending: number;
  /** Being sent again, because a response was lost. */
  readonly inDoubt: number;
  readonly deadLetters: number;
  readonly bytes: number;
  readonly maxItems: number;
  readonly maxBytes: number;
  readonly isFull: boolean;
}

export interface ConversationsView {
  readonly organization: string;
  readonly sentence: string;
  readonly isConfigured: boolean;
  readonly sender: SenderState['kind'];
  /** Why nothing is sent; null if it is. */
  readonly senderReason: string | null;
  readonly sources: readonly ConversationSourceView[];
  readonly outbox: OutboxView;
  /** Number of redacted values by type since the state file was created; only those above 0. */
  readonly redactions: readonly { readonly type: RedactionType; readonly count: number }[];
  /** Tickets that were read and not sent, by reason. */
  readonly skipped: readonly { readonly reason: string; readonly count: number }[];
  /** The oldest ones. */
  readonly deadLetters: readonly DeadLetterView[];
}

/** Number of dead letters in the view. */
const SHOWN_LETTERS = 5;

/** Returns the view of an organization. Throws StoreError. */
export async function conversationsView(state: OrganizationState, now: number): Promise<ConversationsView> {
  const { conversations, config, id } = state;
  const status = await conversations.status();
  const outdated = await conversations.outdated();
  const configured = new Map(config.conversations.sources.map((source) => [source.name, source]));
  const sources = status.sources.map((source) =>
    toSource(source, configured.get(source.source), outdated.get(source.source) ?? 0, now),
  );
  const outbox = toOutbox(status);
  const isConfigured = configured.size > 0 || sources.length > 0;
  const reason = 'reason' in status.sender ? status.sender.reason : null;
  return {
    organization: id,
    sentence: isConfigured ? sentenceOf(status.sender, sources, outbox) : 'No source of conversations is configured',
    isConfigured,
    sender: status.sender.kind,
    senderReason: reason,
    sources,
    outbox,
    redactions: countsOf(status, 'redacted.')
      .map(({ name, count }) => ({ type: name as RedactionType, count }))
      .sort((a, b) => REDACTION_TYPES.indexOf(a.type) - REDACTION_TYPES.indexOf(b.type)),
    skipped: countsOf(status, 'skipped.').map(({ name, count }) => ({ reason: name, count })),
    deadLetters: outbox.deadLetters === 0 ? [] : (await conversations.deadLetters({}, SHOWN_LETTERS)).map(toDeadLetter),
  };
}

type ConfiguredSource = OrganizationState['config']['conversations']['sources'][number];

const KINDS = ['zendesk', 'intercom', 'freshdesk', 'github', 'webhook', 'folder'] as const;

function toSource(
  { source, polledAt, error, waiting, waitingSince, sending, deadLetters }: SourceState,
  configured: ConfiguredSource | undefined,
  outdated: number,
  now: number,
): ConversationSourceView {
  // A webhook is not polled, so it has no interval.
  const isPolled = configured !== undefined && configured.webhook === undefined;
  const age = freshness(polledAt, now, isPolled ? configured.pollInterval : null);
  return {
    name: source,
    kind: configured === undefined ? null : (KINDS.find((kind) => configured[kind] !== undefined) ?? null),
    state: !isPolled
      ? 'other'
      : error !== null
        ? 'failing'
        : polledAt === null
          ? 'not-read'
          : age.isStale
            ? 'stale'
            : 'working',
    freshness: age,
    error,
    waiting,
    waitingSince: isoTime(waitingSince),
    sending,
    deadLetters,
    outdated,
  };
}

function toOutbox({ sources, outbox }: IngestionStatus): OutboxView {
  const sum = (count: (source: SourceState) => number) => sources.reduce((total, each) => total + count(each), 0);
  return {
    waiting: sum(({ waiting }) => waiting),
    sending: sum(({ sending, inDoubt }) => sending - inDoubt),
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

export const conversationsPage = definePage<ConversationsView>({
  path: '/o/:organization/conversations',
  load: async (backend, { params, now }) => {
    const state = backend.organizations().find(({ id }) => id === params.organization);
    return state === undefined ? null : conversationsView(state, now);
  },
  title: ({ organization }) => `Conversations of ${organization}`,
  render: (view, request) =>
    html`<h1>Conversations</h1>
<p class="sentence">${shown(view.sentence)}.</p>
${view.isConfigured ? content(view, request) : html`<p>Set <code>conversations.sources</code> in the configuration of the daemon to ingest support conversations.</p>`}`,
  topics: ({ organization }) => [organization],
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
  const chart = stackedBar({
    id: 'outbox',
    sentence: `${counted(all, 'conversation')} of at most ${maxItems.toLocaleString('en')} in the outbox, ${size}.`,
    parts: [
      { text: 'waiting', count: waiting, tone: 'wait' },
      { text: 'being sent', count: sending, tone: 'busy' },
      { text: 'sent again after a lost response', count: inDoubt, tone: 'none' },
      { text: 'dead letters', count: deadLetters, tone: 'bad' },
    ],
    name: 'State',
  });
  return html`${isFull ? html`<p>${stateBadge({ tone: 'bad', word: 'full' })} Sources wait until there is room.</p>` : ''}${chart}`;
}

const STATES: Readonly<Record<ConversationSourceView['state'], readonly [Tone, string]>> = {
  working: ['ok', 'working'],
  failing: ['bad', 'failing'],
  stale: ['bad', 'not polled'],
  'not-read': ['wait', 'not polled yet'],
  other: ['none', 'not polled'],
};

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
  const path = pathTo(['o', organization, 'dead-letters']);
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
