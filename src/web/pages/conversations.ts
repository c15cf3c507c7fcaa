/** Page of the ingestion of conversations. */
import { html } from 'hono/html';
import { counted } from '../../plan/render/words.ts';
import {
  type ConversationSourceView,
  type ConversationsView,
  conversationsView,
  type OutboxView,
} from '../../views/conversations.ts';
import { stackedBar } from '../charts/stacked-bar.ts';
import { age } from '../html/age.ts';
import { link, pathTo } from '../html/link.ts';
import { observed } from '../html/observed.ts';
import { stateBadge, type Tone } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
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
