import { describe, expect, test } from 'vitest';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Operation } from '../../src/platform/operations/model/operation.ts';
import { openDocument, VERSIONS, type Version } from './document.ts';
import { ownPlaces, type Place, type Places, vendorPlaces } from './values.ts';

/**
 * Values in which the client or the embedded platform differs from the vendor's documents, and why. `takes`: it accepts
 * the value and the document does not have it; `lacks`: the other way around.
 */
const KNOWN: Readonly<Record<string, string>> = {
  '0.146 takes inherit': 'merge rules of an organization: the documents disagree, so the platform decides',
  '0.202 takes inherit': 'merge rules of an organization: the documents disagree, so the platform decides',
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

const shape = (path: string) => path.replace(/^\/v1(?=\/)/, '').replaceAll(/\{\w+\}/g, '{}');

/** Validators of requests, by method and path. */
const CHECKS: Readonly<Record<string, ReadonlyMap<string, Places>>> = {
  client: new Map(
    Object.values<Operation>(operations).map(({ method, path, query, body }) => [
      `${method} ${shape(path)}`,
      ownPlaces(query, body),
    ]),
  ),
  'embedded platform': new Map(
    OPERATIONS.map(({ method, path, query, body }) => [`${method} ${shape(path)}`, ownPlaces(query, body)]),
  ),
};

/** Texts that the platform limits more than the vendor's documents say. Source: docs/platform-notes.md#limits */
const NARROWER = ['body.emoji', 'body.question', 'body.subject', 'body[].id', 'query.blockDomain', 'query.query'];

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
    const vendor = vendorPlaces(document, operation);
    const name = `${operation.method} ${shape(operation.path)}`;
    return Object.entries(CHECKS).flatMap(([side, checks]) =>
      [...(checks.get(name) ?? [])].flatMap(([place, own]) => {
        const other = vendor.get(place);
        return other === undefined || /\.nodes\[\]/.test(place)
          ? []
          : differences(own, other).map((what) => ({ version, what, where: `${side}: ${name} ${place}` }));
      }),
    );
  });
}

describe('values in requests', () => {
  const found = VERSIONS.flatMap(compare);

  test('match the vendor documents except for listed differences', () => {
    const unknown = found.filter(({ version, what }) => KNOWN[`${version} ${what}`] === undefined);
    expect(unknown.map(({ version, what, where }) => `${version} ${what} ${where}`)).toEqual([]);
  });

  test.each(Object.entries(KNOWN))('the listed difference still exists: %s (%s)', (entry) => {
    expect(found.some(({ version, what }) => `${version} ${what}` === entry)).toBe(true);
  });

  test('are compared for many fields', () => {
    const document = openDocument('0.202');
    const places = document.operations.flatMap((operation) => {
      const own = CHECKS.client?.get(`${operation.method} ${shape(operation.path)}`);
      return [...vendorPlaces(document, operation)].filter(([place, { values }]) => own?.has(place) && values.size > 0);
    });
    expect(places.length).toBeGreaterThan(50);
  });

  test.each(VERSIONS)('texts have the lengths of %s', (version) => {
    const document = openDocument(version);
    const wrong = document.operations.flatMap((operation) => {
      const name = `${operation.method} ${shape(operation.path)}`;
      const own = CHECKS.client?.get(name);
      return [...vendorPlaces(document, operation)].flatMap(
        ([place, { isOpen, minLength = 0, maxLength = Infinity }]) => {
          const given = own?.get(place);
          const [least, most] = [given?.minLength ?? 0, given?.maxLength ?? Infinity];
          const isWider = least < minLength || most > maxLength;
          const isNarrower = isOpen && !NARROWER.includes(place) && (least > minLength || most < maxLength);
          return given?.isOpen === true && (isWider || isNarrower) && !/\.nodes\[\]/.test(place)
            ? [`${name} ${place}: ${minLength} to ${maxLength}`]
            : [];
        },
      );
    });
    expect(wrong).toEqual([]);
  });
});
