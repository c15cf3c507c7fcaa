import { describe, expect, test } from 'vitest';
import type { Change } from '../../src/core/change.ts';
import { RejectedError, TransientError } from '../../src/core/errors.ts';
import { NO_SECRETS } from '../../src/core/manifest-secrets.ts';
import { section } from '../../src/kinds/site/section.ts';
import type { Writer } from '../../src/platform/client.ts';
import { sendPlanned, VersionMemory, type VersionVariants } from '../../src/reconcile/sending.ts';

const refused = (status: number, message = `refused (${status})`) => new RejectedError(message, status);

/** Tried requests in order, and the result: an error is thrown, null is success. */
function ways(tried: string[], usual: Error | null, other: Error | null): VersionVariants {
  const way = (name: string, error: Error | null) => async () => {
    tried.push(name);
    await Promise.resolve();
    if (error !== null) {
      throw error;
    }
  };
  return { documented: way('usual', usual), alternative: way('other', other) };
}

describe('a feature that versions have in two ways', () => {
  test.each([
    ['the platform refuses the change', refused(400), null, ['usual']],
    ['the response is lost', new TransientError('lost', true), null, ['usual']],
    ['the other way is refused too', refused(404), refused(404), ['usual', 'other']],
    ['the other way is invalid', refused(404), refused(400), ['usual', 'other']],
    ['the other way is lost', refused(404), new TransientError('lost', true), ['usual', 'other']],
  ])('stays unknown if %s, and is tried by the next change', async (_, usual, other, expected) => {
    const memory = new VersionMemory();
    const tried: string[] = [];
    const first = memory.choose('groups', ways(tried, usual, other));
    const next: string[] = [];
    const second = memory.choose('groups', ways(next, null, null));
    await expect(first).rejects.toThrow();
    await second;
    expect({ tried, next }).toEqual({ tried: expected, next: ['usual'] });
  });

  test('does not affect another feature', async () => {
    const memory = new VersionMemory();
    const tried: string[] = [];
    await memory.choose('groups', ways(tried, refused(404), null));
    await memory.choose('links', ways(tried, null, null));
    expect(tried).toEqual(['usual', 'other', 'usual']);
  });
});

describe('a section that is moved into a group', () => {
  /** Answers of the platform to the group's operation, and then to the section's own update. */
  async function moved(to: string | null, answer: unknown): Promise<readonly string[]> {
    const sent: string[] = [];
    const change = {
      action: 'move',
      address: 'section/help/a',
      within: 'site/help',
      fields: [{ path: 'group', from: to === null ? 'section-group/help/g' : null, to }],
      declared: { group: to },
      anchor: null,
    } as unknown as Change;
    const writer = {
      send: (operation: { name: string }) => {
        sent.push(operation.name);
        return operation.name === 'updateSection' ? Promise.resolve(answer) : Promise.reject(refused(404));
      },
    } as unknown as Writer;
    for (const planned of section.kind.writes(change, { creation: () => undefined, actuals: () => [] }).first) {
      const context = {
        writer,
        bindings: new Map([
          ['site/help', 's1'],
          ['section/help/a', 'a1'],
          ['section-group/help/g', 'g1'],
        ]),
        signal: new AbortController().signal,
        verifier: { findCreated: async () => null, isInPlace: async () => false },
        kinds: [section.kind],
        secrets: NO_SECRETS,
        versions: new VersionMemory(),
      };
      await sendPlanned(planned, change, context, () => undefined);
    }
    return sent;
  }

  const group = 'section-group/help/g';

  test.each([
    ['contains the new group', group, { id: 'a1', sectionGroup: 'g1' }, ['addSectionToGroup', 'updateSection']],
    ['has no body', group, undefined, ['addSectionToGroup', 'updateSection']],
    ['contains no group', null, { id: 'a1' }, ['removeSectionFromGroup', 'updateSection']],
    ['contains null as the group', null, { id: 'a1', sectionGroup: null }, ['removeSectionFromGroup', 'updateSection']],
  ])('counts as moved if the response %s', async (_, to, answer, expected) => {
    expect(await moved(to, answer)).toEqual(expected);
  });

  test.each([
    ['omits the field', group, { id: 'a1' }],
    ['contains another group', group, { id: 'a1', sectionGroup: 'g2' }],
    ['contains the old group', null, { id: 'a1', sectionGroup: 'g1' }],
  ])('does not count as moved if the response %s', async (_, to, answer) => {
    await expect(moved(to, answer)).rejects.toThrow(
      /refused \(404\); updateSection: the platform answered, but the change was not/,
    );
  });
});
