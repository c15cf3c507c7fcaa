/** Constructors for metrics, whose names get the prefix `octavo_`. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Gauges of a kind of item: name, help text and value; null: none. */
export type GaugeTable<T> = readonly (readonly [name: string, help: string, value: (item: T) => number | null])[];

/** Constructors for the metrics of one registry. */
export type Instruments = ReturnType<typeof instrumentsIn>;

/** Returns constructors that register their metrics. */
export function instrumentsIn(registry: Registry) {
  const common = (name: string, help: string) => ({ name: `octavo_${name}`, help, registers: [registry] });
  const counter = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) =>
    new Counter<L>({ ...common(name, help), labelNames });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) =>
    new Gauge<L>({ ...common(name, help), labelNames });
  const histogram = <L extends string>(name: string, help: string, label: L, buckets: number[]) =>
    new Histogram<L>({ ...common(name, help), labelNames: [label], buckets });
  /** Registers a gauge that exports only the latest values of each owner, without those that are null. */
  const changingGauge = <L extends string>(name: string, help: string, ...labelNames: readonly L[]) => {
    const all = gauge(name, help, ...labelNames);
    const shown = new Map<string, Record<L, string>[]>();
    return (owner: string, values: readonly (readonly [labels: Record<L, string>, value: number | null])[]): void => {
      for (const labels of shown.get(owner) ?? []) {
        all.remove(labels);
      }
      const current: Record<L, string>[] = [];
      for (const [labels, value] of values) {
        if (value !== null) {
          all.set(labels, value);
          current.push(labels);
        }
      }
      shown.set(owner, current);
    };
  };
  /** Registers a changing gauge for each line of a table: name, help text and value of an item. */
  const changingGauges = <T, L extends string>(prefix: string, table: GaugeTable<T>, ...labelNames: readonly L[]) => {
    const gauges = table.map(
      ([name, help, value]) => [changingGauge(`${prefix}_${name}`, help, ...labelNames), value] as const,
    );
    return (owner: string, items: readonly (readonly [labels: Record<L, string>, item: T])[]): void => {
      for (const [show, value] of gauges) {
        show(
          owner,
          items.map(([labels, item]) => [labels, value(item)]),
        );
      }
    };
  };
  return { counter, gauge, histogram, changingGauge, changingGauges };
}
