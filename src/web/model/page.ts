/** A page: its path, view model and HTML, what it is made from, and who may see it. The JSON of a page is its view model. */

import type { html } from 'hono/html';
import type { ClusterOverview } from '../../clusters/events.ts';
import type { StoredClusters } from '../../clusters/store.ts';
import type { OrganizationConfig } from '../../config/config.ts';
import type { RoleRule } from '../../config/ui.ts';
import type { IngestionStatus } from '../../conversations/ingestion.ts';
import type { Address } from '../../core/address.ts';
import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Declared } from '../../core/resource.ts';
import type { StatusFailure } from '../../notify/status-sender.ts';
import type { ChangeDocument, PlanDocument } from '../../plan/render/document.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { OrganizationReconciler } from '../../reconcile/organization.ts';
import type { Check, PassEnd } from '../../reconcile/pass.ts';
import type { PushStatus } from '../../reconcile/push-receiver.ts';
import type { Desired } from '../../reconcile/source.ts';
import type { RequestHandlers } from '../../server/requests.ts';
import type { Actor, History } from '../../store/history.ts';
import type { Replica } from '../../store/leases.ts';
import type { Notifications } from '../../store/notifications.ts';
import type { DeadFilter, DeadLetter, KnownTicket, RecentCounts } from '../../store/outbox/tables.ts';
import type { OrganizationRecord } from '../../store/record.ts';
import type { BudgetSample } from './budget-samples.ts';
import type { ReplicaConfigurationProblem } from './configuration.ts';
import type { LogBuffer } from './log-buffer.ts';

/** Escaped HTML, made by the `html` tag of hono. */
export type Html = ReturnType<typeof html>;

/** Rights of a person: each role includes those before it. */
export type ViewerRole = 'viewer' | 'operator' | 'approver';

/** The person who asks for a page. */
export interface Viewer {
  readonly actor: Actor;
  /** Returns the role for an organization; null if the person may not see it. */
  role(organization: string): ViewerRole | null;
}

export interface PageRequest {
  /** Parameters of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Parameters of the query; of repeated ones, the last. */
  readonly query: Readonly<Record<string, string>>;
  /** Fields of the form that the person sent to the page; none if the page was opened. */
  readonly fields: Readonly<Record<string, string>>;
  readonly viewer: Viewer;
  /** Handlers of what is recorded when the person reads it. */
  readonly handlers: Pick<RequestHandlers, 'conversations'>;
  /** Returns the title of an organization, or its id. */
  titleOf(organization: string): string;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** A page at a path such as `/o/:organization`. The server answers 404 for organizations that the viewer may not see. */
export interface PageDefinition<View extends object = object> {
  readonly path: string;
  /** Returns null if there is no such thing. */
  load(backend: Backend, request: PageRequest): Promise<View | null>;
  title(view: View): string;
  /** Returns the content of `<main>`. Null: the answer is always JSON. */
  readonly render: ((view: View, request: PageRequest) => Html | Promise<Html>) | null;
  /** Returns the name of the file for a page that is downloaded. Default: it is shown. */
  readonly fileName?: (request: PageRequest) => string;
  /** Size of the largest form that people send to the page, in bytes. Default: the page takes none. */
  readonly longestForm?: number;
  /** Topics whose changes reload the page; `*` is any organization. None: never. */
  topics(view: View): readonly (Topic | '*')[];
}

/** Erases the view type, for lists of pages. */
export function definePage<View extends object>(page: PageDefinition<View>): PageDefinition {
  return page as unknown as PageDefinition;
}

/** A page of one organization. `path` is below the organization's. */
interface OrganizationPageDefinition<View> extends Pick<PageDefinition, 'path' | 'fileName' | 'longestForm'> {
  load(state: OrganizationState, request: PageRequest, backend: Backend): Promise<View | null>;
  title(view: View): string;
  readonly render: ((view: View, request: PageRequest) => Html) | null;
  /** Returns the id of the organization, whose changes reload the page; null: nothing does. */
  readonly topic: ((view: View) => string) | null;
}

/** Defines a page of one organization. */
export function defineOrganizationPage<View extends object>({
  path,
  load,
  topic,
  ...page
}: OrganizationPageDefinition<View>): PageDefinition {
  return definePage<View>({
    ...page,
    path: `/o/:organization${path}`,
    load: async (backend, request) => {
      const state = backend.organizations().find(({ id }) => id === request.params.organization);
      return state === undefined ? null : load(state, request, backend);
    },
    topics: (view) => (topic === null ? [] : [organizationTopic(topic(view))]),
  });
}

/** Reads a whole number of a query; `otherwise` if it is missing or something else. */
export function wholeNumber<T>(text: string | undefined, otherwise: T): number | T {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : otherwise;
}

/** More about an error, for pages and for programs. */
interface ErrorDetail {
  readonly html: Html;
  readonly json: JsonObject;
}

export class PageError extends Error {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: ErrorDetail | null;

  constructor(
    status: number,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    detail: ErrorDetail | null = null,
  ) {
    super(message);
    this.status = status;
    this.headers = headers;
    this.detail = detail;
  }
}

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
interface ClusterState {
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

/** An organization, or something that belongs to none: an organization may have any of these names. */
export type Topic = (typeof GLOBAL_TOPICS)[number] | `organization/${string}`;

const GLOBAL_TOPICS = ['audit', 'budget', 'configuration', 'log', 'notifications', 'replicas'] as const;
const ORGANIZATION = 'organization/';

export function organizationTopic(id: string): Topic {
  return `${ORGANIZATION}${id}`;
}

/** Returns the id of the organization that a topic is about; null for other topics. */
export function organizationOf(topic: Topic): string | null {
  return topic.startsWith(ORGANIZATION) ? topic.slice(ORGANIZATION.length) : null;
}

/** Reads a topic that another replica has sent. Earlier versions send ids of organizations as they are. */
export function readTopic(text: string): Topic {
  const isTopic = text.startsWith(ORGANIZATION) || (GLOBAL_TOPICS as readonly string[]).includes(text);
  return isTopic ? (text as Topic) : organizationTopic(text);
}

/** Subjects that a person may see: some organizations, or all of them and the daemon itself. */
export interface Visibility {
  readonly seesAll: boolean;
  readonly seesNone: boolean;
  readonly isVisible: (organization: string) => boolean;
}

/** Returns true if a person may see something of an organization, or of the daemon itself (null). */
export function canSee({ seesAll, isVisible }: Visibility, organization: string | null): boolean {
  return organization === null ? seesAll : isVisible(organization);
}

/** Returns true if a page about an organization, or about no single one, exists for a person. */
export function canSeeOrganization(
  backend: Pick<Backend, 'organizations'>,
  viewer: Viewer,
  organization: string | undefined,
): boolean {
  return (
    organization === undefined ||
    (viewer.role(organization) !== null && backend.organizations().some(({ id }) => id === organization))
  );
}

/** Returns what a person may see. */
export function visibilityOf(backend: Pick<Backend, 'organizations'>, viewer: Viewer): Visibility {
  const all = backend.organizations();
  return {
    seesAll: all.every(({ id }) => viewer.role(id) !== null),
    seesNone: all.length > 0 && all.every(({ id }) => viewer.role(id) === null),
    isVisible: (organization) => viewer.role(organization) !== null,
  };
}

/** Returns true if the person may use the actions of an operator for every organization. */
export function canOperate(backend: Pick<Backend, 'organizations'>, viewer: Viewer): boolean {
  return backend.organizations().every(({ id }) => isOperator({ viewer }, id));
}

/** Returns true if the person may use the actions of an operator. */
export function isOperator({ viewer }: Pick<PageRequest, 'viewer'>, organization: string): boolean {
  return includesRole(viewer.role(organization), 'operator');
}

/** Order of the roles: each includes those before it. */
const RANK: Readonly<Record<ViewerRole, number>> = { viewer: 1, operator: 2, approver: 3 };

/** A person, as the rules know people. */
interface Person {
  readonly name: string;
  readonly groups: readonly string[];
}

/** Returns true if a role includes what another one may do. */
export function includesRole(role: ViewerRole | null, needed: ViewerRole): boolean {
  return role !== null && RANK[role] >= RANK[needed];
}

/** Returns the strongest role that the rules give to a person for an organization. Emails ignore case. */
export function roleOf(rules: readonly RoleRule[], person: Person, organization: string): ViewerRole | null {
  const name = person.name.toLowerCase();
  const isMeant = ({ people, groups }: RoleRule) =>
    people.some((each) => each === '*' || each.toLowerCase() === name) ||
    groups.some((group) => person.groups.includes(group));
  return rules
    .filter((rule) => isMeant(rule) && (rule.organizations?.includes(organization) ?? true))
    .reduce<ViewerRole | null>((best, { role }) => (includesRole(best, role) ? best : role), null);
}
