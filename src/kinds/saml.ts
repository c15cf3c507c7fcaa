import { createHash } from 'node:crypto';
import type { Json } from '../core/json.ts';
import { idRef } from '../core/resource.ts';
import { reference } from '../plan/model/diff.ts';
import { operations } from '../platform/operations/index.ts';
import { collect, type Kind } from './model/kind.ts';
import { commonFields, manifestRules, Reference } from './model/manifest.ts';
import { present, ref, request } from './model/request.ts';
import { entry, key, plainKey, type Role, role, text, textOrFile, url } from './model/schema.ts';
import { written } from './model/written.ts';

/** Longest certificate, in characters. Source: docs/platform-notes.md#limits */
const LONGEST_CERTIFICATE = 10_000;

const schema = entry({
  label: text({ min: 1, max: 30, example: 'Okta' }).optional().describe('The name that people see when they sign in.'),
  entityID: text({ max: 1024, example: 'https://okta.example/entity' })
    .optional()
    .describe('The entity ID of the identity provider.'),
  ssoURL: url('https://okta.example/sso').optional().describe('The sign-in URL of the identity provider.'),
  certificate: textOrFile({
    max: LONGEST_CERTIFICATE,
    example: '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----',
  })
    .optional()
    .describe('The certificate of the identity provider (PEM), usually `{ file: certs/okta.pem }`.'),
  defaultTeam: key('A key of `teams`: the team that new members join. It cannot be cleared.', 'team').optional(),
  defaultRole: role.nullable().optional().describe('The role of new members; `null` makes them guests.'),
});

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** With a line break at its end, as files have, where that is not one character too many. */
function asFile(certificate: string): string {
  return certificate.endsWith('\n') || [...certificate].length >= LONGEST_CERTIFICATE
    ? certificate
    : `${certificate}\n`;
}

/**
 * A certificate by its hash: that is enough to tell one from another, and no plan is filled with it. Platforms differ in
 * the last line break they give back, which means nothing in PEM. A hash stays what it is, so that one stands for its
 * certificate where that is withheld.
 */
function digestOf(certificate: Json): Json {
  const text = typeof certificate === 'string' ? certificate.trim() : '';
  if (text === '' || DIGEST.test(text)) {
    return typeof certificate === 'string' ? text : certificate;
  }
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

interface SamlFields {
  label: string;
  entityID: string;
  ssoURL: string;
  certificate: string;
  defaultTeam: string;
  defaultRole: Role | null;
}

/** SAML single sign-on providers. Source: docs/platform-notes.md#saml */
export const saml: Kind = {
  name: 'saml',
  dependsOn: ['team'],
  creatable: true,
  deletable: true,
  deletionNeedsApproval: true,
  fields: {
    label: {},
    entityID: { access: true },
    ssoURL: { access: true },
    certificate: { access: true, normalize: digestOf, redacted: true },
    defaultTeam: reference({ access: true }),
    defaultRole: { access: true },
  },
  manifest: manifestRules({
    section: 'saml',
    single: false,
    key: plainKey,
    entry: schema,
    summary: 'SAML single sign-on providers.',
    example: `okta:
  label: Okta
  entityID: https://okta.example/entity
  ssoURL: https://okta.example/sso
  certificate: { file: certs/okta.pem }
  defaultTeam: writers
  defaultRole: read`,
    declare(name, fields, context) {
      if (fields.label === undefined && fields.id === undefined) {
        context.problem([], 'needs a label, unless id says which provider it is');
      }
      const { label, entityID, ssoURL, certificate, defaultTeam, defaultRole } = fields;
      context.add({
        kind: 'saml',
        key: name,
        path: [],
        fields: {
          label,
          entityID,
          ssoURL,
          certificate,
          defaultTeam: defaultTeam && new Reference(['team'], defaultTeam, ['defaultTeam']),
          defaultRole,
        },
        within: null,
        place: null,
        common: commonFields(fields),
      });
    },
    describe(actual, context) {
      const { label, entityID, ssoURL, certificate, defaultTeam, defaultRole = null } = actual.fields;
      return context.resource(actual, {
        label,
        entityID: entityID ?? undefined,
        ssoURL: ssoURL ?? undefined,
        certificate: typeof certificate === 'string' ? context.file('certs', 'pem', asFile(certificate)) : undefined,
        defaultTeam: context.keyOfRef(defaultTeam) ?? undefined,
        defaultRole,
      });
    },
  }),
  suggestedKeys: ({ title }) => [title],
  naturalKeys: (fields) => (typeof fields.label === 'string' ? [{ by: 'label', value: fields.label }] : []),
  actualKeys: (actual) => [{ by: 'label', value: actual.title }],
  renamedKey: (label) => ({ by: 'label', value: label }),
  impact: (actual) => ({ weight: 20, text: actual.facts?.status === 'active' ? 'people sign in through it' : '' }),
  /** Deleting the last one while single sign-on is enforced locks everyone out, so that must be known. */
  neededKinds({ declared, base }) {
    const goes = [...(base?.values() ?? [])].some((owned) => owned.kind === 'saml' && !declared.has(owned.address));
    return goes ? ['organization'] : [];
  },
  async observe({ reader, add }) {
    await collect(reader.pages(operations.listSamlProviders), (each) => {
      add({
        kind: 'saml',
        id: each.id,
        title: each.label,
        fields: {
          label: each.label,
          entityID: each.entityID ?? null,
          ssoURL: each.ssoURL ?? null,
          certificate: each.certificate?.trim() ?? null,
          defaultTeam: each.defaultTeam ? idRef(each.defaultTeam.id, 'team') : null,
          defaultRole: each.defaultRole ?? null,
        },
        within: null,
        place: null,
        facts: { status: each.status ?? null },
      });
    });
  },
  writes(change) {
    const path = { samlProviderId: ref(change.address) };
    if (change.action === 'delete') {
      return { first: [request(operations.deleteSamlProvider, { path })] };
    }
    const { label, defaultTeam, ...rest } = written<SamlFields>(change);
    const body = present({ ...rest, defaultTeam: defaultTeam && ref(defaultTeam) });
    if (change.action === 'update') {
      return { first: [request(operations.updateSamlProvider, { path, body: present({ ...body, label }) })] };
    }
    return {
      first: [
        request(
          operations.createSamlProvider,
          { body: { ...body, label: label ?? '' } },
          { creates: true, learns: (answer) => [[change.address, answer.id]] },
        ),
      ],
    };
  },
};
