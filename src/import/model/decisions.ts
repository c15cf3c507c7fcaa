import type { Actual } from '../../core/resource.ts';

/** Findings about how resources have to be written, from one attempt to the next. */
export class Decisions {
  /** Resources that only their id identifies. */
  readonly ids = new Set<Actual>();
  /** Fields that cannot be written, with the reason. */
  readonly dropped = new Map<Actual, Map<string, string>>();
  /** Fields that a plan would change immediately, however they are written. */
  readonly ignored = new Map<Actual, Set<string>>();
  /** Resources that cannot be declared, with the reason. */
  readonly left = new Map<Actual, string>();
  /** Number of findings. */
  #count = 0;

  get count(): number {
    return this.#count;
  }

  bind(actual: Actual): void {
    this.#count += this.ids.has(actual) ? 0 : 1;
    this.ids.add(actual);
  }

  drop(actual: Actual, field: string, reason: string): void {
    const fields = this.dropped.get(actual) ?? new Map<string, string>();
    this.#count += fields.has(field) ? 0 : 1;
    this.dropped.set(actual, fields.set(field, reason));
  }

  ignore(actual: Actual, field: string): void {
    const fields = this.ignored.get(actual) ?? new Set<string>();
    this.#count += fields.has(field) ? 0 : 1;
    this.ignored.set(actual, fields.add(field));
  }

  leave(actual: Actual, reason: string): void {
    this.#count += this.left.has(actual) ? 0 : 1;
    this.left.set(actual, reason);
  }
}
