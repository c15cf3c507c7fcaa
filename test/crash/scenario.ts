/** Initial and target models of the crash tests. */
import { parse } from 'yaml';
import type { EmulatorState, PlatformVersion } from '../../src/emulator/emulator.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { isIn, type Sample, samples } from '../support/kind-samples.ts';
import type { Model } from '../support/model.ts';

/** Reads a model from YAML, which has the same shape. */
const modelOf = (text: string) => parse(text) as Model;

/** Initial resources of the built-in kinds. */
const FIRST_WRITTEN = modelOf(`
organization: { title: Acme, emailDomains: [acme.example], defaultRole: read, ai: false }
members:
  ana@acme.example: { role: admin }
  bo@acme.example: { role: edit }
  cy@acme.example: { role: read }
teams:
  writers: { title: Writers, members: { ana@acme.example: owner, bo@acme.example: member } }
  readers: { title: Readers, members: { ana@acme.example: member } }
saml:
  okta: { label: Okta, entityID: https://idp.example/a, defaultTeam: writers, defaultRole: read }
  old: { label: Old login, defaultTeam: readers }
collections:
  handbook: { title: Handbook, parent: null, defaultLevel: read, permissions: { teams: { writers: review } } }
  inner: { title: Inner, parent: handbook }
  attic: { title: Attic, parent: null }
spaces:
  guides:
    title: Guides
    collection: handbook
    language: en
    editMode: locked
    permissions: { teams: { writers: edit, readers: read }, members: { bo@acme.example: edit } }
  api: { title: API, collection: null, language: en }
  faq: { title: Questions, collection: null }
  stale: { title: Stale, collection: attic }
openapi:
  petstore: { source: { file: specs/one.json }, visibility: public }
  gone: { source: { url: https://acme.example/gone.json } }
translations:
  first: { space: api, from: en, to: fr, instructions: Be *formal*. }
  second: { space: faq, from: en, to: de, instructions: Be short. }
  third: { space: faq, from: en, to: it }
sites:
  help:
    title: Help
    visibility: public
    default: start
    mcpServers: { gone: { name: Gone, url: https://mcp.acme.example, headers: {} } }
    shareLinks: { gone: { name: Gone } }
    structure:
      - section: start
        title: Start
        path: start
        icon: book
        default: en
        spaces: [{ key: en, space: guides, path: en }, { key: qa, space: faq, path: qa }]
      - group: outer
        title: Outer
        items:
          - group: nested
            title: Nested
            items: [{ section: api, title: API, path: api, spaces: [{ key: api, space: api, path: api }] }]
      - { section: drop, title: Drop, path: drop, spaces: [{ key: faq, space: faq, path: faq }] }
      - { group: gone, title: Gone, items: [] }
  blog: { title: Blog, structure: [{ key: a, space: faq, path: a }, { key: b, space: guides, path: b }] }
  old: { title: Old site, structure: [{ key: a, space: api, path: a }] }
`);

/** Target resources: of every kind something new, changed, moved or replaced, and deleted. */
const SECOND_WRITTEN = modelOf(`
organization:
  title: Acme Docs
  emailDomains: [acme.example, acme.test]
  defaultRole: null
  ai: true
  defaultContent: { site: fresh }
members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }
teams:
  writers: { title: Docs writers, members: { ana@acme.example: member } }
  ops: { title: Ops, members: { ana@acme.example: owner, bo@acme.example: member } }
saml:
  okta: { label: Okta 2, entityID: https://idp.example/b, defaultTeam: ops, defaultRole: read }
  entra: { label: Entra, defaultTeam: ops, defaultRole: null }
collections:
  handbook:
    title: The handbook
    parent: null
    defaultLevel: edit
    permissions: { teams: {}, members: { ana@acme.example: review } }
  inner: { title: Inner, parent: shelf }
  shelf: { title: Shelf, parent: null }
spaces:
  guides:
    title: Guides
    collection: inner
    language: en
    editMode: live
    permissions: { teams: { writers: read, ops: edit }, members: { ana@acme.example: admin } }
  api: { title: API reference, collection: null, language: en }
  faq: { title: Questions, collection: null, emoji: '1f680' }
  fresh: { title: Fresh, collection: shelf }
openapi:
  petstore: { source: { file: specs/two.json }, visibility: private }
  pages: { source: { file: specs/one.json } }
  hosted: { source: { url: https://acme.example/hosted.json } }
translations:
  first: { space: api, from: en, to: es, instructions: Be *formal*. }
  second: { space: faq, from: en, to: de, instructions: Be **long**. }
  fourth: { space: faq, from: en, to: fr }
sites:
  help:
    title: Help center
    visibility: unlisted
    default: fresh
    structure:
      - { group: nested, title: Nested, icon: code, items: [] }
      - group: outer
        title: Outer and more
        items:
          - section: start
            title: Start here
            path: begin
            default: two
            spaces: [{ key: two, space: api, path: two }, { key: en, space: guides, path: en, hidden: true }]
      - section: api
        title: API
        path: api
        condition: visitor.claims.a
        spaces: [{ key: qa, space: faq, path: qa }, { key: api, space: api, path: api }]
      - section: fresh
        title: Fresh
        path: fresh
        icon: star
        default: more
        spaces: [{ key: new, space: fresh, path: new }, { key: more, space: second, path: more }]
  blog:
    title: Blog
    structure:
      - { key: b, space: guides, path: b2 }
      - { key: c, space: fresh, path: c }
      - { key: a, space: faq, path: a }
  fresh:
    title: Fresh site
    structure:
      - group: all
        title: All
        items: [{ section: one, title: One, path: one, spaces: [{ key: x, space: fresh, path: x }] }]
`);

/** The sections that every model has, without entries. */
const NOTHING_WRITTEN = modelOf(`
members: { ana@acme.example: { role: admin }, bo@acme.example: { role: read } }
${['teams', 'saml', 'collections', 'spaces', 'openapi', 'translations', 'sites'].map((name) => `${name}: {}`).join('\n')}
`);

/** Parts of a site in the models above. Those of other kinds come from their samples. */
const WRITTEN = new Set(['section', 'section-group', 'site-space']);

type Sections = Record<string, Record<string, unknown>>;

/** The models of one version of the platform. */
export interface Scenario {
  /** Initial model: every kind, created from nothing. */
  readonly first: Model;
  /** Target model: every kind, changed. */
  readonly second: Model;
  /** Only the people who must stay. */
  readonly nothing: Model;
}

/** Returns the models of a version, with the samples of kinds that the models above do not have. */
export function scenarioOf(version: PlatformVersion): Scenario {
  const others = kinds.filter(
    ({ name, manifest }) =>
      !WRITTEN.has(name) && (manifest === null || !Object.hasOwn(FIRST_WRITTEN, manifest.section)),
  );
  const added = samples.filter((each) => isIn(each, version) && others.some(({ name }) => name === each.kind));
  const empty = others.flatMap(({ manifest }) =>
    manifest === null || manifest.single ? [] : [[manifest.section, {}]],
  );
  return {
    first: withSamples(FIRST_WRITTEN, added, 'created'),
    second: withSamples(SECOND_WRITTEN, added, 'updated'),
    nothing: { ...NOTHING_WRITTEN, ...Object.fromEntries(empty) },
  };
}

function withSamples(model: Model, added: readonly Sample[], step: 'created' | 'updated'): Model {
  const merged = structuredClone(model) as unknown as Sections;
  for (const { kind, steps } of added) {
    for (const [section, entries] of Object.entries((parse(steps[step] ?? '') ?? {}) as Sections)) {
      const { help, ...rest } = entries;
      const own = section === 'sites' && help ? { [`sample-${kind}`]: { ...help, title: `Sample of ${kind}` } } : {};
      merged[section] = { ...merged[section], ...(section === 'sites' ? rest : entries), ...own };
    }
    // A part is deleted with its site in no other scenario: it goes alone from a second site.
    const left = parse(steps[step === 'created' ? 'created' : 'gone'] ?? '') as Sections;
    if (left?.sites?.help !== undefined) {
      const site = { ...left.sites.help, title: `Sample without ${kind}` };
      merged.sites = { ...merged.sites, [`without-${kind}`]: site };
    }
  }
  return merged as unknown as Model;
}

/** Other people in the organization. */
export function leftover(model: Model, state: EmulatorState): string[] {
  const emails = (state.members ?? []).map(
    (member) => (state.users ?? []).find((user) => user.id === member.user)?.email ?? '',
  );
  return emails.filter((email) => !(email in model.members));
}
