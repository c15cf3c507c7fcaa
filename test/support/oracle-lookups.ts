/** Lookups in the platform's records, for the oracle. */
import type { EmulatorState } from '../../src/emulator/model/store.ts';
import type { GroupModel, ItemModel, SectionModel, SiteSpaceModel } from './model.ts';

export type Table = Exclude<keyof EmulatorState, 'format' | 'sequence'>;
export type Named = { readonly id: string };

/** Everything that existed before, as text, without the organization itself and its people. */
export function foreignRecords(before: EmulatorState, now: EmulatorState): string {
  const tables = Object.keys(before).filter(
    (name) => !['format', 'sequence', 'organizations', 'members'].includes(name),
  );
  const kept = tables.map((name) => {
    const ids = new Set(rows(before, name as Table).map((record) => record.id));
    return [name, rows(now, name as Table).filter((record) => ids.has(record.id))];
  });
  return JSON.stringify(Object.fromEntries(kept));
}

export function rows<Name extends Table>(state: EmulatorState, name: Name): NonNullable<EmulatorState[Name]> {
  return (state[name] ?? []) as NonNullable<EmulatorState[Name]>;
}

/** Names of these declared members, in their declared order. */
export function declaredNames(declared: object, names: readonly string[]): string[] {
  const known = new Set(names);
  const own = Object.entries(declared).filter(([name, value]) => known.has(name) && value !== undefined);
  const order = own.map(([name]) => name).filter((name) => name !== 'space');
  return 'space' in declared ? [...order, 'space'] : order;
}

export function titleOf(items: readonly ItemModel[], key: string): string | undefined {
  for (const item of items) {
    if ('section' in item && item.section === key) {
      return item.title;
    }
    const inner = 'group' in item ? titleOf((item as GroupModel).items, key) : undefined;
    if (inner !== undefined) {
      return inner;
    }
  }
  return undefined;
}

export function sectionOf(items: readonly ItemModel[], key: string): SectionModel | undefined {
  for (const item of items) {
    const found = 'group' in item ? sectionOf(item.items, key) : 'section' in item ? item : undefined;
    if (found?.section === key) {
      return found;
    }
  }
  return undefined;
}

export function itemOf(items: readonly ItemModel[], key: string): SiteSpaceModel | undefined {
  return items.find((item): item is SiteSpaceModel => 'key' in item && item.key === key);
}
