/** Prometheus metrics of conversations. */
import type { Registry } from 'prom-client';
import type { IngestionStatus } from '../conversations/ingestion.ts';
import type { ConversationEvents, SenderState } from '../conversations/model/source.ts';
import type { HookOutcome } from './hooks.ts';
import { ChangingGauge, counter, gauge } from './instruments.ts';

/** Metrics of conversations. Labels contain names of sources and types, and never content. */
export interface ConversationMetrics {
  /** Returns the listener that counts the events of an organization. */
  events(organization: string): ConversationEvents;
  /** Updates the gauges. */
  status(organization: string, status: IngestionStatus): void;
  hook(organization: string, source: string, outcome: HookOutcome): void;
}

const SENDER_STATES: readonly SenderState['kind'][] = [
  'stopped',
  'idle',
  'sending',
  'failing',
  'refused',
  'unsupported',
];

/** Registers the metrics of conversations. */
export function conversationMetrics(registry: Registry): ConversationMetrics {
  return { ...flowMetrics(registry), ...stockMetrics(registry), ...hookMetrics(registry) };
}

const BY_SOURCE = ['organization', 'source'] as const;

function flowMetrics(registry: Registry): Pick<ConversationMetrics, 'events'> {
  const total = <L extends string = never>(name: string, help: string, ...more: readonly L[]) =>
    counter(registry, `conversations_${name}_total`, help, [...BY_SOURCE, ...more]);
  const found = total('found', 'Number of tickets read from a source.');
  const unchanged = total('unchanged', 'Number of tickets that have not changed since they were sent.');
  const skipped = total('skipped', 'Number of tickets that are not sent, by reason.', 'reason');
  const rejected = total('rejected', 'Number of records that could not be read.');
  const incomplete = total('incomplete', 'Number of tickets for which a source returned fewer parts than it reported.');
  const redacted = total('redacted', 'Number of redactions, by type.', 'type');
  const refused = total('refused', 'Number of conversations that the platform refused.');
  const sent = counter(registry, 'conversations_sent_total', 'Number of conversations that the platform accepted.', [
    'organization',
  ]);
  const unconfirmed = counter(
    registry,
    'conversations_unconfirmed_total',
    'Number of conversations sent without a response; they are sent again.',
    ['organization'],
  );
  const records = gauge(
    registry,
    'conversations_as_context_records',
    '1 if conversations are sent to a site as context records, otherwise 0.',
    ['organization'],
  );
  return {
    events: (organization) => ({
      onIntake: (taken) => {
        const labels = { organization, source: taken.source };
        found.inc(labels, taken.found);
        unchanged.inc(labels, taken.unchanged);
        rejected.inc(labels, taken.rejected);
        incomplete.inc(labels, taken.incomplete);
        for (const [reason, count] of Object.entries(taken.skipped)) {
          skipped.inc({ ...labels, reason }, count);
        }
        for (const [type, count] of Object.entries(taken.redacted)) {
          redacted.inc({ ...labels, type }, count);
        }
      },
      onSent: ({ items }) => sent.inc({ organization }, items),
      onDoubt: ({ items }) => unconfirmed.inc({ organization }, items),
      onRefused: ({ source }) => refused.inc({ organization, source }),
      onDestination: ({ kind }) => records.set({ organization }, kind === 'context-records' ? 1 : 0),
    }),
  };
}

type Source = IngestionStatus['sources'][number];

function stockMetrics(registry: Registry): Pick<ConversationMetrics, 'status'> {
  const changing = (name: string, help: string) =>
    new ChangingGauge(gauge(registry, `conversations_${name}`, help, BY_SOURCE));
  const gauges: readonly (readonly [ChangingGauge<'organization' | 'source'>, (one: Source) => number | null])[] = [
    [changing('waiting', 'Conversations in the outbox, waiting to be sent.'), (one) => one.waiting],
    [
      changing('oldest_wait_seconds', 'Waiting time of the oldest conversation in the outbox.'),
      (one) => one.oldestWaitSeconds ?? 0,
    ],
    [changing('dead_letters', 'Dead letters: conversations that the platform refused.'), (one) => one.deadLetters],
    [changing('poll_age_seconds', 'Time since the last completed poll of a source.'), (one) => one.pollAgeSeconds],
    [
      changing('poll_failing', '1 if the last poll of a source failed, otherwise 0.'),
      (one) => (one.error === null ? 0 : 1),
    ],
  ];
  const full = gauge(
    registry,
    'conversations_outbox_full',
    '1 if the outbox is full and polling is paused, otherwise 0.',
    ['organization'],
  );
  const sender = gauge(
    registry,
    'conversations_sender_state',
    '1 for the current state of the sender, 0 for other states.',
    ['organization', 'state'],
  );
  const inFlight = gauge(
    registry,
    'conversations_batches_in_flight',
    'Batches of conversations that were sent and have no response yet.',
    ['organization'],
  );
  return {
    status: (organization, status) => {
      const { sources } = status;
      for (const [shown, read] of gauges) {
        const values = sources.map((one) => ({ labels: { organization, source: one.source }, value: read(one) }));
        shown.show(
          organization,
          values.flatMap(({ labels, value }) => (value === null ? [] : [{ labels, value }])),
        );
      }
      full.set({ organization }, status.outbox.isFull ? 1 : 0);
      inFlight.set({ organization }, status.inFlight);
      for (const state of SENDER_STATES) {
        sender.set({ organization, state }, status.sender.kind === state ? 1 : 0);
      }
    },
  };
}

function hookMetrics(registry: Registry): Pick<ConversationMetrics, 'hook'> {
  const hooks = counter(registry, 'webhook_requests_total', 'Number of webhook requests, by outcome.', [
    ...BY_SOURCE,
    'outcome',
  ]);
  return { hook: (organization, source, outcome) => hooks.inc({ organization, source, outcome }) };
}
