import { z } from 'zod';
import { ok } from '../answers.ts';
import { organizationAt, referenced } from '../lookup.ts';
import { ruleNames } from '../merge-rules.ts';
import { type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { patched, present } from '../patch.ts';
import { id, listQuery, nullableRole, standaloneMergeRules, text, url } from '../schema.ts';
import { refuseLater } from '../versions.ts';
import { viewOrganization } from '../views/organization.ts';

/** Source: docs/platform-notes.md#writable-fields */
const organizationUpdate = z.strictObject({
  title: text(2, 255)
    .refine((title) => /\S.*\S/.test(title), { error: 'must match \\S.*\\S' })
    .optional(),
  emailDomains: z.array(z.string()).optional(),
  hostname: text(3, 32).optional(),
  defaultRole: nullableRole.optional(),
  defaultContent: z
    .strictObject({ type: z.literal('site'), site: id })
    .nullable()
    .optional(),
  logo: url().nullable().optional(),
  sso: z.boolean().optional(),
  ai: z.boolean().optional(),
  inviteLinks: z.boolean().optional(),
  mergeRules: standaloneMergeRules.optional(),
});

/** Organizations: list, read, update. */
export const organizationOperations: readonly Operation[] = [
  operation({
    name: 'listOrganizations',
    method: 'GET',
    path: '/orgs',
    query: listQuery,
    handle: (call) =>
      listBySeq(call, [...call.store.organizations.all()], (organization) => viewOrganization(call, organization)),
  }),
  operation({
    name: 'getOrganization',
    method: 'GET',
    path: '/orgs/{organizationId}',
    handle: (call) => ok(viewOrganization(call, organizationAt(call.store, call.params.organizationId))),
  }),
  operation({
    name: 'updateOrganization',
    method: 'PATCH',
    path: '/orgs/{organizationId}',
    body: organizationUpdate,
    handle: (call) => {
      const { store } = call;
      const organization = organizationAt(store, call.params.organizationId);
      const { logo, defaultContent, ...rest } = call.body;
      refuseLater(call, 'authorMergeRules', ruleNames(rest.mergeRules), 'body.mergeRules.rules');
      if (defaultContent) {
        const site = store.sites.get(defaultContent.site);
        const usable = site?.organization === organization.id ? site : undefined;
        referenced(usable, 'body.defaultContent.site', 'site', defaultContent.site);
      }
      const updated = store.organizations.put({
        ...organization,
        ...present(rest),
        logo: patched(organization.logo, logo),
        defaultContent: patched(organization.defaultContent, defaultContent),
      });
      return ok(viewOrganization(call, updated));
    },
  }),
];
