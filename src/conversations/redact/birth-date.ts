import type { Finder, Found } from './found.ts';
import { labelBefore, labelsFrom } from './label-words.ts';

/** In figures, in either order and with any separator; also with the characters of Chinese, Japanese and Korean. */
const FIGURES =
  /(?<![\w./-])(?:\d{4}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}\d{1,2}|\d{1,2}[-./ ]{1,2}\d{1,2}[-./ ]{1,2}(?:\d{4}|\d{2})|\d{8})(?:\.|T[\d:.]{5,12}Z?)?(?![\w-]|[./]\d)|(?:(?:昭和|平成|令和|大正|民国|民國) ?)?(?:\d{1,4}|元)\s?[年년]\s?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日号號일]?/gu;
/** With the name of a month before or after the day, or in one of the orders of other languages. */
const NAMED =
  /(?<![\p{L}\p{N}])(?:\d{1,2}(?:st|nd|rd|th|er|º|ª|\.)?[ -](?:de |of |d['’]|ng |tháng )?\p{L}[\p{L}\p{M}]{1,14}\.?,?[ -](?:de |del |năm |г\.? ?)?\d{2,4}|\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}(?:st|nd|rd|th|\.)?,? \d{4}|\d{4}[. ]{1,3}\p{L}[\p{L}\p{M}]{2,14}\.? \d{1,2}\.?)(?![\p{L}\p{N}])/gu;

const LABELS = labelsFrom(
  'dob|d.o.b|d o b|date of birth|birth date|birthdate|birthday|birth day|born|born on|bday|b day|' +
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

/** Dates of birth, by the label before them: other dates are nobody's. */
export const findBirthDates: Finder = (text) => [FIGURES, NAMED].flatMap((pattern) => datesOf(text, pattern));

function datesOf(text: string, pattern: RegExp): readonly Found[] {
  return [...text.matchAll(pattern)]
    .filter(({ index, 0: value }) => isBirth(text, index, index + value.length))
    .map(({ index, 0: value }) => ({
      type: 'birthdate',
      label: 'BIRTHDATE',
      start: index,
      end: index + value.trimEnd().length,
      key: value.trim().toLowerCase(),
    }));
}

/** `(* 12.03.1980)`, in German. */
const BORN_SIGN = /\(\* ?$/;

/** Japanese and Korean may put the word after the date: 1980年1月2日生まれ. */
function isBirth(text: string, start: number, end: number): boolean {
  return (
    labelBefore(text, start, LABELS) !== null ||
    BORN_SIGN.test(text.slice(Math.max(0, start - 3), start)) ||
    /^\s?(?:生まれ|生(?![\p{L}])|출생|생(?![\p{L}])|doğumlu|geboren|né\b|nascid)/u.test(text.slice(end, end + 10))
  );
}
