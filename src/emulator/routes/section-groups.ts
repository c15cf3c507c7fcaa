import { z } from 'zod';
import { type Answer, created, deleted, invalid, ok } from '../answers.ts';
import { withDefaults } from '../creation-defaults.ts';
import { groupAt, groupOf, referenced, sectionOf, siteAt } from '../lookup.ts';
import { type Call, type Context, type Operation, operation } from '../operation.ts';
import { listByRank } from '../paging.ts';
import { patched, present } from '../patch.ts';
import type { SectionGroupRecord, SiteRecord } from '../records.ts';
import { icon, id, listQuery, text } from '../schema.ts';
import { moveSectionTo, removeGroup } from '../site-tree.ts';
import { viewSectionGroup } from '../views/site.ts';
import { sortItem } from './site-structure.ts';

/** Source: docs/platform-notes.md#limits */
const title = text(1, 100);

/** Source: docs/platform-notes.md#writable-fields */
const groupCreation = z.strictObject({
  title,
  icon: icon.nullable().optional(),
  sections: z.array(id).optional(),
  parent: id.optional(),
});

/** The deprecated move names what it puts a group beside by its id, unlike those of sections and site spaces. */
const neighbour = z.strictObject({ type: z.enum(['site-section', 'site-section-group']), id });
const moveBody = z.strictObject({
  position: z
    .strictObject({ before: neighbour.optional(), after: neighbour.optional() })
    .refine((position) => position.before !== undefined || position.after !== undefined, {
      error: 'must have before or after',
    }),
});

function location(context: Context, site: SiteRecord, group: SectionGroupRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}/section-groups/${group.id}`;
}

function createGroup(
  call: Call<'/orgs/{organizationId}/sites/{siteId}/section-groups', unknown, z.output<typeof groupCreation>>,
): Answer {
  const { store, body } = call;
  const site = siteAt(store, call.params.organizationId, call.params.siteId);
  const sections = (body.sections ?? []).map((section, at) => {
    return referenced(sectionOf(store, site, section), `body.sections.${at}`, 'site section', section);
  });
  if (new Set(sections).size < sections.length) {
    throw invalid('body.sections', 'the same section twice');
  }
  if (body.parent !== undefined) {
    referenced(groupOf(store, site, body.parent), 'body.parent', 'site section group', body.parent);
  }
  const identity = store.identify('sitesg');
  const made: SectionGroupRecord = {
    ...identity,
    rank: identity.seq,
    site: site.id,
    parent: body.parent,
    title: body.title,
    icon: body.icon ?? undefined,
  };
  const group = store.sectionGroups.put(withDefaults(made, body, call.defaults.sectionGroup));
  for (const section of sections) {
    moveSectionTo(store, section, group.id);
  }
  return created(viewSectionGroup(call, group), location(call, site, group));
}

const groups: readonly Operation[] = [
  operation({
    name: 'listSectionGroups',
    method: 'GET',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups',
    query: listQuery,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      return listByRank(call, call.store.sectionGroups.by('site', site.id), (group) => viewSectionGroup(call, group));
    },
  }),
  operation({
    name: 'createSectionGroup',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups',
    body: groupCreation,
    handle: createGroup,
  }),
  operation({
    name: 'updateSectionGroup',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}',
    body: z.strictObject({ title: title.optional(), icon: icon.nullable().optional() }),
    minimal: true,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const group = groupAt(call.store, site, call.params.siteSectionGroupId);
      const updated = call.store.sectionGroups.put({
        ...group,
        ...present({ title: call.body.title }),
        icon: patched(group.icon, call.body.icon),
      });
      return ok(viewSectionGroup(call, updated));
    },
  }),
  operation({
    name: 'deleteSectionGroup',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const group = groupOf(call.store, site, call.params.siteSectionGroupId);
      if (group === undefined) {
        return deleted(false);
      }
      removeGroup(call.store, group);
      return deleted(true);
    },
  }),
];

/** Operations on section groups and their sections. Source: docs/platform-notes.md#section-groups */
export const sectionGroupOperations: readonly Operation[] = [
  ...groups,
  operation({
    name: 'moveSectionGroup',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}/move',
    body: moveBody,
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const group = groupAt(call.store, site, call.params.siteSectionGroupId);
      sortItem(call.store, site, { type: 'site-section-group', id: group.id }, call.body.position);
      return ok(viewSectionGroup(call, groupAt(call.store, site, group.id)));
    },
  }),
  operation({
    name: 'addSectionToGroup',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}/sections',
    feature: 'sectionGroupMembers',
    body: z.strictObject({ sectionId: id }),
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const group = groupAt(store, site, call.params.siteSectionGroupId);
      const section = referenced(
        sectionOf(store, site, body.sectionId),
        'body.sectionId',
        'site section',
        body.sectionId,
      );
      moveSectionTo(store, section, group.id);
      return created(viewSectionGroup(call, group), location(call, site, group));
    },
  }),
  operation({
    name: 'removeSectionFromGroup',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}/section-groups/{siteSectionGroupId}/sections/{siteSectionId}',
    feature: 'sectionGroupMembers',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const group = groupAt(call.store, site, call.params.siteSectionGroupId);
      const section = sectionOf(call.store, site, call.params.siteSectionId);
      if (section?.group !== group.id) {
        return deleted(false);
      }
      moveSectionTo(call.store, section, undefined);
      return deleted(true);
    },
  }),
];
