/** Compares the digit groups of a number with the usual notation of its country. */

import type { PhoneNumber } from 'libphonenumber-js/max';
import { largest } from '../../../core/lists.ts';
import type { DigitSequence } from '../model/digits.ts';

/** Maximum number of groups of a number with a leading zero, which may be split in any way. */
const GROUPS = 5;

/**
 * Reports whether a number without a plus is grouped as is usual in its country: in the official groups, in coarser
 * ones, or in finer ones of at least two digits. With `isExact`, only the official groups match.
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

/** Reports whether slashes separate all numbers, as in a list. */
export function isLikeList(written: string): boolean {
  return /^\d+(?: ?\/ ?\d+){2,}$/.test(written);
}

/** Reports whether all groups have three digits, as in an amount: `1.234.567`, `912 345 678`. */
export function isLikeAmount(written: string): boolean {
  return /^\d{1,3}(?:([ .,'])\d{3})(?:\1\d{3})+$/.test(written) && !written.startsWith('0');
}

/**
 * Reports whether a number is probably a size or limit (round, or a power of two) or an example (equal or ascending
 * digits).
 */
export function isRound(digits: string): boolean {
  return /0{6}$|^(.)\1+$|^0?123456789/.test(digits) || Number.isInteger(Math.log2(Number(digits)));
}

/** Reports whether dots make a number a decimal (one dot, unless after an area code), a version or an IP address. */
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

/** Returns the boundaries of groups, counted in digits from the end, because the prefix is optional. */
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
