/** Enumerations of the platform, and schemas and checks that the input of several families shares. */

import { z } from 'zod';
import { ApiError } from './answers.ts';

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
const BARE_MERGE_RULES = [
  'require_at_least_one_review',
  'require_all_reviews_approved',
  'require_agent_review',
  'require_up_to_date_change_request',
  'require_change_request_subject',
  'require_change_request_description',
  'require_at_least_one_approved_review',
  'require_author_to_merge',
] as const;

/** Merge rules that name users. */
const USER_MERGE_RULES = ['require_specific_reviewers', 'require_one_of_specific_reviewers', 'allow_bypass'] as const;

/** Languages of spaces and translations. */
export const LANGUAGES = [
  'en',
  'fr',
  'de',
  'es',
  'it',
  'pt',
  'pt-br',
  'ru',
  'ja',
  'zh',
  'yue',
  'ko',
  'ar',
  'hi',
  'nl',
  'pl',
  'tr',
  'sv',
  'no',
  'da',
  'fi',
  'el',
  'cs',
  'hu',
  'ro',
  'th',
  'vi',
  'id',
  'ms',
  'he',
  'uk',
  'sk',
  'bg',
  'hr',
  'lt',
  'lv',
  'et',
  'sl',
  'zh-tw',
] as const;

export type SpaceLanguage = (typeof LANGUAGES)[number];

/** Enumerations of integrations. Source: docs/platform-notes.md#enumerations */
export const INTEGRATION_TARGETS = ['all', 'site', 'space', 'organization'] as const;

export const INTEGRATION_VISIBILITIES = ['public', 'private', 'unlisted'] as const;

export const INTEGRATION_CATEGORIES = [
  'analytics',
  'collaboration',
  'content',
  'gitsync',
  'marketing',
  'visitor-auth',
  'other',
] as const;

export const INTEGRATION_SCOPES = [
  'space:content:read',
  'space:content:write',
  'space:metadata:read',
  'space:metadata:write',
  'space:git:sync',
  'page:feedback:read',
  'site:metadata:read',
  'site:views:read',
  'site:script:inject',
  'site:script:cookies',
  'site:visitor:auth',
  'site:adaptive:read',
  'site:adaptive:write',
  'openapi:read',
  'openapi:write',
  'conversations:ingest',
  'site:visitor:claims',
] as const;

export type IntegrationScope = (typeof INTEGRATION_SCOPES)[number];

export const INSTALLATION_SELECTIONS = ['all', 'selected'] as const;

export type InstallationSelection = (typeof INSTALLATION_SELECTIONS)[number];

/** Status of an installation. `paused` does not occur, since no operation pauses one. */
export type InstallationStatus = 'active' | 'pending';

export type LogLevel = 'debug' | 'info';

/** Text of a length in Unicode code points. Source: docs/platform-notes.md#conventions */
export function text(min: number, max: number): z.ZodType<string, string> {
  const rule = min === 0 ? `must be at most ${max} characters` : `must be ${min}-${max} characters`;
  return z.string().refine(
    (value) => {
      const length = value.length > 2 * max ? value.length : [...value].length;
      return length >= min && length <= max;
    },
    { error: rule },
  );
}

/** An http or https URL of at most 2048 characters. Source: docs/platform-notes.md#limits */
export function url(): z.ZodType<string, string> {
  return text(1, 2048).refine((value) => /^https?:\/\//.test(value) && URL.canParse(value), {
    error: 'must be an http or https URL',
  });
}

/** An id in a body. */
export const id = z.string().min(1, { error: 'must not be empty' });
const role = z.enum(ROLES);

export const nullableRole = role.nullable();

export const defaultLevel = z.enum([...ROLES, 'inherit']).nullable();

export const teamRole = z.enum(TEAM_ROLES);

export const language = z.enum(LANGUAGES);

export const editMode = z.enum(EDIT_MODES);

export const siteVisibility = z.enum(SITE_VISIBILITIES);

export const icon = text(0, 50);

/** An emoji: a base with modifiers, a sequence joined by U+200D, a flag, or a keycap. */
const EMOJI =
  /^(?:\p{RGI_Emoji}|\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]*(?:\u200D\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]*)*|[0-9#*]\uFE0F?\u20E3)$/v;

/** Converts hexadecimal code points, joined by hyphens, to characters. */
function charactersOf(given: string): string {
  const codes = /^[0-9a-f]{2,6}(?:-[0-9a-f]{2,6})*$/i.test(given) ? given.split('-') : [];
  const points = codes.map((code) => Number.parseInt(code, 16));
  return points.length > 0 && points.every((point) => point < 0xd800 || (point > 0xdfff && point <= 0x10ffff))
    ? points.map((point) => String.fromCodePoint(point)).join('')
    : given;
}

/** An emoji, as a character or as its code points. Source: docs/platform-notes.md#limits */
export const emoji = text(1, 50).refine((given) => EMOJI.test(charactersOf(given)), {
  error: 'must be an emoji, or its code points, such as 1f4d8',
});

export const condition = text(0, 1024);
const none = z.strictObject({ type: z.literal('none') });

const rules = z.strictObject({
  type: z.literal('rules'),
  rules: z.array(
    z.discriminatedUnion('rule', [
      z.strictObject({ rule: z.enum(USER_MERGE_RULES), users: z.array(id) }),
      z.strictObject({ rule: z.enum(BARE_MERGE_RULES) }),
      z.strictObject({ rule: z.literal('custom'), expression: text(0, 1024) }),
    ]),
  ),
});

/**
 * `none`, or `rules` with its rules: an organization has nothing to inherit from.
 * Source: docs/platform-notes.md#merge-rules
 */
export const standaloneMergeRules = z.discriminatedUnion('type', [none, rules]);

/** Merge rules that can also be `inherit`: the rules of the organization. Source: docs/platform-notes.md#merge-rules */
export const mergeRules = z.discriminatedUnion('type', [z.strictObject({ type: z.literal('inherit') }), none, rules]);

/** A number in a query. */
const limit = z
  .string()
  .refine((value) => /^\d{1,4}$/.test(value) && Number(value) <= 1000, { error: 'must be a number from 0 to 1000' })
  .transform(Number);

/** A boolean in a query. */
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** Query of every paginated list. Source: docs/platform-notes.md#pagination */
export const listQuery = z.strictObject({ page: z.string().optional(), limit: limit.optional() });

export type ListQuery = z.output<typeof listQuery>;

/** Query of an operation without parameters. */
export const noQuery = z.strictObject({});

/** Body of an operation without one: absent or empty. */
export const noBody = z.strictObject({}).optional();

/** Query of operations that share links may call. */
export const shareQuery = z.strictObject({ shareKey: z.string().optional() });

/** Describes a problem, starting with the place of the field. */
function describeIssue(place: string, issue: z.core.$ZodIssue): string {
  const path = [place, ...issue.path.map(String)].join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${path}.${key}: unknown ${place === 'query' ? 'parameter' : 'field'}`).join('; ');
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return `${path}: required`;
  }
  if (issue.code === 'invalid_value') {
    return `${path}: must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
  }
  return `${path}: ${issue.message.replace('Invalid input: ', '')}`;
}

/** Parses a value, or throws a 400 that names every invalid field. */
export function parse<T>(place: 'body' | 'query', schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) {
    return result.data;
  }
  throw new ApiError(400, result.error.issues.map((issue) => describeIssue(place, issue)).join('; '));
}

/** Names of the merge rules that a body sets. */
export function getRuleNames(
  given: { readonly rules?: readonly { readonly rule?: unknown }[] } | { readonly type: string } | undefined,
): readonly unknown[] {
  return given !== undefined && 'rules' in given ? (given.rules ?? []).map(({ rule }) => rule) : [];
}
