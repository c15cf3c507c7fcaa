import type { Change } from '../../core/change.ts';

/**
 * What a change writes, in the kind's own types: every declared field of what is created, `null` too, since the platform's
 * own default may be more than nothing; the changed fields of what is updated. The manifests' schema has checked them; the operation's schema checks the request once more.
 */
export function written<Fields extends object>(change: Change): Partial<Fields> {
  const values: Record<string, unknown> = {};
  if (change.action === 'create') {
    for (const [name, value] of Object.entries(change.declared)) {
      if (value !== undefined) {
        values[name] = value;
      }
    }
  } else {
    for (const { path } of change.fields) {
      if (change.declared[path] !== undefined) {
        values[path] = change.declared[path];
      }
    }
  }
  return values as Partial<Fields>;
}

/** Whether a request's body says anything. */
export function says(body: object): boolean {
  return Object.values(body).some((value) => value !== undefined);
}
