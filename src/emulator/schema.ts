import { z } from 'zod';
import { ApiError } from './answers.ts';
import {
  BARE_MERGE_RULES,
  EDIT_MODES,
  LANGUAGES,
  ROLES,
  SITE_VISIBILITIES,
  TEAM_ROLES,
  USER_MERGE_RULES,
} from './vocabulary.ts';

/** Text of so many Unicode code points (platform API, Limits; supplement, section 5). */
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

/** An http or https address of at most 2048 characters (supplement, section 5). */
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
export const condition = text(0, 1024);

/** `inherit`, `none`, or `rules` with its rules (platform API, Organization; supplement, section 4). */
export const mergeRules = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('inherit') }),
  z.strictObject({ type: z.literal('none') }),
  z.strictObject({
    type: z.literal('rules'),
    rules: z.array(
      z.discriminatedUnion('rule', [
        z.strictObject({ rule: z.enum(USER_MERGE_RULES), users: z.array(id) }),
        z.strictObject({ rule: z.enum(BARE_MERGE_RULES) }),
        z.strictObject({ rule: z.literal('custom'), expression: z.string() }),
      ]),
    ),
  }),
]);

/** A number in a query. */
const limit = z
  .string()
  .refine((value) => /^\d{1,4}$/.test(value) && Number(value) <= 1000, { error: 'must be a number from 0 to 1000' })
  .transform(Number);

/** A boolean in a query. */
export const flag = z.enum(['true', 'false']).transform((value) => value === 'true');

/** The query of every paginated list (platform API, Conventions). */
export const listQuery = z.strictObject({ page: z.string().optional(), limit: limit.optional() });
export type ListQuery = z.output<typeof listQuery>;

/** The query of an operation that takes none. */
export const noQuery = z.strictObject({});

/** The body of an operation that takes none: absent or empty. */
export const noBody = z.strictObject({}).optional();

/** The query of operations that visitors' share links may reach. */
export const shareQuery = z.strictObject({ shareKey: z.string().optional() });

/** One problem, the field's place first. */
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

/** The value as the schema reads it, or a 400 that names every field at fault. */
export function parse<T>(place: 'body' | 'query', schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value, { reportInput: true });
  if (result.success) {
    return result.data;
  }
  throw new ApiError(400, result.error.issues.map((issue) => describeIssue(place, issue)).join('; '));
}
