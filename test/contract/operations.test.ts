import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuthError, RejectedError } from '../../src/core/errors.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { PaginatedOperation } from '../../src/platform/operations/model/operation.ts';
import {
  all,
  type Call,
  call,
  callsOf,
  type Exchange,
  emulated,
  exerciseAll,
  openStage,
  type Stage,
  signature,
} from './exercise.ts';

/* Every operation of the client, over sockets, against the embedded platform; the two share no code. */

const table = new Map(all.map((operation) => [operation.name, signature(operation.method, operation.path)]));
let stage: Stage;
let exchanges: ReadonlyMap<string, readonly Exchange[]>;

beforeAll(async () => {
  stage = await openStage();
  exchanges = await exerciseAll(stage);
}, 60_000);
afterAll(() => stage.close());

/** Query parameters that the client has no use for. */
const UNUSED: Readonly<Record<string, (query: unknown) => boolean>> = {
  getSiteCustomization: (query) => Object.hasOwn(query as object, 'unmasked'),
  listChangeRequestReviews: (query) => Object.hasOwn(query as object, 'outdated'),
};

const isGood = ({ status }: Call) => status < 300;
const some = (name: string, is: (exchange: Exchange) => boolean) => (exchanges.get(name) ?? []).filter(is);

describe.each(all.map((operation) => [operation.name, operation] as const))('%s', (name, operation) => {
  const signed = table.get(name) ?? '';

  test('is accepted with valid input', () => {
    for (const { input, status, says, error, value, answers } of some(name, isGood)) {
      expect({ input, error, answers }).toEqual({ input, error: undefined, answers: [{ operation: signed, status }] });
      if (operation.answer === null && !operation.streamed) {
        expect(value).toBeUndefined();
      } else {
        expect(value).toMatchObject(says ?? {});
      }
    }
  });

  test('reports the error when it is refused', async () => {
    for (const { input, status, error, answers } of some(name, (exchange) => !isGood(exchange))) {
      expect({ input, answers }).toEqual({ input, answers: [{ operation: signed, status }] });
      expect(error).toBeInstanceOf(status === 403 ? AuthError : RejectedError);
      expect(error).toHaveProperty('status', status);
    }
    await expect(call(stage.stranger, operation, some(name, isGood)[0]?.input ?? {})).rejects.toThrow(AuthError);
  });

  test('is sent with everything that the platform accepts', () => {
    const unsent = (callsOf(stage.ids).get(name)?.unsent ?? []).filter(isGood);
    expect(unsent.filter(({ input }) => UNUSED[name]?.(input.query) !== true)).toEqual([]);
  });
});

const lists = all.filter((operation): operation is PaginatedOperation => operation.paginated);

test.each(lists.map((operation) => [operation.name, operation] as const))(
  '%s returns the same items in pages as in one response',
  async (name, operation) => {
    for (const { input, value } of some(name, isGood)) {
      const items = await Array.fromAsync(stage.writer.pages(operation, input as never));
      const { items: first } = value as { readonly items: readonly unknown[] };
      expect(items.slice(0, first.length)).toEqual(first);
    }
  },
);

test('every operation of the embedded platform is in the table, and every one that code calls is in both', () => {
  expect([...table.values()].toSorted()).toEqual(emulated.toSorted());
  expect(Object.keys(operations).filter((name) => !table.has(name))).toEqual([]);
  expect([...table.keys()].filter((name) => some(name, isGood).length === 0)).toEqual([]);
});
