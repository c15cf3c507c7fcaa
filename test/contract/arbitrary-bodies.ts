import fc from 'fast-check';
import { alternativesOf } from '../../src/commands/api/operations.ts';
import type { Operation } from '../../src/platform/operations/model/operation.ts';
import type { RequestNode } from '../../src/platform/operations/model/request-schema.ts';
import { document } from '../emulator/fixture.ts';

const character = fc.constantFrom('a', 'B', '7', '-', ' ', '/', 'é', '한', '😀');
const times = ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.123+02:00'];
const addresses = [
  'https://a.example',
  'http://localhost:8080/x?y=1#z',
  'https://a.example/é',
  `https://a.example/${'x'.repeat(2030)}`,
];

/** Texts of every allowed length, most of them the shortest and the longest, and ids. */
function texts({ minLength = 0, maxLength, format }: RequestNode, ids: readonly string[]): fc.Arbitrary<string> {
  if (format === 'date-time') {
    return fc.constantFrom(...times);
  }
  if (format === 'uri') {
    return fc.constantFrom(...addresses);
  }
  if (format === 'base64') {
    return fc.base64String({ maxLength: 12 });
  }
  const most = maxLength ?? 40;
  const longest = ['a', '😀'].map((one) => one.repeat(most));
  const some = fc.string({ unit: character, minLength, maxLength: Math.min(most, 60) });
  const limits = fc.constantFrom('a'.repeat(minLength), ...longest, 'petstore', 'acme.example/docs');
  return maxLength === undefined
    ? fc.oneof({ arbitrary: fc.constantFrom(...ids), weight: 9 }, some)
    : fc.oneof(limits, some);
}

function objects(node: RequestNode, ids: readonly string[]): fc.Arbitrary<unknown> {
  const members = Object.entries(node.properties ?? {}).map(([name, member]) => [name, values(member, ids)]);
  const { additionalProperties: more } = node;
  if (members.length > 0 || typeof more !== 'object') {
    return fc.record(Object.fromEntries(members), { requiredKeys: (node.required ?? []) as never[] });
  }
  return fc.dictionary(fc.constantFrom('a', 'B-b', ...ids), values(more, ids), { maxKeys: 2 });
}

function values(node: RequestNode, ids: readonly string[]): fc.Arbitrary<unknown> {
  if (node.title === 'rich document') {
    return fc.constantFrom(document('x'), { object: 'document', data: {}, nodes: [] });
  }
  const options = alternativesOf(node);
  if (options.length > 1) {
    return fc.oneof(...options.map((option) => values(option, ids)));
  }
  if (node.enum !== undefined) {
    return fc.constantFrom(...node.enum);
  }
  switch (node.type) {
    case 'null':
      return fc.constant(null);
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'number':
      return fc.integer();
    case 'string':
      return texts(node, ids);
    case 'array':
      return fc.array(values(node.items ?? {}, ids), {
        minLength: node.minItems ?? 0,
        maxLength: Math.min(node.maxItems ?? 2, 2),
      });
    case 'object':
      return objects(node, ids);
    default:
      return fc.jsonValue({ maxDepth: 1 });
  }
}

/** Bodies that the operation's schema accepts, made of these ids where texts have no limits. */
export function bodiesOf({ body }: Operation, ids: readonly string[]): fc.Arbitrary<unknown> {
  return values(body?.json ?? {}, ids).filter((each) => body?.safeParse(each).success === true);
}
