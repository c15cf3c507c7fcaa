/** Mappings of people to roles: how entries write them, and how they are read and sent. */
import { z } from 'zod';
import { isObject, type Json } from '../../core/json.ts';
import { compareText } from '../../core/lists.ts';
import { Ref } from './kind.ts';
import { emailKey, type SchemaNotes } from './schema.ts';

/** Email address of a person, for which editors offer the declared members. */
const personKey = z
  .string()
  .regex(emailKey.pattern, { error: 'is not an email address' })
  .meta({ suggests: ['member'] } satisfies SchemaNotes);

/** Schema of a mapping of people to roles. A person who is written twice has no certain role. */
export function peopleSchema<Role extends z.ZodType>(role: Role) {
  return z.record(personKey, role).superRefine((people, context) => {
    for (const [email, ...others] of Map.groupBy(Object.keys(people), (each) => each.toLowerCase()).values()) {
      for (const other of others) {
        const message = `names the same person as ${JSON.stringify(email)}, because email addresses are compared in lower case; keep one of them`;
        context.addIssue({ code: 'custom', message, path: [other] });
      }
    }
  });
}

/** Returns the roles in the value of a field, by person or other holder; none if the value is not a mapping. */
export function rolesIn(value: unknown): Readonly<Record<string, string>> {
  return isObject(value) ? (value as Record<string, string>) : {};
}

/** Reads a mapping of people as entries write it: email addresses are compared in lower case. */
export function peopleFromEntry(value: unknown): Json {
  return Object.fromEntries(Object.entries(rolesIn(value)).map(([email, role]) => [email.toLowerCase(), role]));
}

/** Returns the people of an actual mapping whom an entry can name, in order, and the number of the others. */
export function declarablePeople(value: Json | undefined) {
  const [known, unknown] = [[], []] as [[string, string][], string[]];
  for (const [person, role] of Object.entries(rolesIn(value))) {
    if (emailKey.pattern.test(person)) {
      known.push([person, role]);
    } else {
      unknown.push(person);
    }
  }
  return { known: Object.fromEntries(known.sort(([a], [b]) => compareText(a, b))), unknown: unknown.length };
}

/** Returns the name of a person in a mapping: the email address, or `#id` if the platform returns none. */
export function personIn({ id, email }: { readonly id: string; readonly email?: string | null | undefined }): string {
  return email?.toLowerCase() || `#${id}`;
}

/** Returns a reference to a person who is named as in {@link personIn}. */
export function personRef(person: string): Ref {
  return new Ref(person.startsWith('#') ? person : `member/${person}`);
}
