// Operations on section groups.

import { z } from 'zod';
import { type ApiAnswer, created, deleted, invalid, ok, referenced } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { type ApiOperation, type Context, type OperationCall, operation, SITE } from '../model/operation.ts';
import { listByRank } from '../model/paging.ts';
import { omitUndefined, patched } from '../model/patch.ts';
import { icon, id, listQuery, text } from '../model/schema.ts';
import type { SectionGroupRecord, SiteRecord } from './records.ts';
import { sortItem } from './structure.ts';
import { moveSectionTo, removeGroup } from './tree.ts';
import { findSection, findSectionGroup, requireSectionGroup, requireSite, viewSectionGroup } from './views.ts';

const GROUP = `${SITE}/section-groups/{siteSectionGroupId}` as const;

/** Source: docs/platform-notes.md#limits */
const title = text(1, 100);

/** Source: docs/platform-notes.md#writable-fields */
const groupCreation = z.strictObject({
  title,
  icon: icon.nullable().optional(),
  sections: z.array(id).optional(),
  parent: id.optional(),
});

/** Neighbor of a group in the deprecated move, by `id`, unlike in the moves of sections and site spaces. */
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
  call: OperationCall<'/orgs/{organizationId}/sites/{siteId}/section-groups', unknown, z.output<typeof groupCreation>>,
): ApiAnswer {
  const { store, body } = call;
  const site = requireSite(call);
  const sections = (body.sections ?? []).map((section, at) => {
    return referenced(findSection(store, site, section), `body.sections.${at}`, 'site section', section);
  });
  if (new Set(sections).size < sections.length) {
    throw invalid('body.sections', 'contains the same section twice');
  }
  if (body.parent !== undefined) {
    referenced(findSectionGroup(store, site, body.parent), 'body.parent', 'site section group', body.parent);
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

const updateSectionGroupBody = z.strictObject({ title: title.optional(), icon: icon.nullable().optional() });
const addSectionToGroupBody = z.strictObject({ sectionId: id });

const groups: readonly ApiOperation[] = [
  operation('listSectionGroups', 'GET', `${SITE}/section-groups`, { query: listQuery }, (call) => {
    const site = requireSite(call);
    return listByRank(call, call.store.sectionGroups.by('site', site.id), viewSectionGroup);
  }),
  operation('createSectionGroup', 'POST', `${SITE}/section-groups`, { body: groupCreation }, createGroup),
  operation('updateSectionGroup', 'PATCH', GROUP, { body: updateSectionGroupBody, minimal: true }, (call) => {
    const group = requireSectionGroup(call);
    const updated = call.store.sectionGroups.put({
      ...group,
      ...omitUndefined({ title: call.body.title }),
      icon: patched(group.icon, call.body.icon),
    });
    return ok(viewSectionGroup(call, updated));
  }),
  operation('deleteSectionGroup', 'DELETE', GROUP, {}, (call) => {
    const site = requireSite(call);
    const group = findSectionGroup(call.store, site, call.params.siteSectionGroupId);
    if (group === undefined) {
      return deleted(false);
    }
    removeGroup(call.store, group);
    return deleted(true);
  }),
];

/** Operations on section groups and their sections. Source: docs/platform-notes.md#section-groups */
export const sectionGroupOperations: readonly ApiOperation[] = [
  ...groups,
  operation('moveSectionGroup', 'POST', `${GROUP}/move`, { body: moveBody }, (call) => {
    const site = requireSite(call);
    const group = requireSectionGroup(call);
    sortItem(call.store, site, { type: 'site-section-group', id: group.id }, call.body.position);
    return ok(viewSectionGroup(call, requireSectionGroup(call)));
  }),
  operation(
    'addSectionToGroup',
    'POST',
    `${GROUP}/sections`,
    { feature: 'sectionGroupMembers', body: addSectionToGroupBody },
    (call) => {
      const { store, body } = call;
      const site = requireSite(call);
      const group = requireSectionGroup(call);
      const section = referenced(
        findSection(store, site, body.sectionId),
        'body.sectionId',
        'site section',
        body.sectionId,
      );
      moveSectionTo(store, section, group.id);
      return created(viewSectionGroup(call, group), location(call, site, group));
    },
  ),
  operation(
    'removeSectionFromGroup',
    'DELETE',
    `${GROUP}/sections/{siteSectionId}`,
    { feature: 'sectionGroupMembers' },
    (call) => {
      const site = requireSite(call);
      const group = requireSectionGroup(call);
      const section = findSection(call.store, site, call.params.siteSectionId);
      if (section?.group !== group.id) {
        return deleted(false);
      }
      moveSectionTo(call.store, section, undefined);
      return deleted(true);
    },
  ),
];
