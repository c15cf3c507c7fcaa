// Finder for national identity and tax numbers, which a label or a table column marks.

import type { Finder, PrivateValue } from '../model/found.ts';
import { isHeading, labelBefore, labelsFrom } from '../model/label-words.ts';
import { cellsUnder } from '../model/table-columns.ts';
import { passesLuhn } from './card.ts';

/** Value: at least five letters and digits, one of them a digit, with at most single separators. */
const VALUE =
  /[A-Z]{0,6}-?\d[A-Z0-9]{0,24}(?:[ ./-](?=[A-Z0-9.-]{0,6}\d)[A-Z0-9]{1,12}){0,6}(?:-[A-Z0-9]|\([0-9A]\))?(?![\p{L}\p{N}_])/iuy;
const FEWEST = 5;
const MOST = 24;

/** Labels of numbers of persons and identity documents, by country and language. */
const LABELS = labelsFrom(
  'pan|rfc|sin|c.c|ssn|social security|social security number|social security no|soc sec|itin|tin|tax id|taxpayer id|tax payer id|tax file number|tfn|medicare number|medicare|nino|ni number|national insurance|national insurance number|nhs number|nhs no|social insurance number|pps|ppsn|pps number|national id|national id number|national identification number|id card|id card number|identity card|identity card number|identity number|id number card|passport|passport no|passport number|passport nr|driver license|driver licence|drivers license|driver’s license|driver’s licence|driver’s license number|driver’s licence number|driver’s license no|driver’s licence no|driving licence|driving license|driver license number|driving licence number|dl number|dl no|license plate|licence plate|green card|alien number|a-number|visa number|residence permit|aadhaar|aadhar|aadhaar number|pan card|pan number|voter id|nric|mykad|ic number|ic no|hkid|emirates id|iqama|cnic|nin|bvn|sa id|rsa id|' +
    'personalausweis|personalausweisnummer|ausweis|ausweisnummer|ausweisnr|ausweis-nr|reisepass|reisepassnummer|passnummer|steuer-id|steuer id|steueridentifikationsnummer|steuernummer|steuer-identifikationsnummer|idnr|sozialversicherungsnummer|sv-nummer|svnr|rentenversicherungsnummer|versicherungsnummer|krankenversicherungsnummer|führerschein|führerscheinnummer|ahv|ahv-nummer|ahv-nr|kennzeichen|' +
    "numéro de sécurité sociale|sécurité sociale|numéro de sécu|sécu|n sécu|n de sécurité sociale|nir|carte d'identité|cni|numéro de carte d'identité|passeport|numéro de passeport|n de passeport|permis de conduire|numéro fiscal|numéro de permis|titre de séjour|numéro national|registre national|numéro de registre national|avs|" +
    'dni|nie|nif|documento|documento de identidad|número de documento|cédula|cedula|cédula de identidad|cédula de ciudadanía|curp|rut|cuit|cuil|pasaporte|número de pasaporte|nss|seguridad social|número de seguridad social|licencia de conducir|carnet|carnet de identidad|dui|clave de elector|' +
    'cpf|rg|cnh|cnpj|pis|título de eleitor|titulo de eleitor|carteira de identidade|passaporte|número do passaporte|bilhete de identidade|cartão de cidadão|cartão do cidadão|niss|sns|carteira de motorista|identidade|' +
    "codice fiscale|c f|cod fiscale|carta d'identità|numero carta d'identità|passaporto|numero passaporto|numero patente|tessera sanitaria|partita iva|" +
    'bsn|burgerservicenummer|sofinummer|rijksregisternummer|paspoort|paspoortnummer|identiteitskaart|rijbewijs|rijbewijsnummer|documentnummer|' +
    'personnummer|samordningsnummer|cpr|cpr-nummer|cpr nr|cpr-nr|fødselsnummer|fodselsnummer|d-nummer|personnr|henkilötunnus|hetu|sotu|henkilötunnukseni|kennitala|passnummer|passi|passin numero|körkort|førerkort|kørekort|' +
    'pesel|nip|numer dowodu|dowód osobisty|nr dowodu|seria i numer dowodu|paszport|numer paszportu|nr paszportu|prawo jazdy|rodné číslo|rodne cislo|rč|r č|občanský průkaz|číslo op|cestovní pas|číslo pasu|řidičský průkaz|občiansky preukaz|cestovný pas|' +
    'személyi|személyi szám|személyi igazolvány|személyigazolvány szám|taj|taj szám|adóazonosító|adóazonosító jel|útlevél|útlevélszám|jogosítvány|cnp|cod numeric personal|carte de identitate|seria ci|pașaport|pasaport|' +
    'паспорт|номер паспорта|серия и номер паспорта|серия и номер|загранпаспорт|снилс|инн|водительское удостоверение|полис|омс|іпн|рнокпп|ідентифікаційний номер|ідентифікаційний код|егн|егн-то|лична карта|номер на лична карта|лк|јмбг|ембг|jmbg|oib|emšo|emso|lična karta|osobna iskaznica|broj pasoša|broj putovnice|putovnica|' +
    'αφμ|α φ μ|αμκα|α μ κ α|αδτ|ταυτότητα|αριθμός ταυτότητας|διαβατήριο|tc kimlik|tc kimlik no|t c kimlik no|kimlik no|kimlik numarası|kimlik numaram|tckn|pasaport no|ehliyet|ehliyet no|' +
    'رقم الهوية|الهوية الوطنية|رقم البطاقة|رقم الإقامة|الإقامة|رقم جواز السفر|جواز السفر|الرقم القومي|الرقم الوطني|کد ملی|شماره ملی|شماره گذرنامه|شناختی کارڈ|תעודת זהות|מספר זהות|ת.ז|ת ז|תז|מספר דרכון|דרכון|आधार|आधार नंबर|आधार संख्या|पैन|पैन नंबर|पासपोर्ट|जातीय পরিচয়পত্র|এনআইডি|' +
    'cmnd|cccd|căn cước|căn cước công dân|số cccd|số cmnd|chứng minh nhân dân|hộ chiếu|số hộ chiếu|nik|ktp|no ktp|nomor ktp|npwp|paspor|nomor paspor|no paspor|kad pengenalan|no ic|no kp|sss|sss number|philsys|umid|pasaporte|kitambulisho|namba ya kitambulisho|nida|' +
    'isikukood|asmens kodas|personas kods|id-kaart|passi number|paso numeris|nombre de passaport|numri personal|letërnjoftimi|' +
    'เลขบัตรประชาชน|บัตรประชาชน|เลขประจำตัวประชาชน|พาสปอร์ต|หนังสือเดินทาง|เลขที่หนังสือเดินทาง|身份证|身份证号|身份证号码|身分證|身分證字號|身份證|居民身份证|证件号|证件号码|護照|護照號碼|护照|护照号|护照号码|社保号|社会保障号|驾驶证|驾照|マイナンバー|個人番号|パスポート|パスポート番号|旅券番号|運転免許証|運転免許証番号|免許証番号|在留カード|在留カード番号|保険証番号|基礎年金番号|年金番号|주민등록번호|주민번호|여권|여권번호|운전면허|운전면허번호|면허번호|외국인등록번호',
);

const DIGITS = /\d{1,40}/g;
/** Letters that belong to a number, directly before its first digit, unless another word or number adjoins them. */
const HEAD = /(?<![\p{L}\p{N}_./-])[A-Z]{0,6}-?$/iu;

/** Finds numbers of identity documents, taxes and insurance by the label before them. Labels are searched first. */
export const findNationalIds: Finder = (text) => {
  const found: PrivateValue[] = [];
  let done = 0;
  for (const { index: digit } of text.matchAll(DIGITS)) {
    const index = digit < done ? -1 : startOfNumber(text, digit);
    const label = index < 0 ? null : labelBefore(text, index, LABELS);
    if (label !== null && !(SHAPES.has(label) && isArgument(text, index))) {
      VALUE.lastIndex = index;
      const value = VALUE.exec(text)?.[0].trimEnd() ?? '';
      const key = value.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
      if (isNumber(key) && (SHAPES.get(label)?.(key) ?? true)) {
        done = index + value.length;
        found.push({ type: 'national_id', label: 'NATIONAL_ID', start: index, end: done, key });
      }
    }
  }
  return [...found, ...inColumns(text)];
};

/** Returns numbers in table columns whose heading announces them. */
function inColumns(text: string): readonly PrivateValue[] {
  return cellsUnder(text, (heading) => isHeading(heading, LABELS)).flatMap(
    ({ cell: { text: value, start, end }, heading }) => {
      VALUE.lastIndex = 0;
      const key = value.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
      const label = labelBefore(`${heading}:`, heading.length + 1, LABELS) ?? '';
      const isWhole = VALUE.exec(value)?.[0].length === value.length;
      return isWhole && isNumber(key) && (SHAPES.get(label)?.(key) ?? true)
        ? [{ type: 'national_id', label: 'NATIONAL_ID', start, end, key }]
        : [];
    },
  );
}

/** Reports whether a number is the argument of a function call: `sin(046454286)`. */
function isArgument(text: string, at: number): boolean {
  return text[at - 1] === '(' && /[\w.]/.test(text[at - 2] ?? '');
}

/** Ambiguous labels, each with a check of the number after it. */
const SHAPES: ReadonlyMap<string, (key: string) => boolean> = new Map([
  // India: Permanent Account Number.
  ['pan', (key) => /^[A-Z]{5}\d{4}[A-Z]$/.test(key)],
  // Mexico: Registro Federal de Contribuyentes.
  ['rfc', (key) => /^[A-Z]{3,4}\d{6}[A-Z0-9]{3}$/.test(key)],
  // Canada: Social Insurance Number.
  ['sin', (key) => /^\d{9}$/.test(key) && passesLuhn(key)],
  // Colombia: cédula de ciudadanía.
  ['c.c', (key) => /^\d{6,10}$/.test(key)],
]);

/** Returns the start of the number with this first digit; -1 if it is the end of a longer value. */
function startOfNumber(text: string, digit: number): number {
  const before = text.charCodeAt(digit - 1);
  if (before === SPACE || digit === 0) {
    return digit;
  }
  if ((before === 45 || before === 46 || before === 47 || before === 58) && isDigitAt(text, digit - 2)) {
    return -1;
  }
  return headOf(text, digit);
}

function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

function headOf(text: string, digit: number): number {
  const head = HEAD.exec(text.slice(Math.max(0, digit - 9), digit));
  return head === null ? -1 : digit - head[0].length;
}

const SPACE = 32;

function isNumber(key: string): boolean {
  return key.length >= FEWEST && key.length <= MOST && (key.match(/\d/g)?.length ?? 0) >= 4;
}
