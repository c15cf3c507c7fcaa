/** Fields that several kinds have. */
import type { z } from 'zod';
import type { Field } from './field-table.ts';
import { level, role } from './schema.ts';

/** A field that grants access: plans list its changes early and with full values. */
export function access(schema: z.ZodType): Field {
  return { schema, access: true };
}

/** The title of a resource, which is empty if the platform returns none. */
export function titleField(schema: z.ZodType): Field<{ readonly title?: string | null | undefined }> {
  return { schema, read: ({ title }) => title ?? '' };
}

/** A role in the organization. Entries also state null, which makes people guests. */
export function roleField(description: string): Field {
  return { ...access(role.nullable().describe(description)), toEntry: (value = null) => value };
}

/** The role that people have when they join. */
export const defaultRole = roleField('The role of new members; `null` makes them guests.');

/** The access to content that everyone in the organization has. */
export const defaultLevel = access(
  level.describe('Default access for everyone in the organization; `null` means no access.'),
);
