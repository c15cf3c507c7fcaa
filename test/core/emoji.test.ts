import { describe, expect, test } from 'vitest';
import { isEmoji } from '../../src/core/text/emoji.ts';

describe('an emoji', () => {
  test.each([
    ...['📘', '1f4d8', '1F4D8', '👩‍💻', '1f469-200d-1f4bb', '🇫🇷', '1f1eb-1f1f7', '❤️', '❤', '2764-fe0f', '2764'],
    ...['1️⃣', '0031-fe0f-20e3', '👍🏽', '1f44d-1f3fd', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '👁️‍🗨️', '1f441-200d-1f5e8'],
  ])('is %s', (text) => {
    expect(isEmoji(text)).toBe(true);
  });

  test.each(['', 'zzz', 'a', '1', '31', '61', '110000', 'ffffff', '📘📘', '📘 ', ' 1f4d8', '1f4d8-', 'd83d-dcd8', '-'])(
    'is not %j',
    (text) => {
      expect(isEmoji(text)).toBe(false);
    },
  );

  test('is recognized in linear time', () => {
    for (const text of [
      '61-'.repeat(200_000).concat('61'),
      '1f4d8-200d-'.repeat(50_000),
      '\u{1f4d8}'.repeat(200_000),
    ]) {
      expect(isEmoji(text)).toBe(false);
    }
  });
});
