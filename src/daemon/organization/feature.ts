/** Interface of the daemon's subsystems: each organization has one feature of every kind. */
import type { ClusterEvents } from '../../clusters/events.ts';
import type { Config, OrganizationConfig } from '../../config/config.ts';
import type { ConversationEvents } from '../../conversations/model/source.ts';
import type { Clock, Random } from '../../core/clock.ts';
import type { EventBus } from '../../core/event-bus.ts';
import type { Logger } from '../../log.ts';
import type { Connection } from '../../platform/connection.ts';
import type { ConversationsProbe } from '../../platform/conversations-probe.ts';
import type { QueueEvent } from '../../queue/snapshot.ts';
import type { PassEvents } from '../../reconcile/pass.ts';
import type { Metrics } from '../../server/metrics.ts';
import type { Lease } from '../../store/leases.ts';
import type { Store } from '../../store/store.ts';
import type { Topic } from '../../web/model/page.ts';

/** A subsystem of the daemon, for one organization. */
export interface Feature {
  /** `once` runs the features of stage 1 first: a pass creates spaces, and sent conversations become issue clusters. */
  readonly stage: 1 | 2;
  /** Starts the work that repeats. Resolves once it is scheduled. */
  start(): Promise<void>;
  /** Runs the due work once. Returns false if something failed, which is logged. */
  once(): Promise<boolean>;
  /** Stops. Requests in flight may take this many milliseconds. */
  stop(milliseconds: number): Promise<void>;
}

/** Events of the daemon: of all its organizations, and of the other replicas. */
export interface DaemonEvents {
  /** Pages of this replica show something else. */
  onChange?(topic: Topic): void;
  /** The state of an organization of this replica has changed: for pages, here and of other replicas. */
  onStateChange?(organization: string): void;
  onQueueEvent?(event: QueueEvent): void;
  /** A pass of an organization has ended. */
  onPassEnd?(): void;
  /** An organization was opened by this replica, or has stopped. */
  onOrganization?(id: string): void;
  /** The files of the configuration can no longer be used, or can be used again. */
  onConfigurationProblem?(): void;
  /** Something to notify of was stored, and another replica sends. */
  onNotificationsStored?(): void;
  /** Another replica stored something to notify of. */
  onRemoteNotifications?(): void;
  /** Reports of this replica for the others were stored. */
  onReportsStored?(): void;
  /** Another replica stored its reports. */
  onRemoteReports?(): void;
}

/** Parts of the daemon that all features share. */
export interface DaemonContext {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly version: string;
  readonly log: Logger;
  /** Plans and reports, and never writes: no client that can write is created. */
  readonly dryRun: boolean;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly events: EventBus<DaemonEvents>;
  /** Aborts when the daemon stops. */
  readonly stopping: AbortSignal;
}

/** Events of one organization. */
export interface OrganizationEvents extends PassEvents, ConversationEvents, ClusterEvents {
  /** A pass was stored in the history, with its events. */
  onRecorded?(number: number): void;
  /** The webhook of the repository kept a comment that is a command. */
  onCommand?(): void;
}

/** The context of one organization. `log` adds its id to each line, and `store` refuses writes once the lease is lost. */
export interface OrganizationContext extends Omit<DaemonContext, 'events'> {
  readonly organization: OrganizationConfig;
  readonly lease: Lease;
  /** Aborts when the organization stops: nothing new is started. */
  readonly stopping: AbortSignal;
  /** Aborts the requests in flight. */
  readonly abort: AbortSignal;
  /** Throws LeaseLostError if the lease may end before a request does that takes at most this many milliseconds. */
  readonly checkSend: (timeout: number) => void;
  readonly connection: Connection;
  readonly probe: ConversationsProbe;
  readonly events: EventBus<OrganizationEvents>;
  readonly daemon: EventBus<DaemonEvents>;
}
