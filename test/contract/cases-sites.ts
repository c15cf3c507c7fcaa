import { expect } from 'vitest';
import { type Cases, type Ids, NOWHERE } from './operation-world.ts';

const of = ({ site }: Ids) => ({ siteId: site });

/** Docs sites and their content. */
export const siteCases = {
  listSites: {
    good: ({ space }) => ({ query: { space, title: 'hel', published: true, type: ['basic', 'premium'] } }),
    sees: ({ site }) => ({ items: [{ id: site }] }),
  },
  createSite: {
    good: ({ space }) => ({ body: { type: 'basic', title: 'New', visibility: 'unlisted', spaces: [space] } }),
    sees: () => ({ title: 'New', published: false, visibility: 'unlisted' }),
    bad: () => ({ body: { spaces: ['none'] } }),
    status: 400,
  },
  getSite: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ title: 'Help' }),
  },
  updateSite: {
    good: (ids) => ({
      path: of(ids),
      body: {
        basename: 'help',
        adaptiveContent: { enabled: true },
        proxy: 'acme.example/docs',
        defaultSiteSection: ids.second,
      },
    }),
    sees: () => ({ basename: 'help', proxy: { origin: 'acme.example/docs' } }),
    bad: (ids) => ({ path: of(ids), body: { defaultSiteSpace: 'none' } }),
    status: 400,
  },
  deleteSite: {
    good: (ids) => ({ path: of(ids) }),
    bad: (ids) => ({ path: { ...NOWHERE, ...of(ids) } }),
  },
  publishSite: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ published: true }),
  },
  unpublishSite: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ published: false }),
  },
  getPublishedSite: {
    good: (ids) => ({ path: of(ids), query: { shareKey: 'k' } }),
    sees: ({ site }) => ({ site: { id: site }, structure: { type: 'sections' } }),
  },
  getAdaptiveSchema: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ jsonSchema: { properties: { beta: { type: 'boolean' } } } }),
  },
  updateAdaptiveSchema: {
    good: (ids) => ({
      path: of(ids),
      body: { jsonSchema: { type: 'object', properties: {}, additionalProperties: false } },
    }),
    sees: () => ({ jsonSchema: { type: 'object' } }),
    bad: (ids) => ({ path: of(ids), body: { jsonSchema: { type: 'string' } } }),
    status: 400,
  },
  getTemplateConditions: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ items: [{ description: 'Beta', condition: expect.any(String) }] }),
  },
  getSiteCustomization: {
    good: (ids) => ({ path: of(ids) }),
    sees: () => ({ styling: { theme: expect.any(String) } }),
  },
  updateSiteCustomization: {
    good: (ids) => ({ path: of(ids), body: { ...ids.customization, title: 'Looks' } }),
    sees: () => ({ title: 'Looks' }),
    bad: (ids) => ({ path: of(ids), body: { title: 'Looks' } }),
    status: 400,
  },
  getSiteStructure: {
    good: (ids) => ({ path: of(ids), query: { shareKey: 'k' } }),
    sees: ({ section }) => ({
      type: 'sections',
      structure: expect.arrayContaining([expect.objectContaining({ object: 'site-section', id: section })]),
    }),
  },
  sortSiteStructure: {
    good: ({ site, section, second }) => ({
      path: { siteId: site },
      body: {
        item: { type: 'site-section', id: second },
        position: { before: { type: 'site-section', id: section } },
      },
    }),
    sees: ({ second }) => ({ id: second }),
    bad: ({ site, second }) => ({
      path: { siteId: site },
      body: { item: { type: 'site-section', id: 'none' }, position: { after: { type: 'site-section', id: second } } },
    }),
    status: 400,
  },
  listSiteSpaces: {
    good: (ids) => ({ path: of(ids), query: { shareKey: 'k', default: true } }),
    sees: ({ firstSiteSpace }) => ({
      items: expect.arrayContaining([expect.objectContaining({ id: firstSiteSpace })]),
    }),
  },
  addSiteSpace: {
    good: (ids) => ({ path: of(ids), body: { spaceId: ids.inside, sectionId: ids.section } }),
    sees: ({ inside }) => ({ space: { id: inside } }),
    bad: (ids) => ({ path: of(ids), body: { spaceId: 'none' } }),
    status: 400,
  },
  updateSiteSpace: {
    good: ({ site, variant }) => ({
      path: { siteId: site, siteSpaceId: variant },
      body: { path: 'v', condition: null, hidden: true },
    }),
    sees: () => ({ path: 'v', hidden: true }),
  },
  deleteSiteSpace: {
    good: ({ site, variant }) => ({ path: { siteId: site, siteSpaceId: variant } }),
    bad: ({ variant }) => ({ path: { siteId: 'none', siteSpaceId: variant } }),
  },
  moveSiteSpace: {
    good: ({ site, variant, firstSiteSpace }) => ({
      path: { siteId: site, siteSpaceId: variant },
      body: { position: { before: { type: 'site-space', siteSpace: firstSiteSpace } } },
    }),
    sees: ({ variant }) => ({ id: variant }),
    bad: ({ site, variant }) => ({
      path: { siteId: site, siteSpaceId: variant },
      body: { position: { after: { type: 'site-space', siteSpace: 'none' } } },
    }),
    status: 400,
  },
  listSections: {
    good: (ids) => ({ path: of(ids), query: { shareKey: 'k' } }),
    sees: ({ section }) => ({ items: expect.arrayContaining([expect.objectContaining({ id: section })]) }),
  },
  createSection: {
    good: (ids) => ({ path: of(ids), body: { spaceId: ids.inside, title: null, icon: 'gear' } }),
    sees: () => ({ title: 'Inside', icon: 'gear' }),
    bad: (ids) => ({ path: of(ids), body: { spaceId: 'none' } }),
    status: 400,
  },
  updateSection: {
    good: ({ site, section, variant }) => ({
      path: { siteId: site, siteSectionId: section },
      body: { title: 'New', description: null, icon: null, condition: null, defaultSiteSpace: variant },
    }),
    sees: () => ({ title: 'New' }),
  },
  deleteSection: {
    good: ({ site, second }) => ({ path: { siteId: site, siteSectionId: second } }),
    bad: ({ second }) => ({ path: { siteId: 'none', siteSectionId: second } }),
  },
  moveSection: {
    good: ({ site, section, second }) => ({
      path: { siteId: site, siteSectionId: second },
      body: { position: { before: { type: 'site-section', siteSection: section } } },
    }),
    sees: ({ second }) => ({ id: second }),
    bad: ({ site, second }) => ({
      path: { siteId: site, siteSectionId: second },
      body: { position: { after: { type: 'site-section', siteSection: 'none' } } },
    }),
    status: 400,
  },
  listSectionGroups: {
    good: (ids) => ({ path: of(ids) }),
    sees: ({ group, grouped }) => ({ items: [{ id: group, children: [{ id: grouped }] }] }),
  },
  createSectionGroup: {
    good: ({ site, second, group }) => ({
      path: { siteId: site },
      body: { title: 'New', icon: null, sections: [second], parent: group },
    }),
    sees: ({ second }) => ({ title: 'New', children: [{ id: second }] }),
    bad: (ids) => ({ path: of(ids), body: { title: 'New', parent: 'none' } }),
    status: 400,
  },
  updateSectionGroup: {
    good: ({ site, group }) => ({ path: { siteId: site, siteSectionGroupId: group }, body: { title: 'New' } }),
    sees: () => ({ title: 'New' }),
  },
  deleteSectionGroup: {
    good: ({ site, group }) => ({ path: { siteId: site, siteSectionGroupId: group } }),
    bad: ({ group }) => ({ path: { siteId: 'none', siteSectionGroupId: group } }),
  },
  moveSectionGroup: {
    good: ({ site, group, section }) => ({
      path: { siteId: site, siteSectionGroupId: group },
      body: { position: { before: { type: 'site-section', id: section } } },
    }),
    sees: ({ group }) => ({ id: group }),
  },
  addSectionToGroup: {
    good: ({ site, group, second }) => ({
      path: { siteId: site, siteSectionGroupId: group },
      body: { sectionId: second },
    }),
    sees: ({ group }) => ({ id: group }),
    bad: ({ site, group }) => ({ path: { siteId: site, siteSectionGroupId: group }, body: { sectionId: 'none' } }),
    status: 400,
  },
  removeSectionFromGroup: {
    good: ({ site, group, grouped }) => ({
      path: { siteId: site, siteSectionGroupId: group, siteSectionId: grouped },
    }),
    bad: ({ site, grouped }) => ({ path: { siteId: site, siteSectionGroupId: 'none', siteSectionId: grouped } }),
  },
  createExternalLink: {
    good: (ids) => ({ path: of(ids), body: { title: 'Blog', url: 'https://blog.acme.example', parent: ids.group } }),
    sees: () => ({ title: 'Blog' }),
  },
  updateExternalLink: {
    good: ({ site, externalLink }) => ({
      path: { siteId: site, siteExternalLinkId: externalLink },
      body: { title: 'New', draft: true, icon: null },
    }),
    sees: () => ({ title: 'New', draft: true }),
  },
  deleteExternalLink: {
    good: ({ site, externalLink }) => ({ path: { siteId: site, siteExternalLinkId: externalLink } }),
    bad: ({ externalLink }) => ({ path: { siteId: 'none', siteExternalLinkId: externalLink } }),
  },
  askSite: {
    good: (ids) => ({
      path: of(ids),
      query: { format: 'markdown' },
      body: { question: 'How do I sign in with SSO?', scope: { mode: 'specific', siteSpaceIds: [ids.firstSiteSpace] } },
    }),
    sees: ({ page }) =>
      expect.arrayContaining([
        expect.objectContaining({
          type: 'answer',
          answer: expect.objectContaining({
            answer: { markdown: expect.stringContaining('SSO') },
            sources: [expect.objectContaining({ page })],
          }),
        }),
      ]),
  },
} satisfies Partial<Cases>;
