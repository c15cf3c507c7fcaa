/** Names of approvals: a whole checksum, or the digits that it begins with. */
import { expect, test } from 'vitest';
import { chosenApproval, meantApprovals } from '../../src/plan/approval-choice.ts';

const [A, B, C] = ['1cefed34aa', '1cefed34ab', '9a8b7c6d00'].map((start) => ({
  checksum: `sha256:${start.padEnd(64, '0')}`,
  what: `what ${start} does`,
})) as [Choice, Choice, Choice];
type Choice = { readonly checksum: string; readonly what: string };

test('a person names a checksum by it, or by at least eight of its first digits', () => {
  for (const typed of [C.checksum, C.checksum.slice(7), '9a8b7c6d', 'sha256:9a8b7c6d', '9A8B7C6D0']) {
    expect(chosenApproval(typed, [A, B, C])).toBe(C);
  }
  expect(chosenApproval('1cefed34ab', [A, B, C])).toBe(B);
  expect(chosenApproval('1cefed34', [A, C])).toBe(A);
});

test.each([
  ['1cefed34', 'fits more than one checksum; type more of its digits; choose from sha256:1cefed34aa'],
  ['1cefed3', 'is too short; type at least 8 digits of the checksum; choose from 1cefed34 (what'],
  ['', 'is too short'],
  ['sha256:', 'is too short'],
  ['7c6d0000', 'no plan has the checksum "7c6d0000" now'],
  [`${C.checksum}0`, 'no plan has the checksum'],
  ['9a8b7c6d.*', 'no plan has the checksum'],
  [' 9a8b7c6d', 'no plan has the checksum'],
  ['md5:9a8b7c6d', 'no plan has the checksum'],
  ['9a8b7c6d\u001b[2J', 'no plan has the checksum "9a8b7c6d\\u001b[2J"'],
])('%j names none of them, and the refusal names the choices', (typed, message) => {
  expect(() => chosenApproval(typed, [A, B, C])).toThrow(message);
  expect(() => chosenApproval(typed, [A, B, C])).toThrow('what 9a8b7c6d00 does');
});

test('digits of a plan that is gone name nothing', () => {
  expect(meantApprovals('1cefed34', [C])).toEqual([]);
  expect(() => chosenApproval('1cefed34', [])).toThrow('nothing is held now');
});
