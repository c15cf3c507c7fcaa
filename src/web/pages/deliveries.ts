/** Page of the notification channels: what each one received last, what waits, and what failed. */

import { html } from 'hono/html';
import { isQueued } from '../../notify/deliveries.ts';
import { counted } from '../../plan/render/words.ts';
import type { Condition, DeliveryRecord, DeliveryState } from '../../store/notifications.ts';
import { age, link, type StateLabel, shown, stateBadge, table } from '../html/elements.ts';
import { type Backend, canOperate, definePage, type Html, type PageRequest, visibilityOf } from '../model/page.ts';
import { isoTime } from '../model/words.ts';
import { alertTitle } from './conditions.ts';

/** Number of deliveries that are counted, and of those that are shown. */
const COUNTED = 5000;
const SHOWN = 100;
const CONDITIONS = 5000;

type DeliveriesView = Awaited<ReturnType<typeof load>>;

/** Returns the state of all channels. Throws StoreError. */
async function load(backend: Backend, { viewer, titleOf }: PageRequest) {
  const { notifications } = backend;
  /** True if the person may send messages again that were given up. */
  const mayRetry = canOperate(backend, viewer);
  if (!visibilityOf(backend, viewer).seesAll) {
    const sentence = 'Messages are shown to people who may see every organization';
    return { isAllowed: false, sentence, channels: [], pending: [], latest: [], mayRetry };
  }
  const { channels: configured } = notifications;
  const pending = await notifications.deliveries({ isPending: true, limit: COUNTED });
  const latest = await notifications.deliveries({ limit: SHOWN });
  const sent = await notifications.lastSent();
  const conditions = new Map((await notifications.conditions(CONDITIONS)).map((each) => [each.id, each]));
  const names = new Set([...configured, ...pending.map(({ channel }) => channel)]);
  const channels = [...names].map((name) => channelView(name, configured.includes(name), pending, sent.get(name)));
  const shown = new Set(pending.slice(0, SHOWN).map(({ id }) => id));
  return {
    /** False: the person may not see all organizations, and messages are about several. */
    isAllowed: true,
    sentence: sentenceOf(channels),
    channels,
    /** Those that wait or failed, and then the latest others. */
    pending: pending.slice(0, SHOWN).map((each) => deliveryView(each, conditions, titleOf)),
    latest: latest.filter(({ id }) => !shown.has(id)).map((each) => deliveryView(each, conditions, titleOf)),
    mayRetry,
  };
}

type ChannelView = ReturnType<typeof channelView>;

/** Describes a channel. `isConfigured` false: it has deliveries, but is not in the configuration any more. */
function channelView(
  name: string,
  isConfigured: boolean,
  pending: readonly DeliveryRecord[],
  sentAt: number | undefined,
) {
  const own = pending.filter(({ channel }) => channel === name);
  const waiting = own.filter(isQueued);
  return {
    name,
    isConfigured,
    lastSentAt: isoTime(sentAt ?? null),
    waiting: waiting.length,
    /** Deliveries that wait, and failed at least once. */
    retried: waiting.filter(({ reason }) => reason !== null).length,
    /** Deliveries that were given up, among those that are kept. */
    failed: own.length - waiting.length,
  };
}

type DeliveryView = ReturnType<typeof deliveryView>;

function deliveryView(
  record: DeliveryRecord,
  conditions: ReadonlyMap<string, Condition>,
  titleOf: PageRequest['titleOf'],
) {
  const { id, channel, kind, state, about, attempts, reason, mayHaveArrived } = record;
  return {
    id,
    channel,
    kind,
    state,
    attempts,
    /** Why the last attempt failed; null if it did not. */
    reason,
    /** True if an attempt got no answer, so that the channel may have it. */
    mayHaveArrived,
    /** Subject, such as `Runs fail (acme and 2 more)`. */
    about: aboutText(about, conditions, titleOf),
    createdAt: isoTime(record.createdAt),
    nextAttemptAt: isoTime(record.nextAttemptAt),
    endedAt: isoTime(record.endedAt),
  };
}

function aboutText(
  about: readonly string[],
  conditions: ReadonlyMap<string, Condition>,
  titleOf: PageRequest['titleOf'],
): string {
  const known = about.map((id) => conditions.get(id)).find((each) => each !== undefined);
  if (known === undefined) {
    return counted(about.length, 'message', 'messages');
  }
  const { code, scope } = known.fact;
  const rest = about.length - 1;
  const first = scope.organization === null ? (scope.platform ?? '') : titleOf(scope.organization);
  const who = [...(first === '' ? [] : [first]), ...(rest === 0 ? [] : [`${rest} more`])].join(' and ');
  return who === '' ? alertTitle(code) : `${alertTitle(code)} (${who})`;
}

function sentenceOf(channels: readonly ChannelView[]): string {
  if (channels.length === 0) {
    return 'No channel is configured, so nobody is notified';
  }
  const failing = channels.filter(({ retried, failed }) => retried > 0 || failed > 0).length;
  const waiting = channels.reduce((sum, each) => sum + each.waiting, 0);
  const state =
    failing === 0
      ? `${counted(channels.length, 'channel')}`
      : `${failing} of ${counted(channels.length, 'channel')} failed lately`;
  return waiting === 0
    ? `${state}; nothing waits`
    : `${state}; ${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'}`;
}

export const deliveriesPage = definePage<DeliveriesView>({
  path: '/deliveries',
  load,
  title: () => 'Messages',
  render: (view, { now }) => html`<div class="head"><h1>Messages</h1><p>${link('/alerts', 'Alerts')}</p></div>
<p class="lead">${view.sentence}.</p>
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

function content({ channels, pending, latest, mayRetry }: DeliveriesView, now: number): Html {
  const canRetry = ({ isConfigured, failed }: ChannelView) => mayRetry && isConfigured && failed > 0;
  const withActions = channels.some(canRetry);
  if (channels.length === 0 && latest.length === 0) {
    return html`<p class="empty">Add Slack, Microsoft Teams, mail, PagerDuty or a webhook to <code>notifications.channels</code> in the configuration of Octavo.</p>`;
  }
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
    each.kind === 'firing' ? 'alert' : each.kind,
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
