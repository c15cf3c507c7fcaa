/** Finds the moves of the resources that a resource moves into. */
import { type Address, kindOf } from '../../core/address.ts';
import { changeId } from '../../core/change.ts';
import type { Json } from '../../core/json.ts';
import type { RulesContext } from '../model/rules.ts';

/** Moves of a plan, by the moved resource. Each parent is visited once, even if it has many children. */
export class ParentMoves {
  readonly #isMove: (id: string) => boolean;
  readonly #context: Pick<RulesContext, 'declaredOf'>;
  readonly #known = new Map<string, string | null>();

  /** @param isMove whether the plan has a change with this id */
  constructor(isMove: (id: string) => boolean, context: Pick<RulesContext, 'declaredOf'>) {
    this.#isMove = isMove;
    this.#context = context;
  }

  /** Returns the id of the nearest move among a parent and its ancestors by the same field; null: none moves. */
  nearest(kind: string, field: string, parent: Json | undefined): string | null {
    const visited: string[] = [];
    let found: string | null = null;
    let at = parent;
    while (typeof at === 'string' && kindOf(at) === kind) {
      const slot = slotOf(field, at);
      const move = changeId({ action: 'move', address: at });
      const known = this.#known.get(slot);
      found = this.#isMove(move) ? move : (known ?? null);
      if (found !== null || known !== undefined) {
        break;
      }
      visited.push(slot);
      this.#known.set(slot, null);
      at = this.#context.declaredOf(at)?.fields[field];
    }
    for (const slot of visited) {
      this.#known.set(slot, found);
    }
    return found;
  }
}

function slotOf(field: string, holder: Address): string {
  return `${field} ${holder}`;
}
