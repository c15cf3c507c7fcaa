/** Converts text of others to one line that is read as it is written. */

/** Line breaks, control characters and white space. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}\s]+/gu;
/**
 * Characters without a shape, and characters that change the direction of others. Joiners and variation selectors stay:
 * emoji and some scripts need them.
 */
const INVISIBLE =
  /[[\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\ufff9-\ufffb]--[\u200c\u200d\ufe0e\ufe0f]]/gv;

/**
 * Returns a text as one line of at most `most` code points, without control, invisible and text-direction characters.
 * Halves of surrogate pairs are replaced. A line that was cut ends with "…", which counts too.
 */
export function plainLine(text: string, most: number): string {
  const line = text.toWellFormed().replaceAll(INVISIBLE, '').replaceAll(BREAKS, ' ').trim();
  if (line.length <= most) {
    return line;
  }
  const points = [...line];
  return points.length <= most
    ? line
    : `${points
        .slice(0, most - 1)
        .join('')
        .trimEnd()}…`;
}
