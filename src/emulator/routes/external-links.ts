import { z } from 'zod';
import { created, deleted, invalid, ok } from '../answers.ts';
import { externalLinkOf, found, groupOf, referenced, siteAt } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { patched, present } from '../patch.ts';
import type { ExternalLinkRecord, SiteRecord } from '../records.ts';
import { condition, icon, id, text, url } from '../schema.ts';
import { structureType } from '../site-tree.ts';
import type { Store } from '../store.ts';
import { viewExternalLink } from '../views/site.ts';

const fields = {
  title: text(2, 128),
  url: url(),
  description: text(0, 256).nullable().optional(),
  icon: icon.nullable().optional(),
  draft: z.boolean().optional(),
  condition: condition.nullable().optional(),
};
const linkCreation = z.strictObject({ ...fields, parent: id.optional() });
const linkUpdate = z.strictObject({ ...fields, parent: id.nullable().optional() }).partial();

function location(context: Context, site: SiteRecord, link: ExternalLinkRecord): string {
  return `${context.base}/v1/orgs/${site.organization}/sites/${site.id}/external-links/${link.id}`;
}

function requireGroup(store: Store, site: SiteRecord, group: string | null | undefined): void {
  if (group !== undefined && group !== null) {
    referenced(groupOf(store, site, group), 'body.parent', 'site section group', group);
  }
}

/**
 * Operations on external links in a site's structure, from 0.201. They are placed among sections and groups, at the
 * root or in a group. Source: docs/platform-notes.md#external-links
 */
export const externalLinkOperations: readonly Operation[] = [
  operation({
    name: 'createExternalLink',
    method: 'POST',
    path: '/orgs/{organizationId}/sites/{siteId}/external-links',
    feature: 'externalLinks',
    body: linkCreation,
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      if (structureType(store, site) !== 'sections') {
        throw invalid('path.siteId', 'the site has no sections, among which a link could stand');
      }
      requireGroup(store, site, body.parent);
      const identity = store.identify('sitelk');
      const link = store.externalLinks.put({
        ...identity,
        rank: identity.seq,
        site: site.id,
        group: body.parent,
        title: body.title,
        url: body.url,
        description: body.description ?? undefined,
        icon: body.icon ?? undefined,
        draft: body.draft ?? false,
        condition: body.condition ?? undefined,
      });
      return created(viewExternalLink(link), location(call, site, link));
    },
  }),
  operation({
    name: 'updateExternalLink',
    method: 'PATCH',
    path: '/orgs/{organizationId}/sites/{siteId}/external-links/{siteExternalLinkId}',
    feature: 'externalLinks',
    body: linkUpdate,
    minimal: true,
    handle: (call) => {
      const { store, body } = call;
      const site = siteAt(store, call.params.organizationId, call.params.siteId);
      const { siteExternalLinkId } = call.params;
      const link = found(externalLinkOf(store, site, siteExternalLinkId), 'Site external link', siteExternalLinkId);
      requireGroup(store, site, body.parent);
      const group = patched(link.group, body.parent);
      const updated = store.externalLinks.put({
        ...link,
        ...(group === link.group ? {} : { group, rank: store.next() }),
        ...present({ title: body.title, url: body.url, draft: body.draft }),
        description: patched(link.description, body.description),
        icon: patched(link.icon, body.icon),
        condition: patched(link.condition, body.condition),
      });
      return ok(viewExternalLink(updated));
    },
  }),
  operation({
    name: 'deleteExternalLink',
    method: 'DELETE',
    path: '/orgs/{organizationId}/sites/{siteId}/external-links/{siteExternalLinkId}',
    feature: 'externalLinks',
    handle: (call) => {
      const site = siteAt(call.store, call.params.organizationId, call.params.siteId);
      const link = externalLinkOf(call.store, site, call.params.siteExternalLinkId);
      return deleted(link !== undefined && call.store.externalLinks.remove(link.id));
    },
  }),
];
