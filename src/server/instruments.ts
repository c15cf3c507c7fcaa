import { Counter, Gauge, type Registry } from 'prom-client';

/** Makes a counter of the product's. */
export function counter<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]) {
  return new Counter<L>({ name: `octavo_${name}`, help, labelNames, registers: [registry] });
}

/** Makes a gauge of the product's. */
export function gauge<L extends string>(registry: Registry, name: string, help: string, labelNames: readonly L[]) {
  return new Gauge<L>({ name: `octavo_${name}`, help, labelNames, registers: [registry] });
}

/** A gauge whose labels come and go: of each owner it shows what was told last, and no more. */
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
