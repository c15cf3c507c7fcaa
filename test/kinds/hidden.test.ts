import { expect, test } from 'vitest';
import type { Change } from '../../src/core/change.ts';
import { siteSpace } from '../../src/kinds/site/site-space.ts';

/** Result for the answer to the update of a site space that is to be hidden, or not. */
function learned(hidden: boolean, answer: unknown): unknown {
  const change = {
    action: 'update',
    address: 'site-space/help/en',
    within: 'site/help',
    fields: [{ path: 'hidden', from: !hidden, to: hidden }],
    declared: { hidden },
    anchor: null,
  } as unknown as Change;
  const [planned] = siteSpace.kind.writes(change, { creation: () => undefined, actuals: () => [] }).first;
  return planned?.learns(answer);
}

test.each([
  [true, { id: 's1', hidden: true }],
  [true, undefined],
  [false, { id: 's1' }],
])('hidden: %s succeeds for the response %j', (hidden, answer) => {
  expect(learned(hidden, answer)).toEqual([]);
});

test.each([{ id: 's1' }, { id: 's1', hidden: false }, { id: 's1', hidden: null }])(
  'hidden: true fails for the response %j of a platform that ignores it',
  (answer) => {
    expect(() => learned(true, answer)).toThrow('cannot hide a site space');
  },
);
