/** Organizations that another replica has, or none, as views read them. */
import { readChangeRequests } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { Clock } from '../../core/clock.ts';
import type { PushReceiver } from '../../reconcile/push-receiver.ts';
import type { Store } from '../../store/store.ts';
import type { OrganizationOwner, OrganizationState } from '../../web/model/backend.ts';
import { UNKNOWN_QUEUE } from './queue-content.ts';
import { UNKNOWN_STATE } from './restored-state.ts';
import type { StateReader } from './state-reader.ts';
import type { StoredConversations } from './stored-conversations.ts';

interface RemoteOrganizationOptions {
  readonly config: OrganizationConfig;
  readonly store: Store;
  readonly clock: Pick<Clock, 'now'>;
  readonly states: Pick<StateReader, 'find' | 'samples'>;
  readonly conversations: StoredConversations;
  /** Null if no webhook is configured. */
  readonly pushes: PushReceiver | null;
  /** Returns the replica that has the organization. */
  readonly owner: () => OrganizationOwner;
  /** Returns the name of the queue. */
  readonly queueName: () => string;
}

/** Returns the state of an organization, which changes whenever `states` is refreshed. */
export function remoteOrganization(options: RemoteOrganizationOptions): OrganizationState {
  const { config, store, clock, states, conversations, pushes } = options;
  const { id, source } = config;
  const restored = () => states.find(id)?.state ?? UNKNOWN_STATE;
  return {
    id,
    config,
    get owner() {
      return options.owner();
    },
    get reconciler() {
      return source === null ? null : restored().reconciler;
    },
    record: store.organization(id),
    history: store.history(id),
    queue: {
      get name() {
        return options.queueName();
      },
      get isKnown() {
        return restored().queue !== null;
      },
      snapshot: () => restored().queue?.(clock.now()) ?? UNKNOWN_QUEUE,
      samples: () => states.samples(id),
    },
    conversations: {
      status: () => conversations.status(restored().ingestion),
      recentStatus: () => conversations.status(restored().ingestion),
      outdated: () => conversations.outdated(),
      deadLetters: (filter, limit) => conversations.deadLetters(filter, limit),
    },
    clusters: {
      get overview() {
        return restored().overview;
      },
      changeRequests: () => readChangeRequests(store.note(`clusters/${id}`)),
    },
    pollInterval: source?.git?.pollInterval ?? null,
    webhook: pushes,
    get statuses() {
      return restored().statuses;
    },
  };
}
