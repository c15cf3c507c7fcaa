// Operations on sections.

import { z } from 'zod';
import { created, deleted, invalid, ok, referenced } from '../model/answers.ts';
import { withDefaults } from '../model/creation-defaults.ts';
import { refuseUnknown } from '../model/features.ts';
import { type ApiOperation, type Context, operation, SITE } from '../model/operation.ts';
import { listByRank } from '../model/paging.ts';
import { omitUndefined, patched } from '../model/patch.ts';
import { condition, icon, id, listQuery, shareQuery, text } from '../model/schema.ts';
import type { EmulatorStore } from '../model/store.ts';
import { referencedSpace } from '../spaces/views.ts';
import type { SectionRecord, SiteRecord } from './records.ts';
import { sortItem } from './structure.ts';
import { addSection, moveSectionTo, refuseTakenSectionPath, removeSection } from './tree.ts';
import { findSection, findSectionGroup, requireSection, requireSite, viewSection } from './views.ts';

const SECTION = `${SITE}/sections/{siteSectionId}` as const;

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

/** Moves the section to the end of the group in its update. */
function regroup(
  store: EmulatorStore,
  site: SiteRecord,
  section: SectionRecord,
  group: string | null | undefined,
): SectionRecord {
  if (group === undefined) {
    return section;
  }
  if (group !== null) {
    referenced(findSectionGroup(store, site, group), 'body.siteSectionGroupId', 'site section group', group);
  }
  moveSectionTo(store, section, group ?? undefined);
  return store.sections.get(section.id) ?? section;
}

function checkDefault(store: EmulatorStore, section: SectionRecord, siteSpace: string | undefined): void {
  if (siteSpace !== undefined && store.siteSpaces.get(siteSpace)?.section !== section.id) {
    throw invalid('body.defaultSiteSpace', `site space "${siteSpace}" does not belong to the section`);
  }
}

const createSectionBody = z.strictObject({
  spaceId: id,
  title: title.nullable().optional(),
  icon: icon.nullable().optional(),
});

const collection: readonly ApiOperation[] = [
  operation('listSections', 'GET', `${SITE}/sections`, { query: listQuery.extend(shareQuery.shape) }, (call) => {
    const site = requireSite(call);
    return listByRank(call, call.store.sections.by('site', site.id), viewSection);
  }),
  operation('createSection', 'POST', `${SITE}/sections`, { body: createSectionBody }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const space = referencedSpace(store, site.organization, body.spaceId, 'body.spaceId');
    const given = { title: body.title ?? undefined, icon: body.icon ?? undefined };
    const made = addSection(store, site, space, given);
    const section = store.sections.put(withDefaults(made, body, call.defaults.section));
    for (const siteSpace of store.siteSpaces.by('place', section.id)) {
      if (siteSpace.seq > section.seq) {
        store.siteSpaces.put(withDefaults(siteSpace, {}, call.defaults.siteSpace));
      }
    }
    return created(viewSection(call, section), location(call, site, section));
  }),
];

/** Operations on site sections. Source: docs/platform-notes.md#sections */
export const sectionOperations: readonly ApiOperation[] = [
  ...collection,
  operation('updateSection', 'PATCH', SECTION, { body: sectionUpdate, minimal: true }, (call) => {
    const { store, body } = call;
    const site = requireSite(call);
    const section = requireSection(call);
    refuseUnknown(call, 'sectionParents', body, 'siteSectionGroupId');
    refuseTakenSectionPath(store, section, body.path);
    checkDefault(store, section, body.defaultSiteSpace);
    const updated = store.sections.put({
      ...regroup(store, site, section, body.siteSectionGroupId),
      ...omitUndefined({ title: body.title, path: body.path, defaultSiteSpace: body.defaultSiteSpace }),
      condition: patched(section.condition, body.condition),
      icon: patched(section.icon, body.icon),
      description: patched(section.description, body.description),
    });
    return ok(viewSection(call, updated));
  }),
  operation('deleteSection', 'DELETE', SECTION, {}, (call) => {
    const site = requireSite(call);
    const section = findSection(call.store, site, call.params.siteSectionId);
    if (section === undefined) {
      return deleted(false);
    }
    removeSection(call.store, section);
    return deleted(true);
  }),
  operation('moveSection', 'POST', `${SECTION}/move`, { body: moveBody }, (call) => {
    const site = requireSite(call);
    const section = requireSection(call);
    sortItem(call.store, site, { type: 'site-section', id: section.id }, call.body.position);
    return ok(viewSection(call, requireSection(call)));
  }),
];
