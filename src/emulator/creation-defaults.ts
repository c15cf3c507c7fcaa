/** What new resources have where their creation does not say; without these, nothing. */
import type {
  CollectionRecord,
  SamlRecord,
  SectionGroupRecord,
  SectionRecord,
  SiteRecord,
  SiteSpaceRecord,
  SpaceRecord,
} from './records.ts';

/** Defaults by resource. A platform may give new resources more than nothing: a wider role, an icon, a condition. */
export interface CreationDefaults {
  readonly collection?: Partial<Pick<CollectionRecord, 'defaultLevel'>>;
  readonly samlProvider?: Partial<Pick<SamlRecord, 'defaultRole'>>;
  readonly section?: Partial<Pick<SectionRecord, 'icon' | 'description' | 'condition'>>;
  readonly sectionGroup?: Partial<Pick<SectionGroupRecord, 'icon'>>;
  readonly site?: Partial<Pick<SiteRecord, 'proxy'>>;
  readonly siteSpace?: Partial<Pick<SiteSpaceRecord, 'condition'>>;
  readonly space?: Partial<Pick<SpaceRecord, 'defaultLevel' | 'emoji'>>;
}

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
