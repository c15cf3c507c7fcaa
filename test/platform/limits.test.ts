import { describe, expect, test } from 'vitest';
import { operations } from '../../src/platform/operations/index.ts';
import type { Operation } from '../../src/platform/operations/model/operation.ts';

/*
 * Limits of request fields. Lengths are in code points.
 * Source: docs/platform-notes.md#limits
 */

type Name = keyof typeof operations;
type Make = (value: string) => object;

const INTEGRATION = { title: 'Helper', description: '', script: '', scopes: [], organization: 'o' };
const PARTS: readonly unknown[] = [];

/** Operation, limited field, minimum, maximum, and the body that contains it. */
const LENGTHS: readonly (readonly [Name, string, number, number, Make])[] = [
  ['updateOrganization', 'title', 2, 255, (title) => ({ title })],
  ['updateOrganization', 'hostname', 3, 32, (hostname) => ({ hostname })],
  ['createTeam', 'title', 1, 64, (title) => ({ title })],
  ['updateTeam', 'title', 1, 64, (title) => ({ title })],
  ['createSamlProvider', 'label', 1, 30, (label) => ({ label })],
  ['createSamlProvider', 'entityID', 0, 1024, (entityID) => ({ label: 'L', entityID })],
  ['updateSamlProvider', 'certificate', 0, 10_000, (certificate) => ({ certificate })],
  ['createCollection', 'title', 0, 50, (title) => ({ title })],
  ['updateCollection', 'description', 0, 100, (description) => ({ description })],
  ['createSpace', 'title', 0, 50, (title) => ({ title })],
  ['createSite', 'title', 2, 128, (title) => ({ title })],
  ['updateSite', 'basename', 1, 100, (basename) => ({ basename })],
  ['updateSiteSpace', 'path', 1, 100, (path) => ({ path })],
  ['updateSiteSpace', 'condition', 0, 1024, (condition) => ({ condition })],
  ['createSection', 'title', 2, 128, (title) => ({ spaceId: 's', title })],
  ['createSection', 'icon', 0, 50, (icon) => ({ spaceId: 's', icon })],
  ['updateSection', 'path', 1, 100, (path) => ({ path })],
  ['updateSection', 'description', 0, 256, (description) => ({ description })],
  ['createSectionGroup', 'title', 1, 100, (title) => ({ title })],
  ['updateSectionGroup', 'icon', 0, 50, (icon) => ({ icon })],
  ['createChangeRequest', 'subject', 0, 100, (subject) => ({ subject })],
  ['updateChangeRequest', 'subject', 0, 100, (subject) => ({ subject })],
  ['requestReviewers', 'subject', 0, 100, (subject) => ({ users: ['u'], subject })],
  ['ingestConversations', 'id', 1, 255, (id) => ({ id, parts: PARTS })],
  ['ingestConversations', 'subject', 0, 512, (subject) => ({ id: 'i', parts: PARTS, subject })],
  ['askSite', 'question', 1, 512, (question) => ({ question, scope: { mode: 'all' } })],
  ['publishIntegration', 'title', 2, 30, (title) => ({ ...INTEGRATION, title })],
  ['publishIntegration', 'description', 0, 100, (description) => ({ ...INTEGRATION, description })],
  ['publishIntegration', 'summary', 0, 2048, (summary) => ({ ...INTEGRATION, summary })],
  ['updateSiteCustomization', 'title', 2, 128, (title) => ({ title })],
  ['putContextRecords', 'title', 1, 256, (title) => [{ id: 'r', type: 'ticket', title, body: '' }]],
];

function takes(name: Name, body: object): boolean {
  return (operations[name] as Operation).body?.safeParse(body).success ?? expect.unreachable(`${name} has no body`);
}

describe('lengths', () => {
  test.each(LENGTHS)('%s accepts %s with %i to %i characters', (name, _, least, most, make) => {
    const of = (length: number) => takes(name, make('🦄'.repeat(length)));
    const around = [least, most, least - 1, most + 1].map((length) => (length < 0 ? 'none' : of(length)));
    expect(around).toEqual([true, true, least === 0 ? 'none' : false, false]);
  });

  test.each([
    ['updateOrganization', (logo: string) => ({ logo })],
    ['createSamlProvider', (ssoURL: string) => ({ label: 'L', ssoURL })],
    ['putOpenApiSpec', (url: string) => ({ source: { url } })],
  ] as const)('%s accepts a URL of at most 2048 characters', (name, make) => {
    const url = (length: number) => `https://a.example/${'x'.repeat(length - 18)}`;
    expect([takes(name, make(url(2048))), takes(name, make(url(2049))), takes(name, make('no URL'))]).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('counts', () => {
  const many = (length: number) => Array.from({ length }, (_, at) => `k${at}`);
  const link = { url: 'https://a.example', label: 'A' };

  test.each<[string, Name, number, (length: number) => object]>([
    ['preview images', 'publishIntegration', 3, (n) => ({ ...INTEGRATION, previewImages: many(n).map(() => 'aGk=') })],
    ['external links', 'publishIntegration', 5, (n) => ({ ...INTEGRATION, externalLinks: many(n).map(() => link) })],
    [
      'secrets',
      'publishIntegration',
      20,
      (n) => ({ ...INTEGRATION, secrets: Object.fromEntries(many(n).map((k) => [k, ''])) }),
    ],
    ['external ids', 'updateInstallation', 5, (n) => ({ externalIds: many(n) })],
  ])('%s of %s are limited to %i', (_, name, most, make) => {
    expect([takes(name, make(most)), takes(name, make(most + 1))]).toEqual([true, false]);
  });

  test('limits a page to 1000 items', () => {
    for (const { name, query, paginated } of Object.values(operations) as readonly Operation[]) {
      const limited = (limit: number) => query?.safeParse({ query: 'x', limit }).error?.issues.some(isAboutLimit);
      if (paginated) {
        expect([name, limited(0) ?? false, limited(1000) ?? false, limited(1001), limited(1.5)]).toEqual([
          ...[name, false, false, true, true],
        ]);
      }
    }
  });

  test.each(['searchSpace', 'searchOrganization'] as const)('%s accepts a query of at most 512 characters', (name) => {
    const looked = (length: number) => operations[name].query.safeParse({ query: 'x'.repeat(length) }).success;
    expect([looked(0), looked(1), looked(512), looked(513)]).toEqual([false, true, true, false]);
  });
});

const isAboutLimit = ({ path }: { readonly path: readonly PropertyKey[] }) => path[0] === 'limit';

describe('patterns', () => {
  test.each([
    ['petstore', true],
    ['Pet-Store-2', true],
    ['pet--store', false],
    ['-pet', false],
    ['pet_store', false],
    ['', false],
  ])('allow the slug %j only as documented', (slug, fits) => {
    expect(takes('createOpenApiSpec', { slug, source: { text: '{}' } })).toBe(fits);
  });

  test.each([
    ['acme.example/docs', true],
    ['docs.acme.example/a/b', true],
    ['https://acme.example/docs', false],
    ['acme.example', false],
    [null, true],
  ])('allow the proxy %j only as documented', (proxy, fits) => {
    expect(takes('updateSite', { proxy })).toBe(fits);
  });

  test.each<[Name, object]>([
    ['createSpace', { empty: true, template: { id: 't' } }],
    ['updateSpace', { emoji: '1f4d6', icon: 'https://a.example/i.png' }],
    ['moveSpace', {}],
    ['moveCollection', {}],
    ['sortSiteStructure', { item: { type: 'site-section', id: 'a' }, position: {} }],
    ['postSpaceComment', { body: { markdown: 'a', document: {} } }],
    ['updateChangeRequest', { status: 'merged' }],
    ['updateMember', { role: 'owner' }],
    ['updateSpaceCommentReply', { resolved: true }],
    ['publishIntegration', { ...INTEGRATION, runtime: 'v3' }],
    ['createSpace', { emoji: 'zzz' }],
    ['createSpace', { computedSource: { type: 'email', props: {} } }],
    ['createOpenApiSpec', { slug: 'a', source: { text: '' } }],
    ['updateOrganization', { title: '  ' }],
    ['askSite', { question: 'Why?', scope: { mode: 'specific' } }],
  ])('%s refuses %j', (name, body) => {
    expect(takes(name, body)).toBe(false);
  });
});
