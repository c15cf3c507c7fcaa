/** Enumerations of the platform. Source: docs/platform-notes.md#enumerations */
export const ROLES = ['admin', 'create', 'edit', 'review', 'comment', 'read'] as const;

export type Role = (typeof ROLES)[number];

export const TEAM_ROLES = ['owner', 'member'] as const;

export type TeamRole = (typeof TEAM_ROLES)[number];

export const SITE_TYPES = ['basic', 'premium', 'ultimate', 'sponsored', 'legacy-basic', 'legacy-premium'] as const;

export type SiteType = (typeof SITE_TYPES)[number];

export const SITE_VISIBILITIES = ['public', 'unlisted', 'share-link', 'visitor-auth'] as const;

export type SiteVisibility = (typeof SITE_VISIBILITIES)[number];

export const EDIT_MODES = ['live', 'locked'] as const;

export type EditMode = (typeof EDIT_MODES)[number];

export const AGENTS_CONTEXTS = ['excluded', 'included'] as const;

export type AgentsContext = (typeof AGENTS_CONTEXTS)[number];

export const SPEC_VISIBILITIES = ['private', 'public'] as const;

export type SpecVisibility = (typeof SPEC_VISIBILITIES)[number];

export const CHANGE_REQUEST_STATUSES = ['draft', 'open', 'archived', 'merged'] as const;

export type ChangeRequestStatus = (typeof CHANGE_REQUEST_STATUSES)[number];

/** Roles of the authors of a conversation's parts. */
export const PART_ROLES = ['user', 'assistant', 'team-member'] as const;

/** Merge rules without parameters. */
export const BARE_MERGE_RULES = [
  ...['require_at_least_one_review', 'require_all_reviews_approved', 'require_agent_review'],
  ...['require_up_to_date_change_request', 'require_change_request_subject'],
  ...['require_change_request_description', 'require_at_least_one_approved_review', 'require_author_to_merge'],
] as const;

/** Merge rules that name users. */
export const USER_MERGE_RULES = [
  ...['require_specific_reviewers', 'require_one_of_specific_reviewers', 'allow_bypass'],
] as const;

/** Languages of spaces and translations. */
export const LANGUAGES = [
  ...['en', 'fr', 'de', 'es', 'it', 'pt', 'pt-br', 'ru', 'ja', 'zh', 'yue', 'ko', 'ar', 'hi', 'nl', 'pl', 'tr'],
  ...['sv', 'no', 'da', 'fi', 'el', 'cs', 'hu', 'ro', 'th', 'vi', 'id', 'ms', 'he', 'uk', 'sk', 'bg', 'hr'],
  ...['lt', 'lv', 'et', 'sl', 'zh-tw'],
] as const;

export type SpaceLanguage = (typeof LANGUAGES)[number];

/** Enumerations of integrations. Source: docs/platform-notes.md#enumerations */
export const INTEGRATION_TARGETS = ['all', 'site', 'space', 'organization'] as const;

export type IntegrationTarget = (typeof INTEGRATION_TARGETS)[number];

export const INTEGRATION_VISIBILITIES = ['public', 'private', 'unlisted'] as const;

export type IntegrationVisibility = (typeof INTEGRATION_VISIBILITIES)[number];

export const INTEGRATION_CATEGORIES = [
  ...['analytics', 'collaboration', 'content', 'gitsync', 'marketing', 'visitor-auth', 'other'],
] as const;

export type IntegrationCategory = (typeof INTEGRATION_CATEGORIES)[number];

export const INTEGRATION_SCOPES = [
  ...['space:content:read', 'space:content:write', 'space:metadata:read', 'space:metadata:write'],
  ...['space:git:sync', 'page:feedback:read', 'site:metadata:read', 'site:views:read', 'site:script:inject'],
  ...['site:script:cookies', 'site:visitor:auth', 'site:adaptive:read', 'site:adaptive:write', 'openapi:read'],
  ...['openapi:write', 'conversations:ingest', 'site:visitor:claims'],
] as const;

export type IntegrationScope = (typeof INTEGRATION_SCOPES)[number];

export const INSTALLATION_SELECTIONS = ['all', 'selected'] as const;

export type InstallationSelection = (typeof INSTALLATION_SELECTIONS)[number];

/** Status of an installation. `paused` does not occur, since no operation pauses one. */
export type InstallationStatus = 'active' | 'pending';

export type LogLevel = 'debug' | 'info';
