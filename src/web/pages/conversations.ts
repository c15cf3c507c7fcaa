/** Page of the ingestion of conversations. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import {
  type ConversationsView,
  conversationsView,
  type OutboxView,
  type SourceView,
} from '../../views/conversations.ts';
import { stackedBar } from '../charts/stacked-bar.ts';
import { link, pathTo } from '../html/link.ts';
import { age, badge, observed, type StateTone, table } from '../html/parts.ts';
import { definePage, type Html, type PageRequest } from '../page.ts';
import { deadLetterTable } from './dead-letters.ts';

export const conversationsPage = definePage<ConversationsView>({
  path: '/o/:organization/conversations',
  load: async (backend, { params, now }) => {
    const state = backend.organizations().find(({ id }) => id === params.organization);
    return state === undefined ? null : conversationsView(state, now);
  },
  title: ({ organization }) => `Conversations of ${organization}`,
  render: (view, request) =>
    html`<h1>Conversations</h1>
<p class="sentence">${view.sentence}.</p>
${view.isConfigured ? content(view, request) : html`<p>Set <code>conversations.sources</code> in the configuration of the daemon to ingest support conversations.</p>`}`,
  topics: ({ organization }) => [organization],
});

function content(view: ConversationsView, request: PageRequest): Html {
  const { senderReason } = view;
  return html`${senderReason === null ? '' : html`<p>Sender: ${badge('bad', view.sender)} ${senderReason}</p>`}
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
      { text: 'being sent', count: sending, tone: 'plain' },
      { text: 'sent again after a lost response', count: inDoubt, tone: 'calm' },
      { text: 'dead letters', count: deadLetters, tone: 'bad' },
    ],
    name: 'State',
  });
  return html`${isFull ? html`<p>${badge('bad', 'full')} Sources wait until there is room.</p>` : ''}${chart}`;
}

const STATES: Readonly<Record<SourceView['state'], readonly [StateTone, string]>> = {
  working: ['good', 'working'],
  failing: ['bad', 'failing'],
  stale: ['bad', 'not polled'],
  'not-read': ['wait', 'not polled yet'],
  other: ['calm', 'not polled'],
};

function sourceTable(sources: readonly SourceView[], now: number): Html {
  const rows = sources.map((source) => {
    const [tone, word] = STATES[source.state];
    const state = html`${badge(tone, source.state === 'other' ? (source.kind ?? 'pushed') : word)}${source.error === null ? '' : html` ${source.error}`}`;
    const since = source.waitingSince === null ? '' : html`, oldest ${age(source.waitingSince, now)}`;
    const old =
      source.outdated === 0 ? '' : html`, ${source.outdated.toLocaleString('en')} redacted with earlier settings`;
    return [
      html`${source.name}`,
      state,
      observed(source.freshness, now, '–'),
      html`${source.waiting.toLocaleString('en')}${since}${old}`,
      source.deadLetters,
    ];
  });
  return table('Sources', ['Source', 'State', 'Last poll', 'Waiting', 'Dead letters'], rows);
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
  const values = redactions.map(({ type, count }) => [type.replaceAll('_', ' '), count] as const);
  const reasons = skipped.map(({ reason, count }) => [reason.replaceAll('-', ' '), count] as const);
  return html`${values.length === 0 ? html`<p>Nothing was redacted yet.</p>` : table('Redacted values by kind', ['Redacted', 'Number'], values)}
${reasons.length === 0 ? '' : html`<h2>Tickets that are not sent</h2>${table('Tickets that are not sent', ['Reason', 'Number'], reasons)}`}`;
}
