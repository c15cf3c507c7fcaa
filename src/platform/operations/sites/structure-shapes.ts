// Shapes of the items of a site structure, as read.

import * as z from 'zod';
import { space } from '../content/spaces.ts';
import { givenText, optionalFlag, optionalText, string, urls } from '../model/shapes.ts';

export const siteSpace = z.looseObject({
  object: z.literal('site-space').optional(),
  id: string,
  path: optionalText,
  section: optionalText,
  space,
  title: optionalText,
  default: optionalFlag,
  condition: optionalText,
  hidden: optionalFlag,
  urls,
});
/** A space on a site, as read. */
export type SiteSpace = z.output<typeof siteSpace>;

export const section = z.looseObject({
  object: z.literal('site-section').optional(),
  id: string,
  title: optionalText,
  description: optionalText,
  default: optionalFlag,
  path: optionalText,
  condition: optionalText,
  sectionGroup: optionalText,
  siteSpaces: z.array(siteSpace).nullish(),
  icon: optionalText,
  urls,
});
/** A section of a site, as read. */
export type Section = z.output<typeof section>;

/** A group of sections, as read. Its children are sections or groups. Source: docs/platform-notes.md#section-groups */
export interface SectionGroup {
  readonly object?: 'site-section-group';
  readonly id: string;
  readonly title: string;
  readonly icon?: string | null;
  readonly sectionGroup?: string | null;
  readonly children?: readonly StructureItem[] | null;
  readonly [field: string]: unknown;
}

/** An item of an unknown type; it is ignored. */
export interface UnknownItem {
  readonly object?: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

/** Item of a site's structure or of a group. */
export type StructureItem = Section | SectionGroup | SiteSpace | UnknownItem;

export const sectionGroup: z.ZodType<SectionGroup> = z.looseObject({
  object: z.literal('site-section-group').optional(),
  id: string,
  title: string,
  icon: optionalText,
  sectionGroup: optionalText,
  get children(): z.ZodType<readonly StructureItem[] | null | undefined> {
    return z.array(structureItem).nullish();
  },
});

const KNOWN_ITEMS: readonly string[] = ['site-section', 'site-section-group', 'site-space'];

const structureItem: z.ZodType<StructureItem> = z.lazy(() =>
  z.union([
    section.extend({ object: z.literal('site-section') }),
    sectionGroup.refine((item) => item.object === 'site-section-group'),
    siteSpace.extend({ object: z.literal('site-space') }),
    // A known type that is not as documented is an error: if it were skipped, it would look deleted.
    z.looseObject({ object: givenText, id: givenText }).refine(({ object = '' }) => !KNOWN_ITEMS.includes(object)),
  ]),
);

/** A site's structure, as read; order is display order. */
export const siteStructure = z.looseObject({
  /** `sections` or `siteSpaces`. */
  type: string,
  structure: z.array(structureItem),
});

/** Returns true if an item of a structure is a section. */
export function isSection(item: StructureItem): item is Section {
  return item.object === 'site-section';
}

/** Returns true if an item of a structure is a group of sections. */
export function isSectionGroup(item: StructureItem): item is SectionGroup {
  return item.object === 'site-section-group';
}

/** Returns true if an item of a structure is a site space. */
export function isSiteSpace(item: StructureItem): item is SiteSpace {
  return item.object === 'site-space';
}
