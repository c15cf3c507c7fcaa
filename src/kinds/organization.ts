/** Kind of the settings of an organization. */
import { z } from 'zod';
import { WHOLE_ORGANIZATION } from '../core/change.ts';
import type { Fields } from '../core/resource.ts';
import type { LockOutContext } from '../plan/rules.ts';
import { operations } from '../platform/operations/index.ts';
import { singleKind } from './model/derived-kind.ts';
import { access, defaultRole } from './model/field-table.ts';
import { ref } from './model/kind.ts';
import { Reference } from './model/manifest.ts';
import { mergeRulesField } from './model/merge-rules.ts';
import { key, line, text, url } from './model/schema.ts';

const TITLE = { pattern: /\S.*\S/, words: 'a title with two visible characters on one line' };
const HOSTNAME = { pattern: /^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$/, words: 'a subdomain' };
const domain = z
  .string()
  .transform((name) => name.toLowerCase())
  .refine((name) => /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+$/.test(name), { error: 'is not a domain name' });

/** Settings of the organization itself. It is never created or deleted. Source: docs/platform-notes.md#organizations */
export const organization = singleKind({
  name: 'organization',
  dependsOn: ['member', 'site'],
  applyAfter: ['saml'],
  isOrganization: true,
  lockOuts: ssoLockOut,
  summary: 'Settings of the organization itself.',
  operations: { read: operations.getOrganization, update: operations.updateOrganization },
  fields: {
    title: line({ ...TITLE, min: 2, max: 255, example: 'Acme' }).describe('The name of the organization.'),
    emailDomains: {
      schema: z
        .array(domain)
        .meta({ examples: [['acme.example']] })
        .describe('People with an email address in these domains can join.'),
      access: ({ fields: { emailDomains, defaultRole: given } }) =>
        (Array.isArray(emailDomains) ? emailDomains : []).map((name) => ({
          who: `people of ${name}`,
          role: `can join as ${given ?? 'guest'}`,
          to: WHOLE_ORGANIZATION,
        })),
      normalize: (value) => (Array.isArray(value) ? [...new Set(value as string[])].sort() : value),
      read: ({ emailDomains }) => [...(emailDomains ?? [])],
    },
    hostname: text({ ...HOSTNAME, min: 3, max: 32, example: 'acme' }).describe(
      'The default host name of public content.',
    ),
    defaultRole: defaultRole(() => 'everyone who joins'),
    defaultContent: {
      schema: z
        .strictObject({ site: key('A key of `sites`.', 'site') })
        .nullable()
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
        .describe(
          'URL of the logo. The platform does not return it, so Octavo compares it with the last applied value.',
        ),
      compare: 'base',
      noBaseNote: 'logo was not compared: the platform does not return it, and there is no base',
    },
    sso: access(z.boolean().describe('Whether everyone must sign in through single sign-on.'), ({ fields }) =>
      fields.sso === true ? [] : [{ who: 'people without single sign-on', role: 'sign in', to: WHOLE_ORGANIZATION }],
    ),
    ai: z.boolean().describe('Whether AI features are enabled.'),
    inviteLinks: access(z.boolean().describe('Whether people can be invited by link.'), ({ fields }) =>
      fields.inviteLinks === true
        ? [{ who: 'everyone with an invite link', role: 'can join', to: WHOLE_ORGANIZATION }]
        : [],
    ),
    mergeRules: mergeRulesField(
      'Conditions for merging a change request, unless a space overrides them. The platform may refuse `inherit`.',
    ),
  },
  complete: (fields) => {
    const first = fields.defaultContent as { readonly site: string } | null | undefined;
    return first
      ? { ...fields, defaultContent: new Reference(['site'], first.site, ['defaultContent', 'site']) }
      : fields;
  },
  /** Enforcing single sign-on without a provider locks everyone out, so the plan has to read the providers. */
  neededKinds({ declared, actuals }) {
    const resource = declared.get('organization');
    const now = actuals.find((actual) => actual.kind === 'organization');
    const enforces = resource?.fields.sso === true && now?.fields.sso !== true;
    return enforces ? ['saml'] : [];
  },
  example: `title: Acme
emailDomains: [acme.example]
defaultRole: read
sso: true`,
});

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
