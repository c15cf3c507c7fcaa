/** Prometheus metrics of conversations. Labels contain names of sources and types, and never content. */
import type { IngestionStatus } from '../conversations/ingestion.ts';
import type { ConversationEvents, SenderState } from '../conversations/model/source.ts';
import type { HookOutcome } from './hooks.ts';
import type { GaugeTable, Instruments } from './instruments.ts';

const SENDER_STATES = [
  'stopped',
  'idle',
  'sending',
  'failing',
  'refused',
  'unsupported',
] as const satisfies readonly SenderState['kind'][];

/** Registers the metrics of conversations. */
export function conversationMetrics(instruments: Instruments) {
  return { ...flowMetrics(instruments), ...stockMetrics(instruments), ...hookMetrics(instruments) };
}

function flowMetrics({ counter, gauge }: Instruments) {
  const total = <L extends string = never>(name: string, help: string, ...more: readonly L[]) =>
    counter<'organization' | 'source' | L>(`conversations_${name}_total`, help, 'organization', 'source', ...more);
  const found = total('found', 'Number of tickets read from a source.');
  const unchanged = total('unchanged', 'Number of tickets that have not changed since they were sent.');
  const skipped = total('skipped', 'Number of tickets that are not sent, by reason.', 'reason');
  const rejected = total('rejected', 'Number of records that could not be read.');
  const incomplete = total('incomplete', 'Number of tickets for which a source returned fewer parts than it reported.');
  const redacted = total('redacted', 'Number of redactions, by type.', 'type');
  const refused = total('refused', 'Number of conversations that the platform refused.');
  const sent = counter(
    'conversations_sent_total',
    'Number of conversations that the platform accepted.',
    'organization',
  );
  const unconfirmed = counter(
    'conversations_unconfirmed_total',
    'Number of conversations sent without a response; they are sent again.',
    'organization',
  );
  const records = gauge(
    'conversations_as_context_records',
    '1 if conversations are sent to a site as context records, otherwise 0.',
    'organization',
  );
  return {
    /** Returns the listener that counts the events of an organization. */
    events: (organization: string): ConversationEvents => ({
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

const SOURCE_GAUGES: GaugeTable<IngestionStatus['sources'][number]> = [
  ['waiting', 'Conversations in the outbox, waiting to be sent.', ({ waiting }) => waiting],
  [
    'oldest_wait_seconds',
    'Waiting time of the oldest conversation in the outbox.',
    (one) => one.oldestWaitSeconds ?? 0,
  ],
  ['dead_letters', 'Dead letters: conversations that the platform refused.', ({ deadLetters }) => deadLetters],
  ['poll_age_seconds', 'Time since the last completed poll of a source.', ({ pollAgeSeconds }) => pollAgeSeconds],
  ['poll_failing', '1 if the last poll of a source failed, otherwise 0.', ({ error }) => (error === null ? 0 : 1)],
];

function stockMetrics({ gauge, changingGauges }: Instruments) {
  const showSources = changingGauges('conversations', SOURCE_GAUGES, 'organization', 'source');
  const full = gauge(
    'conversations_outbox_full',
    '1 if the outbox is full and polling is paused, otherwise 0.',
    'organization',
  );
  const sender = gauge(
    'conversations_sender_state',
    '1 for the current state of the sender, 0 for other states.',
    'organization',
    'state',
  );
  const inFlight = gauge(
    'conversations_batches_in_flight',
    'Batches of conversations that were sent and have no response yet.',
    'organization',
  );
  return {
    /** Updates the gauges of an organization. */
    status: (organization: string, status: IngestionStatus): void => {
      showSources(
        organization,
        status.sources.map((each) => [{ organization, source: each.source }, each]),
      );
      full.set({ organization }, status.outbox.isFull ? 1 : 0);
      inFlight.set({ organization }, status.inFlight);
      for (const state of SENDER_STATES) {
        sender.set({ organization, state }, status.sender.kind === state ? 1 : 0);
      }
    },
  };
}

function hookMetrics({ counter }: Instruments) {
  const hooks = counter(
    'webhook_requests_total',
    'Number of webhook requests, by outcome.',
    'organization',
    'source',
    'outcome',
  );
  return {
    hook: (organization: string, source: string, outcome: HookOutcome): void =>
      hooks.inc({ organization, source, outcome }),
  };
}
