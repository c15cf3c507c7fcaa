/** Recognizes an emoji as the platform accepts it: the character, or its Unicode code points. */

const VARIATION = '\\uFE0F?\\p{Emoji_Modifier}?';
const PICTOGRAPH = `\\p{Extended_Pictographic}${VARIATION}`;
const PICTOGRAPHS = new RegExp(`^(?:${PICTOGRAPH}(?:\\u200D${PICTOGRAPH})*|[0-9#*]\\uFE0F?\\u20E3)$`, 'v');
const CODE_POINTS = /^[0-9a-f]{2,6}(?:-[0-9a-f]{2,6})*$/i;
const HIGHEST = 0x10ffff;
/** Halves of surrogate pairs are not characters. */
const isCharacter = (point: number) => point <= HIGHEST && (point < 0xd800 || point > 0xdfff);

/** Returns true if a text is one emoji, such as `📘`, or the code points of one, such as `1f4d8` or `1f1eb-1f1f7`. */
export function isEmoji(text: string): boolean {
  if (!CODE_POINTS.test(text)) {
    return isSequence(text);
  }
  const points = text.split('-').map((code) => Number.parseInt(code, 16));
  return points.every(isCharacter) && isSequence(points.map((point) => String.fromCodePoint(point)).join(''));
}

function isSequence(text: string): boolean {
  // The other emoji, such as flags. Written here, because creating this pattern takes milliseconds of every start.
  return PICTOGRAPHS.test(text) || /^\p{RGI_Emoji}$/v.test(text);
}
