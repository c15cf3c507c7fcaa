// Content that is written through the control interface, not the API.

import { z } from 'zod';
import { contentRef } from '../documents/content-reference.ts';
import { emoji, icon } from '../model/schema.ts';

const object = z.record(z.string(), z.json());

/** Source: docs/platform-notes.md#enumerations */
const computed = z.strictObject({
  type: z.union([z.enum(['builtin:openapi', 'builtin:translation']), z.string().regex(/^integration:[^:]+:[^:]+$/)]),
  props: object,
  dependencies: object.optional(),
});

const notEmpty = z.string().min(1, { error: 'must not be empty' });

const page = z
  .strictObject({
    title: notEmpty,
    /** For example `guides/sso`, which is below `guides`. Derived from the title by default. */
    path: z.string().optional(),
    /** `document` by default. */
    type: z.enum(['document', 'group', 'link']).optional(),
    description: z.string().optional(),
    emoji: emoji.optional(),
    icon: icon.optional(),
    /** Markdown; empty by default. */
    body: z.string().optional(),
    /** Target of a link; only links have one. */
    target: contentRef.optional(),
    variables: z.record(z.string(), z.string()).optional(),
    hidden: z.boolean().optional(),
    noIndex: z.boolean().optional(),
    noRobotsIndex: z.boolean().optional(),
    /** Source that the body is computed from. */
    computed: computed.optional(),
  })
  .refine((seed) => (seed.type === 'link') === (seed.target !== undefined), {
    error: 'must have a target if it is a link, and only then',
  });

const file = z
  .strictObject({
    name: notEmpty,
    /** Path that links use; `files/NAME` by default. */
    path: z.string().optional(),
    contentType: z.string().optional(),
    text: z.string().optional(),
    /** Base64, instead of a text. */
    data: z.base64().optional(),
    dimensions: z.strictObject({ width: z.number().positive(), height: z.number().positive() }).optional(),
  })
  .refine((seed) => seed.text === undefined || seed.data === undefined, {
    error: 'must have a text or data, not both',
  });

/** Markdown that pages include with `{% include "TITLE" %}`. */
const reusable = z.strictObject({ title: notEmpty, body: z.string() });

const commit = z.strictObject({
  oid: z.string(),
  message: z.string(),
  url: z.string().optional(),
  ref: z.string().optional(),
});

/** Pages that the control accepts. */
export const pageSeedsSchema = z.array(page);

/** An edit that the control accepts. */
export const contentSeedSchema = z.strictObject({
  pages: pageSeedsSchema.optional(),
  files: z.array(file).optional(),
  reusableContents: z.array(reusable).optional(),
  /** Null removes a variable; variables that are not named stay as they are. */
  variables: z.record(z.string(), z.string().max(256).nullable()).optional(),
  /** Ids of pages, files and reusable contents to remove. */
  remove: z.array(z.string()).optional(),
  /** The commit of a synchronization with git. */
  git: commit.optional(),
});

type Lists<T> = {
  readonly [K in keyof T]: T[K] extends (infer Item)[] | undefined ? readonly Item[] | undefined : T[K];
};

/** A page as an author would write it; the API has no operation for that. */
export type PageSeed = z.output<typeof page>;
/** A file as an author would upload it. */
export type FileSeed = z.output<typeof file>;
/** A reusable content. */
export type ReusableSeed = z.output<typeof reusable>;
/** An edit of the content of a space or a change request. */
export type ContentSeed = Lists<z.output<typeof contentSeedSchema>>;
