/** Defaults that the platform sets at creation. */
import type { RecordOf, Tables } from './store.ts';

/** Values of new resources for fields that their creation leaves out. */
/** Defaults by resource. A platform may set fields by default, such as a wider role, an icon or a condition. */
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
