/** Greetings, closings, titles and introductions in the languages of helpdesks. Data for `announced-names.ts`. */

const list = (phrases: string) => new Set(phrases.split('|'));

export const GREETINGS = list(
  'hi|hello|hey|dear|hi there|hello there|good morning|good afternoon|good evening|greetings|attn|to|thanks|thank you|many thanks|thx|ty|ok|okay|yes|sorry|ping|cc|' +
    'hallo|guten tag|guten morgen|guten abend|liebe|lieber|sehr geehrte|sehr geehrter|moin|servus|grüezi|grüß gott|danke|vielen dank|' +
    'bonjour|bonsoir|salut|cher|chère|coucou|merci|merci beaucoup|' +
    'hola|buenos días|buenos dias|buenas tardes|buenas noches|buenas|estimado|estimada|querido|querida|apreciado|apreciada|gracias|muchas gracias|' +
    'olá|ola|oi|bom dia|boa tarde|boa noite|prezado|prezada|caro|cara|querido|obrigado|obrigada|' +
    'ciao|buongiorno|buonasera|salve|gentile|egregio|caro|cara|spettabile|grazie|' +
    'hoi|beste|geachte|goedemorgen|goedemiddag|goedendag|dag|bedankt|dank je|' +
    'hej|hei|hejsan|god morgon|god dag|goddag|kära|bästa|kære|kjære|hi hi|tack|tak|takk|moi|terve|hyvä|huomenta|kiitos|halló|sæl|sæll|kæri|kæra|' +
    'cześć|dzień dobry|witam|witaj|szanowny|szanowna|drogi|droga|szanowny panie|szanowna pani|dziękuję|ahoj|dobrý den|vážený|vážená|milý|milá|zdravím|dobrý deň|ďakujem|děkuji|' +
    'szia|kedves|tisztelt|jó napot|üdv|üdvözlöm|köszönöm|bună|buna|bună ziua|stimate|stimată|dragă|mulțumesc|' +
    'привет|здравствуйте|здравствуй|добрый день|доброе утро|добрый вечер|уважаемый|уважаемая|дорогой|дорогая|спасибо|привіт|вітаю|добрий день|доброго дня|шановний|шановна|дякую|здравейте|уважаеми|уважаема|здраво|поштовани|поштована|dragi|draga|poštovani|poštovana|zdravo|bok|pozdravljeni|spoštovani|' +
    'γεια σας|γεια σου|γεια|αγαπητέ|αγαπητή|κύριε|κυρία|καλημέρα|merhaba|selam|sayın|sevgili|iyi günler|günaydın|teşekkürler|' +
    'שלום|היי|לכבוד|תודה|مرحبا|أهلا|السلام عليكم|عزيزي|عزيزتي|السيد|السيدة|شكرا|سلام|नमस्ते|प्रिय|आदरणीय|' +
    'xin chào|chào|kính gửi|thân gửi|anh|chị|cảm ơn|halo|hai|selamat pagi|selamat siang|kepada|yth|terima kasih|kumusta|mahal na|hujambo|habari|mpendwa|tere|tervist|lugupeetud|labas|sveiki|gerbiamas|gerbiama|cien|mīļais|godātais|kaixo|hola|benvolgut|benvolguda|përshëndetje|i nderuar',
);

export const CLOSINGS = list(
  'regards|best regards|kind regards|warm regards|kindest regards|best wishes|with best regards|with kind regards|best|all the best|sincerely|yours sincerely|sincerely yours|yours faithfully|yours truly|yours|respectfully|cordially|cheers|thanks|thanks a lot|many thanks|thank you|thanks in advance|thanks again|thx|ty|br|rgds|kr|take care|warmly|have a nice day|have a great day|love|' +
    'mit freundlichen grüßen|mit freundlichen grüssen|freundliche grüße|freundliche grüsse|freundlicher gruß|freundlicher gruss|sonnige grüße|viele grüße|viele grüsse|beste grüße|beste grüsse|liebe grüße|schöne grüße|herzliche grüße|grüße|gruß|gruss|mfg|lg|vg|bg|danke|vielen dank|besten dank|hochachtungsvoll|' +
    'cordialement|bien cordialement|très cordialement|bien à vous|salutations|sincères salutations|merci|merci d avance|amicalement|bises|bisous|belle journée|bonne soirée|cdlt|respectueusement|cdt|bonne journée|' +
    'saludos|un saludo|saludos cordiales|atentamente|cordialmente|gracias|muchas gracias|un cordial saludo|atte|abrazos|un abrazo|' +
    'atenciosamente|cumprimentos|melhores cumprimentos|com os melhores cumprimentos|abraço|abraços|obrigado|obrigada|att|grato|grata|cordialmente|' +
    'cordiali saluti|distinti saluti|saluti|un saluto|grazie|grazie mille|buona giornata|in fede|' +
    'met vriendelijke groet|met vriendelijke groeten|vriendelijke groet|vriendelijke groeten|groeten|groet|groetjes|mvg|hartelijke groeten|bedankt|alvast bedankt|hoogachtend|' +
    'med vänliga hälsningar|vänliga hälsningar|hälsningar|mvh|med vänlig hälsning|vänligen|tack|tack på förhand|med venlig hilsen|venlig hilsen|hilsen|mange hilsner|kh|tak|på forhånd tak|med vennlig hilsen|vennlig hilsen|hilsen|takk|ystävällisin terveisin|parhain terveisin|terveisin|terv|kiitos|kunnioittavasti|kær kveðja|kveðja|með kveðju|' +
    'z poważaniem|pozdrawiam|serdecznie pozdrawiam|z wyrazami szacunku|dziękuję|s pozdravem|s přátelským pozdravem|děkuji|díky|s úctou|hezký den|s pozdravom|ďakujem|s úctou|' +
    'üdvözlettel|tisztelettel|köszönettel|köszönöm|üdv|cu stimă|cu respect|mulțumesc|o zi bună|toate cele bune|cu drag|' +
    'с уважением|всего доброго|всего хорошего|с наилучшими пожеланиями|спасибо|заранее спасибо|благодарю|з повагою|дякую|щиро|с уважение|поздрави|благодаря|срдачан поздрав|поздрав|хвала|s poštovanjem|pozdrav|lijep pozdrav|hvala|srdačan pozdrav|lep pozdrav|s spoštovanjem|' +
    'με εκτίμηση|φιλικά|ευχαριστώ|με φιλικούς χαιρετισμούς|saygılarımla|saygılar|sevgiler|teşekkürler|iyi çalışmalar|iyi günler|kolay gelsin|' +
    'בברכה|תודה|בכבוד רב|تحياتي|مع تحياتي|مع التحية|مع الشكر|وشكراً|وتفضلوا|مع أطيب التحيات|شكرا|شكراً|وتفضلوا بقبول فائق الاحترام|با احترام|با تشکر|सादर|धन्यवाद|भवदीय|' +
    'trân trọng|thân ái|kính thư|cảm ơn|hormat saya|salam|terima kasih|salam hangat|lubos na gumagalang|salamat|wako mwaminifu|asante|lugupidamisega|parimate soovidega|tervitades|aitäh|pagarbiai|ačiū|geriausi linkėjimai|ar cieņu|paldies|agur|salutacions|atentament|gràcies|me respekt|faleminderit',
);

export const TITLES =
  "[Mm]r|[Mm]rs|[Mm]s|[Mm]x|[Mm]iss|[Dd]r|[Pp]rof|Sir|Madam|Ma['’]am|Herrn?|Frau|Hr|Fr|Familie|M|Mme|Mlle|Monsieur|Madame|Maître|[Ss]r|[Ss]ra|[Ss]rta|[Ss]eñora?|[Dd]on|[Dd]oña|[Ss]enhora?|Exmo|Exma|Dott|Dottoressa|Dottore|Sig|Sig\\.ra|[Ss]ignora?|[Ss]ignor|Ing|Avv|Arch|[Dd]hr|[Mm]evr|[Mm]evrouw|[Dd]e heer|[Mm]eneer|[Hh]eer|Pan[ie]?|Pán|Paní|pán[ei]?|paní|úr|[Dd]omnul[e]?|[Dd]oamna|[Dd]omnișoara|господин|госпожа|г-н|г-жа|пан[іе]?|пані|господине|госпођо|[Gg]ospodine?|[Gg]ospo[đd][ao]|[Gg]ospodin|[Gg]ospa|[Gg]dine?|κ|κύριε|κυρία|Bay|Bayan|السيد|السيدة|الأستاذ|أستاذ|מר|גב['’]|श्री|श्रीमती|anh|chị|ông|bà|Bapak|Ibu|Pak|Bu|Sdr|Tuan|Puan|Bwana|Bi|cô";

export const PARTICLES =
  "van|von|der|den|dem|del|della|delle|degli|dei|de|di|da|do|dos|das|du|des|la|le|los|las|el|al|bin|bint|ibn|ben|abu|ter|ten|te|op|in['’]t|['’]t|zu|zum|zur|af|av|y|e|San|Van|Von|De|Del|Della|Di|Da|Dos|El|Al|Ter|Ten";

export const INTRODUCTIONS =
  "[Mm]y name(?:['’]s| is)|[Mm]y full name is|[Nn]ame[d]? is|[Mm]ein Name ist|[Ii]ch hei(?:ß|ss)e|[Jj]e m['’]appelle|[Mm]on nom est|[Jj]e me nomme|[Mm]e llamo|[Mm]i nombre es|[Mm]eu nome é|[Mm]e chamo|[Mm]i chiamo|[Ii]l mio nome è|[Ii]k heet|[Mm]ijn naam is|[Jj]ag heter|[Mm]itt namn är|[Jj]eg heter|[Jj]eg hedder|[Mm]it navn er|[Mm]itt navn er|[Nn]imeni on|[Éé]g heiti|[Nn]azywam się|[Mm]am na imię|[Mm]oje imię to|[Jj]menuji se|[Vv]olám sa|[Aa] nevem|[Mm]ă numesc|[Nn]umele meu este|[Mm]ă cheamă|[Мм]еня зовут|[Мм]оё имя|[Мм]ене звати|[Кк]азвам се|[Зз]овем се|[Zz]ovem se|[Ii]me mi je|[Bb]enim adım|[Aa]dım|[Μμ]ε λένε|[Οο]νομάζομαι|[Τt]ο όνομά μου είναι|שמי|קוראים לי|اسمي|أنا اسمي|नाम है|मेरा नाम|[Tt]ên tôi là|[Tt]ôi tên là|[Ee]m tên là|[Mm]ình tên là|[Tt]ôi là|ดิฉันชื่อ|ผมชื่อ|ฉันชื่อ|[Nn]ama saya(?: adalah)?|[Aa]ng pangalan ko ay|[Jj]ina langu ni|[Mm]u nimi on|[Mm]ano vardas|[Mm]ani sauc|[Ee]m dic|[Nn]ire izena|[Ff]ull [Nn]ame|[Ff]irst [Nn]ame|[Ll]ast [Nn]ame|[Ss]urname|[Vv]orname|[Nn]achname|[Vv]or- und Nachname|[Nn]ombre completo|[Nn]ombre y apellidos|[Aa]pellidos?|[Nn]ome completo|[Ss]obrenome|[Nn]om complet|[Nn]om et prénom|[Pp]rénom|[Nn]om de famille|[Nn]ome e cognome|[Cc]ognome|[Aa]chternaam|[Vv]oornaam|[Vv]olledige naam|[Ff]örnamn|[Ee]fternamn|[Ff]ornavn|[Ee]tternavn|[Ee]fternavn|[Ee]tunimi|[Ss]ukunimi|[Ii]mię i nazwisko|[Nn]azwisko|[Jj]méno a příjmení|[Pp]říjmení|[Nn]ume și prenume|ФИО|[Фф]амилия|[Пп]ІБ|[Пп]різвище|[Οο]νοματεπώνυμο|[Aa]d [Ss]oyad|الاسم الكامل|שם מלא|पूरा नाम|[Hh]ọ (?:và )?tên|[Nn]ama lengkap|[Cc]ustomer name|[Aa]ccount holder|[Cc]ontact person|[Aa]nsprechpartner|[Kk]ontaktperson";

/** Words that occur in the position of a name. */
export const NOT_A_NAME = new Set(
  (
    'there all everyone everybody guys folks team sir madam world friend friends again you whom it may concern support i we the my our hope just can could is this what how when yes no ok okay sorry regards best kind sent from iphone android outlook get please thanks thank for in advance so much hi hello dear update re fw fwd note question issue error warning problem bug docs api customer ' +
    'alle zusammen damen und herren kollegen liebes team tous toutes équipe equipe madame monsieur מראש مقدما مسبقا advance todos todas equipo señores senhores tutti allemaal allen heren dames collega kaikki všichni wszyscy państwo panie pani всем коллеги команда поддержка друзья колеги команда підтримка hepinize herkese ekip arkadaşlar yetkili φίλοι ομάδα الجميع فريق الدعم لكم لك جزيلا جزيلاً צוות תמיכה टीम सर महोदय ' +
    'using trying getting having working sure not now here looking writing happy glad able new also very still currently unable aware following wondering afraid running sharing reaching facing seeing the a an to of on at by with as if or but and then than that these those your his her their its one two first last next more most some any each every both few many other such only own same too will would should must let see below above attached ' +
    'github gitlab gitbook google slack zendesk intercom freshdesk docker kubernetes python javascript typescript java rust react node linux windows macos android ios chrome firefox safari aws azure openai chatgpt claude copilot notion figma jira confluence stripe octavo nginx postgres mysql redis markdown json yaml html css sql http https url ' +
    'monday tuesday wednesday thursday friday saturday sunday january february march july august september october november december montag dienstag mittwoch donnerstag freitag lundi mardi mercredi jeudi vendredi lunes martes jueves viernes'
  ).split(' '),
);
