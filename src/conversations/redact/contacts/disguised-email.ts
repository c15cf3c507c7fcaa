/** Finds addresses that are spelled out: `ana (at) example (dot) com`, `ana arroba gmail punto com`, `ana=40example.com`. */

import type { Finder, PrivateValue } from '../model/found.ts';
import { email, isDomain } from './email-domain.ts';

/** Words for @ and for a full stop when an address is spelled out. */
const AT_WORDS =
  'at|ät|arroba|aroba|arobase|arrobase|arobas|chez|bei|klammeraffe|chiocciola|chiocciolina|apenstaartje|snabel-?a|alfakrøll|krøllalfa|miukumauku|malpa|małpa|zavinac|zavináč|kukac|papaki|παπάκι|παπακι|собака|собачка|сабака|ат|sobaka|et|kuyruklu a|majmun|afna|at-mark|आट|ऐट';
const DOT_WORDS =
  'dot|punkt|punto|ponto|point|punt|punktum|prikk|prik|piste|pont|kropka|tecka|tečka|bodka|tocka|točka|τελεία|τελεια|точка|крапка|tochka|nokta|nukta|dotto|डॉट|nuqta';
/** Words for @ in scripts without spaces between words. */
const AT_GLYPHS = 'アットマーク|アット|あっと|골뱅이|앳|艾特|圈a|小老鼠';
const DOT_GLYPHS = 'ドット|どっと|닷|점|쩜|点|點|。(?=[a-z])';
const OPEN = '[\\[({<«|*_~-]';
const CLOSE = '[\\])}>»|*_~-]';
const BRACKETED = new RegExp(
  `(?:[[({<«][ \\t]?(?:${AT_WORDS}|${AT_GLYPHS}|@|a)[ \\t]?[\\])}>»]|[|*_~-](?:${AT_WORDS}|@)[|*_~-])[ \\t]{0,2}`,
  'giu',
);
const SPOKEN = new RegExp(`[ \\t]{1,2}(?:${AT_WORDS})[ \\t]{1,2}|(?:${AT_GLYPHS})[ \\t]{0,2}`, 'giu');
const BEFORE_DOMAIN = / {1,2}at {1,2}(?=[\w-]{2,63}\.[a-z])/gi;
/** An @ with spaces around it, or before a disguised domain. */
const SIGN = new RegExp(
  `[ \\t]{1,2}@[ \\t]{1,2}|@[ \\t]|@(?=[\\p{L}\\p{N}-]{1,63}(?:[ \\t]?[[({<][ \\t]?(?:${DOT_WORDS}|${DOT_GLYPHS}|\\.)| {1,2}(?:${DOT_WORDS}) |。[a-z]))|[ \\t]@(?=[a-z\\d-]{2,40}\\.[a-z])`,
  'giu',
);
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}_+-]{0,61}[\\p{L}\\p{N}])?';
const DOT = `(?:[ \\t]{0,2}${OPEN}[ \\t]?(?:${DOT_WORDS}|${DOT_GLYPHS}|\\.)[ \\t]?${CLOSE}[ \\t]{0,2}|[ \\t]{1,2}(?:${DOT_WORDS})[ \\t]{1,2}|[ \\t]{0,2}(?:${DOT_GLYPHS})[ \\t]{0,2}|\\.|[ \\t]\\.[ \\t]?)`;
const DOMAIN = new RegExp(`${LABEL}(?:${DOT}${LABEL}){1,4}`, 'iuy');
/** Spelled-out punctuation of a local part. */
const JOINERS =
  'dash|minus|hyphen|underscore|underline|plus|guion|guión|guion bajo|guión bajo|hífen|bindestrich|unterstrich|tiret|tiret bas|trait d.union|trattino|streepje|тире|дефис|нижнее подчёркивание|подчеркивание|kreska|podłoga|pomlčka|podtržítko|alt tire|tire|underskrift|streg|bindestreck|understreck';
const LOCAL = new RegExp(
  `(?<![\\p{L}\\p{N}@])[\\p{L}\\p{N}][\\p{L}\\p{N}._%+'-]{0,63}(?:(?:[ \\t]{0,2}${OPEN}[ \\t]?(?:${DOT_WORDS}|${DOT_GLYPHS}|\\.)[ \\t]?${CLOSE}[ \\t]{0,2}|[ \\t](?:${DOT_WORDS}|${JOINERS})[ \\t])[\\p{L}\\p{N}][\\p{L}\\p{N}._+-]{0,63}){0,3}$`,
  'iu',
);
const DOTS = new RegExp(DOT, 'giu');
const DOT_SPOKEN = new RegExp(
  `(?:^|[^\\p{L}\\p{N}])(?:${DOT_WORDS})(?:[^\\p{L}\\p{N}]|$)|(?:${DOT_GLYPHS})|[\\])}>]`,
  'iu',
);
/** Longest distance from a local part to its @, in characters. */
const LOCAL_REACH = 120;

/** Domains that make an address even if only the @ is a word; "look at example.com" is not an address. */
const PROVIDERS =
  /^(?:gmail|googlemail|outlook|hotmail|live|msn|yahoo|ymail|rocketmail|icloud|me|mac|aol|proton|protonmail|pm|gmx|web|t-online|freenet|mail|inbox|bk|list|yandex|ya|rambler|qq|163|126|sina|foxmail|naver|daum|hanmail|orange|wanadoo|free|laposte|sfr|libero|virgilio|tiscali|alice|terra|uol|bol|ig|zoho|fastmail|tutanota|tuta|hey|wp|o2|onet|interia|seznam|centrum|ukr|abv|rediffmail|bluewin|ziggo|kpnmail|telenet|skynet|comcast|verizon|att|btinternet|sky)\.[a-z.]{2,7}$/i;
/** Words before "at" in prose. */
const PROSE =
  /^(?:at|in|is|it|me|us|him|her|them|you|look|looking|sign|signed|log|logged|login|reach|find|found|hosted|account|address|mail|email|e-mail|available|arrive|work|works|working|page|docs|site|chat|meet|was|are|be|not|only|here|there|starting|directly|errors?|users?|domain|server|inbox)$/i;

export const findDisguisedEmails: Finder = (text) => [...spelledOut(text), ...quotedPrintable(text)];

function spelledOut(text: string): readonly PrivateValue[] {
  return [
    ...emailsAround(text, BRACKETED),
    ...(text.includes('@') ? emailsAround(text, SIGN) : []),
    ...emailsAround(text, isSpoken(text) ? SPOKEN : BEFORE_DOMAIN),
  ];
}

const SPOKEN_WORDS = new Set([...AT_WORDS.split('|'), ...DOT_WORDS.split('|')]);
for (const prose of ['at', 'et', 'bei', 'chez']) {
  SPOKEN_WORDS.delete(prose);
}
const GLYPHS = new RegExp(`${AT_GLYPHS}|${DOT_GLYPHS}`);
/** First characters and lengths of those words, for a quick test that excludes most words. */
const SHAPES = new Set([...SPOKEN_WORDS].map((word) => (word.length << 16) | word.charCodeAt(0)));

/** Reports whether a text contains a word for @ or for a full stop. Without one, the slow pattern finds nothing. */
function isSpoken(text: string): boolean {
  let from = 0;
  for (let to = text.indexOf(' '); to >= 0; to = text.indexOf(' ', from)) {
    const first = text.charCodeAt(from);
    const folded = first >= 65 && first <= 90 ? first + 32 : first;
    const isShaped = SHAPES.has(((to - from) << 16) | folded) || (folded > 0x3ff && to - from < 13);
    if (isShaped && SPOKEN_WORDS.has(text.slice(from, to).toLowerCase())) {
      return true;
    }
    from = to + 1;
  }
  return /[\u3000-\uffff]/.test(text) && GLYPHS.test(text);
}

/** ASCII local part at the end of a sentence in a script without spaces. */
const ASCII_TAIL =
  /(?<=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}])[a-z0-9][a-z0-9._%+ -]*$/iu;

function emailsAround(text: string, pattern: RegExp): readonly PrivateValue[] {
  const found: PrivateValue[] = [];
  for (const match of text.matchAll(pattern)) {
    const from = match.index + match[0].length;
    DOMAIN.lastIndex = from;
    const domain = DOMAIN.exec(text)?.[0];
    const at =
      domain === undefined
        ? 0
        : match.index - (/[ \t]{1,2}$/.exec(text.slice(Math.max(0, match.index - 2), match.index))?.[0].length ?? 0);
    const before = domain === undefined ? '' : text.slice(Math.max(0, at - LOCAL_REACH), at);
    const spoken = before === '' ? undefined : LOCAL.exec(before)?.[0];
    const local = spoken === undefined ? undefined : (ASCII_TAIL.exec(spoken)?.[0] ?? spoken);
    const named = domain === undefined || local === undefined ? null : nameOf(domain);
    if (domain !== undefined && local !== undefined && named !== null && isAddress(local, match[0], domain, named)) {
      const key = `${local.replaceAll(DOTS, '.')}@${named.name}`;
      found.push(email(at - local.length, from + named.length, key));
    }
  }
  return found;
}

/** Returns the longest real domain at the start of a spelled-out one, and its length as written. */
function nameOf(written: string): { readonly name: string; readonly length: number } | null {
  const whole = longestName(written);
  const ascii = /^[\0-\x7f]+(?=[^\0-\x7f])/.exec(written)?.[0];
  const cut = ascii === undefined ? null : longestName(ascii.trimEnd());
  return (cut?.length ?? 0) > (whole?.length ?? 0) ? cut : whole;
}

function longestName(written: string): { readonly name: string; readonly length: number } | null {
  const dots = [...written.matchAll(DOTS)].filter(({ index }) => index > 0);
  for (let count = dots.length; count > 0; count -= 1) {
    const length = dots[count]?.index ?? written.length;
    const name = latin(written.slice(0, length).replaceAll(DOTS, '.'));
    if (isDomain(name)) {
      return { name, length };
    }
  }
  return null;
}

/** Converts a top-level domain that is spelled out in Cyrillic to Latin. */
function latin(name: string): string {
  return name.replace(/\.(?:ру|ком|нет|орг|юа)$/i, (end) => CYRILLIC_ENDS[end.slice(1).toLowerCase()] ?? end);
}

const CYRILLIC_ENDS: Readonly<Record<string, string>> = { ру: '.ru', ком: '.com', нет: '.net', орг: '.org', юа: '.ua' };

function isAddress(
  local: string,
  at: string,
  written: string,
  { name, length }: { name: string; length: number },
): boolean {
  const isSign = /@/.test(at);
  const isBracketed = /[^\p{L}\p{N}\s@]/u.test(at);
  if (isBracketed || isSign) {
    if (/^\s@$/.test(at)) {
      return !PROSE.test(local);
    }
    // "(a)" may be the first item of a list, and "@ " may precede a price or a place.
    return !/^\W*a\W*$/i.test(at) || DOT_SPOKEN.test(written.slice(0, length)) || PROVIDERS.test(name);
  }
  if (DOT_SPOKEN.test(written.slice(0, length))) {
    return true;
  }
  const isShouted = /\bAT\b/.test(at) && local !== local.toUpperCase();
  return isShouted || (PROVIDERS.test(name) && (/[._\d]/.test(local) || !PROSE.test(local)));
}

const QUOTED =
  /(?<![\p{L}\p{N}._%+=-])((?:[\p{L}\p{N}._%+-]|=(?:2[BDE]|5F|[89A-F][0-9A-F])){1,64})=40((?:[\p{L}\p{N}.-]|=2[DE]|=\r?\n){3,253})/giu;

/** Returns email addresses in quoted-printable, where an @ is `=40`. */
function quotedPrintable(text: string): readonly PrivateValue[] {
  if (!text.includes('=40')) {
    return [];
  }
  return [...text.matchAll(QUOTED)].flatMap((match) => {
    const [whole, local, domain] = match as unknown as readonly [string, string, string];
    const named = nameOf(decode(domain));
    const end = match.index + whole.length;
    // The end is known only if the whole text after the @ is a domain; otherwise the adjacent text is redacted too.
    return named === null ? [] : [email(match.index, end, `${decode(local)}@${named.name}`)];
  });
}

function decode(written: string): string {
  return written
    .replaceAll(/=\r?\n/g, '')
    .replaceAll(/=([0-9A-F]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\.$/, '');
}
