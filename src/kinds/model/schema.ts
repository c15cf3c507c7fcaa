/** Schemas that the entries of several kinds share. */
import { isNode, LineCounter, parse, parseDocument } from 'yaml';
import { z } from 'zod';
import { isObject, present } from '../../core/json.ts';
import { FileContent } from './manifest.ts';

/** A key: stable, chosen by the user, used in references and addresses. */
export const KEY_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
export const KEY_WORDS = 'letters, digits, ".", "_" and "-", beginning with a letter or a digit, at most 100';
export const plainKey = { pattern: KEY_PATTERN, words: KEY_WORDS };

const EMAIL_PATTERN = /^[^\s@<>",;]+@[^\s@<>",;]+$/;
export const emailKey = { pattern: EMAIL_PATTERN, words: 'an email address' };

/** Language codes of the platform; `zh-tw` requires 0.181 or later. */
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
  /** The pattern in words, for messages. */
  readonly words?: string;
  /** Example value, for editors. */
  readonly example?: string;
  /** True for a name on one line: a platform may remove white space around it; every plan would then update it again. */
  readonly oneLine?: boolean;
}

/** White space around a text, and line breaks in it. */
const LOOSE = /^\s|\s$|[\r\n\u2028\u2029]/u;

function looseProblem(value: string): string {
  const strict = value.trim().replaceAll(/\s*[\r\n\u2028\u2029]\s*/gu, ' ');
  const where = /[\r\n\u2028\u2029]/u.test(value) ? 'has a line break' : 'begins or ends with white space';
  return strict === ''
    ? 'is only white space'
    : `${where}, which a platform may remove; write ${JSON.stringify(strict)}`;
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
  if (limits.oneLine === true && LOOSE.test(value)) {
    return looseProblem(value);
  }
  if (limits.pattern !== undefined && !limits.pattern.test(value)) {
    return `${JSON.stringify(value)} is not ${limits.words ?? `of the form ${limits.pattern.source}`}`;
  }
  return null;
}

/** Makes a check of a schema, which reports the problem that a function finds in a text. */
export function reporting(problemOf: (value: string) => string | null) {
  return (value: string, context: z.core.$RefinementCtx): void => {
    const message = problemOf(value);
    if (message !== null) {
      context.addIssue({ code: 'custom', message });
    }
  };
}

/** Schema of a string with limits in Unicode code points. */
export function text(limits: TextLimits): z.ZodType<string, string> {
  return z
    .string()
    .superRefine(reporting((value) => textProblem(value, limits)))
    .meta(
      present({
        minLength: limits.min,
        maxLength: limits.max,
        pattern: limits.pattern?.source,
        examples: limits.example === undefined ? undefined : [limits.example],
      }),
    );
}

/** Longest URL, in bytes. Source: docs/platform-notes.md#limits */
const MAX_URL_LENGTH = 2048;

/** Schema of a name: a string on one line, without white space around it. */
export function line(limits: Omit<TextLimits, 'oneLine'>): z.ZodType<string, string> {
  return text({ ...limits, oneLine: true });
}

/** Schema of an HTTP(S) URL; `example` is for editors. */
export function url(example?: string): z.ZodType<string, string> {
  return z
    .string()
    .superRefine(reporting(urlProblem))
    .meta({ format: 'uri', maxLength: MAX_URL_LENGTH, ...(example === undefined ? {} : { examples: [example] }) });
}

function urlProblem(value: string): string | null {
  const isUrl = /^https?:$/.test(URL.parse(value)?.protocol ?? '');
  return (
    textProblem(value, { max: MAX_URL_LENGTH }) ??
    (isUrl ? null : `${JSON.stringify(value)} is not an address that begins with https:// or http://`)
  );
}

/** Schema of a date, as YYYY-MM-DD. */
const day = z
  .string()
  .refine((value) => /^\d{4}-\d{2}-\d{2}$/.test(value), {
    error: 'is not a date in the form YYYY-MM-DD, such as 2030-01-31',
    abort: true,
  })
  .refine(isCalendarDay, { error: 'is not a day of the calendar; write one that exists, such as 2030-01-31' })
  .meta({ format: 'date', examples: ['2030-01-31'] });

/** False for days such as 2030-02-30, which JavaScript reads as 2 March. */
function isCalendarDay(day: string): boolean {
  const time = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}

/** Internal notes on a schema, which the generated JSON Schema does not contain. */
export interface SchemaNotes {
  /** Kinds that the value refers to; it must be the key of such a resource. */
  readonly refersTo?: readonly string[];
  /** Kinds whose keys editors offer; other values are allowed. */
  readonly suggests?: readonly string[];
}

/** Schema of a key of another resource, of one of these kinds. It is resolved after all manifests are merged. */
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

/** Schema of a string, written inline or as `{ file: path }`. */
export function textOrFile(limits: TextLimits): z.ZodType<string, string | FileContent> {
  const { example } = limits;
  const inPlace = example === undefined ? z.string() : z.string().meta({ examples: [example] });
  return z.union([inPlace, written], { error: 'must be a string, or { file: path }' }).transform((value, context) => {
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
 * Schema of a mapping, written inline or as `{ file: path }` of a JSON or YAML file. `shape` validates it. A problem in
 * a file is reported with its line in that file.
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
      const problems = problemsIn(shape, parsed, 'is not supported in a schema of visitor claims');
      for (const { place, path, problem } of problems) {
        context.addIssue(
          value instanceof FileContent
            ? { code: 'custom', message: `${value.file}:${lineOf(value.text, place)}: ${place.join('.')} ${problem}` }
            : { code: 'custom', message: `${place.join('.')} ${problem}`, path: [...path] },
        );
      }
      return problems.length > 0 ? z.NEVER : parsed;
    });
}

/** Schema of a mapping like `shape`, in the entry or as `{ file: path }` of a JSON or YAML file, which others can share. */
export function mappingOrFile(shape: z.ZodType): z.ZodType {
  return z.union([written, shape]).transform((value, context) => {
    if (!(value instanceof FileContent)) {
      return value;
    }
    const parsed = parseMapping(value.text);
    const problems = parsed === null ? [] : problemsIn(shape, parsed, 'is not a known field');
    if (parsed === null) {
      context.addIssue({ code: 'custom', message: `${value.file} does not hold a mapping in JSON or YAML` });
    }
    for (const { place, problem } of problems) {
      const at = `${value.file}:${lineOf(value.text, place)}`;
      context.addIssue({ code: 'custom', message: `${at}: ${place.join('.')} ${problem}` });
    }
    return parsed === null || problems.length > 0 ? z.NEVER : parsed;
  });
}

/** Returns the problems of a value, each with its place: that of an unknown member includes the member. */
function problemsIn(shape: z.ZodType, value: unknown, unknown: string) {
  const issues = shape.safeParse(value).error?.issues ?? [];
  return issues.map(({ path, message, ...issue }) => {
    const keys = 'keys' in issue && issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : null;
    return { path, place: [...path, ...(keys ?? [])], problem: keys === null ? message : unknown };
  });
}

/** Returns the line of a path in a text, counted from 1; the line of its nearest existing parent if it is missing. */
export function lineOf(content: string, path: readonly PropertyKey[]): number {
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

/** Schema that accepts only `{ file: path }`. */
export const fileOnly = written;

function parseMapping(content: string): Record<string, unknown> | null {
  try {
    const parsed: unknown = parse(content, { maxAliasCount: 100 });
    return isObject(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** Properties that every resource may have. See docs/manifests.md#fields-of-every-resource. */
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

/** Schema of an entry: a mapping with the kind's own fields and the common fields, and no others. */
export function entry<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  return z.strictObject({ ...shape, ...commonShape });
}
