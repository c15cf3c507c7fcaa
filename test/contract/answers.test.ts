import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isObject } from '../../src/core/json.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Operation, StreamOperation } from '../../src/platform/operations/model/operation.ts';
import { all, type Exchange, exerciseAll, openStage, type Stage } from './exercise.ts';

/*
 * The client reads the answers of every operation leniently. The answers are those of the embedded platform.
 * Source: docs/platform-notes.md#differences-between-documents
 */

const answering = all.filter(
  ({ name, answer, streamed }) => Object.hasOwn(operations, name) && (answer !== null || streamed),
);
let stage: Stage;
let exchanges: ReadonlyMap<string, readonly Exchange[]>;

beforeAll(async () => {
  stage = await openStage();
  exchanges = await exerciseAll(stage);
}, 60_000);
afterAll(() => stage.close());

type Parsed = { readonly success: boolean; readonly data?: unknown };

function parse(operation: Operation, value: unknown): Parsed {
  if (operation.streamed) {
    const { item } = operation as StreamOperation;
    const parsed = (value as readonly unknown[]).map((event) => item.safeParse(event));
    return { success: parsed.every(({ success }) => success), data: parsed.map(({ data }) => data) };
  }
  return operation.answer?.safeParse(value) ?? expect.unreachable(`${operation.name} has no answer`);
}

/** Objects whose member names are arbitrary. */
const MAPS = new Set(['sources']);
const KEPT = { of: ['another', 1, null] };

/** Adds an unknown field to every object. */
function widened(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    return value.map((item) => widened(item));
  }
  if (!isObject(value)) {
    return value;
  }
  const wider = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, widened(item, name)]));
  return MAPS.has(key) ? wider : { ...wider, surprise: KEPT };
}

/** Replaces every text by an unknown value, except for `object`, which determines the fields. */
function reworded(value: unknown, key = ''): unknown {
  if (typeof value === 'string') {
    return key === 'object' ? value : 'unheard-of';
  }
  if (Array.isArray(value)) {
    return value.map((item) => reworded(item, key));
  }
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, item]) => [name, reworded(item, name)]))
    : value;
}

/** The value without one of its fields, for each of them; with the field's name. */
function* without(value: unknown): Generator<readonly [name: string, value: unknown]> {
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      for (const [name, less] of without(item)) {
        yield [name, value.with(at, less)];
      }
    }
  } else if (isObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      const { [key]: _, ...rest } = value;
      yield [key, rest];
      for (const [name, less] of without(item)) {
        yield [name, { ...value, [key]: less }];
      }
    }
  }
}

function answersOf(name: string): readonly unknown[] {
  const values = (exchanges.get(name) ?? []).flatMap(({ value }) => (value === undefined ? [] : [value]));
  expect(values).not.toEqual([]);
  return values;
}

describe.each(answering.map((operation) => [operation.name, operation] as const))(
  'a response of %s',
  (name, operation) => {
    test('keeps unknown members', () => {
      for (const answer of answersOf(name).map((value) => widened(value))) {
        expect(parse(operation, answer)).toMatchObject({ success: true, data: answer });
      }
    });

    test('keeps unknown enum values', () => {
      for (const answer of answersOf(name).map((value) => reworded(value))) {
        expect(parse(operation, answer)).toMatchObject({ success: true, data: answer });
      }
    });
  },
);

/**
 * Fields that an answer must have: every version of the platform requires them, and the client could not identify it
 * without them.
 */
const NEEDED = [
  ...['body', 'conversation', 'createdAt', 'destination', 'id', 'issue', 'items', 'kind', 'label', 'language'],
  ...['organization', 'pages', 'parts', 'results', 'role', 'rule', 'slug', 'source'],
  ...['space', 'status', 'structure', 'team'],
  ...['title', 'type', 'updatedAt', 'user'],
];

test('accepts a response with only its identifying members', () => {
  const needed = new Map<string, Set<string>>();
  for (const operation of answering) {
    for (const [field, answer] of answersOf(operation.name).flatMap((value) => [...without(value)])) {
      if (!parse(operation, answer).success) {
        needed.set(field, (needed.get(field) ?? new Set()).add(operation.name));
      }
    }
  }
  const fields = [...needed.keys()].sort();
  expect(fields).toEqual(NEEDED);
  // Most answers only need ids, or the items of a list.
  expect(
    [...needed]
      .filter(([, names]) => names.size > answering.length / 4)
      .map(([field]) => field)
      .sort(),
  ).toEqual(['id', 'items']);
});
