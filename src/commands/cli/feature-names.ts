/** Names of the features and versions that the embedded platform has. */
import type { Features, PlatformVersion } from '../../emulator/emulator.ts';

/** Names of platform features on the command line. */
export const FEATURE_NAMES: Readonly<Record<keyof Features, string>> = {
  changeRequestDrafts: 'change-request-drafts',
  changeRequestLinks: 'change-request-links',
  contextRecords: 'context-records',
  currentFields: 'current-fields',
  contentTags: 'content-tags',
  conversations: 'conversations',
  conversationLists: 'conversation-lists',
  ingestionByUsers: 'ingestion-by-users',
  installationsByUsers: 'installations-by-users',
  openapiText: 'openapi-text',
  publish: 'publish',
  requestedReviewers: 'requested-reviewers',
  siteFindings: 'site-findings',
  siteIssues: 'site-issues',
  spaceCreation: 'space-creation',
  structure: 'structure',
  structureDrafts: 'structure-drafts',
  agentsContext: 'agents-context',
  bulkRedirects: 'bulk-redirects',
  changeRequestStatus: 'change-request-status',
  changeRequestStatuses: 'change-request-statuses',
  externalLinks: 'external-links',
  hiddenSiteSpaces: 'hidden-site-spaces',
  linkListings: 'link-listings',
  mcpTransports: 'mcp-transports',
  memberNames: 'member-names',
  minimalAnswers: 'minimal-answers',
  permanentRedirects: 'permanent-redirects',
  sectionGroupMembers: 'section-group-members',
  sectionParents: 'section-parents',
  spaceTransfer: 'space-transfer',
  strictPatterns: 'strict-patterns',
  templateCreates: 'template-creates',
  authorMergeRules: 'author-merge-rules',
  siteDefaultLevel: 'site-default-level',
  sitePermissions: 'site-permissions',
  systemTheme: 'system-theme',
  visitorClaims: 'visitor-claims',
  traditionalChinese: 'traditional-chinese',
};

/** Versions that the embedded platform can emulate, oldest first. */
export const PLATFORM_NAMES: readonly PlatformVersion[] = ['0.146', '0.167', '0.181', '0.201', '0.202'];
