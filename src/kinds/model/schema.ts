import { isNode, LineCounter, parse, parseDocument } from 'yaml';
import { z } from 'zod';
import { isObject } from '../../core/json.ts';
import { FileContent } from './manifest.ts';

/** A key: stable, chosen by the user, used in references and addresses. */
export const KEY_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const KEY_WORDS = 'letters, digits, ".", "_" and "-", beginning with a letter or a digit, at most 100';
export const plainKey = { pattern: KEY_PATTERN, words: KEY_WORDS };

const EMAIL_PATTERN = /^[^\s@<>",;]+@[^\s@<>",;]+$/;
export const emailKey = { pattern: EMAIL_PATTERN, words: 'an email address' };

/** The language codes of the platform; it knows `zh-tw` from 0.181 on. */
export const LANGUAGES = [
  'en', 'fr', 'de', 'es', 'it', 'pt', 'pt-br', 'ru', 'ja', 'zh', 'yue', 'ko', 'ar', 'hi', 'nl', 'pl', 'tr', 'sv', 'no',
  'da', 'fi', 'el', 'cs', 'hu', 'ro', 'th', 'vi', 'id', 'ms', 'he', 'uk', 'sk', 'bg', 'hr', 'lt', 'lv', 'et', 'sl',
  'zh-tw',
] as const; // biome-ignore format: a table

/** Roles, from most to least. Source: docs/platform-notes.md#roles */
export const ROLES = ['admin', 'create', 'review', 'edit', 'comment', 'read'] as const;

export const role = z.enum(ROLES);

/** Default level of a space or collection. Source: docs/platform-notes.md#roles */
export const level = z.enum([...ROLES, 'inherit']).nullable();

export type Language = (typeof LANGUAGES)[number];

/** Returns the length in Unicode code points, as the platform counts it. Source: docs/platform-notes.md#conventions */
function lengthOf(text: string): number {
  let count = 0;
  for (const _ of text) {
    count += 1;
  }
  return count;
}

interface TextLimits {
  readonly min?: number;
  readonly max: number;
  readonly pattern?: RegExp;
  /** What the pattern asks for, in words. */
  readonly words?: string;
  /** A value that one could write, for editors. */
  readonly example?: string;
}

function textProblem(value: string, limits: TextLimits): string | null {
  const length = lengthOf(value);
  const min = limits.min ?? 0;
  if (length < min) {
    return `is ${length} characters long, must be ${min} to ${limits.max}`;
  }
  if (length > limits.max) {
    return `is ${length} characters long, must be at most ${limits.max}`;
  }
  if (limits.pattern !== undefined && !limits.pattern.test(value)) {
    return `${JSON.stringify(value)} is not ${limits.words ?? `of the form ${limits.pattern.source}`}`;
  }
  return null;
}

/** A text within limits that are counted in code points. */
export function text(limits: TextLimits): z.ZodType<string, string> {
  return z
    .string()
    .superRefine((value, context) => {
      const message = textProblem(value, limits);
      if (message !== null) {
        context.addIssue({ code: 'custom', message });
      }
    })
    .meta({
      ...(limits.min === undefined ? {} : { minLength: limits.min }),
      maxLength: limits.max,
      ...(limits.pattern === undefined ? {} : { pattern: limits.pattern.source }),
      ...(limits.example === undefined ? {} : { examples: [limits.example] }),
    });
}

/** Longest URL, in bytes. Source: docs/platform-notes.md#limits */
const LONGEST_URL = 2048;

/** An http(s) address; `example` is for editors. */
export function url(example?: string): z.ZodType<string, string> {
  const max = LONGEST_URL;
  return z
    .string()
    .superRefine((value, context) => {
      const length = lengthOf(value);
      if (length > max) {
        context.addIssue({ code: 'custom', message: `is ${length} characters long, must be at most ${max}` });
      } else if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
        context.addIssue({
          code: 'custom',
          message: `${JSON.stringify(value)} is not an address that begins with https:// or http://`,
        });
      }
    })
    .meta({ format: 'uri', maxLength: max, ...(example === undefined ? {} : { examples: [example] }) });
}

/** A day, as YYYY-MM-DD. */
const day = z
  .string()
  .refine((value) => /^\d{4}-\d{2}-\d{2}$/.test(value) && !Number.isNaN(Date.parse(`${value}T00:00:00Z`)), {
    error: 'is not a day written as YYYY-MM-DD',
  })
  .meta({ format: 'date', examples: ['2030-01-31'] });

/** What a JSON Schema is told beside what JSON Schema knows, and does not show. */
export interface SchemaNotes {
  /** The value is the key of a resource of one of these kinds, as it is written there. */
  readonly refersTo?: readonly string[];
  /** It often is one of those. */
  readonly suggests?: readonly string[];
}

/**
 * The key of another resource, of one of these kinds. Whether it exists is checked once all manifests are merged.
 */
export function key(words: string, ...refersTo: readonly string[]): z.ZodType<string, string> {
  return z
    .string()
    .regex(KEY_PATTERN, { error: `is not a key (${KEY_WORDS})` })
    .meta({ description: words, refersTo } satisfies SchemaNotes & { description: string });
}

const written = z.instanceof(FileContent).meta({
  type: 'object',
  properties: {
    file: { type: 'string', description: 'A file to read, relative to this manifest', examples: ['texts/style.md'] },
  },
  required: ['file'],
  additionalProperties: false,
});

/** A text, written in place or as `{ file: path }`. */
export function textOrFile(limits: TextLimits): z.ZodType<string, string | FileContent> {
  const { example } = limits;
  const inPlace = example === undefined ? z.string() : z.string().meta({ examples: [example] });
  return z.union([inPlace, written], { error: 'must be a text, or { file: path }' }).transform((value, context) => {
    const content = typeof value === 'string' ? value : value.text;
    const message = textProblem(content, limits);
    if (message !== null) {
      context.addIssue({ code: 'custom', message });
      return z.NEVER;
    }
    return content;
  });
}

/**
 * A mapping, written in place or as `{ file: path }` to a JSON or YAML file. `shape` checks it; a problem in a file is
 * reported with the line in that file.
 */
export function objectOrFile(
  shape: z.ZodType,
): z.ZodType<Record<string, unknown>, Record<string, unknown> | FileContent> {
  return z
    .union([written, z.record(z.string(), z.unknown())], { error: 'must be a mapping, or { file: path }' })
    .transform((value, context) => {
      const parsed = value instanceof FileContent ? parseMapping(value.text) : value;
      if (parsed === null) {
        const { file } = value as FileContent;
        context.addIssue({ code: 'custom', message: `${file} does not hold a mapping in JSON or YAML` });
        return z.NEVER;
      }
      const issues = shape.safeParse(parsed).error?.issues ?? [];
      for (const { path, message, ...issue } of issues) {
        const place =
          'keys' in issue && issue.code === 'unrecognized_keys' ? [...path, ...issue.keys.slice(0, 1)] : path;
        const said = issue.code === 'unrecognized_keys' ? 'is not supported in a schema of visitor claims' : message;
        context.addIssue(
          value instanceof FileContent
            ? { code: 'custom', message: `${value.file}:${lineOf(value.text, place)}: ${place.join('.')} ${said}` }
            : { code: 'custom', message: `${place.join('.')} ${said}`, path: [...path] },
        );
      }
      return issues.length > 0 ? z.NEVER : parsed;
    });
}

/** The line of a text that a path leads to, from 1; that of the nearest that is there, where something is missing. */
function lineOf(content: string, path: readonly PropertyKey[]): number {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines });
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) {
      return lines.linePos(node.range[0]).line;
    }
  }
  return 1;
}

/** Only `{ file: path }`. */
export const fileOnly = written;

function parseMapping(content: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = parse(content, { maxAliasCount: 100 });
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Properties that every resource may have. See docs/manifests.md#on-every-resource. */
export const commonShape = {
  id: text({ min: 1, max: 255, example: 'spc_9x' })
    .optional()
    .describe('Binds the key to the resource with this id, whatever its title.'),
  renamedFrom: text({ min: 1, max: 255, example: 'Guides' })
    .optional()
    .describe('The previous title; needed only for plans without a base.'),
  protect: z
    .boolean()
    .optional()
    .describe('Prevents deletion, until a commit that sets it to `false` has been applied.'),
  paused: z
    .strictObject({
      reason: text({ min: 1, max: 500, example: 'until the launch is over' }).describe('The reason, shown in plans.'),
      until: day.optional().describe('The first day on which changes are applied again, in UTC.'),
    })
    .optional()
    .describe('Shows changes in plans but does not apply them.'),
  ignore: z
    .array(z.string())
    .meta({ examples: [['title']] })
    .optional()
    .describe('Fields that are set on create and never changed afterwards.'),
};

/** An entry of a manifest: a mapping with the members of every resource and the kind's own, and no others. */
export function entry<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject({ ...shape, ...commonShape });
}
