/** Collects the values that a schema allows by name, and the lengths of its texts, by their place in a request. */
import type { RequestNode } from '../../src/platform/operations/model/request-schema.ts';
import type { VendorDocument, VendorOperation } from './document.ts';
import { type Named, resolve, type Schema } from './schema.ts';

/** Accepted values of a place: named values, or any text with this number of characters. */
export interface Place {
  readonly values: ReadonlySet<string>;
  /** True if other than the named values are accepted too. */
  isOpen: boolean;
  minLength: number | undefined;
  maxLength: number | undefined;
}

export type Places = Map<string, Place>;

type Node = Schema & {
  readonly const?: unknown;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly $defs?: Named;
};

/** The places of a request of an operation in the vendor's document. */
export function vendorPlaces({ named }: VendorDocument, { parameters, requestBody }: VendorOperation): Places {
  const places: Places = new Map();
  for (const { name, in: where, schema } of parameters) {
    if (where === 'query') {
      collect(named, schema as Node, `query.${name}`, places, 0);
    }
  }
  const schema = requestBody?.content['application/json']?.schema;
  if (schema !== undefined) {
    collect(named, schema as Node, 'body', places, 0);
  }
  return places;
}

/** The places that the client or the embedded platform validates. */
export function ownPlaces(query: RequestNode | null, body: RequestNode | null): Places {
  const places: Places = new Map();
  for (const [schema, place] of [
    [query, 'query'],
    [body, 'body'],
  ] as const) {
    if (schema !== null) {
      collect({}, schema as Node, place, places, 0);
    }
  }
  return places;
}

/** Deeper places, such as those inside of rich documents, are repetitions. */
const DEEPEST = 8;

function collect(named: Named, given: Node, place: string, places: Places, depth: number): void {
  if (depth > DEEPEST) {
    return;
  }
  const node = resolve(named, given) as Node;
  for (const part of [...(node.allOf ?? []), ...(node.oneOf ?? []), ...(node.anyOf ?? [])]) {
    collect(named, part as Node, place, places, depth + 1);
  }
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    collect(named, member as Node, `${place}.${name}`, places, depth + 1);
  }
  if (node.items !== undefined) {
    collect(named, node.items as Node, `${place}[]`, places, depth + 1);
  }
  const names = node.enum ?? (node.const === undefined ? [] : [node.const]);
  const texts = names.filter((value) => typeof value === 'string');
  const isText = [node.type].flat().includes('string');
  if (texts.length > 0 || isText) {
    const known = places.get(place) ?? { values: new Set(), isOpen: false, minLength: undefined, maxLength: undefined };
    places.set(place, {
      values: new Set([...known.values, ...texts]),
      isOpen: known.isOpen || texts.length === 0,
      minLength: node.minLength ?? known.minLength,
      maxLength: node.maxLength ?? known.maxLength,
    });
  }
}
