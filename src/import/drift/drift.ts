/** Searches for the edits that write drift into manifests and leave a plan without it. */
import { type Change, changeId } from '../../core/change.ts';
import { DesiredStateError } from '../../core/errors.ts';
import { DriftContext } from './drift-context.ts';
import { collectDrift } from './drift-finder.ts';
import type { Drift, DriftedPlace, DriftInput } from './drifted.ts';

/** Returns the changes of a plan over manifests with these texts. Throws DesiredStateError if they cannot be read. */
export type Replan = (texts: ReadonlyMap<string, string>) => Promise<readonly Change[]>;

/**
 * Finds edits that bring drift into the manifests, and checks them by planning again. An edit is rejected and reported
 * as left if it breaks a manifest, changes anything else, or does not remove its difference. Makes at most four plans
 * per edit.
 */
export async function resolveDrift(input: DriftInput, replan: Replan): Promise<Drift> {
  const context = new DriftContext(input);
  const rejected = new Set<string>();
  for (;;) {
    const drift = collectDrift(context, { rejected, only: null });
    const edits = inDependencyOrder(drift, input);
    const { accepted, changes } = await new EditSearch(context, replan, rejected).accept(edits);
    if (accepted.size === edits.length) {
      return { ...drift, omitted: [...drift.omitted, ...displaced(drift, changes, context)] };
    }
    // At least one more is rejected than before, so this ends.
    for (const edit of edits) {
      if (!accepted.has(edit)) {
        rejected.add(edit);
      }
    }
  }
}

/** Orders edits by dependency: fields first; then removals, of referring resources before referenced ones. */
function inDependencyOrder({ fields, places }: Drift, { kinds }: DriftInput): readonly string[] {
  const rank = new Map(kinds.map(({ name }, index) => [name, -index]));
  const rankOf = ({ address }: DriftedPlace) => rank.get(address.split('/', 1)[0] ?? '') ?? 0;
  const removals = places.filter(({ action }) => action === 'delete').toSorted((a, b) => rankOf(a) - rankOf(b));
  const orders = places.filter(({ action }) => action === 'move');
  return [...new Set([...fields, ...removals, ...orders].map(({ edit }) => edit))];
}

/** Finds items of lists that a plan still moves, only because something unwritable is created or moved next to them. */
function displaced({ omitted }: Drift, changes: readonly Change[], context: DriftContext): Drift['omitted'] {
  const reported = new Set(omitted.map(({ address }) => address));
  return changes
    .filter(({ address, anchor, place }) => anchor !== null && place !== null && !reported.has(address))
    .filter(({ action, place }) => action === 'move' && !context.isOrderedByCommit(place?.list ?? ''))
    .map(({ address }) => ({ address, reason: 'is moved by the plan next to something that cannot be written' }));
}

/** Result of planning with a set of edits. */
interface Verdict {
  readonly isFine: boolean;
  readonly changes: readonly Change[];
  /** Edits whose difference still exists. */
  readonly ineffective: ReadonlySet<string>;
}

class EditSearch {
  readonly #context: DriftContext;
  readonly #rejected: ReadonlySet<string>;
  readonly #replan: Replan;
  readonly #known: ReadonlySet<string>;
  readonly #accepted = new Set<string>();
  /** Changes of the plan over the accepted edits. */
  #changes: readonly Change[];

  constructor(context: DriftContext, replan: Replan, rejected: ReadonlySet<string>) {
    this.#context = context;
    this.#rejected = rejected;
    this.#replan = replan;
    this.#known = new Set(context.input.changes.flatMap(differences));
    this.#changes = context.input.changes;
  }

  /** Returns the edits that can be made together; one plan suffices if all can. */
  async accept(edits: readonly string[]): Promise<{ accepted: ReadonlySet<string>; changes: readonly Change[] }> {
    await this.#add(edits);
    // Edits that were tried before the ones they depend on.
    const missing = edits.filter((edit) => !this.#accepted.has(edit));
    if (missing.length > 0 && missing.length < edits.length) {
      await this.#add(missing);
    }
    return { accepted: this.#accepted, changes: this.#changes };
  }

  /** Splits a group in halves until the failing edits are found. */
  async #add(group: readonly string[]): Promise<void> {
    if (group.length === 0) {
      return;
    }
    const { isFine, ineffective, changes } = await this.#try(new Set([...this.#accepted, ...group]));
    if (isFine) {
      this.#changes = changes;
      for (const edit of group) {
        this.#accepted.add(edit);
      }
      return;
    }
    const effective = group.filter((edit) => !ineffective.has(edit));
    if (effective.length < group.length) {
      await this.#add(effective);
    } else if (group.length > 1) {
      const middle = Math.ceil(group.length / 2);
      await this.#add(group.slice(0, middle));
      await this.#add(group.slice(middle));
    }
  }

  async #try(only: ReadonlySet<string>): Promise<Verdict> {
    const drift = collectDrift(this.#context, { rejected: this.#rejected, only });
    try {
      const changes = await this.#replan(drift.texts);
      const ineffective = findIneffectiveEdits(drift, changes);
      const isNew = changes.some((change) => differences(change).some((each) => !this.#known.has(each)));
      return { isFine: !isNew && ineffective.size === 0, changes, ineffective };
    } catch (error) {
      if (error instanceof DesiredStateError) {
        return { isFine: false, changes: [], ineffective: new Set() };
      }
      throw error;
    }
  }
}

/** Describes the effect of a change, to compare two plans. Which items of a list move does not matter. */
function differences(change: Change): readonly string[] {
  const { action, address, place, anchor, fields } = change;
  if (action === 'create' || action === 'delete') {
    return [changeId(change)];
  }
  const paths = fields.filter(({ path }) => path !== 'position').map(({ path }) => `${changeId(change)} ${path}`);
  return anchor === null ? paths : [...paths, `order ${place?.list ?? address}`];
}

/** Returns the edits whose difference still appears in a plan over them. */
function findIneffectiveEdits({ fields, places }: Drift, changes: readonly Change[]): ReadonlySet<string> {
  const open = new Set(changes.flatMap(({ address, fields: of }) => of.map(({ path }) => `${address} ${path}`)));
  const created = new Set(changes.filter(({ action }) => action === 'create').map(({ address }) => address));
  // A creation in a list moves other items regardless of their order.
  const growing = new Set(
    changes.flatMap(({ action, place }) => (action === 'create' && place !== null ? [place.list] : [])),
  );
  const unordered = new Set(
    changes.flatMap(({ anchor, place }) =>
      anchor !== null && place !== null && !growing.has(place.list) ? [place.list] : [],
    ),
  );
  return new Set([
    ...fields.filter(({ address, field }) => open.has(`${address} ${field}`)).map(({ edit }) => edit),
    ...places
      .filter(({ action, address, list }) => (action === 'delete' ? created.has(address) : unordered.has(list ?? '')))
      .map(({ edit }) => edit),
  ]);
}
