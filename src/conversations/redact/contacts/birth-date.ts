// Finder for dates of birth, which a label or a table column marks.

import type { Finder, PrivateValue } from '../model/found.ts';
import { isHeading, labelBefore, labelsFrom } from '../model/label-words.ts';
import { cellsUnder } from '../model/table-columns.ts';

/** Numeric date, in either order and with any separator, also with Chinese, Japanese and Korean characters. */
const FIGURES =
  /(?:\d{4}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}\d{1,2}|\d{1,2}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}(?:\d{4}|\d{2})|\d{8})(?:\.|T[\d:.]{5,12}Z?)?(?![\w-]|[./]\d)|(?:(?:昭和|平成|令和|大正|民国|民國) ?)?(?:\d{1,4}|元)\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]?/uy;
/** Date with the name of a month, before or after the day. */
const NAMED =
  /(?:\d{1,2}(?:st|nd|rd|th|er|º|ª|\.)?[ -](?:de |of |d['’]|ng |tháng )?\p{L}[\p{L}\p{M}.׳'’]{1,14}\.?,?[ -](?:de |del |năm |ค\.ศ\. ?|พ\.ศ\. ?)?\d{2,4}(?: (?:г|р)\.?| года| року)?|\d{1,2} tháng \d{1,2},? (?:năm )?\d{4}|\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}(?:st|nd|rd|th|\.)?,? \d{4}|\d{4}[. ]{1,3}\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}\.?)(?![\p{L}\p{N}])/uy;

const LABELS = labelsFrom(
  'natal|date naiss|data de nasc|d nasc|fecha nac|f nac|fec nacimiento|γεννηθείς|γεννηθείσα|ημ νια γέννησης|ημ/νία γέννησης|ημερομηνια γεννησης|synt|syntymäpäiväni on|יליד|ילידת|יום הולדת|sinh|sinh ngày|năm sinh|нар|народжений|народжена|род|дата рожд|г р|рођ|рођен|рођена|rođ|rođen|rođena|dat rođ|geb datum|geb|født|f dato|fødd|تاريخ الولادة|الميلاد|متولد|dátum nar|nar|ur|data ur|data nasc|dob|d.o.b|d o b|date of birth|birth date|birthdate|birthday|birth day|born|born on|bday|b day|' +
    'geburtsdatum|geboren|geboren am|geb|geb am|geburtstag|geb datum|gebdat|' +
    'date de naissance|né le|née le|né e le|naissance|né|née|ddn|d naissance|date naissance|anniversaire|' +
    'fecha de nacimiento|fecha nacimiento|fec nac|f nacimiento|f de nacimiento|nacimiento|nacido el|nacida el|nací el|naci el|cumpleaños|fdn|' +
    'data de nascimento|data nascimento|nascimento|nascido em|nascida em|nasci em|dt nascimento|dt nasc|data nasc|aniversário|dn|' +
    'data di nascita|nato il|nata il|nascita|nato a|data nascita|compleanno|sono nato il|sono nata il|' +
    'geboortedatum|geboren op|geb datum|gebdatum|verjaardag|' +
    'födelsedatum|född|född den|fødselsdato|født|født den|fødselsdag|syntymäaika|syntymäaikani|syntymäpäiväni|syntynyt|syntymäpäivä|fæðingardagur|fædd|fæddur|födelsedag|' +
    'data urodzenia|data ur|urodzony|urodzona|ur|urodziny|datum narození|narozen|narozena|nar|dátum narodenia|narodený|narodená|datum narodenia|' +
    'születési dátum|születési dátumom|születési időm|született|szül|szül idő|születési idő|data nașterii|data nasterii|născut|născută|născut la|născut la data de|născută la data de|născut pe|' +
    'дата рождения|родился|родилась|д р|др|день рождения|дата народження|народився|народилася|дата на раждане|роден|родена|роден на|датум рођења|датум рођ|datum rođenja|rođen|rođena|rođendan|datum rojstva|rojen|rojena|datum na raganje|датум на раѓање|' +
    'ημερομηνία γέννησης|ημ γέννησης|γεννήθηκα|γενέθλια|doğum tarihi|doğum tarihim|doğum günü|doğum|doğumlu|d tarihi|' +
    'تاريخ الميلاد|تاريخ ميلادي|مواليد|تاریخ تولد|متولد|تاریخ پیدائش|תאריך לידה|נולד|נולדה|ת לידה|जन्म तिथि|जन्मतिथि|जन्म दिनांक|जन्म तारीख|জন্ম তারিখ|பிறந்த தேதி|' +
    'ngày sinh|sinh ngày|ngày tháng năm sinh|tanggal lahir|tgl lahir|lahir|tarikh lahir|petsa ng kapanganakan|kaarawan|tarehe ya kuzaliwa|geboortedatum|' +
    'sünniaeg|sünnikuupäev|sündinud|gimimo data|gimė|dzimšanas datums|dzimis|dzimusi|data de naixement|nascut el|jaiotze data|datëlindja|data e lindjes|dyddiad geni|' +
    'วันเกิด|วันเดือนปีเกิด|เกิดวันที่|เกิด|出生日期|出生年月|出生年月日|生日|出生于|出生於|出生|生于|生年月日|誕生日|生まれ|생년월일|생일|출생일|태어난 날|출생',
);

/** Words after a date that mark it as a date of birth. */
const BORN_AFTER = /^\s?(?:生まれ|生(?![\p{L}])|출생|doğumlu|geboren|né\b|nascid)/u;
/** Name of a month before the day, with the characters in between. */
const MONTH_BEFORE = /(?<![\p{L}\p{N}])\p{L}[\p{L}\p{M}]{2,14}\.? $/u;
/** An era before a year: 昭和55年. */
const ERA_BEFORE = /(?:昭和|平成|令和|大正|民国|民國) ?$/;
/** Other marks of a date of birth: `(* 12.03.1980)` in German, `nata a Roma il 12.03.1980` in Italian, an element. */
const BORN_SIGN =
  /\(\* ?$|(?<!\p{L})nat[oa] a [\p{L}' ]{2,30} il["':：*_|\t ]{0,4}$|<(?:birth[_-]?da(?:te|y)|dob|date[_-]?of[_-]?birth|geburtsdatum)(?: [^<>]{0,40})?>\s?$/iu;
/** Text before a cell that follows an already redacted date of birth. */
const NEXT_CELL = /\[BIRTHDATE_\d{1,7}\]["' ]{0,2}[|\t,;]["' ]{0,2}$/;
/** Longest distance from a label to its date, in characters. */
const SIGN_REACH = 60;
const DIGITS = /\d{1,8}/g;
/** Character that makes a number after it part of a word, unless the script has no spaces (`UNSPACED`). */
const RUNS_ON = /[\p{L}\p{N}_]/u;
const UNSPACED = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Thai}]/u;

/** Finds dates of birth by the words around them, which are searched first. Other dates are not redacted. */
export const findBirthDates: Finder = (text) => {
  const found: PrivateValue[] = [];
  let done = 0;
  for (const { index } of text.matchAll(DIGITS)) {
    const before = text[index - 1] ?? ' ';
    const isApart = before === ' ' || !RUNS_ON.test(before) || UNSPACED.test(before);
    const start = index < done || !isApart ? -1 : startOfDate(text, index);
    const value = start < 0 ? undefined : dateAt(text, start, index);
    if (value !== undefined) {
      done = value.end;
      const key = text.slice(value.start, value.end).toLowerCase();
      found.push({ type: 'birthdate', label: 'BIRTHDATE', ...value, key });
    }
  }
  return [...found, ...inColumns(text)];
};

/** Returns dates in table columns whose heading announces a date of birth. */
function inColumns(text: string): readonly PrivateValue[] {
  return cellsUnder(text, (heading) => isHeading(heading, LABELS)).flatMap(({ cell: { text: key, start, end } }) => {
    const isDate = [FIGURES, NAMED].some((pattern) => {
      pattern.lastIndex = 0;
      return pattern.exec(key)?.[0].length === key.length;
    });
    return isDate ? [{ type: 'birthdate', label: 'BIRTHDATE', start, end, key: key.toLowerCase() }] : [];
  });
}

/** Returns the start of the date around a number if words before or after it mark a date of birth; otherwise -1. */
function startOfDate(text: string, at: number): number {
  const before = text.slice(Math.max(0, at - SIGN_REACH), at);
  if (NEXT_CELL.test(before)) {
    return -1;
  }
  if (labelBefore(text, at, LABELS) !== null || BORN_SIGN.test(before)) {
    return at - (ERA_BEFORE.exec(before)?.[0].length ?? 0);
  }
  const isNamed = before.endsWith(' ') || /[和成正国國]$/.test(before);
  const lead = isNamed ? (MONTH_BEFORE.exec(before)?.[0] ?? ERA_BEFORE.exec(before)?.[0] ?? '') : '';
  if (lead !== '' && labelBefore(text, at - lead.length, LABELS) !== null) {
    return at - lead.length;
  }
  return BEHIND.test(text.slice(at, at + 30)) ? at : -1;
}

const BEHIND = /生|출생|doğumlu|geboren|né|nascid/;

function dateAt(text: string, start: number, at: number): { readonly start: number; readonly end: number } | undefined {
  const needsBehind =
    labelBefore(text, start, LABELS) === null && !BORN_SIGN.test(text.slice(Math.max(0, at - SIGN_REACH), at));
  for (const pattern of [FIGURES, NAMED]) {
    pattern.lastIndex = start;
    const value = pattern.exec(text)?.[0].trimEnd();
    if (value !== undefined) {
      const end = start + value.length;
      return needsBehind && !BORN_AFTER.test(text.slice(end, end + 10)) ? undefined : { start, end };
    }
  }
  return undefined;
}
