/** Finds postal addresses without a label, in sentences and in signatures: a street with a number, and a place or its code. */
import type { Finder, PrivateValue } from '../model/found.ts';
import { matchesIn } from '../model/matches.ts';
import { bitOf, type Reading } from '../model/reading.ts';

const WORD = "\\p{Lu}[\\p{L}\\p{M}'’.-]{0,30}";
const PARTICLE =
  "(?:de|da|do|das|dos|del|della|delle|dei|degli|di|la|las|los|el|le|les|du|des|van|der|den|of|the|am|an|im|zum|zur|na|nad|pod|e|y|ob|sur|von|[Dd]['’]\\p{L}{1,20})";
/** Parts of a name, each with a space behind it. */
const NAMES = `(?:(?:${WORD}|${PARTICLE}|\\d{1,3}(?:st|nd|rd|th|º|ª)?) )`;
const NUMBER =
  '\\d{1,5}(?: ?[A-Za-z](?![\\p{L}\\p{N}]))?(?:[-/–]\\d{1,4}(?:[A-Za-z](?![\\p{L}\\p{N}]))?)?(?![\\p{L}\\p{N}])';
const CITY =
  "\\p{Lu}(?:[\\p{L}\\p{M}'’-]|(?<=\\p{Lu}\\p{L}{0,2})\\.){1,30}(?: (?:\\p{Lu}[\\p{L}\\p{M}'’-]{1,20}|\\d{1,2}(?![\\p{L}\\p{N}.])|(?:am|an der|im|sur|de|del|la|le|les|ob|nad|pod) \\p{Lu}[\\p{L}\\p{M}'’-]{1,20})){0,2}";
const CODE = '(?:[A-Z]{1,2}-)?(?:\\d{5,6}|\\d{4}(?: [A-Z]{2}(?= \\p{Lu}))?|\\d{3} \\d{2}|\\d{2}-\\d{3}|\\d{4}-\\d{3})';
/** A postal code before its place: `50672 Köln`, `1016 GV Amsterdam`, `150 00 Praha 5`, `90-926 Łódź`. */
const CODE_PLACE = `${CODE} ${CITY}(?: \\([A-Z]{2}\\))?`;
/** A postal code after its place and its state: `Denver, CO 80203`, `Melbourne VIC 3000`, `Edinburgh EH3 9HH`. */
const PLACE_CODE = `${CITY},? (?:[A-Z]{2,3},? )?(?:\\d{4,6}(?:-\\d{3,4})?|[A-Z]\\d[A-Z] ?\\d[A-Z]\\d|[A-Z]{1,2}\\d[A-Z\\d]? \\d[A-Z]{2})`;

/** A part of a building, before or after its street. */
const UNIT =
  '(?:[Ll]evel|[Ss]uite|[Uu]nit|[Ff]lat|Apt|[Aa]partment|[Ss]hop|[Oo]ffice|[Ff]loor|[Rr]oom|Ste|#|[Aa]pto|[Aa]p|[Aa]ppt?|[Ss]ala|[Bb]loco|[Pp]iso|[Pp]lanta|[Pp]uerta|[Ee]sc|[Ii]nt|[Ii]nterno|[Ss]cala|[Ll]ok|Etage|Top|Stiege|[Bb]ât)[. ]{1,2}(?:\\d[\\p{L}\\d-]{0,6}|[A-Z]\\d{0,3}(?![\\p{L}]))|(?:[Cc]ol\\.|Colonia|Bairro)(?: \\p{Lu}\\p{L}{1,20}){1,3}|\\d{1,2}(?:st|nd|rd|th) [Ff]loor';
/** Words for a street: after its name, before it with the number first or last, in a grid, joined to it, and after it. */
const WORDS = {
  after:
    '(?:Street|St|Road|Rd|Lane|Ln|Drive|Dr|Avenue|Ave|Boulevard|Blvd|Way|Court|Ct|Square|Sq|Terrace|Crescent|Close|Gardens|Grove|Parade|Highway|Hwy|Parkway|Pkwy|Place|Pl|Quay|Row|Mews)',
  before:
    '(?:[Rr]ue|[Aa]venue|[Aa]v\\.|[Bb]oulevard|[Bb]d|[Pp]lace|[Aa]llée|[Cc]hemin|[Qq]uai|[Ii]mpasse|[Cc]ours|[Rr]oute|[Pp]assage)',
  southern:
    '(?:[Cc]alle|C\\/|[Cc]arrera|[Aa]venida|[Aa]vda?\\.?|[Aa]v\\.|[Pp]aseo|[Pp]laza|[Cc]amino|[Rr]ua|R\\.|[Tt]ravessa|[Pp]raça|[Aa]lameda|[Ee]strada|[Rr]odovia|[Vv]ia|[Vv]iale|[Vv]icolo|[Pp]iazza|[Cc]orso|[Ll]argo|ul\\.|ulica|al\\.|aleja|os\\.|[Ss]trada|[Ss]tr\\.|[Bb]d\\.|[Bb]ulevardul|[Cc]alea)',
  grid: '(?:[Cc]alle|[Cc]arrera|Cra\\.?|Cl\\.?|Diagonal|Transversal)',
  ended:
    '(?:straße|strasse|str\\.|gasse|weg|platz|allee|ring|damm|ufer|markt|straat|laan|gracht|plein|kade|dijk|singel|gatan|vägen|gata|veien|vegen|gate|vej|gade|allé|katu|tie|kuja|polku)',
  last: '(?:Straße|Strasse|Str\\.|Weg|Platz|Allee|Gasse|Ring|utca|út|tér|körút)',
} as const;
const STREETS = [
  // 14 Elm Street, 99 Walker St
  `${NUMBER} ${NAMES}{1,4}${WORDS.after}(?:\\.|(?![\\p{L}\\p{N}]))(?: (?:[NSEW]|NE|NW|SE|SW|North|South|East|West)(?![\\p{L}]))?`,
  // 12 rue des Lilas, 7 bis, avenue Foch
  `${NUMBER}(?: (?:bis|ter))?,? ${WORDS.before} ${NAMES}{0,4}${WORD}`,
  // Calle Mayor 5, Rua das Flores, 123, via Roma 10, ul. Długa 12/3
  `${WORDS.southern} ${NAMES}{0,5}${WORD},? (?:[Nn][.o°º]{1,2}:? ?)?${NUMBER}`,
  // Calle 72 # 10-34
  `${WORDS.grid} \\d{1,3}[A-Z]? ?(?:#|No\\.?|N[º°]) ?\\d{1,3}[A-Z]? ?-? ?\\d{1,3}`,
  // Lindenstraße 12, Keizersgracht 555, Storgatan 5, Fő utca 1
  `\\p{Lu}[\\p{L}\\p{M}-]{1,30}${WORDS.ended} ${NUMBER}`,
  `${NAMES}{1,3}${WORDS.last} ${NUMBER}`,
] as const;
/** A street with its number, parts of the building, districts, and the place. Without a code, a comma is before the place. */
const IN_SENTENCE = new RegExp(
  `(?<![\\p{L}\\p{N}_./$€£#-])(?:(?:${UNIT})(?:,? |/)){0,3}(?:${STREETS.join('|')})(?:,? (?:${UNIT})){0,2}(?:(?:, | [-–] )${WORD}(?: (?:${WORD}|${PARTICLE})){0,2}){0,2}(?:(?:,? |,| [-–] |\\s?\\n[ \\t>]{0,8}| (?:in|à|en|i|w) )(?:${CODE_PLACE}|${PLACE_CODE})|, ?${CITY})(?![\\p{L}\\p{N}_-])`,
  'gu',
);
/** Words for a street in `WORDS`, and their ends. */
const STREET_BIT = bitOf(
  'Street St Road Rd Lane Ln Drive Dr Avenue Ave Boulevard Blvd Way Court Ct Square Sq Terrace Crescent Close Gardens Grove Parade Highway Hwy Parkway Pkwy Place Pl Quay Row Mews rue av bd allée chemin impasse cours route passage calle C carrera avenida avda avd paseo plaza camino rua R travessa praça alameda estrada rodovia via viale vicolo piazza corso largo ul ulica al aleja os strada str bulevardul calea Cra Cl Diagonal Transversal utca út tér körút'.split(
    ' ',
  ),
  new RegExp(`(?:${WORDS.ended}|${WORDS.last})$`.replaceAll('\\.', ''), 'u'),
);
/** A word for a street where `IN_SENTENCE` has one: it starts or ends here. */
const STREET_STARTS = new RegExp(
  `(?<= )${WORDS.after}(?![\\p{L}\\p{N}])|(?:${WORDS.before}|${WORDS.southern}|${WORDS.grid}) `,
  'uy',
);
const STREET_ENDS = /\.? \d/y;
/** Boxes at a post office. */
const BOX = new RegExp(
  `(?<![\\p{L}\\p{N}])(?:P\\.? ?O\\.? ?Box|Postfach|Apartado(?: de [Cc]orreos| [Pp]ostal)?|Caixa [Pp]ostal|Postbus|Casella [Pp]ostale) \\d{1,6}(?:,? (?:${CODE_PLACE}|${PLACE_CODE}))?(?![\\p{L}\\p{N}])`,
  'gu',
);
/** Words before a number that is not a house number. */
const NO_NUMBER =
  'version|chapter|page|section|figure|table|part|step|release|edition|error|line|node|port|issue|ticket|order|invoice|build|row|column|item|phase|day|week|january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|januar|februar|märz|mai|juni|juli|oktober|dezember|http|status|code';
const NO_NUMBER_BEFORE = new RegExp(`(?<![\\p{L}])(?:${NO_NUMBER})\\.? $`, 'iu');

/** Words for a street, as separate words or as the last part of a name. */
const STREET_WORD =
  /(?<![\p{L}])(?:street|st|road|rd|lane|ln|drive|dr|avenue|ave|av|avda|avd|blvd|boulevard|bd|way|court|ct|square|sq|terrace|crescent|close|gardens|grove|parade|highway|hwy|parkway|pkwy|place|pl|rue|allée|chemin|quai|impasse|cours|route|calle|c\/|avenida|paseo|plaza|camino|carrera|rua|travessa|praça|alameda|estrada|via|viale|vicolo|piazza|corso|largo|ulica|ul|al|aleja|os|náměstí|nám|třída|utca|út|tér|körút|strada|str|bulevardul|calea|weg|platz|gasse|allee|ring|straße|strasse|damm|ufer|markt)(?![\p{L}])|\p{L}(?:straße|strasse|str\.|gasse|weg|platz|allee|ring|damm|ufer|markt|straat|laan|gracht|plein|kade|dijk|singel|gatan|vägen|gata|veien|vegen|gate|vej|gade|allé|katu|tie|kuja|polku|utca|tér)(?![\p{L}])/iu;
const NO_STREET = new RegExp(
  `(?<![\\p{L}])(?:${NO_NUMBER}|level|monday|tuesday|wednesday|thursday|friday|saturday|sunday|and|or|the|with|from|after|before)(?![\\p{L}])`,
  'iu',
);
const CODE_FIRST = new RegExp(`(?<![\\p{L}\\p{N}.:/_#$€£-])${CODE_PLACE}(?![\\p{L}\\p{N}])`, 'gu');
const CODE_LAST =
  /(?:(?<=[\p{L}.],? )[A-Z]{2,3} (?:\d{5}(?:-\d{4})?|\d{4}|[A-Z]\d[A-Z] ?\d[A-Z]\d)|(?<=\p{Ll},? |\p{Ll},?\n)[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2})(?![\p{L}\p{N}_-])/gu;
/** A line or a cell with a street and its number, up to its place. */
const BEFORE_CODE =
  /(?:^|[\n|•·>\t;:(] ?|, )((?:(?:(?:ul|al|os|pl|nám|str|bd|via|c\/)\.? )?\p{Lu}[\p{L}\p{M}.'’/ -]{2,40}?,? (?:[Nn][.o°º]{1,2}:? ?)?\d{1,5} ?[a-zA-Z]?(?:[/-]\d{1,4}[a-z]?)?|\d{1,5}[a-zA-Z]?(?: (?:bis|ter))?,? (?:\p{L}[\p{L}\p{M}.'’-]*[ ,]{1,2}){0,5}\p{L}[\p{L}\p{M}.'’-]*)(?:,? [^,\n|]{1,25}){0,2}?)(?:, ?| [-–|•·] ?|\s?\r?\n[ \t>]{0,8})$/u;
/** The same up to its postal code, with the place before the code. */
const BEFORE_PLACE = new RegExp(
  BEFORE_CODE.source.replace(/\$$/, "\\p{Lu}[\\p{L}\\p{M}.'’ -]{1,30}(?:,| -)?\\s$"),
  'u',
);
const REACH = 130;

/** Words, or letters of a script, that the addresses of `WHOLE` have. */
const IN = {
  turkish: bitOf('Caddesi Cad Sokak Sokağı Sok Sk Bulvarı Mahallesi Mah'.split(' ')),
  latin: bitOf(
    'R Rua Av Avenida Tv Travessa Al Alameda Praça Pça Rod Rodovia Estrada Largo Jl Jln Jalan Gg Box Postfach Apartado Caixa Postbus Casella'.split(
      ' ',
    ),
  ),
  vietnamese: bitOf([], /[ơưạảấầậắằệếềọộốồịỉụủứừữỳỵđ]/i),
  cyrillic: bitOf([], /[а-яё]/i),
  greekHebrewArabic: bitOf([], /[α-ωά-ώ\u05d0-\u05ea\u0620-\u064a]/i),
  unspaced: bitOf([...'都道府県号號로길동읍면리']),
} as const;
/** Addresses in scripts and languages that write words for their parts, such as a district. */
const WHOLE: readonly { readonly bit: number; readonly address: RegExp }[] = [
  { bit: IN.latin, address: BOX },
  {
    bit: IN.latin,
    address:
      /(?<![\p{L}])(?:R\.|Rua|Av\.?|Avenida|Tv\.|Travessa|Al\.|Alameda|Praça|Pça\.?|Rod\.|Rodovia|Estrada|Largo) \p{Lu}[\p{L}. '’]{1,40}, ?(?:n[º°o.]{1,2} ?)?\d{1,5}(?:(?:, | [-–] )[^\n,;!?–]{1,30}){0,4}?(?:(?: ?[/–-] ?|, )[A-Z]{2}(?![\p{L}])(?:,? (?:CEP:? ?)?\d{5}-?\d{3})?|[, –-]{1,3}(?:CEP:? ?)?\d{5}-\d{3})(?![\p{L}\p{N}])/gu,
  },
  {
    bit: IN.greekHebrewArabic,
    address:
      /(?<![\p{L}])(?:(?:[ΟΌοό]δ[όο]ς?|Λεωφ(?:όρος|\.)|Λ\.|Πλ(?:ατεία|\.)) )?\p{Lu}[\p{L}.]{2,25}(?: \p{Lu}[\p{L}.]{2,25}){0,2},? \d{1,4}(?:[-–]\d{1,4})?[Α-Ω]?(?:(?:, | [-–] )\p{Lu}[\p{L} ]{2,25}?)?,? (?:Τ\.?Κ\.? ?)?(?:\d{3} ?\d{2},? \p{Lu}\p{L}{2,20}|\p{Lu}\p{L}{2,20}(?: \p{Lu}\p{L}{2,20})?,? (?:Τ\.?Κ\.? ?)?\d{3} ?\d{2})(?![\p{L}\p{N}])|(?<![\p{L}])(?:[ΟΌοό]δ[όο]ς?|Λεωφ(?:όρος|\.)|Πλ(?:ατεία|\.)) \p{Lu}[\p{L}.]{2,25}(?: \p{Lu}[\p{L}.]{2,25}){0,2},? \d{1,4}[Α-Ω]?, \p{Lu}\p{L}{2,20}/gu,
  },
  {
    bit: IN.cyrillic,
    address:
      /(?:\d{5,6}, )?(?:(?<![\p{L}])(?:г|м|пос|смт)\. ?\p{Lu}[\p{L}-]{1,30}, )?(?<![\p{L}])(?:ул|вул|пр-т|просп|пер|пров|бульв|бул|наб|пл)\.? \p{Lu}[\p{L}. -]{2,30},? (?:(?:д|буд|дом|зд)\.? ?)?\d{1,4}[\p{L}/\d]{0,4}(?:,? (?:к|корп|стр|кв|оф|под|эт)\.? ?\d{1,5}){0,3}(?:, (?:г|м)\. ?\p{Lu}[\p{L}-]{1,30})?(?:, \d{5,6})?(?![\p{L}\p{N}])/gu,
  },
  {
    bit: IN.turkish,
    address:
      /(?:(?!Ofisimiz|Adresim|Evim)\p{Lu}\p{Ll}{1,20} ){1,3}(?:Caddesi|Cad\.|Sokak|Sokağı|Sok\.|Sk\.|Bulvarı|Mahallesi|Mah\.)[ ,]{1,2}(?:No:? ?)?\d{1,4}(?:[ /][^\n,|]{1,20})?(?:, ?\p{Lu}[\p{L}/ -]{2,40})?/gu,
  },
  {
    bit: IN.latin,
    address:
      /(?<![\p{L}])(?:Jl|Jln|Jalan|Gg)\.? \p{Lu}[\p{L} .]{2,40}?,? (?:No\.? ?|no )\d{1,4}[a-zA-Z]?(?:, ?\p{Lu}[\p{L} ]{2,30}){0,3}(?: \d{5})?/gu,
  },
  {
    bit: IN.vietnamese,
    address:
      /(?<![\p{N}.])\d{1,4}[A-Z]?(?:\/\d{1,4})? (?:đường |phố )?\p{Lu}\p{L}{1,10}(?: \p{Lu}\p{L}{1,10}){0,4}(?:, ?(?:Phường|P\.|Quận|Q\.|Huyện|Xã|TP\.?|Thành phố|Tỉnh) ?[\p{Lu}\d][\p{L}\d ]{0,25}){1,4}/gu,
  },
  {
    bit: IN.greekHebrewArabic,
    address:
      /(?<![\p{L}])(?:רחוב|רח['׳]|שדרות|שד['׳]|דרך) [\u05d0-\u05ea'"׳״ -]{2,30} \d{1,4}(?:, ?[\u05d0-\u05ea -]{2,20})?/gu,
  },
  {
    bit: IN.greekHebrewArabic,
    address:
      /(?<![\p{L}])(?:شارع|طريق|خیابان|کوچه|بلوار) [\p{L} ]{2,30}[،,]? (?:رقم |مبنى |پلاک )?\d{1,5}(?:[،,] ?[\p{L} ]{2,30}){0,3}/gu,
  },
  {
    bit: IN.unspaced,
    address:
      /(?:〒 ?\d{3}-\d{4}\s{0,2})?(?:北海道|東京都|京都府|大阪府|\p{Script=Han}{2,3}県)[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ーヶケ]{2,20}?\d{1,4}(?:丁目|番地?|号|[-−ー－]\d{1,4}){1,4}(?:[ 　]?[\p{Script=Han}\p{Script=Katakana}ー]{1,20}\d{1,4}(?:号室|号|階|F)?)?/gu,
  },
  {
    bit: IN.unspaced,
    address:
      /(?:(?![在于於到至是为為我])\p{Script=Han}){2,8}?[省市区區縣县]\p{Script=Han}{1,20}?[路街道巷弄](?:\p{Script=Han}{1,4}段)?\d{1,5}(?:巷\d{1,4})?(?:弄\d{1,4})?[号號](?:[\p{Script=Han}\dA-Za-z-]{1,12}?[楼樓室层層座单])?/gu,
  },
  {
    bit: IN.unspaced,
    address:
      /(?:(?:[가-힣]{2,8}(?:특별시|광역시|특별자치시|특별자치도|도|시)|서울|부산|대구|인천|광주|대전|울산|세종|경기|강원|충북|충남|전북|전남|경북|경남|제주) )?[가-힣]{1,6}[시구군](?: [가-힣]{1,6}구)?(?: [가-힣]{1,8}[읍면동])? (?:[가-힣\d]{1,12}[로길] ?\d{1,4}(?:-\d{1,4})?(?:번길 ?\d{1,4})?|[가-힣\d]{1,8}[동읍면리] \d{1,4}(?:-\d{1,4})?(?:번지)?(?![가-힣\d]))(?:,? [가-힣A-Za-z\d]{2,20}(?:빌딩|타워|센터|아파트|오피스텔|빌라|스퀘어)|,? [가-힣A-Za-z]{2,20}(?= [A-Z가-힣\d]{0,4}(?:층|호|동)))?(?:,? ?[A-Z가-힣\d]{1,4}동(?![가-힣]{2}))?(?:,? ?(?:지하 ?)?\d{1,3}층)?(?:,? ?\d{1,5}호)?/gu,
  },
];

export const findStreetAddresses: Finder = (reading) => {
  const { text, bits } = reading;
  const sentences = ((bits & STREET_BIT) !== 0 && namesStreet(reading) ? matchesIn(text, IN_SENTENCE) : [])
    .filter(({ index }) => !NO_NUMBER_BEFORE.test(text.slice(Math.max(0, index - 12), index)))
    .map(({ index, 0: value }) => addressAt(text, index, index + value.length));
  const known = new Set(sentences.map(({ end }) => end));
  return [
    ...sentences,
    ...(mayBeCode(reading, isBeforePlace) ? byCode(text, CODE_FIRST, BEFORE_CODE) : []).filter(
      ({ end }) => !known.has(end),
    ),
    ...(mayBeCode(reading, isAfterCapital) ? byCode(text, CODE_LAST, BEFORE_PLACE) : []).filter(
      ({ end }) => !known.has(end),
    ),
    ...WHOLE.flatMap(({ bit, address }) => ((bits & bit) === 0 ? [] : matchesIn(text, address))).map(
      ({ index, 0: value }) => addressAt(text, index, index + value.trimEnd().length),
    ),
  ];
};

/** Longest distance from a word for a street to a number of its address, in characters. */
const STREET_REACH = 120;

/** Reports whether a word for a street is near a number, where an address has one. Most texts have none. */
function namesStreet({ text, words, digits }: Reading): boolean {
  let group = 0;
  for (let word = 0; word < words.length; word += 3) {
    if (((words[word + 2] as number) & STREET_BIT) === 0) {
      continue;
    }
    const [start, end] = [words[word] as number, words[word + 1] as number];
    while (group < digits.length && (digits[group] as number) < start - STREET_REACH) {
      group += 2;
    }
    const isNear = group < digits.length && (digits[group] as number) < end + STREET_REACH;
    STREET_STARTS.lastIndex = start;
    STREET_ENDS.lastIndex = end;
    if (isNear && (STREET_ENDS.test(text) || STREET_STARTS.test(text))) {
      return true;
    }
  }
  return false;
}

/** Reports whether a group of digits is where a postal code may be. Most texts have none. */
function mayBeCode({ text, digits }: Reading, isAt: (text: string, start: number, end: number) => boolean): boolean {
  for (let group = 0; group < digits.length; group += 2) {
    if (isAt(text, digits[group] as number, digits[group + 1] as number)) {
      return true;
    }
  }
  return false;
}

/** The last group of `CODE`, before a place or two letters: a space and a capital follow. */
function isBeforePlace(text: string, start: number, end: number): boolean {
  const size = end - start;
  const isLast = size >= 4 || ((size === 2 || size === 3) && (text[start - 1] === '-' || text[start - 1] === ' '));
  return isLast && size <= 6 && text[end] === ' ' && isCapital(text.charCodeAt(end + 1));
}

/** A group of `CODE_LAST`: capitals are directly before it, or before a space. */
function isAfterCapital(text: string, start: number): boolean {
  return isCapital(text.charCodeAt(text[start - 1] === ' ' ? start - 2 : start - 1));
}

/** Reports whether a UTF-16 unit is a capital of ASCII, or not of ASCII. */
function isCapital(unit: number): boolean {
  return (unit >= 65 && unit <= 90) || unit > 127;
}

function byCode(text: string, code: RegExp, before: RegExp): readonly PrivateValue[] {
  return matchesIn(text, code).flatMap(({ index, 0: place }) => {
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
  return (
    STREET_WORD.test(value) || (isAlone && !/^(?:19|20)\d\d(?!\d)/.test(place) && !/^\d{4} (?![A-Z]{2} )/.test(place))
  );
}

/** Returns the words of an address, which are the same with other signs between them. */
export function addressKey(written: string): string {
  return written
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

function addressAt(text: string, start: number, end: number): PrivateValue {
  const key = addressKey(text.slice(start, end));
  return { type: 'address', label: 'ADDRESS', rule: 'street and place', start, end, key };
}
