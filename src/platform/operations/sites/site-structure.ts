// Operations on the structure of a site: sections, section groups and site spaces, with their moves.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import { givenFlag, givenText, string, text, texts } from '../model/shapes.ts';
import { section, sectionGroup, siteSpace, siteStructure } from './structure-shapes.ts';

const pointer = z.strictObject({
  type: z.enum(['site-space', 'site-section', 'site-section-group', 'site-external-link']),
  id: string,
});
/**
 * The deprecated moves name a neighbor after its kind, except for groups. Source: docs/platform-notes.md#site-structure
 */
const siblingMove = <P extends z.ZodType>(neighbour: P) =>
  z.strictObject({
    position: z.union([z.strictObject({ before: neighbour }), z.strictObject({ after: neighbour })]),
  });
const nextToSiteSpace = z.strictObject({ type: z.literal('site-space'), siteSpace: string });
const nextToSection = z.strictObject({ type: z.literal('site-section'), siteSection: string });
const nextToGroup = z.strictObject({ type: z.enum(['site-section', 'site-section-group']), id: string });

const condition = text(0, 1024).nullable().optional();
const icon = text(0, 50).nullable().optional();
const path = text(1, 100).optional();

/** Reading and ordering a site's structure. */
export const structureOperations = {
  getSiteStructure: read(
    'getSiteStructure',
    'Returns the structure of a docs site, in display order.',
    '/v1/orgs/{organizationId}/sites/{siteId}/structure',
    siteStructure,
    {
      query: z.strictObject({ shareKey: givenText }),
    },
  ),
  // Exactly one of before and after; siblings only. Source: docs/platform-notes.md#site-structure
  sortSiteStructure: write(
    'sortSiteStructure',
    'Moves an item of a docs site before or after a sibling.',
    'PATCH',
    '/v1/orgs/{organizationId}/sites/{siteId}/structure/sort',
    {
      body: z.strictObject({
        item: pointer,
        position: z.union([z.strictObject({ before: pointer }), z.strictObject({ after: pointer })]),
      }),
      answer: z.unknown(),
      repeat: 'idempotent',
    },
  ),
};

/** Spaces on a site. */
export const siteSpaceOperations = {
  listSiteSpaces: list(
    'listSiteSpaces',
    'Lists the spaces of a docs site.',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces',
    siteSpace,
    {
      shareKey: givenText,
      default: givenFlag,
    },
  ),
  addSiteSpace: write(
    'addSiteSpace',
    'Adds a space to a docs site.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces',
    {
      body: z.strictObject({ spaceId: string, sectionId: givenText }),
      answer: siteSpace.optional(),
      repeat: 'never',
      success: [200, 201],
    },
  ),
  updateSiteSpace: write(
    'updateSiteSpace',
    "Updates a site space's path, condition, space or visibility.",
    'PATCH',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}',
    {
      body: z.strictObject({ path, condition, spaceId: givenText, hidden: givenFlag }),
      answer: siteSpace.optional(),
      repeat: 'idempotent',
    },
  ),
  deleteSiteSpace: remove(
    'deleteSiteSpace',
    'Removes a space from a docs site; the space is kept.',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}',
  ),
  moveSiteSpace: write(
    'moveSiteSpace',
    'Moves a space of a docs site among its siblings. Deprecated: use sortSiteStructure.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/site-spaces/{siteSpaceId}/move',
    { body: siblingMove(nextToSiteSpace), answer: siteSpace, repeat: 'idempotent' },
  ),
};

const sectionTitle = text(2, 128);

/** Sections of a site. */
export const sectionOperations = {
  listSections: list(
    'listSections',
    'Lists the sections of a docs site.',
    '/v1/orgs/{organizationId}/sites/{siteId}/sections',
    section,
    {
      shareKey: givenText,
    },
  ),
  createSection: write(
    'createSection',
    'Creates a section of a docs site, with its first space.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/sections',
    {
      body: z.strictObject({ spaceId: string, title: sectionTitle.nullable().optional(), icon }),
      answer: section,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  updateSection: write(
    'updateSection',
    'Updates a section of a docs site.',
    'PATCH',
    '/v1/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}',
    {
      body: z.strictObject({
        title: sectionTitle.optional(),
        path,
        defaultSiteSpace: givenText,
        condition,
        icon,
        description: text(0, 256).nullable().optional(),
        // Its group, null for none: from 0.181. Source: docs/platform-notes.md#sections
        siteSectionGroupId: z.string().nullable().optional(),
      }),
      answer: section.optional(),
      repeat: 'idempotent',
    },
  ),
  deleteSection: remove(
    'deleteSection',
    'Deletes a section of a docs site; its spaces are kept.',
    '/v1/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}',
  ),
  /** Deprecated in later versions. Source: docs/platform-notes.md#sections */
  moveSection: write(
    'moveSection',
    'Moves a section of a docs site among its siblings.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}/move',
    { body: siblingMove(nextToSection), answer: section, repeat: 'idempotent' },
  ),
};

const groupTitle = text(1, 100);
const groupPath = '/v1/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}';

/** Groups of sections. */
export const sectionGroupOperations = {
  listSectionGroups: list(
    'listSectionGroups',
    'Lists the section groups of a docs site.',
    '/v1/orgs/{organizationId}/sites/{siteId}/section-groups',
    sectionGroup,
  ),
  createSectionGroup: write(
    'createSectionGroup',
    'Creates a section group.',
    'POST',
    '/v1/orgs/{organizationId}/sites/{siteId}/section-groups',
    {
      body: z.strictObject({
        title: groupTitle,
        icon,
        sections: texts.optional(),
        parent: givenText,
      }),
      answer: sectionGroup,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  updateSectionGroup: write('updateSectionGroup', "Updates a section group's title or icon.", 'PATCH', groupPath, {
    body: z.strictObject({ title: groupTitle.optional(), icon }),
    answer: sectionGroup.optional(),
    repeat: 'idempotent',
  }),
  deleteSectionGroup: remove('deleteSectionGroup', 'Deletes a section group; its sections are kept.', groupPath),
  moveSectionGroup: write(
    'moveSectionGroup',
    'Moves a section group among its siblings. Deprecated: use sortSiteStructure.',
    'POST',
    `${groupPath}/move`,
    { body: siblingMove(nextToGroup), answer: sectionGroup, repeat: 'idempotent' },
  ),
  // It is not documented whether adding a section twice is an error.
  addSectionToGroup: write('addSectionToGroup', 'Moves a section into a group.', 'POST', `${groupPath}/sections`, {
    body: z.strictObject({ sectionId: string }),
    answer: sectionGroup,
    repeat: 'never',
    success: [200, 201],
  }),
  removeSectionFromGroup: remove(
    'removeSectionFromGroup',
    'Moves a section out of a group.',
    `${groupPath}/sections/{siteSectionId}`,
  ),
};
