/** A text as a reader sees it, and where each of its characters stands in the text as it is written. */
export interface View {
  readonly text: string;
  /** The place of a stretch of the view in the text as it is written. */
  place(start: number, end: number): { readonly start: number; readonly end: number };
}

/** What may make a text differ from what is seen: entities, percent signs, soft line ends, anything not ASCII. */
const DISGUISE = /[&%\u0080-\uffff]|=\r?\n/;

/**
 * Entities (`&#64;`, also escaped twice), percent-encoded ASCII (`%40`, `%2540`), characters that show nothing, soft
 * line ends of quoted-printable, and characters that look like an ASCII one. Each stands at most for one character.
 */
const PIECE =
  /&(?:amp;){0,4}(?:#(\d{2,5})|#[xX]([0-9a-fA-F]{1,4})|([A-Za-z]{2,10}));|%(?:25){0,4}([2-7][0-9a-fA-F])|=\r?\n|[\u0080-\uffff]/gu;

const NAMED: Readonly<Record<string, string>> = {
  commat: '@',
  period: '.',
  lowbar: '_',
  UnderBar: '_',
  dash: '-',
  hyphen: '-',
  plus: '+',
  nbsp: ' ',
  colon: ':',
  equals: '=',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  num: '#',
  lpar: '(',
  rpar: ')',
  lsqb: '[',
  rsqb: ']',
  shy: '',
  zwj: '',
  zwnj: '',
};

/** Shows nothing: zero-width characters, soft hyphens, marks of direction, variation selectors. */
const INVISIBLE =
  /^(?:\u034f|\u200d|[\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]|[\u115f\u1160]|[\u17b4\u17b5]|[\u180b-\u180d]|[\ufe00-\ufe0f])$/;
const HYPHENS = /^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]$/;

/** A text as it is seen. Values that hide behind another spelling are found in it, and taken out where they stand. */
export function viewOf(written: string): View {
  if (!DISGUISE.test(written)) {
    return { text: written, place: (start, end) => ({ start, end }) };
  }
  const starts: number[] = [];
  const ends: number[] = [];
  let text = '';
  let from = 0;
  const take = (seen: string, start: number, end: number) => {
    for (const _unit of seen.split('')) {
      starts.push(start);
      ends.push(end);
    }
    text += seen;
  };
  const takePlain = (end: number) => {
    for (let index = from; index < end; index += 1) {
      starts.push(index);
      ends.push(index + 1);
    }
    text += written.slice(from, end);
  };
  for (const match of written.matchAll(PIECE)) {
    takePlain(match.index);
    from = match.index + match[0].length;
    take(seenOf(match), match.index, from);
  }
  takePlain(written.length);
  return {
    text,
    place: (start, end) => ({ start: starts[start] ?? written.length, end: ends[end - 1] ?? written.length }),
  };
}

function seenOf([piece, decimal, hex, name, percent]: RegExpExecArray | RegExpMatchArray): string {
  const code = decimal ?? hex ?? percent;
  if (code !== undefined) {
    const point = Number.parseInt(code, decimal === undefined ? 16 : 10);
    return point > 31 && point < 0xd800 ? plainest(String.fromCharCode(point)) : (piece as string);
  }
  if (name !== undefined) {
    return NAMED[name] ?? (piece as string);
  }
  return (piece as string).startsWith('=') ? '' : plainest(piece as string);
}

/** The ASCII character that a character looks like, or nothing where it shows nothing, or itself. */
function plainest(character: string): string {
  if (INVISIBLE.test(character)) {
    return '';
  }
  if (HYPHENS.test(character)) {
    return '-';
  }
  const point = character.codePointAt(0) ?? 0;
  for (const zero of [0x660, 0x6f0, 0x966]) {
    if (point >= zero && point < zero + 10) {
      return String(point - zero);
    }
  }
  const plain = character.normalize('NFKC');
  return plain.length === 1 && plain < '\u0080' ? plain : character;
}
