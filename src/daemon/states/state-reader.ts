/** Reads the states of organizations that other replicas have, and keeps them until they change. */
import type { OrganizationStates } from '../../store/organization-states.ts';
import type { BudgetSample } from '../../web/model/budget-samples.ts';
import type { KnownResources } from '../../web/model/page.ts';
import {
  hasResources,
  LISTED_PARTS,
  partsOf,
  type ReadPart,
  readPart,
  readSamples,
  resourcesOf,
  type StoredState,
  SUMMARY_PART,
  stateOf,
  UNKNOWN_STATE,
} from './state-parts.ts';

/** State of an organization, as it was read last. */
interface Known {
  /** Hash of its summary. */
  readonly hash: string;
  readonly parts: ReadonlyMap<string, ReadPart>;
  readonly state: StoredState;
}

const NOTHING: Known = { hash: '', parts: new Map(), state: UNKNOWN_STATE };
/** Organizations that one statement reads. */
const BATCH = 200;
/** Attempts to read parts that belong together, while their owner writes others. */
const ATTEMPTS = 3;

export class StateReader {
  readonly #states: OrganizationStates;
  readonly #known = new Map<string, Known>();
  /** Resources of the organization that a page showed last. */
  #resources: { readonly key: string; readonly value: KnownResources | null } | null = null;

  constructor(states: OrganizationStates) {
    this.#states = states;
  }

  /** Reads what these organizations have stored since, without their resources. Throws StoreError. */
  async refresh(organizations: ReadonlySet<string>): Promise<void> {
    for (const id of [...this.#known.keys()].filter((each) => !organizations.has(each))) {
      this.#known.delete(id);
    }
    const changed = (await this.#states.allVersions([SUMMARY_PART])).filter(
      ({ organization, hash }) => organizations.has(organization) && this.#of(organization).hash !== hash,
    );
    for (let start = 0; start < changed.length; start += BATCH) {
      const ids = changed.slice(start, start + BATCH).map(({ organization }) => organization);
      const known = ids.flatMap((id) => [...this.#of(id).parts].map(([part, { hash }]) => `${id}/${part}/${hash}`));
      // One statement reads all parts, so that they belong together.
      const rows = Map.groupBy(await this.#states.read(ids, LISTED_PARTS, known), (row) => row.organization);
      for (const [id, parts] of rows) {
        this.#known.set(id, this.#changed(this.#of(id), parts));
      }
    }
  }

  /** Returns the state of an organization; null if no replica has written one. */
  find(organization: string): StoredState | null {
    return this.#known.get(organization)?.state ?? null;
  }

  /** Reads the resources of an organization; null if another program wrote them. Throws StoreError. */
  async resources(organization: string): Promise<KnownResources | null> {
    for (let attempt = 1; ; attempt += 1) {
      const versions = (await this.#states.versions(organization)).filter(({ part }) => hasResources(part));
      const key = JSON.stringify([organization, ...versions.map(({ part, hash }) => `${part}/${hash}`)]);
      if (this.#resources?.key !== key) {
        const names = versions.map(({ part }) => part);
        const parts = await this.#states.read([organization], names);
        const isOther = parts.length < names.length || parts.some(({ hash }, index) => hash !== versions[index]?.hash);
        if (isOther && attempt < ATTEMPTS) {
          continue;
        }
        this.#resources = { key, value: readableResources(parts) };
      }
      return this.#resources.value;
    }
  }

  /** Reads the samples of the queue that an organization's state has. Throws StoreError. */
  async samples(organization: string): Promise<readonly BudgetSample[]> {
    const versions = await this.#states.versions(organization);
    const parts = versions.map(({ part }) => part).filter((part) => part.startsWith('samples/'));
    return parts.length === 0
      ? []
      : readSamples((await this.#states.read([organization], parts)).map(({ content }) => content));
  }

  #of(organization: string): Known {
    return this.#known.get(organization) ?? NOTHING;
  }

  /** Returns what is known after these parts were read. What another program wrote is unknown: other pages still show. */
  #changed(
    before: Known,
    read: readonly { readonly part: string; readonly hash: string; readonly content: string }[],
  ): Known {
    const hash = read.find(({ part }) => part === SUMMARY_PART)?.hash ?? before.hash;
    try {
      const parts = new Map(before.parts);
      for (const { part, hash: hashOfPart, content } of read) {
        parts.set(part, { hash: hashOfPart, value: readPart(part, content) });
      }
      const named = partsOf(parts.get(SUMMARY_PART)?.value);
      if (named !== null) {
        for (const part of [...parts.keys()].filter((each) => each !== SUMMARY_PART && named[each] === undefined)) {
          parts.delete(part);
        }
        return { hash, parts, state: stateOf(parts, before.state) };
      }
    } catch {
      // Not JSON, or of another form.
    }
    return { ...NOTHING, hash };
  }
}

function readableResources(parts: Parameters<typeof resourcesOf>[0]): KnownResources | null {
  try {
    return resourcesOf(parts);
  } catch {
    return null;
  }
}
