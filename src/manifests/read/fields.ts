import type { Address } from '../../core/address.ts';
import type { Json } from '../../core/json.ts';
import type { Fields } from '../../core/resource.ts';
import { FileContent, Reference, type WrittenFields } from '../../kinds/model/manifest.ts';

/**
 * Converts written fields to plain data: undefined members are dropped, and references become addresses. `lookUp` is
 * called only for references.
 */
export function plainFields(
  fields: WrittenFields,
  lookUp: (reference: Reference) => Address | null = () => null,
): Fields {
  return (isPlain(fields) ? fields : plain(fields, lookUp)) as Fields;
}

/** Reports whether the value needs no copy, the usual case. Objects from the parser have no prototype. */
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
    // In data that the kind's schema does not inspect, such as a JSON schema, the text is the value.
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

/** Sets an own member, even one named `__proto__`, which a referenced JSON file may contain. */
function setMember(object: Record<string, Json>, key: string, value: Json): void {
  if (key === '__proto__') {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}
