import type { Finder, Found } from './found.ts';
import { labelBefore, labelsFrom, phraseBefore } from './label-words.ts';

const LABELS = labelsFrom(
  'address|addr|home address|postal address|mailing address|shipping address|billing address|delivery address|street address|my address|our address|residential address|office address|business address|company address|registered address|permanent address|current address|full address|return address|ship to|deliver to|bill to|send it to|mail to|street|residence|live at|living at|reside at|located at|' +
    'adresse|anschrift|postanschrift|wohnanschrift|lieferadresse|lieferanschrift|rechnungsadresse|rechnungsanschrift|wohnhaft|wohnhaft in|wohnort|straße|strasse|wohne in der|wohne in|privatadresse|firmenadresse|firmenanschrift|hausanschrift|postadresse|meldeadresse|' +
    "adresse postale|adresse de livraison|adresse de facturation|adresse complète|domicile|j'habite|habite au|j'habite au|demeurant|livrer à|rue|adresse du domicile|" +
    'dirección|dirección postal|dirección de envío|dirección de facturación|domicilio|domicilio fiscal|calle|vivo en|resido en|dirección de entrega|dirección completa|' +
    'endereço|endereço de entrega|endereço de cobrança|endereço residencial|endereço completo|morada|residência|moro na|moro em|logradouro|rua|' +
    'indirizzo|indirizzo di spedizione|indirizzo di fatturazione|indirizzo di residenza|residenza|residente in|domicilio|abito in|via|' +
    'adres|postadres|bezorgadres|factuuradres|woonadres|huisadres|thuisadres|verzendadres|afleveradres|straat|woon op|' +
    'adress|postadress|leveransadress|hemadress|fakturaadress|bostadsadress|bor på|leveringsadresse|postadresse|bopæl|bopælsadresse|hjemmeadresse|faktureringsadresse|bor i|osoite|postiosoite|kotiosoite|toimitusosoite|laskutusosoite|asun osoitteessa|heimilisfang|heimili|' +
    'adres zamieszkania|adres dostawy|adres korespondencyjny|adres do wysyłki|ulica|mieszkam przy|adresa|bydliště|trvalé bydliště|doručovací adresa|dodací adresa|fakturační adresa|bydlisko|dodacia adresa|ulice|trvalý pobyt|' +
    'cím|lakcím|címem|szállítási cím|számlázási cím|postacím|levelezési cím|adresă|adresă de livrare|adresa de livrare|adresa de facturare|domiciliu|domiciliul|strada|locuiesc pe|adresa mea|' +
    'адрес|адрес доставки|почтовый адрес|домашний адрес|мой адрес|адрес проживания|место жительства|прописка|проживаю по адресу|улица|адреса|адреса доставки|поштова адреса|моя адреса|адрес за доставка|постоянен адрес|адреса становања|adresa stanovanja|adresa za dostavu|prebivalište|naslov|naslov za dostavo|stanujem u|' +
    'διεύθυνση|διεύθυνση αποστολής|ταχυδρομική διεύθυνση|οδός|κατοικία|adresi|adresim|adres|ev adresi|ev adresim|teslimat adresi|fatura adresi|posta adresi|iş adresi|ikametgah|' +
    'العنوان|عنوان|عنواني|عنوان السكن|عنوان الشحن|عنوان المنزل|عنوان التوصيل|آدرس|نشانی|آدرس منزل|پتہ|כתובת|הכתובת|כתובתי|כתובת למשלוח|कोड पता|पता|मेरा पता|घर का पता|ठिकाना|ঠিকানা|முகவரி|చిరునామా|' +
    'địa chỉ|địa chỉ nhà|địa chỉ giao hàng|nơi ở|alamat|alamat rumah|alamat pengiriman|alamat lengkap|alamat penghantaran|tirahan|address ko|anwani|makazi|aadress|postiaadress|elukoht|tarneaadress|adresas|gyvenamoji vieta|pristatymo adresas|adrese|dzīvesvieta|piegādes adrese|adreça|domicili|helbidea|adresa e shtëpisë|cyfeiriad|' +
    'ที่อยู่|ที่อยู่จัดส่ง|ที่อยู่บ้าน|บ้านเลขที่|地址|家庭地址|住址|收货地址|通讯地址|邮寄地址|联系地址|收件地址|寄送地址|公司地址|住在|聯絡地址|戶籍地址|住所|ご住所|現住所|お届け先|送付先|配送先|所在地|주소|집주소|배송지|배송주소|거주지|자택주소',
);
/** Addresses of machines and programs, and links. */
const NOT_POSTAL =
  /(?:^|[^\p{L}])(?:ip|ipv[46]|e-?mail|mail|mac|web|memory|wallet|server|host|bind|listen|listening|url|uri|network|site|contract|base|remote|local|source|src|dest|destination|gateway|dns|start|end|bus|i2c|device|register|physical|virtual|token|eth|btc|bitcoin|ethereum|internet|page|http|https|socket|peer|client|broadcast|loopback|multicast|subnet|load|return|entry|jump|fault|ipfs|node|endpoint|callback|redirect|proxy|smtp|courriel|électronique|correo|electrónico|elettronica|elettronico|posta elettronica|почты|почта|эл|электронный|e-posta|eposta|メール|邮箱|邮件|이메일|电子)(?:[ \t_.-]{1,2}(?:of |de |d['’]|di |da )?(?:the )?\p{L}{0,12}|addr\p{L}*)$/iu;
/** A place in the world has a number, or says that it is a street, a square, a district. */
const PLACE =
  /[\p{L}].*\d|\d.*[\p{L}]|[省市区區县縣镇鎮乡鄉村街路巷弄号號楼樓室都道府県町丁目番地]|[시군구동읍면리로길]\s|(?:street|road|avenue|lane|straße|strasse|platz|weg|rue|avenida|calle|praça|piazza|via|ulica|улица|проспект)/iu;
/** What no address has: code, links, hexadecimal numbers, placeholders, prose of machines. */
const NO_PLACE =
  /[{}<>=;\\`$*]|:\/\/|0x[\da-f]|\(\)|^\W*\[|^(?:true|false|null|none|undefined|string|text|object|required|optional|localhost)\b|^[\d.:]+$|^[\da-f:]{11,}$|@|^\S+\.\S+$|^\S+$(?<![\p{Script=Han}\p{Script=Hangul}\p{L}]\d.*|\d[\p{Script=Han}].*)/iu;
/** The signs and words after which the value of a label begins. */
const SEPARATOR =
  /[:：=|\t]| (?:[-–—]|is|ist|lautet|est|es|é|è|er|är|on|jest|je|este|adalah|là)(?=[ :])|[は是为為은는]/g;
const LONGEST = 160;
/** The lines of an address under its label. */
const LINES = 4;

/** Postal addresses, by the label before them: up to the end of the line, of the cell or of the quotes. */
export const findAddresses: Finder = (text) => {
  const found: Found[] = [];
  let done = 0;
  for (const { index, 0: sign } of text.matchAll(SEPARATOR)) {
    if (index >= done && isLabelled(text, index)) {
      const value = valueAfter(text, index + sign.length);
      if (value !== null) {
        const key = text.slice(value.start, value.end).replaceAll(/\s+/g, ' ').toLowerCase();
        found.push({ type: 'address', label: 'ADDRESS', ...value, key });
        done = value.end;
      }
    }
  }
  for (const { index } of text.matchAll(DIGITS)) {
    const phrase = index < done ? undefined : LIVING.exec(text.slice(Math.max(0, index - LIVING_REACH), index))?.[1];
    const value = phrase === undefined ? null : valueAfter(text, index - phrase.length);
    if (value !== null) {
      found.push({
        type: 'address',
        label: 'ADDRESS',
        ...value,
        key: text.slice(value.start, value.end).toLowerCase(),
      });
      done = value.end;
    }
  }
  return found;
};

const DIGITS = /(?<!\d)\d{1,5}(?!\d)/g;
/** How far before the first number of an address the phrase that announces it ends, in characters. */
const LIVING_REACH = 64;
/** Phrases before an address, and its beginning up to the first number. */
const LIVING =
  /(?:(?<![\p{L}])(?:live at|reside at|residing at|[Ss]hip(?: it)? to|[Dd]eliver(?: it)? to|[Ww]ohnhaft in|[Ii]ch wohne in|j['’]habite(?: au)?|demeurant(?: au)?|[Vv]ivo en|[Mm]oro na|[Rr]esidente in|[Aa]bito in|проживаю по адресу|ik woon op|asun osoitteessa|mieszkam przy|[Mm]ój adres to|[Aa]dresim|[Ss]end (?:it|them|this) to|(?:[Pp]ostal|[Hh]ome|[Mm]ailing|[Ss]hipping|[Bb]illing|[Dd]elivery|[Ss]treet) address)[ :：]{1,3}|(?:居住在|住在)[ :：]{0,2})([^\n\d:：]{0,32})$/u;

/** One label or a few words of which one is a word for an address: `Adres do faktury`, `Διεύθυνση χρέωσης`. */
function isLabelled(text: string, at: number): boolean {
  const words = phraseBefore(text, at, LAST_WORDS);
  if (words.length === 0 || words.some((word) => TECHNICAL.has(word))) {
    return false;
  }
  const isPostal =
    labelBefore(text, at, LABELS) !== null || (words.length <= PHRASE && words.some((word) => ADDRESS_WORDS.has(word)));
  return isPostal && !NOT_POSTAL.test(text.slice(Math.max(0, at - 32), at).replace(/["'*_\s)\]]+$/, ''));
}

/** The longest phrase in which a word for an address makes a label. */
const PHRASE = 4;
const ADDRESS_WORDS = new Set(
  (
    'address adresse anschrift direccion domicilio endereco morada indirizzo residenza adres adress osoite adresa bydliste cim lakcim adresi adresim ' +
    'адрес адреса διευθυνση العنوان عنوان آدرس نشانی כתובת כתובתי पता ठिकाना alamat anwani aadress adresas adrese adreca helbidea naslov prebivaliste adresy adresu rechnungsadresse lieferadresse factuuradres fakturaadresse fakturaadress adresata'
  ).split(' '),
);
/** Words that a label of an address ends in. */
const LAST_WORDS = new Set([
  ...LABELS.lastWords,
  ...ADDRESS_WORDS,
  ...'faktury facturare racun livraison facturation envio facturacion entrega cobranca spedizione fatturazione rumah pengiriman tagihan dostawy wysylki korespondencyjny zamieszkania dostavu dostavo placanje dorucovaci home work billing shipping delivery postal casa domicile livrare isporuke naplatu'.split(
    ' ',
  ),
]);
/** Words that make an address one of a machine, in any language. */
const TECHNICAL = new Set(
  'email e-mail mail mails emails ip ipv4 ipv6 mac web url uri wallet memory server host bind listen contract dns gateway endpoint node socket proxy smtp btc eth ethereum bitcoin почты почта эл электронной электронная пошти ηλεκτρονικου ταχυδρομειου البريد الالكتروني הדואר אלקטרוני דוא ईमेल courriel electronique correo electronico elettronica eposta posti surel website internet домен сайта'.split(
    ' ',
  ),
);

interface Value {
  readonly start: number;
  readonly end: number;
}

function valueAfter(text: string, from: number): Value | null {
  const gap =
    /^(?:[ \t"'*_|:：]|\\"|<\/?[a-z]{1,8}>)*(?:\r?\n[ \t>]*)?["']?/.exec(text.slice(from, from + 24))?.[0] ?? '';
  const start = from + gap.length;
  const isQuoted = /["']$/.test(gap);
  const isBelow = gap.includes('\n');
  const stretch = text.slice(start, start + LONGEST);
  const ending = isQuoted
    ? /["'\n]/
    : isBelow
      ? blockEnd(stretch)
      : /\r?\n|[|｜\t]|["<>{}]|[;；]|\s{3,}|\s•\s|[.。!?！？]\s+(?=\p{Lu}\p{Ll}+ \p{Ll})|[。！？]|(?:[,，]|\s{2})\s?(?=\p{L}[\p{L}.-]{1,20}\s?[:：])/u;
  const size = typeof ending === 'number' ? ending : stretch.search(ending);
  const first = size < 0 ? stretch.length : size;
  const value = stretch.slice(0, isQuoted ? first : furtherLines(stretch, first)).replace(/[\s.,"'*_]+$/, '');
  const isPlace = value.length >= 6 && PLACE.test(value) && !NO_PLACE.test(value);
  return isPlace ? { start, end: start + value.length } : null;
}

/** A line that an address goes on in: a postal code and a place, a suite, a city and its state. */
const FURTHER =
  /^\r?\n[ \t>]{0,8}(?:\p{L}{0,3}-?\d{3,7}[ -]\p{Lu}|(?:suite|apt|apartment|unit|floor|building|c\/o|p\.?o\.? box|etage|étage|piso|app?\.|кв|дом)\b|[\p{Lu}][\p{L}.' -]{1,30},? (?:[A-Z]{2}\b|\p{L}{0,2}\d{3,6})|\p{Lu}[\p{L}.' -]{1,30}, \p{Lu}[\p{L}.' -]{1,30}(?=\r?\n|$))[^\n:]{0,60}/iu;

function furtherLines(stretch: string, end: number): number {
  let last = end;
  for (let line = 1; line < LINES; line += 1) {
    const further = FURTHER.exec(stretch.slice(last, last + 90));
    if (further === null) {
      break;
    }
    last += further[0].length;
  }
  return last;
}

/** Where the lines of an address end: at an empty line, at another label, after a few lines. */
function blockEnd(stretch: string): number {
  let end = 0;
  for (let line = 0; line < LINES; line += 1) {
    const newline = stretch.indexOf('\n', end);
    const text = stretch.slice(end, newline < 0 ? stretch.length : newline);
    if (text.trim() === '' || (line > 0 && /[:：]|^[-*#]/.test(text)) || text.length > 80) {
      break;
    }
    end = newline < 0 ? stretch.length : newline + 1;
    if (newline < 0) {
      break;
    }
  }
  return end;
}
