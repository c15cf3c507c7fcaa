import { resourceOperations } from '../platform/operations/resources.ts';
import { certificateField } from './model/certificate.ts';
import { access, defaultRole, signsIn, trusts } from './model/fields.ts';
import { listedKind } from './model/listed-kind.ts';
import { key, line, text, url } from './model/schema.ts';

/** SAML single sign-on providers. Source: docs/platform-notes.md#saml */
export const saml = listedKind({
  name: 'saml',
  section: 'saml',
  noun: 'provider',
  title: 'label',
  summary: 'SAML single sign-on providers.',
  dependsOn: ['team'],
  deletionNeedsApproval: true,
  // Deleting the last provider while single sign-on is enforced locks everyone out.
  deletionNeeds: ['organization'],
  operations: {
    list: resourceOperations.listSamlProviders,
    create: resourceOperations.createSamlProvider,
    update: resourceOperations.updateSamlProvider,
    delete: resourceOperations.deleteSamlProvider,
  },
  fields: {
    label: line({ min: 1, max: 30, example: 'Okta' }).describe('The name that people see when they sign in.'),
    entityID: access(
      text({ max: 1024, example: 'https://okta.example/entity' }).describe('The entity ID of the identity provider.'),
      trusts('entityID'),
    ),
    ssoURL: access(
      url('https://okta.example/sso').describe('The sign-in URL of the identity provider.'),
      trusts('ssoURL'),
    ),
    certificate: certificateField(
      'The certificate of the identity provider (PEM), usually `{ file: certs/okta.pem }`.',
    ),
    defaultTeam: access(
      key('A key of `teams`: the team that new members join. It cannot be cleared.', 'team'),
      ({ address, fields: { defaultTeam } }) =>
        typeof defaultTeam === 'string' ? [{ who: signsIn(address), role: 'member', to: defaultTeam }] : [],
    ),
    defaultRole: defaultRole(signsIn),
  },
  facts: ({ status }) => ({ status: status ?? null }),
  impact: ({ facts }) => ({ weight: 20, text: facts?.status === 'active' ? 'people sign in through it' : '' }),
  example: `okta:
  label: Okta
  entityID: https://okta.example/entity
  ssoURL: https://okta.example/sso
  certificate: { file: certs/okta.pem }
  defaultTeam: writers
  defaultRole: read`,
  sample: {
    base: 'teams: { writers: { title: A }, b: { title: B } }',
    updated:
      'saml: { okta: { label: Okta 2, entityID: "https://b.example/e", ssoURL: "https://b.example/s", certificate: { file: certs/next.pem }, defaultTeam: b, defaultRole: edit } }',
    cleared: 'saml: { okta: { label: Okta 2, defaultRole: null } }',
    storedIn: 'samlProviders',
    drift: ['PATCH', '/saml/{id}', { ssoURL: 'https://x.example/s' }],
  },
});
