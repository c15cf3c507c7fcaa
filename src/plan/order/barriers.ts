/** Orders many changes after many others through barriers, so that n changes after m others need n + m edges. */
import type { Address } from '../../core/address.ts';
import { type Change, changeId } from '../../core/change.ts';
import type { Graph } from '../model/graph.ts';
import type { KindRules, RulesContext } from '../model/rules.ts';

/** The barriers of one graph of changes. */
export class Barriers {
  readonly names: string[] = [];
  readonly #graph: Graph;
  readonly #changes: readonly Change[];

  constructor(graph: Graph, changes: readonly Change[]) {
    this.#graph = graph;
    this.#changes = changes;
  }

  /** Orders creations after the deletions that vacate their slots. */
  creationsAfterVacating(kinds: ReadonlyMap<string, KindRules>, context: Pick<RulesContext, 'declaredOf'>): void {
    const vacating = new Map<string, string[]>();
    for (const change of this.#changes) {
      for (const slot of change.action === 'delete' ? (kinds.get(change.kind)?.vacates?.(change) ?? []) : []) {
        const deletions = vacating.get(slot) ?? [];
        vacating.set(slot, deletions);
        deletions.push(changeId(change));
      }
    }
    for (const change of vacating.size === 0 ? [] : this.#changes) {
      const declared = change.action === 'create' ? context.declaredOf(change.address) : undefined;
      const slots = declared === undefined ? [] : (kinds.get(change.kind)?.needsVacant?.(declared, context) ?? []);
      for (const slot of new Set(slots)) {
        const deletions = vacating.get(slot) ?? [];
        for (const id of deletions.length < 2 ? deletions : [this.#barrier(slot, deletions, 'require')]) {
          this.#graph.require(changeId(change), id);
        }
      }
    }
  }

  /** Orders deletions of parts after the other changes of the same whole, except those that come after a deletion. */
  deletionsAfterOthers(within: ReadonlyMap<Address | null, readonly Change[]>): void {
    const isDeletion = (change: Change) => change.action === 'delete' && change.within !== null;
    const late = this.#graph.after(this.#changes.filter(isDeletion).map(changeId));
    for (const [whole, changes] of within) {
      const deletions = changes.filter(isDeletion);
      const others = changes.filter(({ action }) => action !== 'delete').map(changeId);
      const early = deletions.length === 0 ? [] : others.filter((id) => !late.has(id));
      for (const deletion of early.length === 0 ? [] : deletions) {
        this.#graph.prefer(changeId(deletion), this.#barrier(`changes within ${whole}`, early, 'prefer'));
      }
    }
  }

  #barrier(name: string, changes: readonly string[], edge: 'require' | 'prefer'): string {
    const barrier = `barrier: ${name}`;
    if (!this.#graph.has(barrier)) {
      this.#graph.add(barrier);
      this.names.push(barrier);
      for (const id of changes) {
        this.#graph[edge](barrier, id);
      }
    }
    return barrier;
  }
}
