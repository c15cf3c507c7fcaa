/** Schemas of values that many responses have: texts, addresses, flags, people, pages of a list. */

import * as z from 'zod';

/** Any string. */
export const string = z.string();

/** Optional string of a response. */
export const optionalText = string.nullish();
/** Optional strings of a response. */
export const optionalTexts = z.array(string).nullish();
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

/** Git Sync of a site or a space, as read in lists. */
export const gitSync = z
  .looseObject({ installationId: optionalText, installationStatus: optionalText, repoName: optionalText })
  .nullish();

/** Resource that is represented by its id only. */
export const reference = z.looseObject({ id: string });

/** User, as read. */
export const user = z.looseObject({ id: string, displayName: optionalText, email: optionalText });

/** Merge rules, as read. */
export const readMergeRules = z
  .looseObject({
    type: string,
    rules: z.array(z.looseObject({ rule: string, users: optionalTexts })).nullish(),
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
