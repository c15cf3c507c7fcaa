/** Listeners that report changes of an organization to the web page. */
import type { ClusterEvents } from '../clusters/run/events.ts';
import type { ConversationEvents } from '../conversations/model/events.ts';
import type { QueueEvent } from '../queue/snapshot.ts';
import type { PassEvents } from '../reconcile/daemon/pass.ts';

/** Returns listeners that call `notify` when pages show something else. */
export function changeEvents(notify: () => void): {
  readonly passes: PassEvents;
  readonly conversations: ConversationEvents;
  readonly clusters: ClusterEvents;
} {
  return {
    // The history reports the end of a pass once more, after it has recorded it.
    passes: { onPassStart: notify, onPlan: notify, onPassEnd: notify },
    conversations: {
      onIntake: notify,
      onPressure: notify,
      onPollEnd: notify,
      onFilesEnd: notify,
      onSent: notify,
      onDoubt: notify,
      onRefused: notify,
      onSenderState: notify,
    },
    clusters: {
      onRead: notify,
      onOpened: notify,
      onMerged: notify,
      onArchived: notify,
      onReopened: notify,
      onSuperseded: notify,
      onCommented: notify,
      onMuted: notify,
      onRunEnd: notify,
    },
  };
}

/** Returns a listener of queues that also calls `notify` for what people should see before the next sample of the budgets. */
export function notifyingBudget(listener: (event: QueueEvent) => void, notify: () => void): typeof listener {
  return (event) => {
    listener(event);
    if (event.kind !== 'attempt' || event.outcome === 'refused') {
      notify();
    }
  };
}
