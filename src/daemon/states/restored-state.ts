/** State of an organization as another replica shows it, from the parts that its owner wrote. */
import type { IngestionActivity } from '../../conversations/ingestion/ingestion-status.ts';
import { errorFromJson } from '../../core/error-json.ts';
import type { Declared } from '../../core/resource.ts';
import type { QueueSnapshot } from '../../queue/snapshot.ts';
import type { Check } from '../../reconcile/pass.ts';
import type { OrganizationState, ReconcilerState } from '../../web/model/backend.ts';
import { joinMap } from './map-chunks.ts';
import { readCheck } from './plan-content.ts';
import { readQueue } from './queue-content.ts';
import type { EndContent, SummaryContent } from './state-content.ts';
import { UnreadMap } from './unread-map.ts';

/** State of an organization that another replica has, or had. */
export interface RestoredState {
  readonly reconciler: ReconcilerState;
  readonly statuses: OrganizationState['statuses'];
  readonly overview: OrganizationState['clusters']['overview'];
  readonly ingestion: IngestionActivity;
  /** Null if the state of another organization has the queue of its token. */
  readonly queue: ((now: number) => QueueSnapshot) | null;
}

/** Texts of the parts that were read, with their hashes, by part. */
export type PartContents = ReadonlyMap<string, { readonly hash: string; readonly content: string }>;

/** Values that were restored before: the same value is returned as long as its key is the same. */
export class Recall {
  readonly #known = new Map<string, { readonly key: string; readonly value: unknown }>();

  get<T>(name: string, key: string, restore: () => T): T {
    const known = this.#known.get(name);
    if (known?.key === key) {
      return known.value as T;
    }
    const value = restore();
    this.#known.set(name, { key, value });
    return value;
  }
}

const NOTHING_RAN: ReconcilerState = {
  ...{ lastCheck: null, lastEnd: null, lastPlan: null, lastDesired: null, isRunning: false, failingSince: null },
};

/** State of an organization that nothing is known of. */
export const UNKNOWN_STATE: RestoredState = {
  reconciler: NOTHING_RAN,
  statuses: { failure: null },
  overview: { lastRun: null, clusters: [], omitted: 0 },
  ingestion: { sender: { kind: 'stopped' }, inFlight: 0, errors: new Map() },
  queue: null,
};

/** Restores a state. Bindings and declarations that were not read cannot be used; the number of declarations is known. */
export function restoreState(status: SummaryContent, contents: PartContents, recall: Recall): RestoredState {
  const read = <T>(part: string, missing: T, restore: (content: string) => T): T => {
    const known = contents.get(part);
    return known === undefined ? missing : recall.get(part, known.hash, () => restore(known.content));
  };
  return {
    reconciler: restoreReconciler(status, { status, contents, recall, read }),
    statuses: status.statuses ?? UNKNOWN_STATE.statuses,
    overview: read('clusters', UNKNOWN_STATE.overview, (content) => JSON.parse(content) as RestoredState['overview']),
    ingestion: read('ingestion', UNKNOWN_STATE.ingestion, restoreIngestion),
    queue: read('queue', null, readQueue),
  };
}

interface RestoreContext {
  readonly status: SummaryContent;
  readonly contents: PartContents;
  readonly recall: Recall;
  readonly read: <T>(part: string, missing: T, restore: (content: string) => T) => T;
}

function restoreReconciler({ reconciler }: SummaryContent, context: RestoreContext): ReconcilerState {
  if (reconciler === null) {
    return NOTHING_RAN;
  }
  const { isRunning, failingSince, checkedAt, hasEnded, desired } = reconciler;
  const lastCheck = restoreCheck(checkedAt, context);
  const lastPlan = lastCheck?.plan ?? null;
  const end = context.read('end', null, restoreEnd);
  const plan = hasEnded ? lastPlan : null;
  const [declared] = restoreMap<Declared>('declared', desired?.size ?? 0, context);
  return {
    ...{ isRunning, failingSince, lastCheck, lastPlan },
    lastEnd: end === null ? null : { ...end, plan },
    lastDesired: desired === null ? null : { commit: desired.commit, subject: desired.subject, state: { declared } },
  };
}

function restoreCheck(at: number | null, context: RestoreContext): Check | null {
  const check = context.read('plan', null, readCheck);
  if (check === null || at === null) {
    return null;
  }
  const [bindings, key] = restoreMap<string>('bindings', 0, context);
  const { hash = '' } = context.contents.get('plan') ?? {};
  const plan = context.recall.get('bound plan', `${hash} ${key}`, () => ({ ...check.plan, bindings }));
  return context.recall.get('check', `${hash} ${key} ${at}`, () => ({ ...check, plan, at }));
}

/** Restores a map whose parts were all read; otherwise one of this size that cannot be read. Returns it with its key. */
function restoreMap<V>(
  name: string,
  size: number,
  { status, contents, recall }: RestoreContext,
): readonly [ReadonlyMap<string, V>, string] {
  const chunks = Object.entries(status.parts).filter(([part]) => part.startsWith(`${name}/`));
  const isRead = chunks.every(([part, hash]) => contents.get(part)?.hash === hash);
  const key = isRead ? chunks.map(([, hash]) => hash).join(' ') : `not read ${size}`;
  const restore = () => joinMap<V>(chunks.flatMap(([part]) => contents.get(part)?.content ?? []));
  return [recall.get(name, key, () => (isRead ? restore() : new UnreadMap<V>(size))), key];
}

function restoreEnd(content: string): NonNullable<ReconcilerState['lastEnd']> {
  const { error, ...end } = JSON.parse(content) as EndContent;
  return { ...end, plan: null, error: error === null ? null : errorFromJson(error) };
}

function restoreIngestion(content: string): IngestionActivity {
  const { errors, ...activity } = JSON.parse(content) as Omit<IngestionActivity, 'errors'> & {
    readonly errors: readonly [string, string][];
  };
  return { ...activity, errors: new Map(errors) };
}
