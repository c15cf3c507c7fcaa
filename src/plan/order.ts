/** Order of changes, so that each is possible when its turn comes. */
import { type Address, kindOf, unboundAddress } from '../core/address.ts';
import { type Change, changeId } from '../core/change.ts';
import type { Json } from '../core/json.ts';
import { compareText } from '../core/lists.ts';
import type { Fields } from '../core/resource.ts';
import { getIndexKey } from './declared.ts';
import { referencesOf } from './diff.ts';
import { Graph } from './graph.ts';
import type { KindRules, RulesContext } from './rules.ts';

/** Order of the changes of a plan; changes without an order may run at the same time. Keys are change ids. */
export interface Ordering {
  /** Changes in an order that respects everything below. */
  readonly sequence: readonly Change[];
  /** Changes that must have been applied before. If one of them fails, this one is skipped. */
  readonly hard: ReadonlyMap<string, readonly string[]>;
  /** Changes that should be done with before, however they end. */
  readonly soft: ReadonlyMap<string, readonly string[]>;
  /** Changes that make room for this one: they free a natural key that it takes, or leave what moves into them. */
  readonly freed: ReadonlyMap<string, readonly string[]>;
  /** Additional dependencies of the second half of a change: the default section of a site must exist first. */
  readonly late: ReadonlyMap<string, { readonly hard: readonly string[]; readonly soft: readonly string[] }>;
  /**
   * Names in `hard` and `soft` that stand for several changes at once, so that n changes after m others need n + m edges.
   * A barrier is passed once all that it comes after has ended, and succeeds if all that it requires has.
   */
  readonly barriers: readonly string[];
}

type DeclaredOf = RulesContext['declaredOf'];

/** Maximum number of addresses in `dependsOn` of a change for each barrier that it requires. */
const NAMED_OF_BARRIER = 20;

/** Begin of the ids of barriers. */
export const BARRIER = 'barrier: ';

/**
 * Orders changes: create and update before what refers to them, delete after; natural keys are freed before they are
 * taken; siblings are put in place one after the other.
 */
export function orderChanges(
  kinds: readonly KindRules[],
  changes: readonly Change[],
  declaredOf: DeclaredOf,
): Ordering {
  return new ChangeOrder(kinds, changes, declaredOf).order();
}

/**
 * Returns the part of an order that concerns these wholes, such as sites, with what it requires and what makes room for
 * it. The parts of a whole refer to each other in too many ways to apply one without the others.
 */
export function partOf(
  ordering: Ordering,
  targets: ReadonlySet<Address>,
  wholeOf: (address: Address) => Address,
): Ordering {
  const { hard, freed, late } = ordering;
  const wholes = new Map(ordering.sequence.map((change) => [changeId(change), wholeOf(change.address)]));
  const byWhole = Map.groupBy(wholes.keys(), (id) => wholes.get(id));
  const needed = new Set<Address | undefined>(targets);
  // The set grows during the iteration, which visits the added wholes too.
  for (const whole of needed) {
    for (const id of byWhole.get(whole) ?? []) {
      const before = [hard.get(id), freed.get(id), late.get(id)?.hard].flatMap((ids) => ids ?? []);
      for (const each of before.flatMap((name) => (wholes.has(name) ? name : (hard.get(name) ?? [])))) {
        needed.add(wholes.get(each));
      }
    }
  }
  return restrictOrder(
    ordering,
    [...needed].flatMap((whole) => byWhole.get(whole) ?? []),
  );
}

/** Returns the order of some changes, by id. */
export function restrictOrder(ordering: Ordering, wanted: Iterable<string>): Ordering {
  const names = new Set([...wanted, ...ordering.barriers]);
  const within = (ids: readonly string[]) => ids.filter((id) => names.has(id));
  const restricted = (edges: ReadonlyMap<string, readonly string[]>) =>
    new Map([...edges].filter(([id]) => names.has(id)).map(([id, ids]) => [id, within(ids)]));
  return {
    sequence: ordering.sequence.filter((change) => names.has(changeId(change))),
    hard: restricted(ordering.hard),
    soft: restricted(ordering.soft),
    freed: restricted(ordering.freed),
    late: new Map([...ordering.late].map(([id, { hard, soft }]) => [id, { hard: within(hard), soft: within(soft) }])),
    barriers: ordering.barriers,
  };
}

class ChangeOrder {
  readonly #kinds: ReadonlyMap<string, KindRules>;
  readonly #changes: readonly Change[];
  readonly #declaredOf: DeclaredOf;
  readonly #creations = new Map<Address, Change>();
  readonly #deletions = new Map<Address, Change>();
  readonly #graph: Graph;
  readonly #within: ReadonlyMap<Address | null, readonly Change[]>;
  /** Nearest move of a parent and its ancestors, by field and parent: each is visited once, even if it has many children. */
  readonly #parentMoves = new Map<string, string | null>();
  /** Changes that need a temporary key first. */
  readonly #aside = new Set<string>();
  readonly #barriers: string[] = [];
  readonly #freed = new Map<string, string[]>();
  readonly #late = new Map<string, { hard: string[]; soft: string[] }>();

  constructor(kinds: readonly KindRules[], changes: readonly Change[], declaredOf: DeclaredOf) {
    this.#kinds = new Map(kinds.map((kind) => [kind.name, kind]));
    const rank = new Map(kinds.map((kind, index) => [kind.name, index]));
    const rankOf = (change: Change) => {
      const place = rank.get(change.kind) ?? 0;
      return change.action === 'delete' ? 2 * kinds.length - place : place;
    };
    this.#changes = changes.toSorted((a, b) => rankOf(a) - rankOf(b) || compareText(changeId(a), changeId(b)));
    this.#declaredOf = declaredOf;
    this.#graph = new Graph(this.#changes.map(changeId));
    this.#within = Map.groupBy(this.#changes, (change) => change.within);
    for (const change of this.#changes) {
      if (change.action === 'create') {
        this.#creations.set(change.address, change);
      } else if (change.action === 'delete') {
        this.#deletions.set(change.isReplacement ? unboundAddress(change.id ?? '') : change.address, change);
      }
    }
  }

  order(): Ordering {
    for (const change of this.#changes) {
      if (change.action !== 'delete') {
        this.#afterWhatItRefersTo(change);
      }
      this.#replacement(change);
      this.#afterMovesOfItsHolders(change);
    }
    this.#siblingsInTurn();
    this.#creationsAfterVacating();
    for (const change of this.#changes) {
      this.#beforeDeletingWhatItReferredTo(change);
    }
    this.#keysFreedBeforeTaken();
    this.#preferences();
    this.#deletionsAfterOthers();
    const byId = new Map(this.#changes.map((change) => [changeId(change), change]));
    const { hard, soft, sequence } = this.#graph.settle();
    const ordered = sequence.flatMap((id): readonly Change[] => {
      const change = byId.get(id);
      const required = hard.get(id) ?? [];
      if (change === undefined || (required.length === 0 && !this.#aside.has(id))) {
        return change === undefined ? [] : [change];
      }
      const named = required.flatMap((each) => {
        return byId.has(each) ? [each] : (hard.get(each) ?? []).slice(0, NAMED_OF_BARRIER);
      });
      const dependsOn = [...new Set(named.map((each) => byId.get(each)?.address ?? ''))].toSorted(compareText);
      return [{ ...change, dependsOn, ...(this.#aside.has(id) ? { needsTemporaryKey: true } : {}) }];
    });
    return { sequence: ordered, hard, soft, freed: this.#freed, late: this.#late, barriers: this.#barriers };
  }

  #afterWhatItRefersTo(change: Change): void {
    const id = changeId(change);
    const kind = this.#kinds.get(change.kind);
    const isCreation = change.action === 'create';
    this.#requireCreation(id, change.within);
    this.#requireCreation(id, change.anchor?.address);
    if (kind === undefined) {
      return;
    }
    const written = isCreation ? change.declared : pick(change.declared, change);
    for (const { address, rules } of referencesOf(kind, written)) {
      if (rules.declarationOnly === true) {
        continue;
      }
      if (rules.afterChildren === true && isCreation) {
        const creation = this.#creations.get(address);
        if (creation !== undefined) {
          this.#lateOf(id).hard.push(changeId(creation));
        }
      } else {
        this.#requireCreation(id, address);
      }
      if (rules.colocatedWith === true && isCreation) {
        this.#afterFreeing(id, changeId({ action: 'move', address }));
      }
    }
    const seed = isCreation ? kind.seed?.(change, (each) => this.#creations.get(each)) : undefined;
    this.#requireCreation(id, seed?.refersTo);
    // Changes that concern the whole, such as publishing it, come after its parts.
    const isOfWhole = Object.keys(written).some((name) => kind.fields[name]?.afterChildren === true);
    for (const part of isOfWhole ? (this.#within.get(change.address) ?? []) : []) {
      if (isCreation) {
        this.#lateOf(id).soft.push(changeId(part));
      } else if (part.action !== 'delete') {
        this.#graph.prefer(id, changeId(part));
      }
    }
  }

  #lateOf(id: string): { hard: string[]; soft: string[] } {
    const late = this.#late.get(id) ?? { hard: [], soft: [] };
    this.#late.set(id, late);
    return late;
  }

  #requireCreation(id: string, address: Address | null | undefined): void {
    const creation = this.#creations.get(address ?? '');
    if (creation !== undefined && changeId(creation) !== id) {
      this.#graph.require(id, changeId(creation));
    }
  }

  /**
   * Orders a move into a parent after the moves of this parent and its ancestors, because they may have to leave the
   * moved resource first. The nearest move is enough, because it comes after the next one.
   */
  #afterMovesOfItsHolders(change: Change): void {
    const kind = this.#kinds.get(change.kind);
    if (change.action !== 'move' || kind === undefined) {
      return;
    }
    for (const { field, rules } of referencesOf(kind, pick(change.declared, change))) {
      const holder = change.declared[field];
      const move = rules.move === true ? this.#nearestMove(change.kind, field, holder) : null;
      if (move !== null) {
        this.#afterFreeing(changeId(change), move);
      }
    }
  }

  /** Returns the id of the nearest move among a parent and its ancestors by the same field; null: none moves. */
  #nearestMove(kind: string, field: string, parent: Json | undefined): string | null {
    const visited: string[] = [];
    let found: string | null = null;
    for (let at = parent; typeof at === 'string' && kindOf(at) === kind; ) {
      const name = `${field} ${at}`;
      const move = changeId({ action: 'move', address: at });
      const known = this.#parentMoves.get(name);
      found = this.#graph.has(move) ? move : (known ?? null);
      if (found !== null || known !== undefined) {
        break;
      }
      visited.push(name);
      this.#parentMoves.set(name, null);
      at = this.#declaredOf(at)?.fields[field];
    }
    for (const name of visited) {
      this.#parentMoves.set(name, found);
    }
    return found;
  }

  #replacement(change: Change): void {
    if (!change.isReplacement || change.action !== 'create') {
      return;
    }
    const deletion = `delete ${change.address}`;
    if (this.#kinds.get(change.kind)?.deleteBeforeReplace === true) {
      this.#graph.require(changeId(change), deletion);
    } else {
      this.#graph.require(deletion, changeId(change));
    }
  }

  /**
   * Adds resources to a list in the declared order, so that few have to be moved; moves run one after the other.
   */
  #siblingsInTurn(): void {
    const lists = Map.groupBy(
      this.#changes.filter((change) => change.place !== null && change.action !== 'update'),
      (change) => change.place?.list ?? '',
    );
    for (const siblings of lists.values()) {
      const inOrder = siblings.toSorted((a, b) => (a.place?.index ?? 0) - (b.place?.index ?? 0));
      for (const [index, change] of inOrder.entries()) {
        const previous = inOrder[index - 1];
        if (previous !== undefined && previous.address !== change.address) {
          this.#graph.prefer(changeId(change), changeId(previous));
        }
      }
    }
  }

  #beforeDeletingWhatItReferredTo(change: Change): void {
    const kind = this.#kinds.get(change.kind);
    if (kind === undefined || change.action === 'create' || this.#deletions.size === 0) {
      return;
    }
    const changed = new Set(change.fields.map((field) => field.path));
    for (const { address, field, rules } of referencesOf(kind, change.actual)) {
      const deletion = this.#deletions.get(address);
      if (deletion === undefined || deletion === change || (change.action !== 'delete' && !changed.has(field))) {
        continue;
      }
      if (rules.optionalRef === true) {
        this.#graph.prefer(changeId(deletion), changeId(change));
      } else {
        this.#graph.requireIfAcyclic(changeId(deletion), changeId(change));
      }
    }
  }

  #keysFreedBeforeTaken(): void {
    const passed = findReusedKeys(this.#kinds, this.#changes);
    const inCircles = findKeyCycles(this.#kinds, passed);
    for (const pass of passed) {
      const [taker, holder] = [changeId(pass.taker), changeId(pass.holder)];
      if (inCircles.has(pass)) {
        this.#aside.add(taker);
        this.#lateOf(taker).soft.push(holder);
        this.#noteFreed(taker, holder);
      } else {
        this.#afterFreeing(taker, holder);
      }
    }
  }

  #afterFreeing(id: string, freeing: string): void {
    this.#graph.prefer(id, freeing);
    this.#noteFreed(id, freeing);
  }

  #noteFreed(id: string, freeing: string): void {
    this.#freed.set(id, [...(this.#freed.get(id) ?? []), freeing]);
  }

  #preferences(): void {
    const groups = Map.groupBy(this.#changes, ({ kind, within }) => `${kind} in ${within}`);
    for (const [name, changes] of groups) {
      const [{ kind, within } = { kind: '', within: null }] = changes;
      const before = (this.#kinds.get(kind)?.applyAfter ?? [])
        .flatMap((other) => groups.get(`${other} in ${within}`) ?? [])
        // Deletions of parts come last.
        .filter(({ action }) => within === null || action !== 'delete')
        .map(changeId);
      const ids = before.length < 2 ? before : [this.#barrier(`before ${name}`, before, 'prefer')];
      for (const change of ids.length === 0 ? [] : changes) {
        for (const id of ids) {
          this.#graph.prefer(changeId(change), id);
        }
      }
    }
  }

  /** Orders creations after the deletions that vacate their slots. */
  #creationsAfterVacating(): void {
    const vacating = new Map<string, string[]>();
    for (const change of this.#changes) {
      for (const slot of change.action === 'delete' ? (this.#kinds.get(change.kind)?.vacates?.(change) ?? []) : []) {
        const deletions = vacating.get(slot) ?? [];
        vacating.set(slot, deletions);
        deletions.push(changeId(change));
      }
    }
    for (const change of vacating.size === 0 ? [] : this.#changes) {
      const declared = change.action === 'create' ? this.#declaredOf(change.address) : undefined;
      const slots =
        declared === undefined ? [] : (this.#kinds.get(change.kind)?.needsVacant?.(declared, this.#declaredOf) ?? []);
      for (const slot of new Set(slots)) {
        const deletions = vacating.get(slot) ?? [];
        for (const id of deletions.length < 2 ? deletions : [this.#barrier(slot, deletions, 'require')]) {
          this.#graph.require(changeId(change), id);
        }
      }
    }
  }

  /** Orders deletions of parts after the other changes of the same whole, except those that come after a deletion. */
  #deletionsAfterOthers(): void {
    const isDeletion = (change: Change) => change.action === 'delete' && change.within !== null;
    const late = this.#graph.after(this.#changes.filter(isDeletion).map(changeId));
    for (const [whole, changes] of this.#within) {
      const deletions = changes.filter(isDeletion);
      const others = changes.filter(({ action }) => action !== 'delete').map(changeId);
      const early = deletions.length === 0 ? [] : others.filter((id) => !late.has(id));
      for (const deletion of early.length === 0 ? [] : deletions) {
        this.#graph.prefer(changeId(deletion), this.#barrier(`changes within ${whole}`, early, 'prefer'));
      }
    }
  }

  /** Adds a node for many changes, so that n changes after m others need n + m edges. */
  #barrier(name: string, changes: readonly string[], edge: 'require' | 'prefer'): string {
    const barrier = `${BARRIER}${name}`;
    if (!this.#graph.has(barrier)) {
      this.#graph.add(barrier);
      this.#barriers.push(barrier);
      for (const id of changes) {
        this.#graph[edge](barrier, id);
      }
    }
    return barrier;
  }
}

function pick(fields: Fields, change: Change): Fields {
  return Object.fromEntries(change.fields.map((field) => [field.path, fields[field.path]]));
}

/** Natural key that one change frees and another takes. */
interface ReusedKey {
  readonly by: string;
  readonly taker: Change;
  readonly holder: Change;
}

/** Finds the natural keys that pass from one resource to another, such as the path of a site space. */
function findReusedKeys(kinds: ReadonlyMap<string, KindRules>, changes: readonly Change[]): readonly ReusedKey[] {
  if (!changes.some(({ action }) => action === 'update' || action === 'delete')) {
    return [];
  }
  const freed = new Map<string, Change>();
  const taken: { readonly slot: string; readonly by: string; readonly taker: Change }[] = [];
  for (const change of changes) {
    const kind = kinds.get(change.kind);
    if (kind === undefined || change.action === 'move') {
      continue;
    }
    const before = change.action === 'create' ? new Map() : slots(kind, change.actual, change);
    const after = change.action === 'delete' ? new Map() : slots(kind, change.declared, change);
    for (const slot of before.keys()) {
      if (!after.has(slot)) {
        freed.set(slot, change);
      }
    }
    for (const [slot, by] of after) {
      if (!before.has(slot)) {
        taken.push({ slot, by, taker: change });
      }
    }
  }
  return taken.flatMap(({ slot, by, taker }) => {
    const holder = freed.get(slot);
    return holder === undefined || holder === taker ? [] : [{ by, taker, holder }];
  });
}

/**
 * Finds one key of each cycle of reused keys. The resource that takes it gets a temporary value first, which frees the
 * other keys of the cycle.
 */
function findKeyCycles(kinds: ReadonlyMap<string, KindRules>, passed: readonly ReusedKey[]): ReadonlySet<ReusedKey> {
  const next = new Map<string, ReusedKey>();
  for (const pass of passed) {
    const both = pass.taker.action === 'update' && pass.holder.action === 'update';
    if (both && kinds.get(pass.taker.kind)?.unique === pass.by) {
      next.set(changeId(pass.taker), pass);
    }
  }
  const found = new Set<ReusedKey>();
  const done = new Set<string>();
  for (const start of next.keys()) {
    const path = new Set<string>();
    let pass = next.get(start);
    while (pass !== undefined && !done.has(changeId(pass.taker))) {
      if (path.has(changeId(pass.taker))) {
        found.add(pass);
        break;
      }
      path.add(changeId(pass.taker));
      pass = next.get(changeId(pass.holder));
    }
    for (const each of path) {
      done.add(each);
    }
  }
  return found;
}

function slots(kind: KindRules, fields: Fields, change: Change): ReadonlyMap<string, string> {
  return new Map(
    kind
      .naturalKeys(fields, change.address)
      .map((key) => [`${change.kind}\n${getIndexKey(change.within, key)}`, key.by]),
  );
}
