/** Finds names of persons after their labels in forms: `Customer name: Ana Smith`, `姓名：王伟`, `| Имя | Анна |`. */

import { labelBefore, labelsFrom } from '../model/label-words.ts';
import { cellsUnder, isTechnicalTable } from '../model/table-columns.ts';
import { TITLES } from './greeting-words.ts';
import { NEVER } from './name-words.ts';

/** Labels for the name of a person, or for a role that a form fills with a name. */
const LABELS = labelsFrom(
  'name|full name|first name|last name|given name|family name|surname|maiden name|customer name|client name|contact name|contact person|account holder|account owner|cardholder|cardholder name|patient|patient name|employee name|recipient|recipient name|requester|reporter|submitted by|signed by|sent by|requested by|your name|my name|billing name|passenger|guest name|name and surname|' +
    'vorname|nachname|familienname|vor- und nachname|vor und nachname|vollständiger name|kundenname|ansprechpartner|ansprechpartnerin|kontaktperson|kontoinhaber|empfänger|name des kunden|mein name|kunde|kundin|' +
    'nom complet|nom et prénom|prénom et nom|prénom|nom de famille|nom|nom du client|titulaire|destinataire|interlocuteur|personne de contact|contact|' +
    'nombre completo|nombre y apellidos|nombre y apellido|nombre|apellidos|apellido|titular|destinatario|persona de contacto|contacto|cliente|responsable|nombre del cliente|' +
    'nome completo|nome|sobrenome|apelido|titular|destinatário|responsável|contato|pessoa de contacto|nome do cliente|nome e cognome|cognome|intestatario|destinatario|referente|persona di contatto|nome del cliente|' +
    'naam|volledige naam|voornaam|achternaam|contactpersoon|klantnaam|rekeninghouder|geadresseerde|namn|fullständigt namn|förnamn|efternamn|kontaktperson|kundnamn|navn|fullt navn|fulde navn|fornavn|etternavn|efternavn|kundenavn|nimi|koko nimi|etunimi|sukunimi|yhteyshenkilö|asiakkaan nimi|nafn|fullt nafn|' +
    'imię i nazwisko|imię|nazwisko|osoba kontaktowa|odbiorca|klient|jméno|jméno a příjmení|příjmení|kontaktní osoba|meno|meno a priezvisko|priezvisko|kontaktná osoba|név|teljes név|vezetéknév|keresztnév|kapcsolattartó|ügyfél neve|nume|nume complet|nume și prenume|prenume|persoană de contact|' +
    "имя|фио|фамилия|имя и фамилия|полное имя|контактное лицо|получатель|клиент|заказчик|імʼя|ім я|ім'я|піб|прізвище|прізвище та ім'я|контактна особа|отримувач|клієнт|име|име и фамилия|фамилия|лице за контакт|презиме|име и презиме|ime|ime i prezime|prezime|ime in priimek|priimek|kontakt osoba|kontaktna oseba|" +
    'όνομα|επώνυμο|ονοματεπώνυμο|υπεύθυνος|isim|ad|ad soyad|adı soyadı|adım|soyad|soyadı|isim soyisim|yetkili kişi|yetkili|müşteri|' +
    'الاسم|الاسم الكامل|اسم العميل|اسم|جهة الاتصال|نام|نام و نام خانوادگی|نام خانوادگی|نام کامل|שם|שם מלא|שם הלקוח|שם משפחה|איש קשר|नाम|पूरा नाम|ग्राहक का नाम|संपर्क व्यक्ति|' +
    'họ tên|họ và tên|tên|tên khách hàng|người liên hệ|nama|nama lengkap|nama pelanggan|nama penuh|kontak person|pangalan|buong pangalan|jina|jina kamili|' +
    'nimi|täisnimi|kontaktisik|vardas|vardas ir pavardė|pavardė|kontaktinis asmuo|vārds|vārds uzvārds|uzvārds|kontaktpersona|nom i cognoms|cognoms|izena|izen abizenak|emri|emri dhe mbiemri|' +
    'ชื่อ|ชื่อ-นามสกุล|ชื่อลูกค้า|ผู้ติดต่อ|นามสกุล|姓名|名字|联系人|聯絡人|客户姓名|客户|收件人|收货人|负责人|申请人|氏名|お名前|名前|担当者|ご担当者|お客様名|ご氏名|宛名|契約者|契約者名|이름|성명|성함|담당자|고객명|수신인|신청자|예금주',
);
/** Labels after which even a single word is a name. */
const SINGLE =
  /^(?:first|last|given|family|sur|vor|nach|pr[ée]nom|apellido|sobrenome|cognome|f[oö]r|ef|et|suku|imi|nazw|im|фам|имя|им|ім|пр|През|επ|soy|שם|الاسم|اسم|नाम|ชื่อ|姓名|名字|联系人|聯絡人|氏名|お名前|名前|이름|성명|성함|담당자)/iu;
const WORD =
  "(?:\\p{Lu}(?:[\\p{L}\\p{M}]|['’.-](?=\\p{L})){0,30}\\.?|\\p{Lo}[\\p{L}\\p{M}]{0,24}|(?:van|von|der|den|de|del|della|di|da|do|dos|das|la|le|al|el|bin|ibn|ter|zu|zum|zur|und|af|av|y|e|'t))";
const VALUE = new RegExp(
  `[ \\t"'*_|:：]{0,6}(?:<\\/?[a-z]{1,8}>[ \\t]{0,2}){0,3}["'|]?[ \\t]{0,2}(?:(?:${TITLES}|[Mm]w|[Dd]e heer)\\.? )?(${WORD}(?:[ \\u3000]${WORD}){0,6})(?=["'*_<|\\t,;()]|[ \\t]{0,3}(?:\\r?\\n|$)|[ \\t]{2}|[ \\t]{1,2}[|(<])`,
  'uy',
);
const SEPARATOR = /[:：|\t]| [-–—](?= )/g;
/** Labels of contact data. A plain "Name" counts only near one of them, as in forms about people. */
const CONTACT =
  /(?:e-?mail|mail|phone|telephone|telefon|tel|mobile|mobil|cell|handy|fax|whats ?app|address|adresse|anschrift|date of birth|birth ?date|birthday|dob|born|geb\.|geboren|geburtsdatum)[^\n:：|\t]{0,20}?(?:[:：|\t]| - )/iu;
/** Longest distance from a name to contact data, in characters. */
const NEAR = 200;

/** Labels that mean the family name if there is a separate field for the given name. */
const FAMILY = new Set(['name', 'nom', 'nombre', 'nome', 'naam', 'namn', 'navn', 'nume']);
const GIVEN =
  /(?<!\p{L})(?:first name|given name|vorname|pr[ée]nom|apellidos?|sobrenome|apelido|cognome|voornaam|förnamn|fornavn|prenume)[ \t]?[:：|\t]/iu;

/** Returns the names that a label announces, in order. */
export function labelledNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const { index, 0: sign } of text.matchAll(SEPARATOR)) {
    VALUE.lastIndex = index + sign.length;
    const name = VALUE.exec(text)?.[1];
    const label = name === undefined ? null : labelBefore(text, index, LABELS);
    const isContact = label !== 'name' || CONTACT.test(text.slice(Math.max(0, index - NEAR), index + NEAR));
    const isPart =
      label !== null && FAMILY.has(label) && GIVEN.test(text.slice(Math.max(0, index - NEAR), index + NEAR));
    if (name !== undefined && label !== null && isContact && isName(name, label, isPart)) {
      names.push(name.trim());
    }
  }
  return [...names, ...columnNames(text)];
}

const WHOLE = new RegExp(`^(?:(?:${TITLES})\\.? )?(${WORD}(?:,?[ \\u3000]${WORD}){0,6})$`, 'u');

/** Returns the label that makes up a whole heading: `full_name`, `Full name`, but not `Create contact`. */
function headingLabel(heading: string): string | null {
  const label = labelBefore(`${heading}:`, heading.length + 1, LABELS);
  const words = heading.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll(/[\s_-]+/g, ' ');
  return label === null || words.trim().length > label.length ? null : label;
}

/** Returns names in table columns whose heading announces them. */
function columnNames(text: string): readonly string[] {
  const isContact = (headings: readonly string[]) => headings.some((each) => CONTACT.test(`${each}:`));
  return cellsUnder(text, (heading, headings) => {
    const label = headingLabel(heading);
    // A table with two columns may be a form, with the labels in the first one.
    const isClear = label !== 'name' && headings.length > 2;
    return label !== null && (isClear || isContact(headings)) && !isTechnicalTable(headings);
  }).flatMap(({ cell, heading }) => {
    const name = WHOLE.exec(cell.text)?.[1];
    return name !== undefined && isName(name, headingLabel(heading) ?? '') ? [name] : [];
  });
}

function isName(name: string, label: string, isPart = false): boolean {
  const words = name.split(/[ \u3000]/).filter((word) => word !== '');
  const isEnough = words.length > 1 || isPart || SINGLE.test(label);
  return (
    isEnough &&
    !words.some((word) => NEVER.has(word.toLowerCase()) && /^\p{Lu}/u.test(word)) &&
    /\p{L}{2}|^\p{Lo}/u.test(name)
  );
}
