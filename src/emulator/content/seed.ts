import { z } from 'zod';
import { contentRef } from '../documents/content-reference.ts';
import { emoji, icon } from '../model/schema.ts';
import type { ComputedSource, GitCommit } from './records.ts';

/** A page as somebody would write it; the API has no operation for that. */
export interface PageSeed {
  readonly title: string;
  /** Such as `guides/sso`; `guides` is then above it. Of the title where it is left out. */
  readonly path?: string | undefined;
  /** `document` where it is left out. */
  readonly type?: 'document' | 'group' | 'link' | undefined;
  readonly description?: string | undefined;
  readonly emoji?: string | undefined;
  readonly icon?: string | undefined;
  /** Markdown; empty where it is left out. */
  readonly body?: string | undefined;
  /** Where a link leads; nothing else has one. */
  readonly target?: z.output<typeof contentRef> | undefined;
  readonly variables?: Readonly<Record<string, string>> | undefined;
  readonly hidden?: boolean | undefined;
  readonly noIndex?: boolean | undefined;
  readonly noRobotsIndex?: boolean | undefined;
  /** What the body was computed from. */
  readonly computed?: ComputedSource | undefined;
}

/** A file as somebody would upload it. */
export interface FileSeed {
  readonly name: string;
  /** `files/NAME` where it is left out: what links name. */
  readonly path?: string | undefined;
  readonly contentType?: string | undefined;
  readonly text?: string | undefined;
  /** In base64, instead of a text. */
  readonly data?: string | undefined;
  readonly dimensions?: { readonly width: number; readonly height: number } | undefined;
}

/** A text that pages include with `{% include "TITLE" %}`. */
export interface ReusableSeed {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
}

/** What somebody does to the content of a space or a change request at once. */
export interface ContentSeed {
  readonly pages?: readonly PageSeed[] | undefined;
  readonly files?: readonly FileSeed[] | undefined;
  readonly reusableContents?: readonly ReusableSeed[] | undefined;
  /** Null takes one away; those not named stay as they are. */
  readonly variables?: Readonly<Record<string, string | null>> | undefined;
  /** Ids of pages, files and reusable contents to take away. */
  readonly remove?: readonly string[] | undefined;
  /** The commit, where a synchronisation with git does it. */
  readonly git?: GitCommit | undefined;
}

const object = z.record(z.string(), z.json());

/** Source: docs/platform-notes.md#enumerations */
const computed = z.strictObject({
  type: z.union([z.enum(['builtin:openapi', 'builtin:translation']), z.string().regex(/^integration:[^:]+:[^:]+$/)]),
  props: object,
  dependencies: object.optional(),
});

const page = z
  .strictObject({
    title: z.string().min(1, { error: 'must not be empty' }),
    path: z.string().optional(),
    type: z.enum(['document', 'group', 'link']).optional(),
    description: z.string().optional(),
    emoji: emoji.optional(),
    icon: icon.optional(),
    body: z.string().optional(),
    target: contentRef.optional(),
    variables: z.record(z.string(), z.string()).optional(),
    hidden: z.boolean().optional(),
    noIndex: z.boolean().optional(),
    noRobotsIndex: z.boolean().optional(),
    computed: computed.optional(),
  })
  .refine((seed) => (seed.type === 'link') === (seed.target !== undefined), {
    error: 'must have a target where it is a link, and only there',
  });

const file = z
  .strictObject({
    name: z.string().min(1, { error: 'must not be empty' }),
    path: z.string().optional(),
    contentType: z.string().optional(),
    text: z.string().optional(),
    data: z.base64().optional(),
    dimensions: z.strictObject({ width: z.number().positive(), height: z.number().positive() }).optional(),
  })
  .refine((seed) => seed.text === undefined || seed.data === undefined, {
    error: 'must have a text or data, not both',
  });

const reusable = z.strictObject({ title: z.string().min(1, { error: 'must not be empty' }), body: z.string() });

/** What the control over HTTP accepts as pages. */
export const pageSeedsSchema: z.ZodType<PageSeed[]> = z.array(page);

/** What it accepts as an edit. */
export const contentSeedSchema: z.ZodType<ContentSeed> = z.strictObject({
  pages: pageSeedsSchema.optional(),
  files: z.array(file).optional(),
  reusableContents: z.array(reusable).optional(),
  variables: z.record(z.string(), z.string().max(256).nullable()).optional(),
  remove: z.array(z.string()).optional(),
  git: z
    .strictObject({
      oid: z.string(),
      message: z.string(),
      url: z.string().optional(),
      ref: z.string().optional(),
    })
    .optional(),
});
