/** Fields that several kinds have. */
import type { z } from 'zod';
import { WHOLE_ORGANIZATION } from '../../core/change.ts';
import type { AccessRule } from '../../plan/model/rules.ts';
import type { Field } from './field-table.ts';
import { level, role } from './schema.ts';

/** A field that grants access: plans list its changes early and with full values. */
export function access(schema: z.ZodType, rule: AccessRule): Field {
  return { schema, access: rule };
}

/** Access whose plan lines come from the rule of another field, or from the list of people. */
export const listedElsewhere: AccessRule = () => [];

/** Limits a rule to updates and moves: a new or deleted resource has no access that this field alone would give. */
export function ofExisting(rule: AccessRule): AccessRule {
  return (state) => (state.action === 'create' || state.action === 'delete' ? [] : rule(state));
}

/** The title of a resource, which is empty if the platform returns none. */
export function titleField(schema: z.ZodType): Field<{ readonly title?: string | null | undefined }> {
  return { schema, read: ({ title }) => title ?? '' };
}

/** A role in the organization. Entries also state null, which makes people guests. */
export function roleField(description: string, rule: AccessRule): Field {
  return { ...access(role.nullable().describe(description), rule), toEntry: (value = null) => value };
}

/** The role that people have when they join. `who`: those who join. */
export function defaultRole(who: (address: string) => string): Field {
  return roleField('The role of new members; `null` makes them guests.', ({ address, fields }) =>
    fields.defaultRole === undefined
      ? []
      : [{ who: who(address), role: String(fields.defaultRole ?? 'guest'), to: WHOLE_ORGANIZATION }],
  );
}

/** The access to content that everyone in the organization has. */
export const defaultLevel = access(
  level.describe('Default access for everyone in the organization; `null` means no access.'),
  ({ fields: { defaultLevel: given } }) =>
    given == null
      ? []
      : [{ who: 'everyone in the organization', role: given === 'inherit' ? 'as its parent allows' : String(given) }],
);

/** The parent: people who can use its content get the same access to what is in it. */
export const parentAccess = (field: string): AccessRule =>
  ofExisting(({ fields }) =>
    typeof fields[field] === 'string'
      ? [{ who: `everyone who has access to ${fields[field]}`, role: 'inherited' }]
      : [],
  );

/** A setting of an identity provider: a change of it decides whose sign-ins are trusted. */
export const trusts = (field: string): AccessRule =>
  ofExisting(({ address, fields }) => [
    {
      who: signsIn(address),
      // Quoted, so that no value looks like another line about access.
      role: `${field} ${fields[field] == null ? 'none' : JSON.stringify(fields[field])}`,
      to: WHOLE_ORGANIZATION,
    },
  ]);

/** The people who sign in through an identity provider. */
export const signsIn = (address: string): string => `everyone who signs in through ${address}`;
