import { expect } from 'vitest';
import { type Cases, document, NOWHERE } from './operation-world.ts';

/** Collections and spaces with their content, OpenAPI specifications and translations. */
export const spaceCases = {
  listCollections: {
    good: () => ({ query: { nested: false } }),
    sees: ({ collection }) => ({ items: [{ id: collection }] }),
  },
  createCollection: {
    good: ({ collection }) => ({ body: { title: 'New', parent: collection } }),
    sees: ({ collection }) => ({ title: 'New', parent: collection }),
    bad: () => ({ body: { parent: 'none' } }),
    status: 400,
  },
  getCollection: {
    good: ({ collection }) => ({ path: { collectionId: collection } }),
    sees: () => ({ title: 'Handbook' }),
  },
  updateCollection: {
    good: ({ collection }) => ({
      path: { collectionId: collection },
      body: { description: 'D', defaultLevel: 'inherit' },
    }),
    sees: () => ({ description: 'D' }),
  },
  deleteCollection: {
    good: ({ collection }) => ({ path: { collectionId: collection } }),
    bad: ({ collection }) => ({ path: { collectionId: collection } }),
    badBy: 'stranger',
    status: 401,
  },
  moveCollection: {
    good: ({ nested }) => ({ path: { collectionId: nested }, body: { parent: null } }),
    sees: ({ nested }) => ({ id: nested }),
    bad: ({ nested, collection }) => ({ path: { collectionId: nested }, body: { parent: collection } }),
    status: 409,
  },
  listCollectionSpaces: {
    good: ({ collection }) => ({ path: { collectionId: collection } }),
    sees: ({ inside }) => ({ items: [{ id: inside }] }),
  },
  transferCollection: {
    good: ({ collection }) => ({ path: { collectionId: collection }, body: { organization: 'org_other' } }),
    sees: () => ({ organization: 'org_other' }),
    bad: ({ collection }) => ({ path: { collectionId: collection }, body: { organization: 'org_acme' } }),
    status: 409,
  },
  listSpaces: {
    good: () => ({ query: { limit: 2 } }),
    sees: ({ space }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: space })]) }),
  },
  createSpace: {
    good: ({ collection }) => ({
      body: { title: 'New', emoji: '1f4d6', parent: collection, language: 'pt-br', editMode: 'locked', empty: true },
    }),
    sees: () => ({ title: 'New', emoji: '1f4d6', visibility: 'in-collection', language: 'pt-br', editMode: 'locked' }),
    bad: () => ({ body: { parent: 'none' } }),
    status: 400,
  },
  getSpace: {
    good: ({ space }) => ({ path: { spaceId: space }, query: { shareKey: 'k' } }),
    sees: () => ({ title: 'Guides' }),
  },
  updateSpace: {
    good: ({ space }) => ({
      path: { spaceId: space },
      body: { emoji: null, mergeRules: { type: 'inherit' }, language: 'de' },
    }),
    sees: () => ({ language: 'de', mergeRules: { type: 'inherit' } }),
    bad: ({ dead }) => ({ path: { spaceId: dead }, body: { title: 'New' } }),
  },
  deleteSpace: {
    good: ({ space }) => ({ path: { spaceId: space } }),
    bad: ({ space }) => ({ path: { spaceId: space } }),
    badBy: 'stranger',
    status: 401,
  },
  restoreSpace: {
    good: ({ dead }) => ({ path: { spaceId: dead } }),
    sees: ({ dead }) => ({ id: dead }),
    bad: ({ space }) => ({ path: { spaceId: space } }),
    status: 400,
  },
  duplicateSpace: {
    good: ({ space }) => ({ path: { spaceId: space } }),
    sees: () => ({ title: 'Guides' }),
    bad: ({ dead }) => ({ path: { spaceId: dead } }),
  },
  moveSpace: {
    good: ({ space, collection }) => ({ path: { spaceId: space }, body: { parent: collection } }),
    sees: ({ collection }) => ({ parent: collection }),
    bad: ({ space }) => ({ path: { spaceId: space }, body: { position: { after: { type: 'space', space: 'none' } } } }),
    status: 400,
  },
  transferSpace: {
    good: ({ inside }) => ({ path: { spaceId: inside }, body: { organization: 'org_other' } }),
    sees: () => ({ organization: 'org_other' }),
    bad: ({ space }) => ({ path: { spaceId: space }, body: { organization: 'org_other' } }),
    status: 412,
  },
  getSpaceContent: {
    good: ({ space }) => ({ path: { spaceId: space }, query: { metadata: false, computed: false } }),
    sees: ({ page, file }) => ({ pages: [{ id: page }, {}], files: [{ id: file }] }),
  },
  getSpacePages: {
    good: ({ space }) => ({ path: { spaceId: space }, query: { metadata: true } }),
    sees: ({ page }) => ({ pages: [{ id: page, title: 'Login' }, {}] }),
  },
  listSpaceFiles: {
    good: ({ space }) => ({ path: { spaceId: space }, query: { metadata: false } }),
    sees: ({ file }) => ({ items: [{ id: file, name: 'logo.svg' }] }),
  },
  getSpaceFile: {
    good: ({ space, file }) => ({ path: { spaceId: space, fileId: file } }),
    sees: () => ({ contentType: 'image/svg+xml' }),
  },
  listSpaceFileBacklinks: {
    good: ({ space, file }) => ({ path: { spaceId: space, fileId: file } }),
    sees: () => ({ items: [{}] }),
  },
  getSpacePage: {
    good: ({ space, page }) => ({
      path: { spaceId: space, pageId: page },
      query: { format: 'markdown', evaluated: 'deterministic-only', dereferenced: true },
    }),
    sees: () => ({ title: 'Login', markdown: expect.stringContaining('SSO') }),
  },
  listSpacePageLinks: {
    good: ({ space, page }) => ({ path: { spaceId: space, pageId: page }, query: { status: 'ok' } }),
    sees: () => ({ stats: { broken: { total: 0 } }, items: expect.arrayContaining([]) }),
  },
  listSpaceLinks: {
    good: ({ space }) => ({ path: { spaceId: space } }),
    sees: () => ({ stats: { total: expect.any(Number) } }),
  },
  applySpaceTemplate: {
    good: ({ space, request, page }) => ({
      path: { spaceId: space },
      body: { id: 't', params: { contentRefs: { it: { kind: 'page', page } } }, changeRequestId: request },
    }),
    bad: ({ space }) => ({ path: { spaceId: space }, body: { id: 't', changeRequestId: 'none' } }),
    status: 400,
  },
  searchSpace: {
    good: ({ space }) => ({ path: { spaceId: space }, query: { query: 'SSO' } }),
    sees: ({ page }) => ({ items: [{ id: page }] }),
  },
  searchOrganization: {
    good: () => ({ query: { query: 'SSO' } }),
    sees: ({ space, page }) => ({ items: [{ id: space, pages: [{ id: page }] }] }),
  },
  listOpenApiSpecs: {
    good: () => ({}),
    sees: ({ spec }) => ({ items: [{ slug: spec }] }),
  },
  createOpenApiSpec: {
    good: () => ({ body: { slug: 'New-1', source: { text: '{"openapi":"3.1.0"}' } } }),
    sees: () => ({ slug: 'New-1' }),
    bad: ({ spec }) => ({ body: { slug: spec, source: { text: '{}' } } }),
    status: 400,
  },
  getOpenApiSpec: {
    good: ({ spec }) => ({ path: { specSlug: spec } }),
    sees: () => ({ visibility: 'private' }),
  },
  putOpenApiSpec: {
    good: () => ({ path: { specSlug: 'new' }, body: { source: { text: '{"openapi":"3.1.0"}' } } }),
    sees: () => ({ slug: 'new' }),
    bad: () => ({ path: { specSlug: '-bad' }, body: { source: { text: '{}' } } }),
    status: 400,
  },
  updateOpenApiSpec: {
    good: ({ spec }) => ({ path: { specSlug: spec }, body: { visibility: 'public' } }),
    sees: () => ({ visibility: 'public' }),
  },
  deleteOpenApiSpec: {
    good: ({ spec }) => ({ path: { specSlug: spec } }),
    bad: ({ spec }) => ({ path: { ...NOWHERE, specSlug: spec } }),
  },
  listTranslations: {
    good: () => ({}),
    sees: ({ translation }) => ({ items: [{ id: translation }] }),
  },
  createTranslation: {
    good: ({ other }) => ({
      body: { source: { space: other, language: 'en' }, language: 'de', instructions: document },
    }),
    sees: () => ({ language: 'de', instructions: { ...document } }),
    bad: () => ({ body: { source: { space: 'none', language: 'en' }, language: 'de' } }),
    status: 400,
  },
  getTranslation: {
    good: ({ translation }) => ({ path: { translationId: translation } }),
    sees: () => ({ language: 'fr' }),
  },
  updateTranslation: {
    good: ({ translation }) => ({ path: { translationId: translation }, body: { instructions: document } }),
    sees: () => ({ instructions: { ...document } }),
  },
  deleteTranslation: {
    good: ({ translation }) => ({ path: { translationId: translation } }),
    bad: ({ translation }) => ({ path: { ...NOWHERE, translationId: translation } }),
  },
  runTranslation: {
    good: ({ translation }) => ({ path: { translationId: translation } }),
  },
} satisfies Partial<Cases>;
