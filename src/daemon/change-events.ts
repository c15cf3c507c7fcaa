/** Listeners that report changes of an organization to the web page. */
import type { ClusterEvents } from '../clusters/run/events.ts';
import type { ConversationEvents } from '../conversations/model/events.ts';
import type { PassEvents } from '../reconcile/daemon/pass.ts';

/** Returns listeners that call `notify` when pages show something else. The history reports the end of passes. */
export function changeEvents(notify: () => void): {
  readonly passes: PassEvents;
  readonly conversations: ConversationEvents;
  readonly clusters: ClusterEvents;
} {
  return {
    passes: { onPassStart: notify },
    conversations: { onPollEnd: notify, onFilesEnd: notify, onSent: notify, onRefused: notify, onSenderState: notify },
    clusters: { onRunEnd: notify },
  };
}
