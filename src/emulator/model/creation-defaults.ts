import type { RecordOf, Tables } from './store.ts';

/** What new resources have where their creation does not say; without these, nothing. */
/** Defaults by resource. A platform may give new resources more than nothing: a wider role, an icon, a condition. */
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

/** A new record with the defaults for what its creation leaves out; `null` is not left out. */
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
