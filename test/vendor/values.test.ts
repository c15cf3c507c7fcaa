import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { OPERATIONS } from '../../src/emulator/families.ts';
import type { RequestNode } from '../../src/platform/operations/model/request-schema.ts';
import { allOperations } from '../../src/platform/operations/table.ts';
import { openDocument, VERSIONS, type Version } from './document.ts';
import { ownPlaces, type Place, type Places, vendorPlaces } from './values.ts';

/**
 * Values in which the embedded platform differs from the vendor's documents, and why. `takes`: it accepts
 * the value and the document does not have it; `lacks`: the other way around.
 */
const KNOWN: Readonly<Record<string, string>> = {
  '0.146 takes zh-tw': 'from 0.181 on; the embedded platform refuses it before',
  '0.146 takes require_at_least_one_approved_review': 'from 0.167 on; the embedded platform refuses it before',
  '0.146 takes require_author_to_merge': 'from 0.167 on; the embedded platform refuses it before',
  '0.146 takes system': 'from 0.181 on; the embedded platform refuses it before',
  '0.146 takes site:visitor:claims': 'from 0.201 on; the embedded platform refuses it before',
  '0.146 takes site-external-link': 'from 0.201 on; the embedded platform has no such item before',
  '0.146 takes name': 'sorting members by name, from 0.201 on; the embedded platform refuses it before',
  '0.146 takes tag': 'references to tags, from 0.167 on; the embedded platform refuses them before',
  '0.202 takes gitsync': 'a category until 0.181; a filter or a publication with it does no harm later',
};

const toJson = (schema: z.ZodType | null) =>
  schema === null ? null : (z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as RequestNode);

const shape = (path: string) => path.replace(/^\/v1(?=\/)/, '').replaceAll(/\{\w+\}/g, '{}');

const key = (method: string, path: string) => `${method} ${shape(path)}`;

/** Validators of the embedded platform, which are not made from the documents. */
const EMULATED: ReadonlyMap<string, Places> = new Map(
  OPERATIONS.map(({ method, path, query, body }) => [key(method, path), ownPlaces(toJson(query), toJson(body))]),
);

/** Validators of the client, which are made from both documents. */
const CLIENT: ReadonlyMap<string, Places> = new Map(
  allOperations().map(({ method, path, query, body }) => [
    key(method, path),
    ownPlaces(query?.json ?? null, body?.json ?? null),
  ]),
);

/** Texts that the client limits more than the vendor's documents say. Source: docs/platform-notes.md#limits */
const NARROWER = ['body.emoji', 'body.question', 'body.subject', 'body[].id', 'query.query'];

/** Boolean query parameters are text here, and booleans in the documents. */
const isFlag = (value: string) => value === 'true' || value === 'false';

function differences(own: Place, vendor: Place): readonly string[] {
  const isWithout = (place: Place) => (value: string) => !isFlag(value) && !place.values.has(value);
  const takes = vendor.isOpen || vendor.values.size === 0 ? [] : [...own.values].filter(isWithout(vendor));
  const lacks = own.isOpen || own.values.size === 0 ? [] : [...vendor.values].filter(isWithout(own));
  return [...takes.map((value) => `takes ${value}`), ...lacks.map((value) => `lacks ${value}`)];
}

interface Found {
  readonly version: Version;
  readonly what: string;
  readonly where: string;
}

function compare(version: Version): readonly Found[] {
  const document = openDocument(version);
  return document.operations.flatMap((operation) => {
    const name = key(operation.method, operation.path);
    const vendor = vendorPlaces(document, operation);
    return [...(EMULATED.get(name) ?? [])].flatMap(([place, own]) => {
      const other = vendor.get(place);
      return other === undefined || isInDocument(place)
        ? []
        : differences(own, other).map((what) => ({ version, what, where: `${name} ${place}` }));
    });
  });
}

/** Rich documents are left to the platform. */
const isInDocument = (place: string) => /\.nodes\[\]/.test(place);

describe('values in requests', () => {
  const found = VERSIONS.flatMap(compare);

  test('of the embedded platform match the vendor documents except for listed differences', () => {
    const unknown = found.filter(({ version, what }) => KNOWN[`${version} ${what}`] === undefined);
    expect(unknown.map(({ version, what, where }) => `${version} ${what} ${where}`)).toEqual([]);
  });

  test.each(Object.entries(KNOWN))('the listed difference still exists: %s (%s)', (entry) => {
    expect(found.some(({ version, what }) => `${version} ${what}` === entry)).toBe(true);
  });

  test.each(VERSIONS)('of the client include every value and length of %s', (version) => {
    const document = openDocument(version);
    let compared = 0;
    const missing = document.operations.flatMap((operation) => {
      const name = key(operation.method, operation.path);
      const own = CLIENT.get(name) ?? expect.unreachable(`${name} is not in the table`);
      return [...vendorPlaces(document, operation)].flatMap(([place, vendor]) => {
        const given = own.get(place);
        if (given === undefined || isInDocument(place)) {
          return [];
        }
        compared += 1;
        const isNarrower =
          given.isOpen &&
          !NARROWER.includes(place) &&
          ((given.minLength ?? 0) > (vendor.minLength ?? 0) ||
            (given.maxLength ?? Infinity) < (vendor.maxLength ?? Infinity));
        const lacks = differences(given, vendor).filter((what) => what.startsWith('lacks '));
        return [...lacks, ...(isNarrower ? ['is narrower'] : [])].map((what) => `${name} ${place} ${what}`);
      });
    });
    expect(missing).toEqual([]);
    expect(compared).toBeGreaterThan(500);
  });
});
