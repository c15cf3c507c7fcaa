import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AuthError, RejectedError } from '../../src/core/errors.ts';
import { operations } from '../../src/platform/operations/index.ts';
import type { Operation, PaginatedOperation } from '../../src/platform/operations/model/operation.ts';
import { beyond, documented, signature } from './documented-operations.ts';
import { type Exercise, emulated, exerciseAll, type Outcome } from './exercise.ts';
import { openStage, type Stage } from './operation-world.ts';

/* Every operation of the client, over sockets, against the embedded platform; the two share no code. */

const all = Object.values(operations) as readonly Operation[];
const table = new Map(all.map((operation) => [operation.name, signature(operation.method, operation.path)]));
let stage: Stage;
let exercised: ReadonlyMap<string, Exercise>;

beforeAll(async () => {
  stage = await openStage();
  exercised = new Map((await exerciseAll(stage)).map((exercise) => [exercise.operation.name, exercise]));
}, 60_000);
afterAll(() => stage.close());

function exerciseOf(name: string): Exercise {
  return exercised.get(name) ?? expect.unreachable(`${name} is called by no case`);
}

/** Reports whether it was answered by the expected operation, with a status in that range. */
function isAnswered({ operation: { name } }: Exercise, { answers }: Outcome, from: number, to: number): boolean {
  return answers.some(({ operation, status }) => operation === table.get(name) && inRange(status ?? 0, from, to));
}

const inRange = (value: number, from: number, to: number) => value >= from && value < to;
const isGood = (exercise: Exercise) => isAnswered(exercise, exercise.good, 200, 300);
const isBad = (exercise: Exercise) => isAnswered(exercise, exercise.bad, 400, 500);

describe.each([...table])('%s (%s)', (name, operation) => {
  test('is accepted with valid input', () => {
    const { good, case: made } = exerciseOf(name);
    expect({ error: good.error, answers: good.answers }).toMatchObject({ error: undefined, answers: [{ operation }] });
    if (made.sees === undefined) {
      expect(good.value).toBeUndefined();
    } else {
      expect(good.value).toMatchObject(made.sees(stage.ids));
    }
  });

  test('is refused with invalid input, and reports the error', () => {
    const { bad, case: made } = exerciseOf(name);
    const { status = 404 } = made;
    expect(bad.answers).toEqual([{ operation, status }]);
    expect(bad.error).toBeInstanceOf(status === 401 ? AuthError : RejectedError);
    expect(bad.error).toHaveProperty('status', status);
  });
});

const lists = all.filter((operation): operation is PaginatedOperation => operation.paginated);

test.each(lists.map((operation) => [operation.name, operation] as const))(
  '%s returns the same items in pages as in one response',
  async (name, operation) => {
    const { case: made, good } = exerciseOf(name);
    const input = made.good(stage.ids) as { readonly query?: object };
    const writer = stage.as(made.goodBy ?? 'admin');
    const items = await Array.fromAsync(writer.pages(operation, input as never));
    const { items: some } = good.value as { readonly items: readonly unknown[] };
    expect(items.slice(0, some.length)).toEqual(some);
  },
);

test('operations have distinct summaries', () => {
  const summaries = all.map(({ summary }) => summary);
  expect(summaries.filter((summary, at) => summaries.indexOf(summary) !== at)).toEqual([]);
  expect(summaries.filter((summary) => !/^[A-Z].*\.$/.test(summary) || summary.length > 100)).toEqual([]);
});

test('the document, the client, the embedded platform and these tests have the same operations', () => {
  const known = new Set(documented);
  const inDocument = (signatures: Iterable<string>) => [...signatures].filter((each) => known.has(each)).sort();
  const more = (signatures: Iterable<string>) => [...signatures].filter((each) => !known.has(each)).sort();
  const of = (pick: (exercise: Exercise) => boolean) =>
    [...exercised.values()].filter(pick).map(({ operation }) => table.get(operation.name) ?? '');
  const columns = {
    'in the document': [...documented, ...beyond.keys()],
    'in the client': [...table.values()],
    'in the embedded platform': emulated,
    'called well': of(isGood),
    'called badly': of(isBad),
  };
  const lines = Object.entries(columns).map(
    ([column, each]) => `${column}: ${inDocument(each).length} of the document, ${more(each).length} beyond it`,
  );
  const sources = Map.groupBy(beyond, ([, source]) => source);
  const counts = [...sources].map(([source, each]) => `  beyond, ${source}: ${each.length}`);
  process.stdout.write(`Operations\n  ${lines.join('\n  ')}\n${counts.join('\n')}\n`);

  for (const [column, each] of Object.entries(columns)) {
    expect({ column, operations: inDocument(each) }).toEqual({ column, operations: documented.toSorted() });
    expect({ column, operations: more(each) }).toEqual({ column, operations: [...beyond.keys()].sort() });
  }
});
