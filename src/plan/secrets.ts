/** Secrets that declared resources name: where they would be sent, and whether their values have changed. */
import type { Address } from '../core/address.ts';
import type { FieldChange } from '../core/change.ts';
import type { Problem } from '../core/errors.ts';
import { isObject, type Json, type JsonObject, present } from '../core/json.ts';
import { enumerated } from '../core/lists.ts';
import { type ManifestSecrets, secretNames } from '../core/manifest-secrets.ts';
import type { BaseEntry, Declared, Fields } from '../core/resource.ts';
import type { KindRules } from './rules.ts';

/** Returns every text in a value. */
function textsIn(value: Json | undefined): readonly string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return isObject(value) || Array.isArray(value) ? Object.values(value as JsonObject).flatMap(textsIn) : [];
}

/** Returns the names of the secrets that the fields of a resource refer to, once each. */
function secretsOf(kind: Pick<KindRules, 'fields'>, fields: Fields): readonly string[] {
  const holding = Object.keys(kind.fields).filter((name) => kind.fields[name]?.secrets !== undefined);
  return [...new Set(holding.flatMap((name) => textsIn(fields[name]).flatMap(secretNames)))];
}

/** Returns a problem for each secret that would be sent to an address that the configuration does not allow for it. */
export function secretProblems(
  kinds: readonly KindRules[],
  declared: ReadonlyMap<Address, Declared>,
  secrets: ManifestSecrets,
): Problem[] {
  const holding = new Map(
    kinds
      .filter(({ fields }) => Object.values(fields).some(({ secrets: held }) => held !== undefined))
      .map((kind) => [kind.name, kind]),
  );
  return [...declared.values()].flatMap(({ kind: name, address, fields, source }) => {
    const kind = holding.get(name);
    const fieldsOf = Object.entries(kind?.fields ?? {});
    return fieldsOf.flatMap(([field, { secrets: held }]) =>
      held === undefined
        ? []
        : [...new Set(textsIn(fields[field]).flatMap(secretNames))].flatMap((secret) => {
            const message = secrets.refusal(secret, String(fields[held.sentTo] ?? ''));
            return message === null ? [] : [{ ...source, address, message: `${field}: ${message}` }];
          }),
    );
  });
}

/**
 * Returns a change for each secret whose value is not the one that was last applied. Only a record knows which that was:
 * a base from git and a resource that was adopted have none.
 */
export function changedSecrets(
  kind: KindRules,
  { fields, ignore }: Declared,
  base: BaseEntry | null,
  secrets: ManifestSecrets,
): readonly FieldChange[] {
  const applied = base?.metadata.secrets;
  if (!isObject(applied)) {
    return [];
  }
  const compared = Object.fromEntries(Object.entries(fields).filter(([name]) => !ignore.includes(name)));
  return secretsOf(kind, compared).flatMap((name) => {
    const digest = secrets.digest(name);
    return digest === null || applied[name] === digest ? [] : [{ path: `secret ${name}`, to: 'changed' }];
  });
}

/** Returns a note, at the first resource, about the secrets whose values this process does not have. */
export function missingSecrets(
  kinds: readonly KindRules[],
  declared: Iterable<Declared>,
  secrets: ManifestSecrets,
): readonly { readonly address: Address; readonly text: string }[] {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const missing = new Map<string, Address>();
  for (const { kind, address, fields } of declared) {
    for (const name of secretsOf(byName.get(kind) ?? { fields: {} }, fields)) {
      if (secrets.digest(name) === null && !missing.has(name)) {
        missing.set(name, address);
      }
    }
  }
  const [first] = missing.values();
  const names = enumerated([...missing.keys()]);
  const text = `no value here for the secret ${names}: it is not known whether it changed, and only a process that has it can apply it`;
  return first === undefined ? [] : [{ address: first, text }];
}

/** Returns what to record about the secrets of a resource: their digests if they were sent, or else what is known. */
export function recordedSecrets(
  kind: KindRules,
  { fields }: Declared,
  known: JsonObject,
  wasSent: boolean,
  secrets: ManifestSecrets,
): JsonObject {
  const names = secretsOf(kind, fields);
  const { secrets: before = {}, ...rest } = known;
  const digests = Object.fromEntries(names.map((name) => [name, secrets.digest(name) ?? undefined]));
  return names.length === 0 ? rest : { ...rest, secrets: wasSent ? present(digests) : before };
}
