// Shapes of pages, files, revisions and links, which several families of operations return.

import * as z from 'zod';
import { optionalFlag, optionalNumber, optionalText, optionalTexts, string, urls } from '../model/shapes.ts';

/** A content reference of any kind. Source: docs/platform-notes.md#content-references */
const contentRef = z.looseObject({ kind: string });

/** Parameters of a template. Source: docs/platform-notes.md#content */
export const templateParams = z.strictObject({ contentRefs: z.record(string, contentRef).optional() }).optional();

const git = z.looseObject({ oid: optionalText, path: optionalText }).nullish();

/** A page as read, with the pages below it. Types and layouts that are not known are kept. */
export interface ContentPage {
  readonly id: string;
  readonly title?: string | null;
  readonly type?: string | null;
  readonly updatedAt?: string | null;
  readonly slug?: string | null;
  readonly path?: string | null;
  readonly description?: string | null;
  /** Present if the requested format includes it. */
  readonly markdown?: string | null;
  /** Rich document, present if the requested format includes it. */
  readonly document?: unknown;
  readonly pages?: readonly ContentPage[] | null;
  readonly [field: string]: unknown;
}

/** Page, as read. */
export const contentPage: z.ZodType<ContentPage> = z.looseObject({
  id: string,
  title: optionalText,
  emoji: optionalText,
  icon: optionalText,
  createdAt: optionalText,
  updatedAt: optionalText,
  type: optionalText,
  slug: optionalText,
  path: optionalText,
  description: optionalText,
  markdown: optionalText,
  document: z.unknown().optional(),
  git,
  urls,
  get pages(): z.ZodType<readonly ContentPage[] | null | undefined> {
    return z.array(contentPage).nullish();
  },
});

/** File, as read. */
export const file = z.looseObject({
  id: string,
  name: optionalText,
  contentType: optionalText,
  downloadURL: optionalText,
  /** Bytes. */
  size: optionalNumber,
  dimensions: z.looseObject({ width: optionalNumber, height: optionalNumber }).nullish(),
  git,
});

/** Revision, as read. */
export const revision = z.looseObject({
  id: string,
  type: optionalText,
  parents: optionalTexts,
  pages: z.array(contentPage).nullish(),
  files: z.array(file).nullish(),
  reusableContents: z.array(z.looseObject({ id: string, title: optionalText, git })).nullish(),
  variables: z.record(string, z.unknown()).nullish(),
  createdAt: optionalText,
  git: z
    .looseObject({
      oid: optionalText,
      message: optionalText,
      createdByGitBook: optionalFlag,
      url: optionalText,
      ref: optionalText,
    })
    .nullish(),
  urls,
});

/** Link item, as read. A backlink may have its location only. */
export const link = z.looseObject({
  /** `ok`, `broken` or `in-app`. */
  status: optionalText,
  relation: optionalText,
  targetReference: z.looseObject({ kind: optionalText }).nullish(),
  locationReferences: z.array(z.looseObject({ kind: optionalText })).nullish(),
});
