/** Reads the states of organizations that other replicas have, and keeps them until they change. */
import type { OrganizationStates } from '../../store/organization-states.ts';
import type { BudgetSample } from '../../web/model/budget-samples.ts';
import { readSamples } from './queue-content.ts';
import { Recall, type RestoredState, restoreState, UNKNOWN_STATE } from './restored-state.ts';
import { LISTED_PARTS, readSummary, SUMMARY_PART, type SummaryContent } from './state-content.ts';

/** Parts that were read of an organization. */
interface Known {
  hash: string;
  epoch: number;
  at: number;
  status: SummaryContent;
  /** Contents and hashes by part. */
  readonly parts: Map<string, { readonly hash: string; readonly content: string }>;
  state: RestoredState;
  /** True: some parts were read since the state was restored. */
  isStale: boolean;
  readonly recall: Recall;
}

/** A state, and when it was written. */
export interface KnownState {
  readonly state: RestoredState;
  /** Epoch of the owner that wrote it. */
  readonly epoch: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Organizations that one statement reads. */
const BATCH = 200;
/** Attempts to read parts that belong together, while their owner writes others. */
const ATTEMPTS = 3;
/** Characters of the parts that are kept of organizations that were read completely, the latest first. */
const MAX_KEPT = 8 * 1_048_576;

export class StateReader {
  readonly #states: OrganizationStates;
  readonly #known = new Map<string, Known>();
  /** Characters of the parts that lists do not show, by organization; the latest last. */
  readonly #complete = new Map<string, number>();

  constructor(states: OrganizationStates) {
    this.#states = states;
  }

  /** Reads what has changed: of these organizations what lists show, and of `complete` everything. Throws StoreError. */
  async refresh(organizations: ReadonlySet<string>, complete: string | null): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      await this.#readStatuses(organizations);
      const missing = await this.#readParts(organizations, complete);
      if (!missing) {
        break;
      }
    }
    this.#forget(organizations);
    this.#bound(complete);
  }

  /** Returns the state of an organization; null if no replica has written one. */
  find(organization: string): KnownState | null {
    return this.#known.get(organization) ?? null;
  }

  /** Reads the samples of the queue that an organization's state has. Throws StoreError. */
  async samples(organization: string): Promise<readonly BudgetSample[]> {
    const versions = await this.#states.versions(organization);
    const parts = versions.map(({ part }) => part).filter((part) => part.startsWith('samples/'));
    return parts.length === 0
      ? []
      : readSamples((await this.#states.read([organization], parts)).map(({ content }) => content));
  }

  async #readStatuses(organizations: ReadonlySet<string>): Promise<void> {
    const versions = (await this.#states.allVersions([SUMMARY_PART])).filter(
      ({ organization, hash }) => organizations.has(organization) && this.#known.get(organization)?.hash !== hash,
    );
    const byId = new Map(versions.map((version) => [version.organization, version]));
    for (const batch of batches([...byId.keys()])) {
      for (const { organization, hash, content } of await this.#states.read(batch, [SUMMARY_PART])) {
        const { epoch = 0, at = 0 } = byId.get(organization) ?? {};
        const { parts, state, recall } = this.#known.get(organization) ?? newState();
        const status = readSummary(content);
        this.#known.set(organization, { hash, epoch, at, status, parts, state, recall, isStale: true });
      }
    }
  }

  /** Reads the parts that differ from those that the statuses name. Returns true if an owner has written others meanwhile. */
  async #readParts(organizations: ReadonlySet<string>, complete: string | null): Promise<boolean> {
    const wanted = new Map<string, string[]>();
    for (const [organization, { status, parts }] of this.#known) {
      if (organizations.has(organization)) {
        for (const [part, hash] of Object.entries(status.parts)) {
          if (isShown(part, organization === complete) && parts.get(part)?.hash !== hash) {
            const others = wanted.get(part) ?? [];
            others.push(organization);
            wanted.set(part, others);
          }
        }
      }
    }
    let isMissing = false;
    // Parts of one organization only are read together.
    const single = [...wanted].filter(([part]) => !isListed(part)).map(([part]) => part);
    const requests = [
      ...[...wanted]
        .filter(([part]) => isListed(part))
        .flatMap(([part, ids]) => batches(ids).map((ids) => ({ ids, parts: [part] }))),
      ...(single.length === 0 || complete === null ? [] : [{ ids: [complete], parts: single }]),
    ];
    for (const { ids, parts } of requests) {
      for (const { organization, part, hash, content } of await this.#states.read(ids, parts)) {
        const known = this.#known.get(organization);
        if (known !== undefined) {
          known.parts.set(part, { hash, content });
          known.isStale = true;
          isMissing ||= known.status.parts[part] !== hash;
        }
      }
    }
    this.#restore(organizations);
    return isMissing;
  }

  #restore(organizations: ReadonlySet<string>): void {
    for (const [organization, known] of this.#known) {
      if (known.isStale && organizations.has(organization) && isReadable(known)) {
        for (const part of known.parts.keys()) {
          if (known.status.parts[part] === undefined) {
            known.parts.delete(part);
          }
        }
        known.state = restoreReadable(known);
        known.isStale = false;
      }
    }
  }

  #forget(organizations: ReadonlySet<string>): void {
    for (const organization of this.#known.keys()) {
      if (!organizations.has(organization)) {
        this.#known.delete(organization);
        this.#complete.delete(organization);
      }
    }
  }

  /** Forgets the parts of the organizations that were completely read longest ago. */
  #bound(complete: string | null): void {
    const known = complete === null ? undefined : this.#known.get(complete);
    if (complete === null || known === undefined) {
      return;
    }
    let size = 0;
    for (const [part, { content }] of known.parts) {
      size += isListed(part) ? 0 : content.length;
    }
    this.#complete.delete(complete);
    this.#complete.set(complete, size);
    let kept = [...this.#complete.values()].reduce((sum, each) => sum + each, 0);
    for (const [organization, each] of this.#complete) {
      if (kept <= MAX_KEPT || organization === complete) {
        break;
      }
      kept -= each;
      this.#complete.delete(organization);
      const old = this.#known.get(organization);
      for (const part of [...(old?.parts.keys() ?? [])].filter((each) => !isListed(each))) {
        old?.parts.delete(part);
      }
      if (old !== undefined) {
        old.isStale = true;
        this.#restore(new Set([organization]));
      }
    }
  }
}

/** Returns false while the owner writes: some parts are of another state. */
function isReadable({ status, parts }: Known): boolean {
  return Object.entries(status.parts).every(([part, hash]) => !isListed(part) || parts.get(part)?.hash === hash);
}

/** Restores a state. One that another program wrote is unknown, so that pages still show the other organizations. */
function restoreReadable({ status, parts, recall }: Known): RestoredState {
  try {
    return restoreState(status, parts, recall);
  } catch {
    return UNKNOWN_STATE;
  }
}

function newState(): Pick<Known, 'parts' | 'state' | 'recall'> {
  return { parts: new Map(), state: UNKNOWN_STATE, recall: new Recall() };
}

function isListed(part: string): boolean {
  return (LISTED_PARTS as readonly string[]).includes(part);
}

/** Samples are read separately: only one page shows them. */
function isShown(part: string, isComplete: boolean): boolean {
  return isListed(part) || (isComplete && !part.startsWith('samples/'));
}

function batches(ids: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(ids.length / BATCH) }, (_, index) =>
    ids.slice(index * BATCH, (index + 1) * BATCH),
  );
}
