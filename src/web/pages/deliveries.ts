/** Page of the notification channels and their messages. */
import { html } from 'hono/html';
import type { DeliveryState } from '../../store/notifications.ts';
import { type ChannelView, type DeliveriesView, type DeliveryView, deliveriesView } from '../../views/deliveries.ts';
import { age } from '../html/age.ts';
import { link } from '../html/link.ts';
import { type StateLabel, stateBadge } from '../html/state.ts';
import { table } from '../html/table.ts';
import { shown } from '../html/text.ts';
import { canOperate, visibilityOf } from '../html/visibility.ts';
import { definePage, type Html } from '../page.ts';

interface DeliveriesPageView extends DeliveriesView {
  /** True if the person may send messages again that were given up. */
  readonly mayRetry: boolean;
}

export const deliveriesPage = definePage<DeliveriesPageView>({
  path: '/deliveries',
  load: async (backend, { viewer }) => ({
    ...(await deliveriesView(backend.notifications, visibilityOf(backend, viewer).seesAll)),
    mayRetry: canOperate(backend, viewer, null),
  }),
  title: () => 'Deliveries',
  render: (view, { now }) => html`<h1>Deliveries</h1>
<p class="sentence">${view.sentence}.</p>
<p>${link('/conditions', 'Conditions')}</p>
${view.isAllowed ? content(view, now) : ''}`,
  topics: () => ['notifications'],
});

const LABELS: Readonly<Record<DeliveryState, StateLabel>> = {
  queued: { tone: 'busy', word: 'waiting' },
  open: { tone: 'busy', word: 'being sent' },
  refused: { tone: 'bad', word: 'not taken, sent again' },
  sent: { tone: 'ok', word: 'sent' },
  failed: { tone: 'bad', word: 'given up' },
  cancelled: { tone: 'none', word: 'not needed' },
};
const LONGEST_REASON = 400;

function content({ channels, pending, latest, mayRetry }: DeliveriesPageView, now: number): Html {
  const canRetry = ({ isConfigured, failed }: ChannelView) => mayRetry && isConfigured && failed > 0;
  const withActions = channels.some(canRetry);
  return html`<h2>Channels</h2>
${table({
  caption: 'Channels',
  head: ['Channel', 'State', 'Last message', 'Waiting', 'Given up', ...(withActions ? ['Actions'] : [])],
  rows: channels.map((each) => [
    ...channelRow(each, now),
    ...(withActions ? [canRetry(each) ? retryForm(each) : html``] : []),
  ]),
  empty: 'None is configured.',
})}
<h2>Waiting and failed</h2>
${deliveryTable('Messages that wait or failed', pending, now)}
<h2>Latest</h2>
${deliveryTable('Latest messages, newest first', latest, now)}`;
}

/** Messages about events are sent again; conditions that still fire are announced again by themselves. */
function retryForm({ name }: ChannelView): Html {
  return html`<form class="action" method="post" action="/deliveries">
<input type="hidden" name="action" value="delivery-retry"><input type="hidden" name="channel" value="${name}">
<button aria-label="Send events again: ${shown(name)}">Send events again</button>
</form>`;
}

function channelRow({ name, isConfigured, lastSentAt, waiting, retried, failed }: ChannelView, now: number) {
  const label: StateLabel = !isConfigured
    ? { tone: 'old', word: 'not configured any more' }
    : retried > 0
      ? { tone: 'bad', word: 'failing' }
      : { tone: lastSentAt === null ? 'none' : 'ok', word: lastSentAt === null ? 'not used yet' : 'working' };
  return [html`${shown(name)}`, stateBadge(label), age(lastSentAt, now), waiting, failed];
}

function deliveryTable(caption: string, deliveries: readonly DeliveryView[], now: number): Html {
  const head = ['Message', 'Channel', 'Kind', 'Created', 'State'];
  const rows = deliveries.map((each) => [
    html`${shown(each.about)}`,
    html`${shown(each.channel)}`,
    each.kind,
    age(each.createdAt, now),
    stateCell(each, now),
  ]);
  return table({ caption, head, rows, empty: 'None.' });
}

function stateCell({ state, attempts, nextAttemptAt, reason, mayHaveArrived }: DeliveryView, now: number): Html {
  const isWaiting = nextAttemptAt !== null;
  const next = isWaiting && attempts > 0 ? html`, next attempt ${age(nextAttemptAt, now)}` : '';
  const doubt = mayHaveArrived && state !== 'sent' ? ' An attempt got no answer, so it may have arrived.' : '';
  return html`${stateBadge(LABELS[state])}${attempts > 1 ? ` after ${attempts} attempts` : ''}${next}${
    reason === null ? '' : html`: ${shown(reason, LONGEST_REASON)}`
  }${doubt}`;
}
