import { z } from 'zod';
import { invalid, ok } from '../answers.ts';
import { organizationAt, referenced } from '../lookup.ts';
import { type Context, type Operation, operation } from '../operation.ts';
import { listBySeq } from '../paging.ts';
import { patched, present } from '../patch.ts';
import { id, listQuery, mergeRules, nullableRole, text, url } from '../schema.ts';
import { viewOrganization } from '../views/organization.ts';

/** Platform API, Organizations; supplement, section 6. */
const organizationUpdate = z.strictObject({
  title: text(2, 255).optional(),
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
  mergeRules: mergeRules.optional(),
});

/** Supplement, section 5: from 0.167 on a title has two visible characters. */
function refuseBlank({ features }: Pick<Context, 'features'>, wanted: string | undefined): void {
  if (features.strictPatterns && wanted !== undefined && !/\S.*\S/.test(wanted)) {
    throw invalid('body.title', 'must match \\S.*\\S');
  }
}

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
      refuseBlank(call, rest.title);
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
