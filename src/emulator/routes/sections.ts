import { z } from 'zod';
import { created, deleted, invalid, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { groupOf, referenced, sectionAt, sectionOf, siteAt, spaceReferenced } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listByRank } from '../paging.ts';
import { patched, present } from '../patch.ts';
import type { SectionRecord, SiteRecord } from '../records.ts';
import { condition, icon, id, listQuery, shareQuery, text } from '../schema.ts';
import { addSection, moveSectionTo, refuseTakenSectionPath, removeSection } from '../site-tree.ts';
import type { Store } from '../store.ts';
import { refuseUnknown } from '../versions.ts';
import { viewSection } from '../views/site.ts';
import { sortItem } from './site-structure.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(2, 128);

/** Source: docs/platform-notes.md#writable-fields */
const sectionUpdate = z.strictObject({
  title: title.optional(),
  path: text(1, 100).optional(),
  defaultSiteSpace: id.optional(),
  condition: condition.nullable().optional(),
  icon: icon.nullable().optional(),
  description: text(0, 256).nullable().optional(),
  // From 0.181. Null is the root. Source: docs/platform-notes.md#sections
  siteSectionGroupId: id.nullable().optional(),
});

const pointer = z
  .strictObject({ type: z.literal('site-section'), siteSection: id })
  .transform((given) => ({ type: given.type, id: given.siteSection }));

const moveBody = z.strictObject({
  position: z
    .strictObject({ before: pointer.optional(), after: pointer.optional() })
    .refine((position) => position.before !== undefined || position.after !== undefined, {
      error: 'must have before or after',
    }),
});

function location(context: Context, site: SiteRecord, section: SectionRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}/sections/${section.id}`;
}

/** Puts the section into the group that its update names, at the end. */
function regroup(
  store: Store,
  site: SiteRecord,
  section: SectionRecord,
  group: string | null | undefined,
): SectionRecord {
  if (group === undefined) {
    return section;
  }
  if (group !== null) {
    referenced(groupOf(store, site, group), 'body.siteSectionGroupId', 'site section group', group);
  }
  moveSectionTo(store, section, group ?? undefined);
  return store.sections.get(section.id) ?? section;
}

function checkDefault(store: Store, section: SectionRecord, siteSpace: string | undefined): void {
  if (siteSpace !== undefined && store.siteSpaces.get(siteSpace)?.section !== section.id) {
    throw invalid('body.defaultSiteSpace', `site space "${siteSpace}" does not belong to the section`);
  }
}

const collection: readonly Operation[] = [
  operation({
    name: 'listSections',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/sections',
    query: listQuery.extend(shareQuery.shape),
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      return listByRank(call, call.store.sections.by('site', site.id), (section) => viewSection(call, section));
    },
  }),
  operation({
    name: 'createSection',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/sections',
    body: z.strictObject({ spaceId: id, title: title.nullable().optional(), icon: icon.nullable().optional() }),
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const space = spaceReferenced(store, site.organization, body.spaceId, 'body.spaceId');
      const given = { title: body.title ?? undefined, icon: body.icon ?? undefined };
      const made = addSection(store, site, space, given);
      const section = store.sections.put(withDefaults(made, body, call.defaults.section));
      for (const siteSpace of store.siteSpaces.by('place', section.id)) {
        if (siteSpace.seq > section.seq) {
          store.siteSpaces.put(withDefaults(siteSpace, {}, call.defaults.siteSpace));
        }
      }
      return created(viewSection(call, section), location(call, site, section));
    },
  }),
];

/** Operations on site sections. Source: docs/platform-notes.md#sections */
export const sectionOperations: readonly Operation[] = [
  ...collection,
  operation({
    name: 'updateSection',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}',
    body: sectionUpdate,
    minimal: true,
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const section = sectionAt(store, site, call.params.siteSectionId);
      refuseUnknown(call, 'sectionParents', body, 'siteSectionGroupId');
      refuseTakenSectionPath(store, section, body.path);
      checkDefault(store, section, body.defaultSiteSpace);
      const updated = store.sections.put({
        ...regroup(store, site, section, body.siteSectionGroupId),
        ...present({ title: body.title, path: body.path, defaultSiteSpace: body.defaultSiteSpace }),
        condition: patched(section.condition, body.condition),
        icon: patched(section.icon, body.icon),
        description: patched(section.description, body.description),
      });
      return ok(viewSection(call, updated));
    },
  }),
  operation({
    name: 'deleteSection',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const section = sectionOf(call.store, site, call.params.siteSectionId);
      if (section === undefined) {
        return deleted(false);
      }
      removeSection(call.store, section);
      return deleted(true);
    },
  }),
  operation({
    name: 'moveSection',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/sections/{siteSectionId}/move',
    body: moveBody,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const section = sectionAt(call.store, site, call.params.siteSectionId);
      sortItem(call.store, site, { type: 'site-section', id: section.id }, call.body.position);
      return ok(viewSection(call, sectionAt(call.store, site, section.id)));
    },
  }),
];
