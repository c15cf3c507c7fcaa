/** Constructors for metrics. */
import { Counter, Gauge, type Registry } from 'prom-client';

/** Registers a counter with the prefix `octavo_`. */
export function counter<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]) {
  return new Counter<L>({ name: `octavo_${name}`, help, labelNames, registers: [registry] });
}

/** Registers a gauge with the prefix `octavo_`. */
export function gauge<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]) {
  return new Gauge<L>({ name: `octavo_${name}`, help, labelNames, registers: [registry] });
}

/** Gauge with changing label values: shows only the most recent values of each owner. */
export class ChangingGauge<L extends string> {
  readonly #gauge: Gauge<L>;
  readonly #shown = new Map<string, readonly Record<L, string>[]>();

  constructor(shown: Gauge<L>) {
    this.#gauge = shown;
  }

  show(owner: string, values: readonly { readonly labels: Record<L, string>; readonly value: number }[]): void {
    for (const labels of this.#shown.get(owner) ?? []) {
      this.#gauge.remove(labels);
    }
    for (const { labels, value } of values) {
      this.#gauge.set(labels, value);
    }
    this.#shown.set(
      owner,
      values.map(({ labels }) => labels),
    );
  }
}
