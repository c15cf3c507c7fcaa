/** Merge rules, a field of spaces and organizations. */
import { z } from 'zod';
import type { Address } from '../../core/address.ts';
import { isObject, type Json, type JsonObject } from '../../core/json.ts';
import { type Actual, idRef } from '../../core/resource.ts';
import { type Field, ofExisting } from './field-table.ts';
import { ref } from './kind.ts';
import type { DescribeContext } from './manifest.ts';
import { emailKey, type SchemaNotes, text } from './schema.ts';

const WITH_USERS = ['require_specific_reviewers', 'require_one_of_specific_reviewers', 'allow_bypass'] as const;
const BARE = [
  'require_at_least_one_review',
  'require_all_reviews_approved',
  'require_agent_review',
  'require_up_to_date_change_request',
  'require_change_request_subject',
  'require_change_request_description',
  // Platform 0.167 and later.
  'require_at_least_one_approved_review',
  'require_author_to_merge',
] as const;

const email = z
  .string()
  .regex(emailKey.pattern, { error: 'is not an email address' })
  .meta({ suggests: ['member'], examples: ['ana@acme.example'] } satisfies SchemaNotes & { examples: string[] })
  .transform((address) => address.toLowerCase());

const rule = z
  .strictObject({
    rule: z.enum([...WITH_USERS, ...BARE, 'custom']).describe('Conditions for merging a change request.'),
    users: z.array(email).optional().describe('Email addresses, for rules that name people.'),
    expression: text({ min: 1, max: 1024 }).optional().describe('The condition, for `custom`.'),
  })
  .superRefine((value, context) => {
    const named = (WITH_USERS as readonly string[]).includes(value.rule);
    if (named !== (value.users !== undefined)) {
      const message = named ? `${value.rule} needs users` : `${value.rule} takes no users`;
      context.addIssue({ code: 'custom', message, path: ['users'] });
    }
    if ((value.rule === 'custom') !== (value.expression !== undefined)) {
      const message = value.rule === 'custom' ? 'custom needs an expression' : `${value.rule} takes no expression`;
      context.addIssue({ code: 'custom', message, path: ['expression'] });
    }
  });

/** Merge rules as manifests declare them, with people by email address. Source: docs/platform-notes.md#merge-rules */
const mergeRules = z
  .strictObject({
    type: z.enum(['inherit', 'none', 'rules']).describe('`rules` applies the rules in `rules`.'),
    rules: z.array(rule).optional().describe('The rules, for `type: rules`.'),
  })
  .superRefine((value, context) => {
    if ((value.type === 'rules') !== (value.rules !== undefined)) {
      const message = value.type === 'rules' ? 'type: rules needs rules' : `type: ${value.type} takes no rules`;
      context.addIssue({ code: 'custom', message, path: ['rules'] });
    }
  });

/** Returns rules with each list of people converted; any other value as it is. */
function mapUsers(value: Json | undefined, convert: (users: readonly Json[]) => Json): Json | undefined {
  if (!isObject(value) || !Array.isArray(value.rules)) {
    return value;
  }
  const rules = (value.rules as readonly Json[]).map((rule) =>
    isObject(rule) && Array.isArray(rule.users) ? ({ ...rule, users: convert(rule.users) } as Json) : rule,
  );
  return { ...(value as JsonObject), rules };
}

/**
 * Returns rules as written in a manifest; undefined if there are none, if they are the default of a space, or if they name
 * a person without an email.
 */
function describedMergeRules(actual: Actual, rules: Json | undefined, context: DescribeContext): unknown {
  if (!isObject(rules) || (rules.type === 'inherit' && actual.kind === 'space')) {
    return undefined;
  }
  let isUnknown = false;
  const described = mapUsers(rules as JsonObject, (users) => {
    const emails = users.map((user) => context.keyOfRef(user));
    isUnknown ||= emails.includes(null);
    return emails.sort();
  });
  if (isUnknown) {
    context.note(
      actual,
      'mergeRules: omitted, because they name a person for whom the platform returns no email address',
    );
    return undefined;
  }
  return described;
}

interface ReadRules {
  readonly type: string;
  readonly rules?: readonly { readonly rule: string; readonly users?: readonly string[] | null }[] | null;
}

/** Returns actual rules in normal form, with people as references by id. */
function actualMergeRules(rules: ReadRules | null | undefined): Json {
  if (!rules) {
    return null;
  }
  const list = (rules.rules ?? []).map(({ users, ...rest }) => ({
    ...rest,
    ...(users ? { users: users.map((id) => idRef(id, 'member')) } : {}),
  }));
  return { type: rules.type, ...(rules.type === 'rules' ? { rules: list } : {}) };
}

/** Returns the addresses of the people that rules name. */
function peopleIn(rules: Json): readonly Address[] {
  const list = isObject(rules) && Array.isArray(rules.rules) ? (rules.rules as readonly Json[]) : [];
  return list.flatMap((rule) => (isObject(rule) && Array.isArray(rule.users) ? (rule.users as string[]) : []));
}

/** `merge if require_agent_review`. */
function conditionsOf(rules: Json | undefined): string {
  if (!isObject(rules) || rules.type === 'none') {
    return 'merge without conditions';
  }
  if (!Array.isArray(rules.rules)) {
    return 'merge as the organization allows';
  }
  const words = (rules.rules as readonly { rule: string; users?: readonly string[]; expression?: string }[]).map(
    ({ rule: name, users = [], expression }) =>
      [
        name,
        ...users.map((user) => user.slice(user.indexOf('/') + 1)),
        ...(expression === undefined ? [] : [JSON.stringify(expression)]),
      ].join(' '),
  );
  return words.length === 0 ? 'merge without conditions' : `merge under ${words.join(' and ')}`;
}

/** Defines the field `mergeRules` of a space or an organization. */
export function mergeRulesField(
  description = 'Conditions for merging a change request.',
): Field<{ readonly mergeRules?: ReadRules | null }> {
  return {
    schema: mergeRules.describe(description),
    access: ofExisting(({ fields }) => [
      { who: 'everyone who merges change requests', role: conditionsOf(fields.mergeRules) },
    ]),
    references: peopleIn,
    // The order of people has no meaning.
    normalize: (value) => mapUsers(value, (users) => (users as string[]).toSorted()) ?? null,
    read: (item) => actualMergeRules(item.mergeRules),
    fromEntry: (value) => mapUsers(value as Json, (users) => users.map((user) => `member/${user}`)),
    toEntry: (value, context, actual) => describedMergeRules(actual, value, context),
    toParameter: (value) => (value === null ? undefined : mapUsers(value, (users) => users.map(ref) as never)),
  };
}
