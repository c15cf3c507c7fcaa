/** Labels of postal addresses in many languages, and of addresses that are not postal. */
import { labelBefore, labelsFrom, phraseBefore } from '../model/label-words.ts';

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
/** Labels of the addresses of machines and programs, and of links. */
const NOT_POSTAL =
  /(?:^|[^\p{L}])(?:ip|ipv[46]|e-?mail|mail|mac|web|memory|wallet|server|host|bind|listen|listening|url|uri|network|site|contract|base|remote|local|source|src|dest|destination|gateway|dns|start|end|bus|i2c|device|register|physical|virtual|token|eth|btc|bitcoin|ethereum|internet|page|http|https|socket|peer|client|broadcast|loopback|multicast|subnet|load|return|entry|jump|fault|ipfs|node|endpoint|callback|redirect|proxy|smtp|courriel|électronique|correo|electrónico|elettronica|elettronico|posta elettronica|почты|почта|эл|электронный|e-posta|eposta|メール|邮箱|邮件|이메일|电子)(?:[ \t_.-]{1,2}(?:of |de |d['’]|di |da )?(?:the )?\p{L}{0,12}|addr\p{L}*)$/iu;
/** Reports whether a label precedes: a few words, one of them for an address, as in `Adres do faktury`. */
export function isAddressLabel(text: string, at: number): boolean {
  const all = phraseBefore(text, at, LAST_WORDS);
  const words = all.length > PHRASE ? afterColon(text, at, all) : all;
  if (words.length === 0 || words.some((word) => TECHNICAL.has(word))) {
    return false;
  }
  const isPostal =
    labelBefore(text, at, LABELS) !== null ||
    (words.length <= PHRASE && words.some((word) => ADDRESS_WORDS.has(word) || word.startsWith(THAI)));
  return isPostal && !NOT_POSTAL.test(text.slice(Math.max(0, at - 32), at).replace(/["'*_\s)\]]+$/, ''));
}

/** Returns the words after the name of the speaker: `Ana Smith: Billing address: …`. */
function afterColon(text: string, at: number, words: readonly string[]): readonly string[] {
  const own =
    text
      .slice(Math.max(0, at - 40), at)
      .split(/[:：\]|] /)
      .at(-1) ?? '';
  return words.slice(-Math.max(1, own.trim().split(/\s+/).length));
}

/** Maximum number of words in a label with a word for an address. */
const PHRASE = 4;
/** Word for an address in Thai, which has no spaces between words; the label starts with it. */
const THAI = 'ที่อยู่';
const ADDRESS_WORDS = new Set(
  (
    'address adresse anschrift direccion domicilio endereco morada indirizzo residenza adres adress osoite adresa bydliste cim lakcim adresi adresim ' +
    'адрес адреса διευθυνση العنوان عنوان آدرس نشانی כתובת כתובתי पता ठिकाना alamat anwani aadress adresas adrese adreca helbidea naslov prebivaliste adresy adresu rechnungsadresse lieferadresse factuuradres fakturaadresse fakturaadress adresata đia'
  ).split(' '),
);
/** Words at the end of a label of an address. */
const LAST_WORDS = new Set([
  ...LABELS.lastWords,
  ...ADDRESS_WORDS,
  ...(
    'faktury facturare racun livraison facturation envio facturacion entrega cobranca spedizione fatturazione rumah pengiriman tagihan dostawy wysylki korespondencyjny zamieszkania dostavu dostavo placanje dorucovaci home work billing shipping delivery postal casa domicile livrare isporuke naplatu ' +
    'penagihan kantor surat lengkap domisili tinggal sekarang particular actual fiscal oficina cobro faturamento fatura residencial bureau actuelle complete ufficio rozliczeniowy domowy zameldowania firmy fakturacni domiciliu stanovanja placilo nyumbani'
  ).split(' '),
]);
/** Words of technical addresses, in any language. */
const TECHNICAL = new Set(
  'email e-mail mail mails emails ip ipv4 ipv6 mac web url uri wallet memory server host bind listen contract dns gateway endpoint node socket proxy smtp btc eth ethereum bitcoin почты почта эл электронной электронная пошти ηλεκτρονικου ταχυδρομειου البريد الالكتروني הדואר אלקטרוני דוא ईमेल courriel electronique correo electronico elettronica eposta posti surel website internet домен сайта'.split(
    ' ',
  ),
);
