/** Changes whose requests depend on each other: moves, replacements, swaps, and new structures. */
import { parse } from 'yaml';
import type { JsonObject } from '../../src/core/json.ts';
import { scenarioOf } from '../crash/scenario.ts';
import { NAMES } from '../support/certificates.ts';
import { samples } from '../support/kind-samples.ts';
import type { Step } from '../support/manifest-variations.ts';

const SPACES = {
  guides: { title: 'Guides', language: 'en' },
  api: { title: 'API', language: 'en' },
  more: { title: 'More', language: 'en' },
};
const site = (structure: readonly JsonObject[], rest: JsonObject = {}) => ({
  spaces: SPACES,
  sites: { help: { title: 'Help', structure, ...rest } },
});
const section = (
  key: string,
  rest: JsonObject = {},
  spaces: readonly JsonObject[] = [{ key: 'en', space: 'guides' }],
) => ({
  section: key,
  title: `The ${key}`,
  spaces,
  ...rest,
});
const EN = { key: 'en', space: 'guides', path: 'en' };
const API = { key: 'api', space: 'api', path: 'api', condition: 'visitor.claims.a' };
const full = { icon: 'book', path: 'first', description: 'First', condition: 'visitor.claims.a' };

export const STEPS: readonly Step[] = [
  {
    name: 'a moved and changed collection, and a deleted one',
    before: { collections: { top: { title: 'Top' }, inner: { title: 'Inner' }, old: { title: 'Old' } } },
    after: {
      collections: { top: { title: 'Top' }, inner: { title: 'Renamed', parent: 'top', description: 'New' } },
    },
  },
  {
    name: 'new spaces, one of them a copy',
    before: { collections: { top: { title: 'Top' } }, spaces: { guides: { title: 'Guides' } } },
    after: {
      collections: { top: { title: 'Top' } },
      spaces: {
        guides: { title: 'Guides' },
        api: { title: 'API', emoji: '1f4d8', collection: 'top', language: 'en', defaultLevel: 'read' },
        copy: { title: 'Copy', duplicateOf: 'guides', collection: 'top', editMode: 'locked', defaultLevel: 'read' },
      },
    },
  },
  {
    name: 'a copy and a translation of the same space',
    before: { spaces: { guides: { title: 'Guides' } } },
    after: {
      spaces: { guides: { title: 'Guides' }, copy: { title: 'Copy', duplicateOf: 'guides' } },
      translations: { fr: { space: 'guides', from: 'en', to: 'fr' } },
    },
  },
  {
    name: 'a moved and changed space, and a deleted one',
    before: { collections: { top: { title: 'Top' } }, spaces: { guides: { title: 'Guides' }, old: { title: 'Old' } } },
    after: {
      collections: { top: { title: 'Top' } },
      spaces: { guides: { title: 'Renamed', collection: 'top', emoji: '1f4d8', defaultLevel: 'read' } },
    },
  },
  {
    name: 'translations',
    before: {
      spaces: SPACES,
      translations: {
        fr: { space: 'guides', from: 'en', to: 'fr', instructions: 'Formal' },
        old: { space: 'api', from: 'en', to: 'fr' },
      },
    },
    after: {
      spaces: SPACES,
      translations: {
        fr: { space: 'guides', from: 'en', to: 'fr', instructions: 'Very formal', run: '2' },
        de: { space: 'guides', from: 'en', to: 'de', instructions: 'Formal' },
      },
    },
  },
  {
    name: 'a new site with groups, sections and spaces',
    before: { spaces: SPACES },
    after: site(
      [
        {
          group: 'outer',
          title: 'Outer',
          icon: 'book',
          items: [{ group: 'inner', title: 'Inner', items: [section('one', full, [EN, API])] }],
        },
        section('two', { icon: 'star', default: 'api' }, [API, EN]),
      ],
      {
        visibility: 'unlisted',
        published: true,
        proxy: 'acme.example/docs',
        basename: 'help',
        agentsContext: 'excluded',
        adaptiveContent: { enabled: true },
        customization: { styling: { theme: 'bold' }, header: { links: [] }, footer: { copyright: 'Acme' } },
        visitorAuth: { backend: 'integration', fallbackURL: 'https://acme.example/login' },
        mcpServers: {
          search: {
            ...{ name: 'Search', url: 'https://mcp.acme.example', headers: { 'X-Team': 'docs' } },
            ...{ transport: 'sse', condition: 'visitor.claims.a' },
          },
        },
        default: 'two',
      },
    ),
  },
  {
    name: 'a new section inside a group',
    before: site([{ group: 'g', title: 'G', items: [section('one')] }, section('two')]),
    after: site([{ group: 'g', title: 'G', items: [section('new'), section('one')] }, section('two')]),
  },
  {
    name: 'a new section at the end of a group',
    before: site([{ group: 'g', title: 'G', items: [section('one')] }, section('two')]),
    after: site([{ group: 'g', title: 'G', items: [section('one'), section('new')] }, section('two')]),
  },
  {
    name: 'sections that change, move into and out of groups, and swap paths',
    before: site([{ group: 'g', title: 'G', items: [section('one', { path: 'a' })] }, section('two', { path: 'b' })]),
    after: site([
      section('one', { ...full, path: 'b' }),
      { group: 'g', title: 'G', items: [section('two', { path: 'a' })] },
    ]),
  },
  {
    name: 'changed, replaced and deleted site spaces',
    before: site([
      section('one', {}, [EN, API]),
      section('two', {}, [EN, { key: 'more', space: 'more', path: 'more' }]),
    ]),
    after: site([
      section('one', {}, [{ ...EN, path: 'english', condition: 'visitor.claims.a' }]),
      section('two', {}, [API, EN, { key: 'more', space: 'more', path: 'more' }]),
    ]),
  },
  {
    name: 'a replaced section group, and a deleted one',
    before: site([
      { group: 'a', title: 'A', items: [{ group: 'inner', title: 'Inner', items: [section('one')] }] },
      { group: 'b', title: 'B', items: [section('two')] },
    ]),
    after: site([
      {
        group: 'b',
        title: 'Renamed',
        icon: 'star',
        items: [section('two'), { group: 'inner', title: 'Inner', items: [section('one')] }],
      },
    ]),
  },
  {
    name: 'a changed site, and a deleted one',
    before: {
      spaces: SPACES,
      sites: { help: { title: 'Help', structure: [EN] }, old: { title: 'Old', structure: [EN] } },
    },
    after: {
      spaces: SPACES,
      sites: {
        help: {
          title: 'Docs',
          visibility: 'unlisted',
          published: true,
          basename: 'docs',
          default: 'api',
          structure: [API, EN],
        },
      },
    },
  },
];

const redirects = samples.find(({ kind }) => kind === 'redirect')?.steps;

/** Changes of redirects, alone and together; platforms before 0.167 do not take all of them. */
export const REDIRECT_STEPS: readonly Step[] = [
  {
    name: 'new, changed, replaced and deleted redirects',
    before: parse(redirects?.created ?? ''),
    after: parse(redirects?.updated ?? ''),
  },
  {
    name: 'a redirect with another source',
    before: site([section('one')], { redirects: [{ from: '/a', to: { section: 'one' } }] }),
    after: site([section('one')], { redirects: [{ from: '/b', to: { section: 'one' }, renamedFrom: '/a' }] }),
  },
  {
    name: 'one redirect less',
    before: site([section('one')], { redirects: [{ from: '/a', to: { section: 'one' } }] }),
    after: site([section('one')]),
  },
];

/** Declarations with every kind, from one to the next. */
const { first, second } = scenarioOf('0.146');

/** The second one, with the fields that it lacks and that no schema has an example of. */
export const EVERYTHING: JsonObject = {
  ...second,
  organization: {
    ...second.organization,
    mergeRules: { type: 'rules', rules: [{ rule: 'require_at_least_one_review' }] },
  },
  saml: { ...second.saml, okta: { ...second.saml.okta, certificate: NAMES.cert } },
  spaces: { ...second.spaces, api: { ...second.spaces.api, mergeRules: { type: 'none' } } },
  sites: {
    ...second.sites,
    fresh: {
      ...second.sites.fresh,
      type: 'premium',
      adaptiveContent: { enabled: true },
      // The oldest platform has no permissions of sites: they are planned for a new site only.
      defaultLevel: null,
      permissions: { teams: { ops: 'admin' }, members: {} },
      adaptiveSchema: {
        type: 'object',
        properties: { locale: { type: 'string', description: 'The language' } },
        additionalProperties: false,
      },
    },
  },
} as unknown as JsonObject;

const texts = { localizedTitle: { fr: 'Titre' }, localizedDescription: { fr: 'Texte' } };
const later = scenarioOf('0.201');

/** Steps with what only 0.201 has. */
export const LATER_STEPS: readonly Step[] = [
  { name: 'everything of 0.201', before: {}, after: later.first as unknown as JsonObject },
  {
    name: 'from one declaration of 0.201 to the next',
    before: later.first as unknown as JsonObject,
    after: later.second as unknown as JsonObject,
  },
  {
    name: 'drafts and localized texts',
    before: site([section('a'), { group: 'g', title: 'Group', items: [] }]),
    after: site([
      section('a', { draft: true, ...texts }, [{ key: 'en', space: 'guides', draft: true }]),
      { group: 'g', title: 'Group', draft: true, localizedTitle: texts.localizedTitle, items: [] },
    ]),
  },
];

/** Everything from nothing, and from other resources of every kind. */
export const WHOLE_STEPS: readonly Step[] = [
  { name: 'everything', before: {}, after: EVERYTHING },
  { name: 'from one declaration to the next', before: first, after: EVERYTHING },
];
