/** Finds file names that contain the name of a person: `passport-maria-lopez.pdf`, `CV_John_Smith.docx`. */
import type { Finder, PrivateValue } from '../model/found.ts';
import { isGivenName } from './name-words.ts';

const ENDING =
  /\.(?:pdf|docx?|odt|rtf|pages|png|jpe?g|heic|heif|tiff?|webp|gif|bmp|xlsx?|ods|csv|pptx?|key|zip|rar|7z|eml|msg|vcf|ics|mp[34]|mov|avi|wav|m4a|txt)(?![\p{L}\p{N}_]|\.\w)/giu;
/** Characters of a file name, including spaces only if it contains a word for a document. */
const STEM = /[\p{L}\p{N}][\p{L}\p{M}\p{N}._'’+%-]{1,100}$/u;
const SPACED = /(?:^|[\s"'(/\\[:：=>,*`])((?:[\p{L}\p{M}\p{N}._'’+()-]{1,30} ){1,5}[\p{L}\p{M}\p{N}._'’+()-]{1,40})$/u;

/** Words for personal documents. */
const PAPERS = new Set(
  (
    'passport passports cv resume résumé curriculum vitae lebenslauf id idcard ids license licence driverlicense driver drivers driving identity identification visa birth certificate marriage diploma degree transcript contract agreement nda payslip payslips salary paystub w2 w9 w4 1099 i9 tax taxes ssn medical prescription vaccine vaccination insurance bank statement utility bill selfie photo portrait headshot signature scan application reference letter cover recommendation bewerbung anschreiben zeugnis ausweis personalausweis reisepass führerschein fuehrerschein geburtsurkunde gehaltsabrechnung arbeitsvertrag vertrag kündigung kuendigung rechnung foto bild unterschrift meldebescheinigung ' +
    'passeport carte identite identité cni permis conduire acte naissance contrat bulletin salaire fiche paie lettre motivation diplôme attestation pasaporte dni nie cedula cédula carnet licencia contrato nomina nómina hoja vida firma acta nacimiento passaporte rg cpf cnh identidade certidao certidão holerite contracheque comprovante residencia residência passaporto carta identita identità patente busta paga contratto paspoort rijbewijs identiteitskaart loonstrook arbeidscontract pass körkort korkort anställningsavtal lönespecifikation pas sundhedskort passi ajokortti henkilökortti paszport dowod dowód umowa zaswiadczenie pas obcansky občanský smlouva útlevél szemelyi szerződés pasaport buletin contract ' +
    'паспорт резюме снилс договор справка диплом права удостоверение kimlik ehliyet özgeçmiş ozgecmis sözleşme invoice receipt order booking ticket boarding invitation report record file form claim 护照 简历 身份证 合同 パスポート 履歴書 免許証 契約書 여권 이력서 신분증 계약서'
  ).split(' '),
);
/** Common words in file names that are not names of people. */
const COMMON = new Set(
  (
    'the a an of for and or to in on at with from by copy final draft new old signed unsigned scan scanned front back page pages part version rev v img image images pic picture screenshot screen shot capture screencast doc docs document documents file files photo photos attachment att download export import backup archive report reports summary overview guide manual readme notes note list data table template templates sample samples example examples test tests demo blank empty form forms instructions info information details policy policies terms conditions privacy ' +
    'api app apps web site website page home index main default user users admin customer client company team project plan roadmap design logo icon icons banner background avatar header footer hero thumbnail preview chart graph diagram flow architecture schema model config settings setup install installation getting started quickstart tutorial release changelog log logs error errors debug trace dump crash build dist output input result results status dashboard analytics metrics usage billing pricing quote ' +
    'january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday q1 q2 q3 q4 am pm utc en de fr es it pt ja zh ko ru us uk eu small medium large big full half high low res hd min max dark light mode red green blue black white gray grey left right top bottom center ' +
    'number no nr id card cards letter mail email web pdf doc docx png jpg proof bank account statement type class field validation verification check upload required missing expired renewal application process flow card holder state national international employee employment service services level master work lease rental purchase sales order orders payment payments invoice invoices receipt tax vat scanned color colour bw local strategy js ts jwt auth oauth google github facebook twitter saml http express session reader writer parser builder generator checker'
  ).split(' '),
);

/** Finds file names that contain the name of a person, and redacts them as a whole. */
export const findNamedFiles: Finder = (text) => {
  const found: PrivateValue[] = [];
  for (const { index, 0: ending } of text.matchAll(ENDING)) {
    const before = text.slice(Math.max(0, index - 160), index);
    const stem = stemOf(before);
    if (stem !== null) {
      const start = index - stem.length;
      const key = text.slice(start, index + ending.length);
      found.push({ type: 'person', label: 'FILE', start, end: index + ending.length, key: key.toLowerCase() });
    }
  }
  return found;
};

/**
 * Returns the file name without its extension if it contains the name of a person, else null. Spaces are included only
 * from a word for a document on.
 */
function stemOf(before: string): string | null {
  const plain = STEM.exec(before)?.[0];
  if (plain !== undefined && namesPerson(plain)) {
    return plain;
  }
  const words = SPACED.exec(before)?.[1]?.split(' ') ?? [];
  for (let from = words.length - 2; from >= 0; from -= 1) {
    const stem = words.slice(from).join(' ');
    const first = words[from] as string;
    const isStart = PAPERS.has(first.toLowerCase().split(/[_-]/)[0] as string) || /^\p{Lu}/u.test(first);
    if (isStart && namesPerson(stem)) {
      return withPaper(words, fromFirst(words, from)).join(' ');
    }
  }
  return null;
}

/** Returns the start of the name, including preceding words that may be names of the same person. */
function fromFirst(words: readonly string[], from: number): number {
  let first = from;
  while (first > 0 && words.length - first < 5 && isNameWord(words[first - 1] as string)) {
    first -= 1;
  }
  return first;
}

function isNameWord(word: string): boolean {
  const lower = word.toLowerCase();
  return /^\p{Lu}[\p{L}\p{M}'’-]{1,}$/u.test(word) && !COMMON.has(lower) && !PAPERS.has(lower);
}

/** Returns the words from an index on, including a word for a document directly before them. */
function withPaper(words: readonly string[], from: number): readonly string[] {
  const before = words[from - 1]?.toLowerCase() ?? '';
  return words.slice(PAPERS.has(before) && from > 0 ? from - 1 : from);
}

function namesPerson(stem: string): boolean {
  const tokens = stem
    .replaceAll(/%20/g, ' ')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[\s._+()-]+/)
    .filter((token) => token !== '');
  const rest = tokens.filter((token) => /^[\p{L}\p{M}'’]{2,}$/u.test(token));
  const words = rest.map((token) => token.toLowerCase());
  const isPaper = words.some((word) => PAPERS.has(word));
  const unknown = words.filter((word) => !PAPERS.has(word) && !COMMON.has(word) && !PARTICLES.has(word));
  const given = words.filter((word) => isGivenName(word, true) && !COMMON.has(word));
  if (isPaper) {
    return unknown.length >= 1 && unknown.length <= 4 && (given.length > 0 || isLikeName(rest, unknown));
  }
  const isAllNames = words.every((word) => unknown.includes(word) || PARTICLES.has(word));
  if (DATED.test(stem) && isAllNames && isCapital(rest)) {
    return unknown.length >= 2 && unknown.length <= 4;
  }
  return given.length > 0 && unknown.length >= 2 && unknown.length <= 4 && isAllNames;
}

/** Particles of last names. */
const PARTICLES = new Set(
  'van von der den de del della di da do dos das la le al el bin ibn ter zu zum und y e abu'.split(' '),
);
/** Date at the start of the name of a scanned file. */
const DATED = /^(?:19|20)\d\d[-_.]?\d\d[-_.]?\d\d[-_.+ ]/;

function isCapital(tokens: readonly string[]): boolean {
  return tokens.every((token) => /^\p{Lu}|^\p{Lo}/u.test(token) || PARTICLES.has(token));
}

function isLikeName(tokens: readonly string[], unknown: readonly string[]): boolean {
  const isWritten = isCapital(tokens.filter((token) => unknown.includes(token.toLowerCase())));
  return (
    unknown.length >= 2 ||
    (isWritten &&
      unknown.some((word) => word.length >= 2 && /[\p{Script=Han}\p{Script=Hangul}\p{Script=Katakana}]/u.test(word)))
  );
}
