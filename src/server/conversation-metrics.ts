import type { Registry } from 'prom-client';
import type { IngestionStatus } from '../conversations/ingestion/ingestion.ts';
import type { ConversationEvents, SenderState } from '../conversations/model/events.ts';
import type { HookOutcome } from './hooks.ts';
import { ChangingGauge, counter, gauge } from './instruments.ts';

/** The metrics of conversations. Labels name sources and types; none ever carries content. */
export interface ConversationMetrics {
  /** What the ingestion of one organization tells as it goes. */
  events(organization: string): ConversationEvents;
  /** How much there is now. */
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

/** Makes the metrics in a registry. */
export function conversationMetrics(registry: Registry): ConversationMetrics {
  return { ...flowMetrics(registry), ...stockMetrics(registry), ...hookMetrics(registry) };
}

const BY_SOURCE = ['organization', 'source'] as const;

function flowMetrics(registry: Registry): Pick<ConversationMetrics, 'events'> {
  const found = counter(registry, 'conversations_found_total', 'Tickets that a source gave.', BY_SOURCE);
  const unchanged = counter(registry, 'conversations_unchanged_total', 'Tickets that were sent before as they are.', [
    ...BY_SOURCE,
  ]);
  const skipped = counter(registry, 'conversations_skipped_total', 'Tickets that are not to be sent, by reason.', [
    ...BY_SOURCE,
    'reason',
  ]);
  const rejected = counter(registry, 'conversations_rejected_total', 'Records that cannot be read.', BY_SOURCE);
  const incomplete = counter(
    registry,
    'conversations_incomplete_total',
    'Tickets of which a source gave less than it reported.',
    BY_SOURCE,
  );
  const redacted = counter(registry, 'conversations_redacted_total', 'What was taken out, by type.', [
    ...BY_SOURCE,
    'type',
  ]);
  const sent = counter(registry, 'conversations_sent_total', 'Conversations that the platform took.', ['organization']);
  const doubts = counter(registry, 'conversations_doubtful_total', 'Conversations whose answer was lost.', [
    'organization',
  ]);
  const records = gauge(registry, 'conversations_context_records', 'Whether a site takes them: 1 or 0.', [
    'organization',
  ]);
  const refused = counter(
    registry,
    'conversations_refused_total',
    'Conversations that the platform refuses.',
    BY_SOURCE,
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
      onDoubt: ({ items }) => doubts.inc({ organization }, items),
      onRefused: ({ source }) => refused.inc({ organization, source }),
      onDestination: ({ kind }) => records.set({ organization }, kind === 'context-records' ? 1 : 0),
    }),
  };
}

function stockMetrics(registry: Registry): Pick<ConversationMetrics, 'status'> {
  const changing = <L extends string>(name: string, help: string, labels: readonly L[]) =>
    new ChangingGauge(gauge(registry, `conversations_${name}`, help, labels));
  const waiting = changing('waiting', 'Conversations that wait to be sent.', BY_SOURCE);
  const oldest = changing('oldest_seconds', 'How long the oldest conversation has waited.', BY_SOURCE);
  const dead = changing('dead', 'Dead letters: conversations that the platform refused.', BY_SOURCE);
  const lag = changing('poll_age_seconds', 'Since when no poll of a source came to its end.', BY_SOURCE);
  const failing = changing('poll_failing', 'Whether the last poll of a source failed: 1 or 0.', BY_SOURCE);
  const full = gauge(registry, 'conversations_outbox_full', 'Whether the outbox takes no more: 1 or 0.', [
    'organization',
  ]);
  const sender = gauge(registry, 'conversations_sender', 'What the sender does: 1 for its state, 0 for the others.', [
    'organization',
    'state',
  ]);
  return {
    status: (organization, status) => {
      const each = (value: (source: IngestionStatus['sources'][number]) => number | null) =>
        status.sources.flatMap((one) => {
          const shown = value(one);
          return shown === null ? [] : [{ labels: { organization, source: one.source }, value: shown }];
        });
      waiting.show(
        organization,
        each((one) => one.waiting),
      );
      oldest.show(
        organization,
        each((one) => (one.waitingFor ?? 0) / 1000),
      );
      dead.show(
        organization,
        each((one) => one.dead),
      );
      lag.show(
        organization,
        each((one) => (one.polledAgo === null ? null : one.polledAgo / 1000)),
      );
      failing.show(
        organization,
        each((one) => (one.error === null ? 0 : 1)),
      );
      full.set({ organization }, status.outbox.isFull ? 1 : 0);
      for (const state of SENDER_STATES) {
        sender.set({ organization, state }, status.sender.kind === state ? 1 : 0);
      }
    },
  };
}

function hookMetrics(registry: Registry): Pick<ConversationMetrics, 'hook'> {
  const hooks = counter(registry, 'hooks_total', 'Webhook requests by what became of them.', [...BY_SOURCE, 'outcome']);
  return { hook: (organization, source, outcome) => hooks.inc({ organization, source, outcome }) };
}
