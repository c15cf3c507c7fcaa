/** SAML providers, and their certificates, which plans and snapshots contain only as a hash. */
import { createHash, X509Certificate } from 'node:crypto';
import type { Json } from '../core/json.ts';
import { operations } from '../platform/operations/index.ts';
import { listedKind } from './model/derived-kind.ts';
import { access, defaultRole, type Field, signsIn, trusts } from './model/field-table.ts';
import { key, line, reporting, text, textOrFile, url } from './model/schema.ts';

/** Longest certificate, in characters. Source: docs/platform-notes.md#limits */
const MAX_CERTIFICATE_LENGTH = 10_000;
const PEM = '-----BEGIN CERTIFICATE-----\n…\n-----END CERTIFICATE-----';
const BLOCK = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

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
    list: operations.listSamlProviders,
    create: operations.createSamlProvider,
    update: operations.updateSamlProvider,
    delete: operations.deleteSamlProvider,
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
});

/** Defines a field with a certificate, inline or as a file. */
function certificateField(description: string): Field<{ readonly certificate?: string | null | undefined }> {
  return {
    schema: textOrFile({ max: MAX_CERTIFICATE_LENGTH, example: PEM })
      .superRefine(reporting(certificateProblem))
      .describe(description),
    access: trusts('certificate'),
    normalize: digestOf,
    redacted: true,
    read: ({ certificate }) => certificate?.trim(),
    toEntry: (value, context) =>
      typeof value === 'string' ? context.file('certs', 'pem', withLineBreak(value)) : undefined,
  };
}

/** Returns why a text is not a certificate in PEM; null if it is one, or several. Text around them is ignored, as in PEM. */
function certificateProblem(value: string): string | null {
  if (/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(value)) {
    return 'contains a private key; remove it, and use only the certificate';
  }
  const blocks = value.match(BLOCK) ?? [];
  if (blocks.length === 0) {
    return isReadable(Buffer.from(value, 'base64'))
      ? 'is a certificate without its first and last line; add the BEGIN and END lines (-----BEGIN CERTIFICATE-----)'
      : 'is not a certificate in PEM, which has the lines -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----';
  }
  return blocks.every(isReadable) ? null : 'is not a certificate: the text between its BEGIN and END lines is damaged';
}

function isReadable(certificate: string | Buffer): boolean {
  try {
    return new X509Certificate(certificate).raw.length > 0;
  } catch {
    return false;
  }
}

/** Adds a final line break to a certificate, as in files, unless that exceeds the limit. */
function withLineBreak(certificate: string): string {
  return certificate.endsWith('\n') || [...certificate].length >= MAX_CERTIFICATE_LENGTH
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
