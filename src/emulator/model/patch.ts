/** Fields of records: updates, defaults at creation, and parts for views. */

import type { RecordOf, Tables } from './store.ts';

/**
 * Returns the value after an update: absent keeps it, null clears it. Source: docs/platform-notes.md#writable-fields
 */
export function patched<T>(current: T | undefined, given: T | null | undefined): T | undefined {
  return given === undefined ? current : (given ?? undefined);
}

/** Returns the members that are not undefined. */
export function omitUndefined<T extends object>(given: T): Partial<T> {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Partial<T>;
}

/** Reports whether a text contains another, in any case, as title filters do. */
export function containsText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Returns an object with some members of a record, for views. */
export function pick<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>;
}

/** Values of new resources, by kind, for fields that their creation leaves out. A platform may set fields by default, such as a wider role, an icon or a condition. */
export interface CreationDefaults {
  readonly collection?: Defaults<'collections', 'defaultLevel'>;
  readonly samlProvider?: Defaults<'samlProviders', 'defaultRole'>;
  readonly section?: Defaults<'sections', 'icon' | 'description' | 'condition'>;
  readonly sectionGroup?: Defaults<'sectionGroups', 'icon'>;
  readonly site?: Defaults<'sites', 'proxy'>;
  readonly siteSpace?: Defaults<'siteSpaces', 'condition'>;
  readonly space?: Defaults<'spaces', 'defaultLevel' | 'emoji'>;
}

type Defaults<K extends keyof Tables, Field extends keyof RecordOf<Tables[K]>> = Partial<
  Pick<RecordOf<Tables[K]>, Field>
>;

/** Returns the record with the defaults for fields that were not given; `null` counts as given. */
export function withDefaults<Entry extends object>(
  record: Entry,
  given: object | undefined,
  defaults: Partial<NoInfer<Entry>> | undefined,
): Entry {
  const open = Object.entries(defaults ?? {}).filter(
    ([name]) => (given as Readonly<Record<string, unknown>> | undefined)?.[name] === undefined,
  );
  return { ...record, ...Object.fromEntries(open) };
}
