/** A manifest with every kind and field, and the parts from which other manifests are made. */

import type { JsonObject } from '../../src/core/json.ts';
import { NAMES } from '../support/certificates.ts';

export const SPACES = {
  guides: { title: 'Guides', language: 'en' },
  api: { title: 'API', language: 'en' },
  more: { title: 'More', language: 'en' },
};
export const site = (structure: readonly JsonObject[], rest: JsonObject = {}) => ({
  spaces: SPACES,
  sites: { help: { title: 'Help', structure, ...rest } },
});
export const section = (
  key: string,
  rest: JsonObject = {},
  spaces: readonly JsonObject[] = [{ key: 'en', space: 'guides' }],
) => ({
  section: key,
  title: `The ${key}`,
  spaces,
  ...rest,
});
export const EN = { key: 'en', space: 'guides', path: 'en' };
export const API = { key: 'api', space: 'api', path: 'api', condition: 'visitor.claims.a' };
export const full = { icon: 'book', path: 'first', description: 'First', condition: 'visitor.claims.a' };

/** Every field of every kind, with other values than those of a new resource. */
export const MANIFEST: JsonObject = {
  organization: {
    title: 'Acme Docs',
    emailDomains: ['acme.example', 'acme.test'],
    hostname: 'acme-docs',
    defaultRole: 'read',
    defaultContent: { site: 'help' },
    logo: 'https://acme.example/old.svg',
    ai: true,
    inviteLinks: true,
    mergeRules: { type: 'rules', rules: [{ rule: 'require_at_least_one_review' }] },
  },
  members: { 'bo@acme.example': { role: 'edit' }, 'cy@acme.example': { role: 'comment' } },
  teams: { writers: { title: 'Writers', members: { 'bo@acme.example': 'member', 'cy@acme.example': 'owner' } } },
  saml: {
    okta: {
      label: 'Okta login',
      entityID: 'https://okta.example/old',
      ssoURL: 'https://okta.example/old-sso',
      certificate: NAMES.cert,
      defaultTeam: 'writers',
      defaultRole: 'edit',
    },
  },
  collections: {
    top: { title: 'Top', defaultLevel: 'read' },
    inner: { title: 'Inner', parent: 'top', defaultLevel: 'edit' },
  },
  spaces: {
    guides: { title: 'The guides', emoji: '1f680', language: 'en', editMode: 'locked', defaultLevel: 'read' },
    api: { title: 'API', collection: 'top', language: 'en', mergeRules: { type: 'none' } },
    copy: { title: 'Copy', duplicateOf: 'guides', collection: 'inner' },
  },
  openapi: { pets: { source: { url: 'https://acme.example/pets.json' }, visibility: 'public' } },
  translations: { fr: { space: 'guides', from: 'en', to: 'fr', instructions: 'Formal', rerun: 'never', run: '1' } },
  sites: {
    help: {
      title: 'Help',
      type: 'premium',
      visibility: 'unlisted',
      published: true,
      basename: 'docs',
      proxy: 'acme.example/old',
      agentsContext: 'excluded',
      adaptiveContent: { enabled: true },
      adaptiveSchema: {
        type: 'object',
        properties: { locale: { type: 'string', description: 'The language' } },
        additionalProperties: false,
      },
      default: 'two',
      structure: [
        {
          group: 'outer',
          title: 'Outer',
          icon: 'star',
          items: [
            { group: 'inner', title: 'Inner', icon: 'gear', items: [section('one', full, [EN, API])] },
            section('three'),
          ],
        },
        section('two', { icon: 'star', default: 'fr' }, [
          { ...API, hidden: true },
          { key: 'fr', space: 'fr', path: 'fr' },
        ]),
      ],
    },
    flat: { title: 'Flat', default: 'api', structure: [API, { ...EN, path: 'other', hidden: true }] },
  },
};
