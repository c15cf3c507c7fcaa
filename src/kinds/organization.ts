import { z } from 'zod';
import type { Json } from '../core/json.ts';
import { type Fields, idRef } from '../core/resource.ts';
import { reference } from '../plan/model/diff.ts';
import type { LockOutContext } from '../plan/model/rules.ts';
import { operations } from '../platform/operations/index.ts';
import type { Kind } from './model/kind.ts';
import { manifestRules, Reference } from './model/manifest.ts';
import {
  actualMergeRules,
  declaredMergeRules,
  describedMergeRules,
  keptMergeRules,
  mergeRules,
  peopleOfRules,
  writtenMergeRules,
} from './model/merge-rules.ts';
import { present, ref, request } from './model/request.ts';
import { commonShape, key, type Role, role, text, url } from './model/schema.ts';
import { written } from './model/written.ts';

const domain = z
  .string()
  .transform((name) => name.toLowerCase())
  .refine((name) => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/.test(name), { error: 'is not a domain name' });

const { id: _id, renamedFrom: _renamedFrom, protect: _protect, ...common } = commonShape;
const schema = z.strictObject({
  title: text({
    min: 2,
    max: 255,
    pattern: /\S.*\S/,
    words: 'a title with two visible characters on one line',
    example: 'Acme',
  })
    .optional()
    .describe('The name of the organization.'),
  emailDomains: z
    .array(domain)
    .meta({ examples: [['acme.example']] })
    .optional()
    .describe('People with an email address in these domains can join.'),
  hostname: text({
    min: 3,
    max: 32,
    pattern: /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/,
    words: 'a subdomain',
    example: 'acme',
  })
    .optional()
    .describe('The default host name of public content.'),
  defaultRole: role.nullable().optional().describe('The role of new members; `null` makes them guests.'),
  defaultContent: z
    .strictObject({ site: key('A key of `sites`.', 'site') })
    .nullable()
    .optional()
    .describe('The first content that people see; `null` clears it.'),
  logo: url('https://acme.example/logo.svg')
    .nullable()
    .optional()
    .describe('URL of the logo. The platform does not return it, so Octavo compares it with the last applied value.'),
  sso: z.boolean().optional().describe('Whether everyone must sign in through single sign-on.'),
  ai: z.boolean().optional().describe('Whether AI features are enabled.'),
  inviteLinks: z.boolean().optional().describe('Whether people can be invited by link.'),
  mergeRules: mergeRules(['none', 'rules'])
    .optional()
    .describe('Conditions for merging a change request, unless a space overrides them.'),
  ...common,
});

interface OrganizationFields {
  title: string;
  emailDomains: string[];
  hostname: string;
  defaultRole: Role | null;
  defaultContent: string | null;
  logo: string | null;
  sso: boolean;
  ai: boolean;
  inviteLinks: boolean;
  mergeRules: Json;
}

/** Settings of the organization itself. It is never created or deleted. Source: docs/platform-notes.md#organizations */
export const organization: Kind = {
  name: 'organization',
  dependsOn: ['member', 'site'],
  applyAfter: ['saml'],
  creatable: false,
  deletable: false,
  isOrganization: true,
  lockOuts: ssoLockOut,
  fields: {
    title: {},
    emailDomains: {
      access: true,
      normalize: (value) => (Array.isArray(value) ? [...new Set(value as string[])].sort() : value),
    },
    hostname: {},
    defaultRole: { access: true },
    defaultContent: reference(),
    logo: {
      compare: 'base',
      noBaseNote: 'logo was not compared: the platform does not give it back, and there is no base',
    },
    sso: { access: true },
    ai: {},
    inviteLinks: { access: true },
    mergeRules: { access: true, references: peopleOfRules, normalize: keptMergeRules },
  },
  manifest: manifestRules({
    section: 'organization',
    single: true,
    key: { pattern: /^$/, words: 'nothing' },
    entry: schema,
    summary: 'Settings of the organization itself.',
    example: `title: Acme
emailDomains: [acme.example]
defaultRole: read
sso: true`,
    declare(_key, fields, context) {
      const { paused, ignore, defaultContent, mergeRules: rules, ...rest } = fields;
      context.add({
        kind: 'organization',
        key: '',
        path: [],
        fields: {
          ...rest,
          defaultContent: defaultContent
            ? new Reference(['site'], defaultContent.site, ['defaultContent', 'site'])
            : defaultContent,
          mergeRules: declaredMergeRules(rules),
        },
        within: null,
        place: null,
        common: { paused, ignore },
      });
    },
    describe(actual, context) {
      const { hostname, defaultRole = null, defaultContent, mergeRules: rules, ...fields } = actual.fields;
      const first = context.keyOfRef(defaultContent);
      return context.resource(actual, {
        title: fields.title,
        emailDomains: fields.emailDomains,
        hostname: hostname ?? undefined,
        defaultRole,
        defaultContent: first === null ? undefined : { site: first },
        sso: fields.sso,
        ai: fields.ai,
        inviteLinks: fields.inviteLinks,
        mergeRules: describedMergeRules(actual, rules, context),
      });
    },
  }),
  suggestedKeys: () => [],
  naturalKeys: () => [{ by: 'kind', value: 'organization' }],
  actualKeys: () => [{ by: 'kind', value: 'organization' }],
  async observe({ reader, add }) {
    const each = await reader.get(operations.getOrganization);
    const site = each.defaultContent?.site;
    add({
      kind: 'organization',
      id: each.id,
      title: each.title,
      fields: {
        title: each.title,
        emailDomains: [...(each.emailDomains ?? [])],
        hostname: each.hostname ?? null,
        defaultRole: each.defaultRole ?? null,
        defaultContent: site ? idRef(site, 'site') : null,
        sso: each.sso ?? false,
        ai: each.ai ?? false,
        inviteLinks: each.inviteLinks ?? false,
        mergeRules: actualMergeRules(each.mergeRules),
      },
      within: null,
      place: null,
    });
  },
  /** Enforcing single sign-on without a provider locks everyone out, so that must be known. */
  neededKinds({ declared, actuals }) {
    const resource = declared.get('organization');
    const now = actuals.find((actual) => actual.kind === 'organization');
    const enforces = resource?.fields.sso === true && now?.fields.sso !== true;
    return enforces ? ['saml'] : [];
  },
  writes(change) {
    const { defaultContent, mergeRules: rules, ...fields } = written<OrganizationFields>(change);
    const content =
      typeof defaultContent === 'string' ? ({ type: 'site', site: ref(defaultContent) } as const) : defaultContent;
    const body = present({ ...fields, defaultContent: content, mergeRules: writtenMergeRules<'none'>(rules) });
    return { first: [request(operations.updateOrganization, { body })] };
  },
};

function ssoLockOut({ changes, actuals }: LockOutContext): readonly string[] {
  const declared = changes('organization')
    .flatMap((change) => change.fields)
    .find((field) => field.path === 'sso')?.to;
  const enforced = declared ?? actuals('organization')?.[0]?.fields.sso ?? false;
  const touched = changes('saml');
  if (enforced !== true || (declared === undefined && touched.length === 0)) {
    return [];
  }
  const working = new Set((actuals('saml') ?? []).filter(({ fields }) => isWorking(fields)).map(({ id }) => id));
  let added = 0;
  for (const change of touched) {
    if (change.action === 'delete') {
      working.delete(change.id ?? '');
    } else if (change.action === 'create' && isWorking(change.declared)) {
      added += 1;
    } else if (change.id !== null && isWorking({ ...change.actual, ...change.declared })) {
      working.add(change.id);
    } else if (change.id !== null) {
      working.delete(change.id);
    }
  }
  return working.size + added > 0
    ? []
    : ['it would leave single sign-on enforced (organization.sso: true) with no working SAML provider'];
}

/**
 * Reports whether a provider has everything it needs. The platform calls it `pending` until then.
 * Source: docs/platform-notes.md#saml
 */
function isWorking(fields: Fields): boolean {
  return ['entityID', 'ssoURL', 'certificate'].every((name) => typeof fields[name] === 'string' && fields[name] !== '');
}
