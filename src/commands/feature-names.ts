import type { Features } from '../emulator/emulator.ts';

/** What versions of the platform lack, as the command line calls it. */
export const FEATURE_NAMES: Readonly<Record<keyof Features, string>> = {
  changeRequestDrafts: 'change-request-drafts',
  changeRequestLinks: 'change-request-links',
  conversations: 'conversations',
  conversationLists: 'conversation-lists',
  ingestionByUsers: 'ingestion-by-users',
  openapiText: 'openapi-text',
  publish: 'publish',
  requestedReviewers: 'requested-reviewers',
  spaceCreation: 'space-creation',
  structure: 'structure',
};
