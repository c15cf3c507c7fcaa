import { createHash } from 'node:crypto';
import type { Json } from '../core/json.ts';
import { operations } from '../platform/operations/index.ts';
import { listedKind } from './model/listed-kind.ts';
import { key, role, text, textOrFile, url } from './model/schema.ts';

/** Longest certificate, in characters. Source: docs/platform-notes.md#limits */
const LONGEST_CERTIFICATE = 10_000;
const PEM = '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----';

/** SAML single sign-on providers. Source: docs/platform-notes.md#saml */
export const saml = listedKind({
  name: 'saml',
  section: 'saml',
  noun: 'provider',
  title: 'label',
  summary: 'SAML single sign-on providers.',
  dependsOn: ['team'],
  deletionNeedsApproval: true,
  operations: {
    list: operations.listSamlProviders,
    id: 'samlProviderId',
    create: operations.createSamlProvider,
    update: operations.updateSamlProvider,
    delete: operations.deleteSamlProvider,
  },
  fields: {
    label: {
      schema: text({ min: 1, max: 30, example: 'Okta' })
        .optional()
        .describe('The name that people see when they sign in.'),
    },
    entityID: {
      schema: text({ max: 1024, example: 'https://okta.example/entity' })
        .optional()
        .describe('The entity ID of the identity provider.'),
      access: true,
    },
    ssoURL: {
      schema: url('https://okta.example/sso').optional().describe('The sign-in URL of the identity provider.'),
      access: true,
    },
    certificate: {
      schema: textOrFile({ max: LONGEST_CERTIFICATE, example: PEM })
        .optional()
        .describe('The certificate of the identity provider (PEM), usually `{ file: certs/okta.pem }`.'),
      access: true,
      normalize: digestOf,
      redacted: true,
      read: ({ certificate }) => certificate?.trim(),
      toEntry: (value, context) =>
        typeof value === 'string' ? context.file('certs', 'pem', withLineBreak(value)) : undefined,
    },
    defaultTeam: {
      schema: key('A key of `teams`: the team that new members join. It cannot be cleared.', 'team').optional(),
      access: true,
      read: ({ defaultTeam }) => defaultTeam?.id,
    },
    defaultRole: {
      schema: role.nullable().optional().describe('The role of new members; `null` makes them guests.'),
      access: true,
      toEntry: (value = null) => value,
    },
  },
  facts: ({ status }) => ({ status: status ?? null }),
  impact: ({ facts }) => ({ weight: 20, text: facts?.status === 'active' ? 'people sign in through it' : '' }),
  /** Deleting the last provider while single sign-on is enforced locks everyone out. */
  neededKinds: ({ declared, base }) =>
    [...(base?.values() ?? [])].some((owned) => owned.kind === 'saml' && !declared.has(owned.address))
      ? ['organization']
      : [],
  example: `okta:
  label: Okta
  entityID: https://okta.example/entity
  ssoURL: https://okta.example/sso
  certificate: { file: certs/okta.pem }
  defaultTeam: writers
  defaultRole: read`,
  sample: {
    base: 'teams: { a: { title: A }, b: { title: B } }\n',
    created:
      'saml: { okta: { label: Okta, entityID: "https://a.example/e", ssoURL: "https://a.example/s", certificate: PEM, defaultTeam: a, defaultRole: read } }',
    updated:
      'saml: { okta: { label: Okta 2, entityID: "https://b.example/e", ssoURL: "https://b.example/s", certificate: PEM 2, defaultTeam: b, defaultRole: edit } }',
    cleared: 'saml: { okta: { label: Okta 2, defaultRole: null } }',
    gone: '',
    address: 'saml/okta',
    createdBy: 'createSamlProvider',
    storedIn: 'samlProviders',
    drift: ['PATCH', '/saml/{id}', { ssoURL: 'https://x.example/s' }],
    remove: ['DELETE', '/saml/{id}'],
  },
});

/** Adds a final line break to a certificate, as in files, unless that exceeds the limit. */
function withLineBreak(certificate: string): string {
  return certificate.endsWith('\n') || [...certificate].length >= LONGEST_CERTIFICATE
    ? certificate
    : `${certificate}\n`;
}

/**
 * Replaces a certificate with its hash, which keeps plans short. The last line break is ignored: platforms differ in
 * what they return, and PEM does not need it. A hash is returned unchanged.
 */
function digestOf(certificate: Json): Json {
  const pem = typeof certificate === 'string' ? certificate.trim() : '';
  if (pem === '' || /^sha256:[0-9a-f]{64}$/.test(pem)) {
    return typeof certificate === 'string' ? pem : certificate;
  }
  return `sha256:${createHash('sha256').update(pem).digest('hex')}`;
}
