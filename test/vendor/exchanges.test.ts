import { beforeAll, describe, expect, test } from 'vitest';
import { clientExchanges } from './client-exchanges.ts';
import { DISAGREEMENTS } from './disagreements.ts';
import { openDocument, VERSIONS, type Version } from './document.ts';
import { flowExchanges } from './flow-exchanges.ts';
import { type Disagreement, type Exchange, Judge } from './judge.ts';
import { described, isKnown, type Known } from './known.ts';
import { rowExchanges } from './row-exchanges.ts';

/* What the client asks and the embedded platform answers is what the vendor publishes, but for what is known. */

const found = new Map<Version, readonly Disagreement[]>();

function judged(version: Version, exchanges: readonly Exchange[]): readonly Disagreement[] {
  const judge = new Judge(openDocument(version));
  return exchanges.flatMap((exchange) => judge.judge(exchange));
}

beforeAll(async () => {
  const { described, latest } = await rowExchanges();
  const all = [...described, ...(await clientExchanges()), ...(await flowExchanges())];
  expect(all.length).toBeGreaterThan(1200);
  expect(latest.length).toBeGreaterThan(10);
  found.set('0.146', judged('0.146', all));
  found.set('0.202', judged('0.202', [...all, ...latest]));
}, 120_000);

describe.each(VERSIONS)('%s', (version) => {
  const entries = DISAGREEMENTS.filter((entry) => entry.version === version);

  test('nothing disagrees but what is known', () => {
    const unknown = (found.get(version) ?? []).filter((one) => !entries.some((entry) => isKnown(entry, one)));
    expect([...new Set(unknown.map(described))]).toEqual([]);
  });

  test.each(entries.map((entry) => ({ entry, named: described(entry) })))('still so: $named', ({ entry }) => {
    expect((found.get(version) ?? []).some((one) => isKnown(entry, one))).toBe(true);
  });
});

describe('the list', () => {
  const same = ({ because: _, says: __, ...matter }: Known) => JSON.stringify(matter);

  test('names nothing twice, and a reason and a section for everything', () => {
    expect(new Set(DISAGREEMENTS.map(same)).size).toBe(DISAGREEMENTS.length);
    expect(
      DISAGREEMENTS.filter(({ because, says }) => !/\.$/.test(because) || !/^platform API( supplement)?, /.test(says)),
    ).toEqual([]);
  });

  test('hides nothing that is like what it names, but not it', () => {
    const real: Disagreement = {
      ...({
        version: '0.146',
        operation: 'getSpaceById',
        side: 'answer',
        status: 200,
        in: 'body',
        pointer: '',
      } as const),
      ...{ keyword: 'required', params: { missingProperty: 'emoji' }, place: 'Space' },
    };
    const isListed = (one: Disagreement) => DISAGREEMENTS.some((entry) => isKnown(entry, one));
    expect(isListed(real)).toBe(true);
    expect(isListed({ ...real, params: { missingProperty: 'title' } })).toBe(false);
    expect(isListed({ ...real, place: 'Site' })).toBe(false);
    expect(isListed({ ...real, side: 'request' })).toBe(false);
    expect(isListed({ ...real, keyword: 'type' })).toBe(false);
    const unheard = {
      ...real,
      side: 'request',
      in: 'operation',
      keyword: 'undeclared',
      params: {},
      place: '',
    } as const;
    expect(isListed({ ...unheard, operation: 'PATCH /orgs/o/conversations-clusters/c' })).toBe(true);
    expect(isListed({ ...unheard, operation: 'PATCH /orgs/o/conversations-clusters' })).toBe(false);
    expect(isListed({ ...unheard, operation: 'GET /orgs/o/conversations-clusters/c' })).toBe(false);
  });
});
