import * as z from 'zod';
import { list, read, remove, write } from './operation.ts';
import { optionalFlag, optionalText, text, urls } from './shapes.ts';
import { space } from './spaces.ts';

export const siteSpace = z.looseObject({
  object: z.literal('site-space').optional(),
  id: z.string(),
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
  id: z.string(),
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

/** A group of sections, as read. Its children are sections or groups (supplement, section 1). */
export interface SectionGroup {
  readonly object?: 'site-section-group';
  readonly id: string;
  readonly title: string;
  readonly icon?: string | null;
  readonly sectionGroup?: string | null;
  readonly children?: readonly StructureItem[] | null;
  readonly [field: string]: unknown;
}

/** An item that this version does not know; it is passed over. */
export interface UnknownItem {
  readonly object?: string;
  readonly id?: string;
  readonly [field: string]: unknown;
}

/** What a site's structure, or a group, is made of. */
export type StructureItem = Section | SectionGroup | SiteSpace | UnknownItem;

const sectionGroup: z.ZodType<SectionGroup> = z.looseObject({
  object: z.literal('site-section-group').optional(),
  id: z.string(),
  title: z.string(),
  icon: optionalText,
  sectionGroup: optionalText,
  get children(): z.ZodType<readonly StructureItem[] | null | undefined> {
    return z.array(structureItem).nullish();
  },
});

const structureItem: z.ZodType<StructureItem> = z.lazy(() =>
  z.union([
    section.extend({ object: z.literal('site-section') }),
    sectionGroup.refine((item) => item.object === 'site-section-group'),
    siteSpace.extend({ object: z.literal('site-space') }),
    z.looseObject({ object: z.string().optional(), id: z.string().optional() }),
  ]),
);

const siteStructure = z.looseObject({
  /** `sections` or `siteSpaces`. */
  type: z.string(),
  structure: z.array(structureItem),
});
/** A site's structure, as read; order is display order. */
export type SiteStructure = z.output<typeof siteStructure>;

/** Whether an item of a structure is a section. */
export function isSection(item: StructureItem): item is Section {
  return item.object === 'site-section';
}

/** Whether an item of a structure is a group of sections. */
export function isSectionGroup(item: StructureItem): item is SectionGroup {
  return item.object === 'site-section-group';
}

/** Whether an item of a structure is a site space. */
export function isSiteSpace(item: StructureItem): item is SiteSpace {
  return item.object === 'site-space';
}

const pointer = z.strictObject({
  type: z.enum(['site-space', 'site-section', 'site-section-group']),
  id: z.string(),
});
const condition = text(0, 1024).nullable().optional();
const icon = text(0, 50).nullable().optional();
const path = text(1, 100).optional();

/** Reading and ordering a site's structure. */
export const structureOperations = {
  getSiteStructure: read('getSiteStructure', '/v1/orgs/{organizationId}/sites/{siteId}/structure', siteStructure, {
    query: z.strictObject({ shareKey: z.string().optional() }),
  }),
  // Exactly one of before and after; siblings only (supplement, section 7).
  sortSiteStructure: write('sortSiteStructure', 'PATCH', '/v1/orgs/{organizationId}/sites/{siteId}/structure/sort', {
    body: z.strictObject({
      item: pointer,
      position: z.union([z.strictObject({ before: pointer }), z.strictObject({ after: pointer })]),
    }),
    answer: z.unknown(),
    repeat: 'idempotent',
  }),
};

/** Spaces on a site. */
export const siteSpaceOperations = {
  listSiteSpaces: list('listSiteSpaces', '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces', siteSpace, {
    shareKey: z.string().optional(),
    default: z.boolean().optional(),
  }),
  addSiteSpace: write('addSiteSpace', 'POST', '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces', {
    body: z.strictObject({ spaceId: z.string(), sectionId: z.string().optional() }),
    answer: siteSpace,
    repeat: 'never',
    success: [200, 201],
  }),
  updateSiteSpace: write(
    'updateSiteSpace',
    'PATCH',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}',
    {
      body: z.strictObject({ path, condition, spaceId: z.string().optional(), hidden: z.boolean().optional() }),
      answer: siteSpace,
      repeat: 'idempotent',
    },
  ),
  deleteSiteSpace: remove('deleteSiteSpace', '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}'),
};

const sectionTitle = text(2, 128);

/** Sections of a site. */
export const sectionOperations = {
  listSections: list('listSections', '/v1/orgs/{organizationId}/sites/{siteId}/sections', section, {
    shareKey: z.string().optional(),
  }),
  createSection: write('createSection', 'POST', '/v1/orgs/{organizationId}/sites/{siteId}/sections', {
    body: z.strictObject({ spaceId: z.string(), title: sectionTitle.nullable().optional(), icon }),
    answer: section,
    repeat: 'never',
    success: [200, 201],
  }),
  updateSection: write('updateSection', 'PATCH', '/v1/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}', {
    body: z.strictObject({
      title: sectionTitle.optional(),
      path,
      defaultSiteSpace: z.string().optional(),
      condition,
      icon,
      description: text(0, 256).nullable().optional(),
    }),
    answer: section,
    repeat: 'idempotent',
  }),
  deleteSection: remove('deleteSection', '/v1/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}'),
};

const groupTitle = text(1, 100);
const groupPath = '/v1/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}';

/** Groups of sections. */
export const sectionGroupOperations = {
  listSectionGroups: list('listSectionGroups', '/v1/orgs/{organizationId}/sites/{siteId}/section-groups', sectionGroup),
  createSectionGroup: write('createSectionGroup', 'POST', '/v1/orgs/{organizationId}/sites/{siteId}/section-groups', {
    body: z.strictObject({
      title: groupTitle,
      icon,
      sections: z.array(z.string()).optional(),
      parent: z.string().optional(),
    }),
    answer: sectionGroup,
    repeat: 'never',
    success: [200, 201],
  }),
  updateSectionGroup: write('updateSectionGroup', 'PATCH', groupPath, {
    body: z.strictObject({ title: groupTitle.optional(), icon }),
    answer: sectionGroup,
    repeat: 'idempotent',
  }),
  deleteSectionGroup: remove('deleteSectionGroup', groupPath),
  // Whether adding a section twice is an error is not documented.
  addSectionToGroup: write('addSectionToGroup', 'POST', `${groupPath}/sections`, {
    body: z.strictObject({ sectionId: z.string() }),
    answer: sectionGroup,
    repeat: 'never',
    success: [200, 201],
  }),
  removeSectionFromGroup: remove('removeSectionFromGroup', `${groupPath}/sections/{siteSectionId}`),
};
