import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import { FileContent, Reference, type WrittenFields } from '../../kinds/model/manifest.ts';

/**
 * Plain data of written fields: absent members are dropped, references become addresses. `lookUp` is not asked where
 * there are no references.
 */
export function plainFields(
  fields: WrittenFields,
  lookUp: (reference: Reference) => Address | null = () => null,
): Fields {
  return (isPlain(fields) ? fields : plain(fields, lookUp)) as Fields;
}

/** Whether there is nothing to drop or to replace (data as it was converted has no prototype), as mostly there is not: then no copy is made. */
function isPlain(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) {
    return value !== undefined;
  }
  const special = value instanceof Reference || value instanceof FileContent || Object.getPrototypeOf(value) === null;
  return !special && Object.values(value).every(isPlain);
}

function plain(value: unknown, lookUp: (reference: Reference) => Address | null): Json {
  if (value instanceof Reference) {
    return lookUp(value);
  }
  if (value instanceof FileContent) {
    // In data that the kind's schema does not look into, such as a JSON schema, the text is the value.
    return value.text;
  }
  if (Array.isArray(value)) {
    return value.map((item) => plain(item, lookUp));
  }
  if (typeof value !== 'object' || value === null) {
    return value as Json;
  }
  const object: Record<string, Json> = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined) {
      setMember(object, key, plain(member, lookUp));
    }
  }
  return object;
}

/** Sets an own member, also one that is called `__proto__`, as a named JSON file may have it. */
function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
