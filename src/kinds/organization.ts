import { z } from 'zod';
import type { Fields } from '../core/resource.ts';
import type { LockOutContext } from '../plan/model/rules.ts';
import { operations } from '../platform/operations/index.ts';
import type { Answer } from '../platform/operations/model/operation.ts';
import { fieldTable } from './model/field-table.ts';
import type { Kind } from './model/kind.ts';
import { type CommonFields, manifestRules, Reference } from './model/manifest.ts';
import { mergeRulesField } from './model/merge-rules.ts';
import { ref, request } from './model/request.ts';
import { commonShape, key, role, text, url } from './model/schema.ts';

type Entry = CommonFields & {
  readonly [field: string]: unknown;
  readonly defaultContent?: { readonly site: string } | null;
};

const domain = z
  .string()
  .transform((name) => name.toLowerCase())
  .refine((name) => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/.test(name), { error: 'is not a domain name' });

type Organization = Answer<typeof operations.getOrganization>;

const table = fieldTable<Organization>({
  title: {
    schema: text({
      min: 2,
      max: 255,
      pattern: /\S.*\S/,
      words: 'a title with two visible characters on one line',
      example: 'Acme',
    })
      .optional()
      .describe('The name of the organization.'),
  },
  emailDomains: {
    schema: z
      .array(domain)
      .meta({ examples: [['acme.example']] })
      .optional()
      .describe('People with an email address in these domains can join.'),
    access: true,
    normalize: (value) => (Array.isArray(value) ? [...new Set(value as string[])].sort() : value),
    read: ({ emailDomains }) => [...(emailDomains ?? [])],
  },
  hostname: {
    schema: text({
      min: 3,
      max: 32,
      pattern: /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/,
      words: 'a subdomain',
      example: 'acme',
    })
      .optional()
      .describe('The default host name of public content.'),
  },
  defaultRole: {
    schema: role.nullable().optional().describe('The role of new members; `null` makes them guests.'),
    access: true,
    toEntry: (value = null) => value,
  },
  defaultContent: {
    schema: z
      .strictObject({ site: key('A key of `sites`.', 'site') })
      .nullable()
      .optional()
      .describe('The first content that people see; `null` clears it.'),
    refersTo: ['site'],
    read: ({ defaultContent }) => defaultContent?.site,
    toEntry: (value, context) => {
      const site = context.keyOfRef(value);
      return site === null ? undefined : { site };
    },
    toParameter: (value) => (value === null ? null : { type: 'site', site: ref(value) }),
  },
  logo: {
    schema: url('https://acme.example/logo.svg')
      .nullable()
      .optional()
      .describe('URL of the logo. The platform does not return it, so Octavo compares it with the last applied value.'),
    compare: 'base',
    noBaseNote: 'logo was not compared: the platform does not return it, and there is no base',
  },
  sso: {
    schema: z.boolean().optional().describe('Whether everyone must sign in through single sign-on.'),
    access: true,
    read: ({ sso }) => sso ?? false,
  },
  ai: { schema: z.boolean().optional().describe('Whether AI features are enabled.'), read: ({ ai }) => ai ?? false },
  inviteLinks: {
    schema: z.boolean().optional().describe('Whether people can be invited by link.'),
    access: true,
    read: ({ inviteLinks }) => inviteLinks ?? false,
  },
  mergeRules: mergeRulesField(
    ['none', 'rules'],
    'Conditions for merging a change request, unless a space overrides them.',
  ),
});

const { paused, ignore } = commonShape;

/** Settings of the organization itself. It is never created or deleted. Source: docs/platform-notes.md#organizations */
export const organization: Kind = {
  name: 'organization',
  dependsOn: ['member', 'site'],
  applyAfter: ['saml'],
  creatable: false,
  deletable: false,
  isOrganization: true,
  lockOuts: ssoLockOut,
  fields: table.rules,
  manifest: manifestRules({
    section: 'organization',
    single: true,
    key: { pattern: /^$/, words: 'nothing' },
    entry: z.strictObject({ ...table.shape, paused, ignore }) as z.ZodType<Entry>,
    summary: 'Settings of the organization itself.',
    example: `title: Acme
emailDomains: [acme.example]
defaultRole: read
sso: true`,
    declare(_key, entry, context) {
      const first = entry.defaultContent;
      context.add({
        kind: 'organization',
        key: '',
        path: [],
        fields: {
          ...table.declare(entry, [], ''),
          defaultContent: first ? new Reference(['site'], first.site, ['defaultContent', 'site']) : first,
        },
        within: null,
        place: null,
        common: { paused: entry.paused, ignore: entry.ignore },
      });
    },
    describe: (actual, context) => context.resource(actual, table.describe(actual, context)),
  }),
  suggestedKeys: () => [],
  naturalKeys: () => [{ by: 'kind', value: 'organization' }],
  actualKeys: () => [{ by: 'kind', value: 'organization' }],
  async observe({ reader, add }) {
    const each = await reader.get(operations.getOrganization);
    add({
      kind: 'organization',
      id: each.id,
      title: each.title,
      fields: table.observe(each),
      within: null,
      place: null,
    });
  },
  /** Enforcing single sign-on without a provider locks everyone out, so the plan has to read the providers. */
  neededKinds({ declared, actuals }) {
    const resource = declared.get('organization');
    const now = actuals.find((actual) => actual.kind === 'organization');
    const enforces = resource?.fields.sso === true && now?.fields.sso !== true;
    return enforces ? ['saml'] : [];
  },
  writes: (change) => ({
    first: [request(operations.updateOrganization, { body: table.parameters(change) as never })],
  }),
  sample: {
    created:
      'organization: { title: Acme Docs, emailDomains: [acme.example, b.example], defaultRole: read, ai: false, inviteLinks: true, hostname: acme-docs, logo: "https://a.example/l.png" }',
    updated:
      'organization: { title: Acme, emailDomains: [c.example], defaultRole: edit, ai: true, inviteLinks: false, hostname: acme, logo: "https://a.example/m.png", mergeRules: { type: rules, rules: [{ rule: require_specific_reviewers, users: [ana@acme.example] }] } }',
    cleared: 'organization: { defaultRole: null, defaultContent: null, logo: null, mergeRules: { type: none } }',
    gone: 'members: { ana@acme.example: { role: admin } }',
    address: 'organization',
    createdBy: null,
    storedIn: 'organizations',
    drift: ['PATCH', '', { title: 'Drifted' }],
    remove: null,
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
