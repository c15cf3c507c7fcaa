/**
 * Schemas of lists and records that report only the first invalid member: a value of a few megabytes has millions of
 * members, and a problem for each of them would use up the memory.
 */
import { z } from 'zod';

/** Returns the schema of a list. */
export function listOf<T extends z.ZodType>(item: T) {
  return z.array(z.unknown()).transform((list, context) => {
    const read: z.output<T>[] = [];
    for (const [index, value] of list.entries()) {
      const { data, error } = item.safeParse(value);
      if (error !== undefined) {
        report(context, index, error);
        return z.NEVER;
      }
      read.push(data);
    }
    return read;
  });
}

/** Returns the schema of an object with members of any name. */
export function recordOf<T extends z.ZodType>(member: T) {
  return z.record(z.string(), z.unknown()).transform((members, context) => {
    const read: [string, z.output<T>][] = [];
    for (const [name, value] of Object.entries(members)) {
      const { data, error } = member.safeParse(value);
      if (error !== undefined) {
        report(context, name, error);
        return z.NEVER;
      }
      read.push([name, data]);
    }
    return Object.fromEntries(read);
  });
}

function report(context: z.RefinementCtx, place: string | number, { issues }: z.ZodError): void {
  for (const issue of issues) {
    context.addIssue({ ...issue, path: [place, ...issue.path] });
  }
}
