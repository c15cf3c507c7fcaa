/** Interface of the read model of the daemon, which pages, `status`, metrics and conditions are made from. */
import type { ClusterOverview } from '../../clusters/events.ts';
import type { StoredClusters } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import type { Address } from '../../core/address.ts';
import type { Clock } from '../../core/clock.ts';
import type { Declared } from '../../core/resource.ts';
import type { StatusFailure } from '../../notify/status-sender.ts';
import type { ChangeDocument, PlanDocument } from '../../plan/render/document.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { OrganizationReconciler } from '../../reconcile/organization.ts';
import type { Check, PassEnd } from '../../reconcile/pass.ts';
import type { PushStatus } from '../../reconcile/push-receiver.ts';
import type { Desired } from '../../reconcile/source.ts';
import type { History } from '../../store/history.ts';
import type { Replica } from '../../store/leases.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { DeadFilter, DeadLetter, KnownTicket, RecentCounts } from '../../store/outbox/outbox.ts';
import type { OrganizationRecord } from '../../store/record.ts';
import type { BudgetSample } from './budget-samples.ts';
import type { ReplicaConfigurationProblem } from './configuration.ts';
import type { LogBuffer } from './log-buffer.ts';
import type { Topic } from './topics.ts';

/** The queue of a token in one replica, which the organizations with the same token share there. */
export interface QueueState {
  /** Name of the token: id of the first organization of the configuration that uses it. */
  readonly name: string;
  /** False if the state of another organization of the same replica has it, or none. */
  readonly isKnown: boolean;
  snapshot(): QueueSnapshot;
  /** Returns samples of the last hours, oldest first. Throws StoreError. */
  samples(): Promise<readonly BudgetSample[]>;
}

/** Ingestion of conversations. Every method reads the state file only, and throws StoreError. */
export interface ConversationState {
  status(): Promise<IngestionStatus>;
  /** Returns the status since the last change that the owner has seen; at most a minute old. */
  recentStatus(): Promise<IngestionStatus>;
  /** Returns the number of waiting conversations per source that were redacted with other settings. */
  outdated(): Promise<ReadonlyMap<string, number>>;
  /** Returns dead letters without their content, oldest first. */
  deadLetters(filter: DeadFilter, limit: number): Promise<readonly DeadLetter[]>;
  /** Returns what happened in the last 30 days. */
  recent(now: number): Promise<RecentCounts>;
  /** Returns what is known of the tickets with this key, or with this id in any account. */
  find(text: string): Promise<readonly KnownTicket[]>;
}

/** Issue clusters and Octavo's change requests for them. Needs no request to the platform. */
export interface ClusterState {
  readonly overview: Pick<ClusterOverview, 'lastRun' | 'clusters' | 'omitted'>;
  /** Returns Octavo's change requests and examples of issues. Throws StoreError. */
  stored(): Promise<StoredClusters>;
}

/** Reconciler of an organization, as pages read it. The one of this replica is one. */
export interface ReconcilerState extends Pick<OrganizationReconciler, 'isRunning' | 'reached' | 'failingSince'> {
  readonly lastCheck:
    | (Pick<Check, 'authors' | 'at'> & {
        readonly plan: PlanDocument;
        /** Changes of the plan that undo what somebody changed on the platform. */
        readonly drift: ReadonlySet<ChangeDocument>;
      })
    | null;
  readonly lastEnd:
    | (Pick<PassEnd, 'outcome' | 'results' | 'error' | 'endedAt' | 'retryIn'> & { readonly plan: PlanDocument | null })
    | null;
  readonly lastDesired:
    | (Pick<Desired, 'commit' | 'subject' | 'author'> & {
        readonly state: { readonly declared: { readonly size: number } };
      })
    | null;
}

/** Resources of an organization by address. */
export interface KnownResources {
  readonly declared: ReadonlyMap<Address, Declared>;
  /** Ids of those that the last check found. */
  readonly ids: ReadonlyMap<Address, string>;
}

/**
 * Replica that has an organization. `only`: there is no fleet. `none`: no replica has it since this time, in milliseconds
 * since the epoch; null: none has ever had it.
 */
export type OrganizationOwner =
  | { readonly kind: 'only' }
  | { readonly kind: 'replica'; readonly id: string; readonly address: string }
  | { readonly kind: 'none'; readonly since: number | null };

/** One organization of the daemon. */
export interface OrganizationState {
  readonly id: string;
  readonly config: OrganizationConfig;
  readonly owner: OrganizationOwner;
  /** Null if the configuration has no source of manifests. */
  readonly reconciler: ReconcilerState | null;
  /** Returns the resources of the last valid manifests; null before they were read. Throws StoreError. */
  resources(): Promise<KnownResources | null>;
  readonly record: OrganizationRecord;
  readonly history: History;
  readonly queue: QueueState;
  readonly conversations: ConversationState;
  readonly clusters: ClusterState;
  /** Milliseconds between checks for commits; null if changes are noticed as they happen. */
  readonly pollInterval: number | null;
  /** Webhook of the repository; null if it is not configured. `status` throws StoreError. */
  readonly webhook: { status(): Promise<PushStatus> } | null;
  /** Commit statuses; null if they are not configured. */
  readonly statuses: { readonly failure: StatusFailure | null } | null;
}

/** The daemon, as views and pages see it. */
export interface Backend {
  readonly version: string;
  readonly clock: Clock;
  /** Sorted by id. */
  organizations(): readonly OrganizationState[];
  /** Reads what other replicas have stored of their organizations since. Pages are made after it. Throws StoreError. */
  refresh(): Promise<void>;
  /** Returns the state of the fleet; null if the state is in a file. */
  fleet(): FleetState | null;
  /** Returns the configurations that cannot be used, of all replicas. */
  configurationProblems(): readonly ReplicaConfigurationProblem[];
  readonly log: LogBuffer;
  readonly notifications: NotificationReader;
  /** History of what people did that concerns no single organization. */
  readonly history: Pick<History, 'audit'>;
  /** Calls back when something changed. Returns a function that stops it. */
  onChange(listener: (topic: Topic) => void): () => void;
}

/** The fleet as the last check of this replica found it. */
export interface FleetState {
  /** Id of this replica. */
  readonly replica: string;
  readonly replicas: readonly (Replica & {
    /** Number of organizations that it has. */
    readonly organizations: number;
  })[];
  /** Milliseconds that the leases of this replica last without another renewal; at most 0 if they are lost. */
  readonly left: number;
  /** Why the last renewal failed; null if it succeeded. */
  readonly failure: string | null;
  /** Average milliseconds of a transaction; recent ones count most. Null before the first one. */
  readonly latency: number | null;
  /** Organizations that no replica has, with milliseconds since when; null: not known. */
  readonly unowned: readonly {
    readonly organization: string;
    readonly age: number | null;
    /** False if only other replicas have it configured. */
    readonly isConfigured: boolean;
  }[];
  /** Milliseconds for which nobody sends notifications; null if a replica does. */
  readonly notificationsUnowned: number | null;
}

/** Notifications of the daemon, as pages read them. */
export interface NotificationReader extends Pick<Notifications, 'conditions' | 'deliveries' | 'lastSent'> {
  /** Names of the channels in the configuration. */
  readonly channels: readonly string[];
}
