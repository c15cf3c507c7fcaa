import { expect, test } from 'vitest';
import * as z from 'zod';
import { OPERATIONS } from '../../src/emulator/families.ts';
import type { RequestNode } from '../../src/platform/operations/model/request-schema.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { signature } from './exercise.ts';

/* The embedded platform accepts the named values of the vendor's documents in each place, and no others. */

/** Accepted values of a place in a request. */
interface Place {
  readonly values: Set<string>;
  /** True if other than the named values are accepted too. */
  isOpen: boolean;
}

type Node = RequestNode & {
  readonly const?: unknown;
  readonly oneOf?: readonly Node[];
  readonly allOf?: readonly Node[];
};

function collect(node: Node, place: string, places: Map<string, Place>): void {
  // Rich documents are left to the platform.
  if (place.includes('.nodes[]')) {
    return;
  }
  for (const part of [...(node.allOf ?? []), ...(node.oneOf ?? []), ...(node.anyOf ?? [])]) {
    collect(part, place, places);
  }
  for (const [name, member] of Object.entries(node.properties ?? {})) {
    collect(member, `${place}.${name}`, places);
  }
  if (node.items !== undefined) {
    collect(node.items, `${place}[]`, places);
  }
  const texts = (node.enum ?? [node.const]).filter((value) => typeof value === 'string');
  if (texts.length > 0 || [node.type].flat().includes('string')) {
    const known = places.get(place) ?? { values: new Set(), isOpen: false };
    for (const text of texts) {
      known.values.add(text);
    }
    known.isOpen ||= texts.length === 0;
    places.set(place, known);
  }
}

function placesOf(query: Node | undefined, body: Node | undefined): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  collect(query ?? {}, 'query', places);
  collect(body ?? {}, 'body', places);
  return places;
}

const toJson = (schema: z.ZodType | null) =>
  schema === null ? undefined : (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Node);

/** Boolean query parameters are text in the embedded platform. */
const isFlag = (value: string) => value === 'true' || value === 'false';

/** The documents disagree on it. */
const DISPUTED = 'PATCH /v1/orgs/{} body.mergeRules.type inherit';

test('the embedded platform has the named values of the documents', () => {
  const documented = new Map(
    allOperations().map(({ method, path, query, body }) => [
      signature(method, path),
      placesOf(query?.json, body?.json),
    ]),
  );
  const found = OPERATIONS.flatMap((operation) => {
    const name = signature(operation.method, `/v1${operation.path}`);
    const places = documented.get(name) ?? expect.unreachable(name);
    return [...placesOf(toJson(operation.query), toJson(operation.body))].flatMap(([place, own]) => {
      const other = places.get(place);
      if (other === undefined) {
        return [];
      }
      const takes = other.isOpen ? [] : own.values.difference(other.values);
      const lacks = own.isOpen ? [] : other.values.difference(own.values);
      return [...takes, ...lacks].filter((value) => !isFlag(value)).map((value) => `${name} ${place} ${value}`);
    });
  });
  expect(found).toEqual([DISPUTED]);
});
