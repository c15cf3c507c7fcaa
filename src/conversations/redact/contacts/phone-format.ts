/** Compares the groups of a written number with the way people write numbers of its country. */

import type { PhoneNumber } from 'libphonenumber-js/max';
import { largest } from '../../../core/lists.ts';
import type { DigitSequence } from '../model/digits.ts';

/** Up to this many groups, any split of a number is accepted whose prefix identifies it. */
const GROUPS = 5;

/**
 * Whether a number without a plus is grouped as numbers of its country are: as the country writes them, in coarser
 * groups, or in finer ones of two digits at least; with `isExact` only as the country writes them.
 */
export function matchesFormat(number: PhoneNumber, { digits, sizes }: DigitSequence, isExact: boolean): boolean {
  if (sizes.length === 1 || (digits.startsWith('0') && sizes.length <= GROUPS && !sizes.slice(1).includes(1))) {
    return true;
  }
  if (sizes.every((size) => size === 3) && digits.length === 9) {
    return true;
  }
  const own = borders(sizes);
  return [number.formatNational(), number.formatInternational().replace(/^\+\d+ /, '')].some((format) => {
    const usual = borders((format.match(/\d+/g) ?? []).map((group) => group.length));
    if (isExact) {
      const isEqual = own.length >= usual.length - 1 && own.every((border, index) => border === usual[index]);
      return isEqual || (number.getType() === 'MOBILE' && usual.every((border) => own.includes(border)));
    }
    const widest = largest(usual, 0);
    const isCoarser = own.every((border) => usual.includes(border) || border > widest);
    const isFiner = !sizes.includes(1) && usual.every((border) => own.includes(border));
    return isCoarser || isFiner;
  });
}

/** Numbers with slashes between all of them are a list. */
export function isLikeList(written: string): boolean {
  return /^\d+(?: ?\/ ?\d+){2,}$/.test(written);
}

/** Threes all along: `1.234.567`, `912 345 678` may be an amount as well. */
export function isLikeAmount(written: string): boolean {
  return /^\d{1,3}(?:([ .,'])\d{3})(?:\1\d{3})+$/.test(written) && !written.startsWith('0');
}

/** Powers of two and round numbers are sizes and limits; all digits alike or in order are an example. */
export function isRound(digits: string): boolean {
  return /0{6}$|^(.)\1+$|^0?123456789/.test(digits) || Number.isInteger(Math.log2(Number(digits)));
}

/** One dot is a decimal point, except after an area code; dots between groups of uneven size are a version or an address. */
export function isLikeVersion(written: string, sizes: readonly number[]): boolean {
  const dots = written.match(/\./g)?.length ?? 0;
  if (dots === 0 || /^0\d{1,5}\.\d{5,8}$/.test(written)) {
    return false;
  }
  if (dots !== sizes.length - 1 || /[^\d.]/.test(written)) {
    // Columns of decimals.
    return /\.\d{1,2}(?!\d)/.test(written) && / \d/.test(written) && dots < sizes.length - 1;
  }
  return (
    (dots === 1 && !/^0\d{2}/.test(written)) || sizes.includes(1) || sizes.slice(1).some((size) => size < 2 || size > 4)
  );
}

/** Returns the boundaries of groups, in digits from the end, because the prefix is optional. */
function borders(sizes: readonly number[]): readonly number[] {
  let sum = 0;
  return sizes
    .toReversed()
    .map((size) => {
      sum += size;
      return sum;
    })
    .slice(0, -1);
}
