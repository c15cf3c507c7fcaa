/** Distinguishes phone numbers from other numbers by the text around them. */
import { labelBefore, labelsFrom } from '../model/label-words.ts';

/** Number of characters before a number that are read as its context. */
const CONTEXT = 40;

/** English verbs and phrases before a number, and protocols. */
const PHONE_PHRASES =
  /(?<![a-z])(?:call(?:ed|ing)?|phone|tel(?:efon|ephone)?|mobile?|mobil|cell|fax|whats ?app|sms|text(?:ed)?|ring|dial|hotline|contact|reach|handy|rufnummer|(?:my|our|new|the) n(?:umber|ummer|o)|t[eé]l[eé]phone|wa\.me\/|port\.\s?:)[^\d\n]{0,24}$/i;
/** Nouns for a phone, in many languages. */
const PHONE = labelsFrom(
  'phone|phones|telephone|numărul meu|ring meg på|ring mig på|ring mig|rufen sie mich an unter|rückruf unter|appelez-moi au|appelez moi au|llamarme al|llámenme al|me ligar no|ligue para|me liga no|chiamatemi al|chiamami al|bel me op|bel mij op|zadzwoń pod|proszę dzwonić pod|zavolejte na|zavolajte na|hívjon|sunați la|sunati-ma la|soittakaa|soita|nås på|når meg på|träffas på|treffes på|telefonujte|dzwonić|καλέστε με στο|beni arayın|numaram|اتصل بي على|اتصلوا بي على|התקשרו אליי|התקשר אלי|gọi cho tôi|hubungi saya di|hubungi|โทรหาฉันที่|โทรหา|ติดต่อ|tel|tél|ph|mob|mobile|mobil|cell|cellphone|cell phone|phone number|fax|fon|gsm|whatsapp|whats app|wa|viber|telegram|wechat|hp|contact number|phone no|mobile number|mobile no|landline|hotline|direct line|' +
    'telefon|telefonnummer|tel-nr|telnr|tel nr|telefonnr|handy|handynummer|handynr|mobilnummer|mobiltelefon|mobilfunk|rufnummer|festnetz|durchwahl|rückruf|natel|' +
    "téléphone|telephone portable|portable|numéro de téléphone|n de téléphone|fixe|gsm|joignable au|m’appeler au|m'appeler au|bel gerust|nummeret mitt er|mitt nummer er|mit nummer er|mijn nummer is|meine nummer ist|mon numéro est|mi número es|meu número é|il mio numero è|moje číslo je|mój numer to|numeroni on|позвоните мне по номеру|звоните по номеру|мой номер|мій номер|numaram|" +
    'teléfono|telefono|teléfonos|tfno|tlfno|telf|telef|móvil|movil|celular|cel|número de teléfono|número de celular|numero de contacto|fijo|llamar al|llámame al|' +
    'telefone|telemóvel|telemovel|tlm|tlf|fone|zap|zap zap|fixo|celular whatsapp|número de telefone|contato|contacto|contato telefônico|' +
    'cellulare|cell|telefono cellulare|recapito|recapito telefonico|numero di telefono|fisso|' +
    'telefoon|telefoonnummer|mobiel|mobiele nummer|gsm-nummer|tel nummer|vast nummer|' +
    'mobilnr|telefonnr|mobiltelefon|mobilnummer|tlfnr|telnr|telefonnummer|puhelin|puhelinnumero|puh|gsm|matkapuhelin|kännykkä|sími|símanúmer|farsími|' +
    'telefon|numer telefonu|nr telefonu|nr tel|komórka|tel kom|telefonní číslo|telefonne cislo|mobil|telefónne číslo|telefonszám|telefonszama|mobilszám|telefon|telefonul|număr de telefon|nr de telefon|mobitel|broj telefona|telefonska številka|gsm|telefoni|numri i telefonit|telefonas|tel nr|mob tel|telefons|tālrunis|talr|telefon|telefoninumber|mobiil|' +
    'телефон|тел|моб|мобильный|мобильный телефон|номер телефона|сотовый|телефона|мобільний|номер телефону|телефонен номер|мобилен|телефон за връзка|број телефона|мобилни|ватсап|вотсап|звоните|позвоните|' +
    'τηλέφωνο|τηλ|κινητό|αριθμός τηλεφώνου|κιν|telefon numarası|telefon numaram|cep|cep telefonu|cep tel|gsm no|cep no|telefon no|' +
    'هاتف|الهاتف|رقم الهاتف|رقم هاتفي|هاتفي|جوال|الجوال|رقم الجوال|موبايل|تلفون|واتساب|للتواصل|تلفن|شماره تلفن|موبایل|شماره موبایل|فون|فون نمبر|' +
    'טלפון|טל|נייד|מספר טלפון|פלאפון|סלולרי|फोन|फ़ोन|मोबाइल|मोबाइल नंबर|फोन नंबर|दूरभाष|ফোন|মোবাইল|போன்|கைபேசி|ఫోన్|' +
    'điện thoại|số điện thoại|sđt|sdt|đt|dt|di động|số đt|hotline|nomor telepon|nomor hp|no hp|no telp|telp|telepon|handphone|ponsel|no wa|nomor wa|no telefon|telefon bimbit|numero ng telepono|simu|namba ya simu|' +
    'เบอร์ของฉัน|โทร|โทรศัพท์|เบอร์โทร|เบอร์|เบอร์โทรศัพท์|มือถือ|เบอร์มือถือ|โทรสาร|' +
    '电话|電話|手机|手機|手机号|手机号码|手機號碼|电话号码|電話號碼|联系电话|聯絡電話|联系方式|座机|传真|傳真|热线|微信|拨打|致电|电话是|手机是|電話番号|携帯|携帯電話|携帯番号|ケータイ|けいたい|連絡先|直通|代表|ファックス|' +
    '전화|전화번호|휴대폰|휴대전화|핸드폰|핸드폰번호|휴대폰번호|연락처|폰|팩스|대표번호|모바일',
);
/** Nouns for other things that have a number. */
const OTHER_NUMBER_NOUNS = labelsFrom(
  'pedido|encomenda|fatura|factura|compra|caso|cliente|referência|referencia|rastreio|rastreamento|guía|envío|expediente|commande|facture|colis|dossier|référence|suivi|client|' +
    'bestellung|bestellnummer|rechnung|rechnungsnummer|auftrag|auftragsnummer|kundennummer|sendungsnummer|vorgang|vorgangsnummer|artikelnummer|seriennummer|ticketnummer|fall|' +
    'ordine|fattura|ordinazione|spedizione|pratica|bestelling|ordernummer|factuur|factuurnummer|klantnummer|zendingsnummer|order|ordrenummer|fakturanummer|faktura|kundnummer|tilaus|tilausnumero|lasku|' +
    'zamówienie|zamówienia|numer zamówienia|faktury|faktura|przesyłka|objednávka|objednávky|zásilka|rendelés|számla|comandă|comanda|factură|поръчка|narudžba|račun|' +
    'заказ|заказа|накладная|трек|обращение|заявка|счет|счёт|счета|замовлення|рахунок|παραγγελία|τιμολόγιο|sipariş|sipariş no|fatura no|kargo|طلب|رقم الطلب|فاتورة|הזמנה|חשבונית|đơn hàng|mã đơn|hóa đơn|pesanan|no pesanan|resi|invoice|' +
    '订单|订单号|訂單|訂單號|订单编号|发票|發票|工单|编号|單號|单号|快递|运单|案件|序列号|流水号|注文|注文番号|請求書|伝票|管理番号|会員番号|シリアル|주문|주문번호|송장|운송장|송장번호|운송장번호|접수번호|일련번호|คำสั่งซื้อ|ใบแจ้งหนี้|' +
    'breakpoint|breakpoints|sizes|widths|width|height|heights|dimensions|dimension|resolution|resolutions|ratio|ratios|viewport|viewports|coordinates|range|ranges|ports|pids|ids|values|numbers|sequence|port|root|account|konto|kontonummer|cuenta|conta|compte|conto|счёт|账号|帳號|口座|계좌|계좌번호|isbn|issn|ean|gtin|upc|asin|vin|imei|iccid|oid|doi|pmid|rfc|port|pid|ppid|uid|gid|tid|thread|request|session|run|job|pipeline|commit|revision|build|version|release|code|error|status|exit|line|row|col|column|offset|size|length|count|total|timestamp|epoch|time|date|seed|hash|checksum|crc|id|ids|key|index|number of|version code|api|decimal|value|max|min|limit|range|from|page|chapter|section|post code|zip',
);
/** Words before a number that mark another kind of number. */
const OTHER_NUMBER_WORDS =
  /(?:#|№|[$€£¥₩₹₽₺]\s?|(?<![a-z])(?:orders?|invoices?|tickets?|cases?|tracking|parcel|shipment|refs?|reference|ids?|uuid|sku|isbn|imei|serial|batch|parts?|model|transaction|txn|payment|account|acct|customer|receipt|policy|claim|po|build|version|commit|timestamp|epoch|unix|time|bytes?|size|offset|line|pid|port|zip|usd|eur|bestellung|bestellnummer|rechnung|\w{0,20}id|code|key|duration|amount|total|hash|trace|span|request)[ \t]{0,2}(?:number|no|nr|id|code|is|was|#)?\.?["']?[ \t]{0,2}[:=#.]{0,2}[ \t]{0,2}["'#]{0,2})$/i;
/** Units after an amount, a size or a duration. */
const UNIT =
  /^\s?(?:%|°|[$€£¥₩₹₽₺]|(?:[kmgtp]i?b|bytes?|bits?|[mnµu]?s(?:ec(?:ond)?s?)?|min(?:ute)?s?|hours?|days?|px|r?em|pt|ms|rows?|records?|users?|requests?|items?|tokens?|lines?|chars?|characters?|times?|points?|views?|hits?|pieces|units?|km|cm|mm|kg|usd|eur|gbp|jpy|cny|inr|brl|krw|btc|eth|sats?|gwei|wei|sol|ada|xrp|ltc|doge|usdt|usdc|円|元|원|руб|aufrufe|zeilen|stück|mal)(?![\p{L}\p{N}]))/iu;
/** Field of code or a record. Its value is a phone number only if its name is that of a phone. */
const FIELD = /(?:[A-Za-z_]\w{0,40} ?=|[A-Za-z_]\w{0,40}["'] ?[:=]) ?["']?$/;
/** Code directly before a number: an operator, the opening bracket of a call, an array. */
const CODE = /(?:[\w\])]\(|[[{<>=&|^!?;`]|[\w)\]] [*+/%&|^=<>-]{1,3} |\breturn |\bcase |0x[\da-f]+[ (]{1,2})$/i;
/** Code directly after a number. */
const CODE_AFTER = /^[\])}]? ?(?:[=<>*/%&|^]|[)\]];|\) ?[{=])/;
/** Characters and words of code, paths, records and logs. */
const TECHNICAL = /[=:{}<>\\/_`#[\]|$&;*+%"]|\d[\d.:-]{3}|\b(?:0x|id|ids|log|code|error|line|at)\b/i;
/** The end of a sentence or of a clause. */
const CLAUSE_END = /^[\s.,;:!?)\]"'*_|]*(?:\n|$)|^[.,;:!?)\]]/;
/** The start of a line, a table cell or a list item. */
const LINE_START = /(?:^|[\n\t|｜>]|(?:^|\n)[ \t]{0,8}(?:[-*•·–]|\d{1,2}[.)]))[ \t*_]{0,8}$/;
const CLOSES = /^[*_]{0,3}[ \t]{0,8}[.,;]?[ \t]{0,2}(?:\r?\n|[\t|｜<]|$)/;

/** Context of a number. */
export interface PhoneContext {
  /** Text directly before it. */
  readonly before: string;
  /** True if words nearby mark it as a phone number. */
  readonly isNearPhoneWord: boolean;
  /** True if a noun for a phone precedes it. */
  readonly isLabelled: boolean;
  /** True between the separators of a record. */
  readonly isCell: boolean;
  /** True if it makes up a line, a cell or an item. */
  readonly isAlone: boolean;
  /** True if words or characters mark it as another kind of number. */
  readonly isOtherNumber: boolean;
  /** True if it is the value of a field in code or a record. */
  readonly isField: boolean;
  /** True for a number without separators in source code. */
  readonly isCode: boolean;
  /** True if its line has no characters of source code, a path or a record nearby. */
  readonly isProse: boolean;
  /** True if only punctuation or an end follows. */
  readonly isLast: boolean;
}

/** Returns the context of a number. Properties are computed on access: the first ones rule out most numbers. */
export function contextOf(text: string, start: number, end: number, isNext: boolean): PhoneContext {
  const before = text.slice(Math.max(0, start - CONTEXT), start);
  const after = text.slice(end, end + 20);
  let labelled: boolean | undefined;
  return {
    before,
    get isNearPhoneWord() {
      return isNext || this.isLabelled || PHONE_PHRASES.test(before);
    },
    get isLabelled() {
      labelled ??= labelBefore(text, start, PHONE) !== null;
      return labelled;
    },
    get isCell() {
      return /[^\s\d][,;]$/.test(before) && /^(?:[,;]\S|\s*(?:\n|$))/.test(after);
    },
    get isAlone() {
      return LINE_START.test(before) && CLOSES.test(after);
    },
    get isOtherNumber() {
      return (
        OTHER_NUMBER_WORDS.test(before) || UNIT.test(after) || labelBefore(text, start, OTHER_NUMBER_NOUNS) !== null
      );
    },
    get isField() {
      return FIELD.test(before);
    },
    get isCode() {
      return !this.isAlone && (CODE.test(before) || CODE_AFTER.test(after));
    },
    get isProse() {
      const line = (before.split('\n').at(-1) ?? '') + (after.split('\n', 1)[0] ?? '');
      return !TECHNICAL.test(line) && /(?:^|\p{L}{2,}[ ,]{1,2})$/u.test(before);
    },
    get isLast() {
      return CLAUSE_END.test(after);
    },
  };
}
