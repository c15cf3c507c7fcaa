import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Graph } from '../../src/plan/graph.ts';

type Strength = 'require' | 'requireIfAcyclic' | 'prefer';
type Edge = readonly [node: number, before: number, strength: Strength];

const COUNT = 9;
const NAMES = Array.from({ length: COUNT }, (_, index) => `n${index}`);
const node = fc.nat({ max: COUNT - 1 });
const optional = fc.tuple(node, node, fc.constantFrom<Strength>('requireIfAcyclic', 'prefer'));
/** Checks that required edges are not part of a cycle: they point to smaller numbers. */
const required = fc
  .tuple(node, node)
  .filter(([a, b]) => a !== b)
  .map(([a, b]): Edge => [Math.max(a, b), Math.min(a, b), 'require']);
const edges = fc.array(fc.oneof({ weight: 3, arbitrary: optional }, { weight: 1, arbitrary: required }), {
  maxLength: 40,
});

function build(list: readonly Edge[], visits?: number): Graph {
  const graph = new Graph(NAMES, visits);
  for (const [from, to, strength] of list) {
    graph[strength](`n${from}`, `n${to}`);
  }
  return graph;
}

/** Adds required edges first, then the others in turn; an edge that would close a cycle is rejected. */
function oneByOne(list: readonly Edge[]): readonly Edge[] {
  const kept: Edge[] = list.filter(([, , strength]) => strength === 'require');
  const reaches = (from: number, to: number, seen = new Set<number>()): boolean =>
    from === to ||
    (!seen.has(from) && seen.add(from) !== undefined && kept.some(([a, b]) => a === from && reaches(b, to, seen)));
  for (const edge of list) {
    if (edge[2] !== 'require' && !reaches(edge[1], edge[0])) {
      kept.push(edge);
    }
  }
  return kept;
}

const pairs = (map: ReadonlyMap<string, readonly string[]>) =>
  [...map].flatMap(([name, before]) => before.map((each) => `${name} ${each}`)).toSorted();

test('keeps the same edges as checking each one in turn', () => {
  fc.assert(
    fc.property(edges, (list) => {
      const { hard, soft } = build(list, Number.POSITIVE_INFINITY).settle();
      const kept = oneByOne(list);
      const expected = (isHard: boolean) => [
        ...new Set(kept.filter(([, , strength]) => (strength === 'prefer') !== isHard).map(([a, b]) => `n${a} n${b}`)),
      ];
      expect(pairs(hard)).toEqual(expected(true).toSorted());
      expect(pairs(soft)).toEqual(expected(false).toSorted());
    }),
    { numRuns: 2000 },
  );
});

test('keeps all required edges without a cycle when no visits are left', () => {
  fc.assert(
    fc.property(edges, fc.nat({ max: 10 }), (list, visits) => {
      const { hard, soft, sequence } = build(list, visits).settle();
      const place = new Map(sequence.map((name, index) => [name, index]));
      expect(place.size).toBe(COUNT);
      for (const map of [hard, soft]) {
        for (const [name, before] of map) {
          expect(before.every((each) => (place.get(each) ?? 0) < (place.get(name) ?? 0))).toBe(true);
        }
      }
      const wanted = list.filter(([, , strength]) => strength === 'require').map(([a, b]) => `n${a} n${b}`);
      expect(pairs(hard)).toEqual(expect.arrayContaining(wanted));
    }),
    { numRuns: 2000 },
  );
});

test('keeps an edge that is on no cycle, also when no visits are left for the cycles', () => {
  const graph = build(
    [
      [2, 3, 'prefer'],
      [3, 2, 'prefer'],
      [0, 1, 'prefer'],
    ],
    0,
  );
  expect(graph.settle().soft.get('n0')).toEqual(['n1']);
});
