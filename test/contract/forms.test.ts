import { expect, test } from 'vitest';
import { alternativesOf } from '../../src/commands/api/operations.ts';
import { isObject } from '../../src/core/json.ts';
import { OPERATIONS } from '../../src/emulator/families.ts';
import { memberSchemas, type RequestNode } from '../../src/platform/operations/model/request-schema.ts';
import { all, callsOf, signature } from './exercise.ts';

/*
 * The embedded platform refuses the form of every request that the vendor's documents refuse: unknown, missing and unfit
 * members. The table of operations is made from the documents, and the platform's schemas are not.
 */

const platform = new Map(OPERATIONS.map((one) => [signature(one.method, `/v1${one.path}`), one]));
const calls = callsOf({});

/** Values of all types: each place accepts few of them. */
function misfits({ title, minLength = 0, maxLength = 0 }: RequestNode): readonly unknown[] {
  // Rich documents are left to the platform.
  return title === 'rich document'
    ? []
    : [[[]], {}, null, 7, true, 'unheard of', 'x'.repeat(maxLength + 1), 'x'.repeat(Math.max(minLength - 1, 0))];
}

/** Bodies with one fault, at any depth. */
function* spoiled(node: RequestNode, value: unknown): Generator<unknown> {
  yield* misfits(node);
  for (const option of alternativesOf(node)) {
    if (Array.isArray(value) && option.items !== undefined) {
      yield* [...spoiled(option.items, value[0])].map((item) => [item]);
    }
    if (isObject(value) && option.title !== 'rich document') {
      yield { ...value, unheard: 1 };
      for (const [name, member] of Object.entries(memberSchemas(option))) {
        const { [name]: own, ...rest } = value;
        yield rest;
        const others = own === undefined ? misfits(member) : [...spoiled(member, own)];
        yield* others.map((other) => ({ ...value, [name]: other }));
      }
    }
  }
}

/** Queries with one fault. Their members are texts. */
function* spoiledQueries(node: RequestNode, query: Readonly<Record<string, unknown>>): Generator<unknown> {
  yield { ...query, unheard: '1' };
  for (const [name, member] of Object.entries(memberSchemas(node))) {
    const { [name]: _, ...rest } = query;
    yield rest;
    // One value of a list is sent like a text.
    const texts = member.type === 'array' ? [] : misfits(member).filter((one) => typeof one === 'string');
    yield* texts.map((text) => ({ ...query, [name]: text }));
  }
}

/** Bodies that the operation itself checks, or that the platform accepts whatever is in them. */
const OPEN = ['ingestConversations', 'createChangeRequest'];

/** A query as it is sent. */
function asSent(query: unknown): Record<string, unknown> {
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : String(value));
  return Object.fromEntries(Object.entries(query as object).map(([name, value]) => [name, texts(value)]));
}

const withForm = all.filter(({ body, query }) => body !== null || query !== null);

test.each(withForm.map((operation) => [operation.name, operation] as const))(
  '%s is refused with a form that the documents do not have',
  (name, { method, path, body, query }) => {
    const own = platform.get(signature(method, path));
    const inputs = (calls.get(name)?.sent ?? []).filter(({ status }) => status < 300).map(({ input }) => input);
    const accepted: unknown[] = [];
    for (const input of inputs) {
      const bodies = body === null || OPEN.includes(name) ? [] : [...spoiled(body.json, input.body)];
      const given = (input.query ?? {}) as Record<string, unknown>;
      const queries = query === null ? [] : [...spoiledQueries(query.json, given)];
      accepted.push(
        ...bodies.filter((one) => !body?.safeParse(one).success && own?.body.safeParse(one).success),
        ...queries.filter((one) => !query?.safeParse(one).success && own?.query.safeParse(asSent(one)).success),
      );
    }
    expect(inputs).not.toEqual([]);
    // A member may be updated with nothing.
    expect(accepted.filter((one) => name !== 'updateMember' || JSON.stringify(one) !== '{}')).toEqual([]);
  },
);
