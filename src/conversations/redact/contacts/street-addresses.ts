/** Finds postal addresses without a label, as in signatures: a street with a number, a postal code with a place. */
import type { Finder, PrivateValue } from '../model/found.ts';

/** Words for a street, as separate words or as the last part of a name. */
const STREET =
  /(?<![\p{L}])(?:street|st|road|rd|lane|ln|drive|dr|avenue|ave|av|avda|avd|blvd|boulevard|bd|way|court|ct|square|sq|terrace|crescent|close|gardens|grove|parade|highway|hwy|parkway|pkwy|place|pl|rue|allée|chemin|quai|impasse|cours|route|calle|c\/|avenida|paseo|plaza|camino|carrera|rua|travessa|praça|alameda|estrada|via|viale|vicolo|piazza|corso|largo|ulica|ul|al|aleja|os|náměstí|nám|třída|utca|út|tér|körút|strada|str|bulevardul|calea|weg|platz|gasse|allee|ring|straße|strasse|damm|ufer|markt)(?![\p{L}])|\p{L}(?:straße|strasse|str\.|gasse|weg|platz|allee|ring|damm|ufer|markt|straat|laan|gracht|plein|kade|dijk|singel|gatan|vägen|gata|veien|vegen|gate|vej|gade|allé|katu|tie|kuja|polku|utca|tér)(?![\p{L}])/iu;
/** Words before a number that is not a house number. */
const NO_STREET =
  /(?<![\p{L}])(?:version|chapter|page|section|figure|table|part|step|release|edition|error|line|node|port|issue|ticket|order|invoice|build|row|column|item|level|phase|day|week|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|januar|februar|märz|mai|juni|juli|oktober|dezember|monday|tuesday|wednesday|thursday|friday|saturday|sunday|http|status|code|and|or|the|with|from|after|before)(?![\p{L}])/iu;

const CITY =
  "\\p{Lu}[\\p{L}\\p{M}'’.-]{1,30}(?: (?:\\p{Lu}[\\p{L}\\p{M}'’-]{1,20}|\\d{1,2}(?![\\p{L}\\p{N}.])|(?:am|an der|im|in|sur|de|del|la|le|les|ob|nad|pod) \\p{Lu}[\\p{L}\\p{M}'’-]{1,20})){0,2}";
/** A postal code before its place: `50672 Köln`, `1016 GV Amsterdam`, `150 00 Praha 5`, `90-926 Łódź`. */
const CODE_FIRST = new RegExp(
  `(?<![\\p{L}\\p{N}.:/_#$€£-])(?:[A-Z]{1,2}-)?(?:\\d{5,6}|\\d{4}(?: [A-Z]{2}(?= \\p{Lu}))?|\\d{3} \\d{2}|\\d{2}-\\d{3}|\\d{4}-\\d{3}) ${CITY}(?: \\([A-Z]{2}\\))?(?![\\p{L}\\p{N}])`,
  'gu',
);
/** A postal code after its place: `Portland, OR 97209`, `Montréal QC H3H 1G3`, `Edinburgh EH3 9HH`. */
const CODE_LAST =
  /(?:(?<=[\p{L}.],? )[A-Z]{2,3} (?:\d{5}(?:-\d{4})?|\d{4}|[A-Z]\d[A-Z] ?\d[A-Z]\d)|(?<=\p{Ll},? |\p{Ll},?\n)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\p{L}\p{N}_-])/gu;
/** A street with its number, up to its place. */
const BEFORE_CODE =
  /(?:^|[\n|•·>\t;:(] ?|, )((?:(?:(?:ul|al|os|pl|nám|str|bd|via|c\/)\.? )?\p{Lu}[\p{L}\p{M}.'’/ -]{2,40}?,? (?:[Nn][.o°º]{1,2}:? ?)?\d{1,5} ?[a-zA-Z]?(?:[/-]\d{1,4}[a-z]?)?|\d{1,5}[a-zA-Z]?(?: (?:bis|ter))?,? (?:\p{L}[\p{L}\p{M}.'’-]*[ ,]{1,2}){0,5}\p{L}[\p{L}\p{M}.'’-]*)(?:,? [^,\n|]{1,25}){0,2}?)(?:, ?| [-–|•·] ?|\s?\r?\n[ \t>]{0,8})$/u;
/** A street with its number, up to its postal code, with the place before the code. */
const BEFORE_PLACE = new RegExp(
  BEFORE_CODE.source.replace(/\$$/, "\\p{Lu}[\\p{L}\\p{M}.'’ -]{1,30}(?:,| -)?\\s$"),
  'u',
);
const REACH = 130;

/** Addresses in scripts and languages that write words for their parts, such as a district. */
const WHOLE: readonly { readonly script: RegExp; readonly address: RegExp }[] = [
  {
    script: /[а-яё]/i,
    address:
      /(?:\d{5,6}, )?(?:(?<![\p{L}])(?:г|м|пос|смт)\. ?\p{Lu}[\p{L}-]{1,30}, )?(?<![\p{L}])(?:ул|вул|пр-т|просп|пер|пров|бульв|бул|наб|пл)\.? \p{Lu}[\p{L}. -]{2,30},? (?:(?:д|буд|дом|зд)\.? ?)?\d{1,4}[\p{L}/\d]{0,4}(?:,? (?:к|корп|стр|кв|оф|под|эт)\.? ?\d{1,5}){0,3}(?:, (?:г|м)\. ?\p{Lu}[\p{L}-]{1,30})?(?:, \d{5,6})?(?![\p{L}\p{N}])/gu,
  },
  {
    script: /(?:cad|sok|bulv|mah|sk)/i,
    address:
      /\p{Lu}\p{Ll}{1,20}(?: \p{Lu}\p{Ll}{1,20}){0,2} (?:Caddesi|Cad\.|Sokak|Sokağı|Sok\.|Sk\.|Bulvarı|Mahallesi|Mah\.)[ ,]{1,2}(?:No:? ?)?\d{1,4}(?:[ /][^\n,|]{1,20})?(?:, ?\p{Lu}[\p{L}/ -]{2,40})?/gu,
  },
  {
    script: /(?:jl|jln|jalan|gg)[. ]/i,
    address:
      /(?<![\p{L}])(?:Jl|Jln|Jalan|Gg)\.? \p{Lu}[\p{L} .]{2,40}?,? (?:No\.? ?|no )\d{1,4}[a-zA-Z]?(?:, ?\p{Lu}[\p{L} ]{2,30}){0,3}(?: \d{5})?/gu,
  },
  {
    script: /[ơưạảấầậắằệếềọộốồịỉụủứừữỳỵđ]/i,
    address:
      /(?<![\p{N}.])\d{1,4}[A-Z]?(?:\/\d{1,4})? (?:đường |phố )?\p{Lu}\p{L}{1,10}(?: \p{Lu}\p{L}{1,10}){0,4}(?:, ?(?:Phường|P\.|Quận|Q\.|Huyện|Xã|TP\.?|Thành phố|Tỉnh) ?[\p{Lu}\d][\p{L}\d ]{0,25}){1,4}/gu,
  },
  {
    script: /[\u05d0-\u05ea]/,
    address:
      /(?<![\p{L}])(?:רחוב|רח['׳]|שדרות|שד['׳]|דרך) [\u05d0-\u05ea'"׳״ -]{2,30} \d{1,4}(?:, ?[\u05d0-\u05ea -]{2,20})?/gu,
  },
  {
    script: /[\u0620-\u064a]/,
    address:
      /(?<![\p{L}])(?:شارع|طريق|خیابان|کوچه|بلوار) [\p{L} ]{2,30}[،,]? (?:رقم |مبنى |پلاک )?\d{1,5}(?:[،,] ?[\p{L} ]{2,30}){0,3}/gu,
  },
  {
    script: /[都道府県]/,
    address:
      /(?:〒 ?\d{3}-\d{4}\s{0,2})?(?:北海道|東京都|京都府|大阪府|\p{Script=Han}{2,3}県)[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ーヶケ]{2,20}?\d{1,4}(?:丁目|番地?|号|[-−ー－]\d{1,4}){1,4}(?:[ 　]?[\p{Script=Han}\p{Script=Katakana}ー]{1,20}\d{1,4}(?:号室|号|階|F)?)?/gu,
  },
  {
    script: /[号號]/,
    address:
      /\p{Script=Han}{2,8}?[省市区區縣县]\p{Script=Han}{1,20}?[路街道巷弄](?:\p{Script=Han}{1,4}段)?\d{1,5}(?:巷\d{1,4})?(?:弄\d{1,4})?[号號](?:[\p{Script=Han}\dA-Za-z-]{1,12}?[楼樓室层層座单])?/gu,
  },
  {
    script: /[로길] ?\d/,
    address:
      /[가-힣]{2,8}(?:특별시|광역시|특별자치시|특별자치도|도|시) [가-힣]{1,6}[시구군](?: [가-힣]{1,8}[구읍면동])? [가-힣\d]{1,12}[로길] ?\d{1,4}(?:-\d{1,4})?(?:번길 ?\d{1,4})?(?:,? ?\d{1,4}(?:층|호|동))*/gu,
  },
];

export const findStreetAddresses: Finder = (text) => [
  ...byCode(text, CODE_FIRST, BEFORE_CODE),
  ...byCode(text, CODE_LAST, BEFORE_PLACE),
  ...WHOLE.filter(({ script }) => script.test(text)).flatMap(({ address }) =>
    [...text.matchAll(address)].map(({ index, 0: value }) => addressAt(text, index, index + value.trimEnd().length)),
  ),
];

function byCode(text: string, code: RegExp, before: RegExp): readonly PrivateValue[] {
  return [...text.matchAll(code)].flatMap(({ index, 0: place }) => {
    const street = before.exec(text.slice(Math.max(0, index - REACH), index));
    const value = street?.[1] ?? '';
    const start = street === null ? index : index - street[0].length + street[0].indexOf(value);
    return value !== '' && isStreet(value, place, text, index + place.length)
      ? [addressAt(text, start, index + place.length)]
      : [];
  });
}

/** Checks an address without a word for a street: it must make up whole lines, and its code must not be a year. */
function isStreet(value: string, place: string, text: string, end: number): boolean {
  if (NO_STREET.test(value) || /[\p{L}]{3}/u.test(value) === false) {
    return false;
  }
  const isAlone = /^[ \t]{0,4}\.?[ \t]{0,4}(?:\r?\n|$|[|•·,;)<])/.test(text.slice(end, end + 8));
  return STREET.test(value) || (isAlone && !/^(?:19|20)\d\d(?!\d)/.test(place) && !/^\d{4} (?![A-Z]{2} )/.test(place));
}

function addressAt(text: string, start: number, end: number): PrivateValue {
  const key = text.slice(start, end).replaceAll(/\s+/g, ' ').toLowerCase();
  return { type: 'address', label: 'ADDRESS', start, end, key };
}
