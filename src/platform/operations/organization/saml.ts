// Operations on SAML providers, and the logins through them.

import * as z from 'zod';
import { list, read, remove, write } from '../model/operation.ts';
import { givenText, nullableRole, optionalText, reference, string, text, url } from '../model/shapes.ts';

const samlProvider = z.looseObject({
  id: string,
  label: string,
  ssoURL: optionalText,
  entityID: optionalText,
  certificate: optionalText,
  /** Read as a team, written as its id. */
  defaultTeam: reference.nullish(),
  defaultRole: optionalText,
  status: optionalText,
});
const fields = {
  entityID: text(0, 1024).optional(),
  certificate: text(0, 10_000).optional(),
  ssoURL: url.optional(),
  defaultTeam: givenText,
  defaultRole: nullableRole.optional(),
};
const label = text(1, 30);

/** Operations on SAML single sign-on providers. */
export const samlOperations = {
  listSamlProviders: list(
    'listSamlProviders',
    'Lists the SAML providers for single sign-on.',
    '/v1/orgs/{organizationId}/saml',
    samlProvider,
  ),
  createSamlProvider: write(
    'createSamlProvider',
    'Creates a SAML provider.',
    'POST',
    '/v1/orgs/{organizationId}/saml',
    {
      body: z.strictObject({ label, ...fields }),
      answer: samlProvider,
      repeat: 'never',
      success: [200, 201],
    },
  ),
  getSamlProvider: read(
    'getSamlProvider',
    'Returns a SAML provider.',
    '/v1/orgs/{organizationId}/saml/{samlProviderId}',
    samlProvider,
  ),
  updateSamlProvider: write(
    'updateSamlProvider',
    'Updates a SAML provider.',
    'PATCH',
    '/v1/orgs/{organizationId}/saml/{samlProviderId}',
    {
      body: z.strictObject({ label: label.optional(), ...fields }),
      answer: samlProvider,
      repeat: 'idempotent',
    },
  ),
  deleteSamlProvider: remove(
    'deleteSamlProvider',
    'Deletes a SAML provider.',
    '/v1/orgs/{organizationId}/saml/{samlProviderId}',
  ),
  getSsoLogins: read(
    'getSsoLogins',
    'Returns the addresses where members sign in through single sign-on.',
    '/v1/orgs/{organizationId}/sso',
    z.looseObject({ items: z.array(z.looseObject({ id: string, label: optionalText, startURL: optionalText })) }),
  ),
};
