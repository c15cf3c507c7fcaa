/** Kind of the groups of sections on a site. */
import { z } from 'zod';
import { type Actual, idRef } from '../../core/resource.ts';
import { counted } from '../../plan/render/words.ts';
import type { Reader } from '../../platform/client.ts';
import { operations, type SectionGroup } from '../../platform/operations/index.ts';
import { line } from '../model/schema.ts';
import { draft, icon, localized, structurePart } from './part.ts';

/** Groups of sections, nested. Declared in a site's structure. Source: docs/platform-notes.md#section-groups */
export const sectionGroup = structurePart<SectionGroup>({
  name: 'section-group',
  operations: {
    create: operations.createSectionGroup,
    update: operations.updateSectionGroup,
    delete: operations.deleteSectionGroup,
  },
  part: {
    key: { member: 'group', description: 'The key of the group, unique in the site.', example: 'developers' },
    heldBy: ['site', 'section-group'],
    holder: 'parent',
    noun: 'group',
    holds: {
      member: 'items',
      schema: (item) => z.array(item).describe('Sections and groups, in order.'),
      items: ({ children }) => children ?? [],
    },
    facts: ({ children }) => {
      const links = (children ?? []).filter((each) => each.object === 'site-external-link').length;
      return links > 0 ? { links } : null;
    },
    hidden: { name: 'hidden groups', mayExist: mayHideGroups, read: readGroups },
  },
  fields: {
    title: line({ min: 1, max: 100, example: 'Developers' }).describe('The title of the group.'),
    localizedTitle: localized('localizedTitle', 'title', 128),
    icon,
    draft,
    // The parent of a group can be set only on creation. Source: docs/platform-notes.md#writable-fields
    parent: { refersTo: ['section-group'], isListed: false, fixed: 'replace', placement: true },
  },
  impact(actual) {
    const links = Number(actual.facts?.links ?? 0);
    return { weight: links, text: links === 0 ? '' : counted(links, 'external link') };
  },
});

/** Reports whether a structure may hide groups: without a section, it lists only site spaces. */
function mayHideGroups(site: string, parts: readonly Actual[]): boolean {
  return parts.some(({ kind, place }) => kind === 'site-space' && place?.list === site);
}

/** Reads the groups of a site whose structure does not show them. Otherwise a lost creation would be repeated. */
async function readGroups(site: string, reader: Reader): Promise<readonly Actual[]> {
  const groups = await Array.fromAsync(reader.pages(operations.listSectionGroups, { path: { siteId: site } }));
  return groups.map((group, index) => {
    const { id, title, sectionGroup: parent } = group;
    return {
      kind: 'section-group',
      id,
      title,
      fields: { ...sectionGroup.table.observe(group), parent: parent ? idRef(parent, 'section-group') : null },
      within: site,
      place: { list: parent ?? site, index },
    };
  });
}
