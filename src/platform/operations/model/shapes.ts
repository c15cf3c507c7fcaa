// Schemas of values that many operations take or return: texts, addresses, flags, times, pages of a list.

import * as z from 'zod';
import type { RichDocument } from '../../rich-text/node.ts';

/*
 * Schemas that many operations share. They are created once, because every command that uses the platform creates the
 * whole table, and each schema takes a fiftieth of a millisecond.
 */

/** Any string. */
export const string = z.string();
/** Optional string of a request. */
export const givenText = string.optional();
/** Optional flag of a request. */
export const givenFlag = z.boolean().optional();
/** Strings. */
export const texts = z.array(string);

/**
 * Creates a schema for a string whose length is counted in Unicode code points. Its metadata has the limits in JSON
 * Schema. Source: docs/platform-notes.md#conventions
 */
export function text(min: number, max: number): z.ZodType<string, string> {
  const checked = z.string().refine(
    (value) => {
      // A code point has one or two units, so most texts need no count.
      if (value.length >= 2 * min && value.length <= max) {
        return true;
      }
      const length = codePoints(value);
      return length >= min && length <= max;
    },
    { error: `must have ${min} to ${max} characters` },
  );
  return checked.meta(min === 0 ? { maxLength: max } : { minLength: min, maxLength: max });
}

function codePoints(value: string): number {
  let count = 0;
  for (const _ of value) {
    count += 1;
  }
  return count;
}

/** A URL of at most 2048 characters. Source: docs/platform-notes.md#limits */
export const url = z.url().max(2048);

/** Source: docs/platform-notes.md#roles */
export const role = z.enum(['admin', 'create', 'review', 'edit', 'comment', 'read']);
/** Null means guest. */
export const nullableRole = role.nullable();
/** Levels of spaces and collections may also inherit. Source: docs/platform-notes.md#roles */
export const level = z.enum(['admin', 'create', 'review', 'edit', 'comment', 'read', 'inherit']).nullable();

/** Languages of spaces and translations; `zh-tw` since 0.181. */
const LANGUAGES = [
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
export const language = z.enum(LANGUAGES);

const RULES = [
  'require_specific_reviewers',
  'require_one_of_specific_reviewers',
  'allow_bypass',
  'require_agent_review',
  'require_at_least_one_review',
  'require_all_reviews_approved',
  'require_up_to_date_change_request',
  'require_change_request_subject',
  'require_change_request_description',
  'require_at_least_one_approved_review',
  'require_author_to_merge',
  'custom',
] as const;
const rules = z.strictObject({
  type: z.literal('rules'),
  rules: z.array(
    z.strictObject({ rule: z.enum(RULES), users: texts.optional(), expression: text(0, 1024).optional() }),
  ),
});

/**
 * Merge rules of a space or an organization, as written. The documents disagree on whether an organization can inherit
 * them, so that is left to the platform. Source: docs/platform-notes.md#merge-rules
 */
export const mergeRules = z.union([z.strictObject({ type: z.enum(['inherit', 'none']) }), rules]);

/** A rich document. The rich document modules create its nodes. Source: docs/platform-notes.md#rich-documents */
export const richDocument = z
  .looseObject({
    object: z.literal('document'),
    data: z.record(string, z.unknown()),
    nodes: z.array(z.looseObject({ object: string })),
  })
  .meta({ title: 'rich document' }) as unknown as z.ZodType<RichDocument, RichDocument>;

/** Requested format of the text. Source: docs/platform-notes.md#filters */
export const format = z.enum(['document', 'markdown']).optional();

/** Sibling next to which a collection or space is moved. Source: docs/platform-notes.md#moves-and-transfers */
const movePointer = z.union([
  z.strictObject({ type: z.literal('space'), space: string }),
  z.strictObject({ type: z.literal('collection'), collection: string }),
]);
export const move = z
  .strictObject({
    parent: z.string().nullable().optional(),
    position: z.strictObject({ before: movePointer.optional(), after: movePointer.optional() }).optional(),
  })
  .refine((body) => Object.keys(body).length > 0, { error: 'must have a parent or a position' });

/** Organization to which a collection or space is transferred. Source: docs/platform-notes.md#moves-and-transfers */
export const transfer = z.strictObject({ organization: string });

/** Optional string of a response. */
export const optionalText = string.nullish();
/** Optional strings of a response. */
export const optionalTexts = texts.nullish();
/** Optional number of a response. */
export const optionalNumber = z.number().nullish();
/** Optional flag of a response. */
export const optionalFlag = z.boolean().nullish();
/** Permissions of the caller on a resource. */
export const permissions = z.record(string, z.unknown()).nullish();
const addresses = z.looseObject({
  location: optionalText,
  app: optionalText,
  published: optionalText,
  public: optionalText,
  source: optionalText,
  icon: optionalText,
  logo: optionalText,
});
/** URLs of a resource by name. Undocumented names are kept with any value. */
export const urls = (addresses as unknown as z.ZodType<Record<string, string | null | undefined>>).nullish();

/** Resource that is represented by its id only. */
export const reference = z.looseObject({ id: string });

/** User, as read. */
export const user = z.looseObject({ id: string, displayName: optionalText, email: optionalText });

/** Merge rules, as read. */
export const readMergeRules = z
  .looseObject({
    type: string,
    rules: z.array(z.looseObject({ rule: string, users: texts.nullish() })).nullish(),
  })
  .nullish();

/** Envelope of a paginated list. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Absent on the last page. */
  readonly next?: { readonly page?: string | null } | null;
  /** Described as the total; may be absent. */
  readonly count?: number | null;
  /**
   * Only in lists of links: the number of links and of broken links.
   * Source: docs/platform-notes.md#links-and-backlinks
   */
  readonly stats?: {
    readonly total?: number | null;
    readonly broken?: { readonly total?: number | null; readonly changeRequest?: number | null } | null;
  } | null;
}

const stats = z
  .looseObject({
    total: optionalNumber,
    broken: z.looseObject({ total: optionalNumber, changeRequest: optionalNumber }).nullish(),
  })
  .nullish();

const next = z.looseObject({ page: optionalText }).nullish();

/** Maximum number of items in a page; at most 1000 are requested. */
const MAX_ITEMS = 10_000;

/** Creates the schema of an envelope with these items. */
export function pageOf<I extends z.ZodType>(item: I): z.ZodType<Page<z.output<I>>> {
  return z.looseObject({
    // The length is checked first: a million invalid items are a million errors, of 800 bytes each.
    items: z.array(z.unknown()).max(MAX_ITEMS).pipe(z.array(item)),
    next,
    count: optionalNumber,
    stats,
  }) as unknown as z.ZodType<Page<z.output<I>>>;
}

/** Member, as read. */
export const member = z.looseObject({
  id: string,
  /** Null means guest. */
  role: optionalText,
  user: user.nullish(),
  disabled: optionalFlag,
  joinedAt: optionalText,
  lastSeenAt: optionalText,
  sso: optionalFlag,
  spaces: optionalNumber,
  teams: optionalNumber,
});

/** Team, as read. */
export const team = z.looseObject({
  id: string,
  title: string,
  members: optionalNumber,
  spaces: optionalNumber,
  createdAt: optionalText,
  permissions,
});
