import type { Actual } from '../../core/resource.ts';

/** Collects, from one draft to the next, which resources must be written differently or not at all. */
export class Decisions {
  /** Resources that can be identified only by their id. */
  readonly ids = new Set<Actual>();
  /** Fields that cannot be written, with the reason. */
  readonly dropped = new Map<Actual, Map<string, string>>();
  /** Fields that a plan would change immediately, however they are written. */
  readonly ignored = new Map<Actual, Set<string>>();
  /** Resources that cannot be declared, with the reason. */
  readonly omitted = new Map<Actual, string>();
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
    this.#count += this.omitted.has(actual) ? 0 : 1;
    this.omitted.set(actual, reason);
  }
}
