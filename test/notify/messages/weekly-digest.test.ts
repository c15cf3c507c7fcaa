/** Text of the weekly digest. */
import { expect, test } from 'vitest';
import { writeDigest } from '../../../src/notify/messages/weekly-digest.ts';

const NONE = { changes: 0, commits: 0, authors: new Map(), reverted: 0, conversations: 0, opened: 0, closed: 0 };

test('a digest says what changed, by whom, and what was done automatically', () => {
  const authors = new Map([
    ['ben@acme.example', 1],
    ['ana@acme.example', 4],
  ]);
  const digest = { changes: 12, commits: 5, authors, reverted: 1, conversations: 240, opened: 2, closed: 1 };
  expect(writeDigest(digest)).toEqual({
    summary: '12 changes were applied in 5 commits',
    details: [
      'By ana@acme.example, ben@acme.example',
      '1 manual change was reverted',
      '240 conversations were sent',
      '2 change requests were opened for issue clusters',
      '1 change request was merged or closed',
    ],
  });
});

test('a digest of a quiet week has no details', () => {
  expect(writeDigest(NONE)).toEqual({ summary: 'Nothing was changed this week', details: [] });
});

test('a digest names five authors and counts the others', () => {
  const authors = new Map(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => [name, 1]));
  expect(writeDigest({ ...NONE, authors }).details).toEqual(['By a, b, c, d, e and 2 others']);
});
