import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CREDENTIAL_LANGUAGES,
  CREDENTIAL_NAMES,
} from '../../../src/conversations/redact/credentials/credential-names.ts';
import { marked, redactText } from './redacted.ts';

describe('tokens with a version prefix', () => {
  it.each([
    'API_KEY=<<v1.1f699f10aa>>',
    'https://api.example/x?token=<<v8fV7mPp>>&page=2',
    'token: <<v2.local.QAxIpVe-ECVNI1z4>>',
    '"access_token": "<<v4.public.eyJzdWIi>>"',
    'X-Api-Key: <<v3a9c2e1>>',
  ])('finds the secret in %s', (template) => {
    const { text, expected } = marked(template);
    expect(redactText(text)).toBe(expected);
  });

  it('are secrets after any name, header or parameter, with anything after the version', () => {
    const version = fc.stringMatching(/^v\d{1,2}[._]?$/);
    const rest = fc.stringMatching(/^[a-f0-9]{4}[A-Za-z0-9]{8,40}[0-9]$/);
    const place = fc.constantFrom(
      'API_KEY=',
      'token: ',
      '?token=',
      'X-Auth-Token: ',
      '"client_secret": "',
      'secret = ',
    );
    fc.assert(
      fc.property(place, version, rest, (before, start, end) => {
        expect(redactText(`${before}${start}${end}`)).toBe(`${before}[SECRET_1]`);
      }),
    );
  });

  it.each([
    'token: sha256',
    'API_KEY=v2',
    'secret: HS256',
    'token: oauth2',
    'signature: base64url',
    'password: argon2id',
    'token: 24h',
  ])('names of algorithms and versions stay: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });
});

/** Sentences as people write them, with marked values. */
const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  en: [
    'My password is <<hunter2x>>',
    'Passcode: <<482199>>',
    'my PIN is <<4821>>',
    'The password for the staging server is <<hunter2x>>',
  ],
  de: ['Mein Kennwort lautet <<Sommer22!>>', 'Passwort „<<Sommer22>>“', 'API-Schlüssel: <<a81f9c2e77>>'],
  fr: ['mot de passe : <<soleil42>>', 'Mon mdp est <<Soleil42>>', 'clé API : <<a81f9c2e77>>'],
  es: ['la contraseña es <<Hola1234>>', 'contrasena: <<hola>>', 'clave de acceso: <<hola77>>'],
  pt: ['a senha é <<Verao22!>>', 'Minha senha: <<segredo9>>', 'chave de API: <<a81f9c2e77>>'],
  it: ['la mia password è <<Estate22!>>', "la mia password e' <<Estate22!>>", 'chiave segreta: <<a81f9c2e77>>'],
  ca: ['La contrasenya és <<Estiu2022>>'],
  gl: ['contrasinal: <<veran22>>'],
  eu: ['pasahitza: <<uda2022>>'],
  ro: ['parola mea este <<Vara2020>>'],
  nl: ['wachtwoord is <<zomer2020>>', 'toegangssleutel: <<a81f9c2e77>>'],
  af: ['wagwoord: <<somer22>>'],
  sv: ['lösenord: <<sommar12>>', 'lösenordet är <<sommar12>>'],
  da: ['adgangskoden er <<sommer12>>', 'kodeord: <<sommer12>>'],
  nb: ['passordet mitt: <<sommer12>>'],
  is: ['lykilorðið er <<sumar2022>>'],
  fi: ['salasana on <<Kesa2020>>', 'salasanani: <<Kesa2020>>'],
  et: ['parool on <<suvi2020>>', 'salasõna: <<suvi2020>>'],
  lv: ['parole ir <<vasara20>>'],
  lt: ['slaptažodis: <<vasara20>>', 'slaptažodis yra <<vasara20>>'],
  pl: ['hasło: <<zima99>>', 'Moje hasło to <<Kotek123!>>', 'haslo jest <<zima99>>', 'klucz API: <<a81f9c2e77>>'],
  cs: ['heslo: <<zima99>>', 'heslo je <<Zima2020>>', 'API klíč: <<a81f9c2e77>>'],
  sk: ['heslo je <<Zima2020>>', 'tajný kľúč: <<a81f9c2e77>>'],
  sl: ['geslo je <<Zima2020>>'],
  hr: ['lozinka je <<Zima2020>>', 'zaporka: <<zima99>>'],
  sr: ['лозинка је <<Zima2020>>'],
  hu: ['a jelszó: <<nyar2020>>', 'jelszavam: <<nyar2020>>'],
  tr: ['şifre: <<yaz2020>>', 'şifrem <<yaz2020>>', 'parolanız: <<yaz2020>>', 'API anahtarı: <<a81f9c2e77>>'],
  az: ['şifrəm: <<yay2020>>'],
  uz: ['parolim: <<yoz2020>>'],
  kk: ['құпия сөз: <<jaz2020>>'],
  ru: ['пароль: <<qwerty123>>', 'Мой пароль <<qwerty123>>', 'пароль - <<Qwe!rty>>', 'токен: <<a81f9c2e77>>'],
  uk: ['пароль це <<lito2020>>', 'секретний ключ: <<a81f9c2e77>>'],
  bg: ['паролата ми е <<liato2020>>'],
  mk: ['лозинката е <<leto2020>>'],
  el: ['ο κωδικός πρόσβασης είναι <<kalo2020>>', 'συνθηματικό: <<kalo2020>>'],
  sq: ['fjalëkalimi është <<vera2020>>'],
  ka: ['პაროლი: <<leto2020>>'],
  hy: ['գաղտնաբառը: <<leto2020>>'],
  ar: ['كلمة المرور: <<abc123x>>', 'كلمة السر هي <<abc123x>>', 'كلمة المرور الخاصة بي هي <<abc123x>>'],
  he: ['הסיסמה שלי היא <<abc123x>>', 'סיסמא: <<abc123x>>'],
  fa: ['رمز عبور: <<abc123x>>', 'گذرواژه من <<abc123x>>'],
  ur: ['پاس ورڈ: <<abc123x>>'],
  hi: ['पासवर्ड: <<abc123x>>', 'मेरा पासवर्ड <<abc123x>> है'],
  mr: ['संकेतशब्द: <<abc123x>>'],
  bn: ['পাসওয়ার্ড: <<abc123x>>'],
  pa: ['ਪਾਸਵਰਡ: <<abc123x>>'],
  gu: ['પાસવર્ડ: <<abc123x>>'],
  ta: ['கடவுச்சொல்: <<abc123x>>'],
  te: ['పాస్‌వర్డ్: <<abc123x>>'],
  th: ['รหัสผ่าน: <<abc123x>>', 'รหัสผ่านคือ <<abc123x>>'],
  vi: ['mật khẩu là <<abc123x>>', 'Mật khẩu của tôi là <<abc123x>>'],
  id: ['kata sandi saya adalah <<abc123x>>'],
  ms: ['kata laluan ialah <<abc123x>>'],
  tl: ['ang password ko ay <<abc123x>>'],
  sw: ['nenosiri langu ni <<abc123x>>'],
  cy: ['cyfrinair: <<abc123x>>'],
  ga: ['pasfhocal: <<abc123x>>'],
  eo: ['pasvorto estas <<abc123x>>'],
  ja: ['パスワード：<<abc123x>>', 'パスワードは<<abc123x>>です', 'トークン: <<a81f9c2e77>>'],
  ko: ['비밀번호: <<abc123x>>', '비밀번호는 <<abc123x>>입니다', '토큰: <<a81f9c2e77>>'],
  zh: ['密码：<<abc123x>>', '密码是<<abc123x>>，谢谢', '密碼: <<abc123x>>', 'API密钥：<<a81f9c2e77>>'],
};

describe('names in other languages', () => {
  it.each(Object.entries(SENTENCES).flatMap(([language, texts]) => texts.map((template) => ({ language, template }))))(
    '$language: $template',
    ({ template }) => {
      const { text, expected } = marked(template);
      expect(redactText(text)).toBe(expected);
    },
  );

  it('cover at least thirty languages with a sentence each', () => {
    expect(CREDENTIAL_LANGUAGES.length).toBeGreaterThanOrEqual(30);
    expect(CREDENTIAL_LANGUAGES.filter((language) => SENTENCES[language] === undefined)).toEqual([]);
  });

  it('are found before a colon, a full-width colon, a cell and an element, and with combining characters', () => {
    const value = fc.stringMatching(/^[a-hj-z]{4}[0-9]{4}[A-Z]{2}[a-z]{2}$/);
    fc.assert(
      fc.property(fc.constantFrom(...CREDENTIAL_NAMES), value, ({ name, kind }, secret) => {
        const own = kind === 'pin' ? '482193' : secret;
        const forms = [
          `${name}: ${own}`,
          `${name}：${own}`,
          `| ${name} | ${own} |`,
          `${name}\t${own}`,
          `<b>${name}:</b> ${own}`,
          `<td>${name}</td><td>${own}</td>`,
          `${name.normalize('NFD')}: ${own}`,
          `${name.toUpperCase()} : ${own}`,
        ];
        for (const text of forms) {
          expect(redactText(text), text).not.toContain(own);
        }
      }),
      { numRuns: 400 },
    );
  });
});

describe('places of credentials', () => {
  it.each([
    // Tables and forms
    '| User | Password |\n|---|---|\n| ana | <<hunter2x>> |\n| bo | <<s3cr3tpw>> |',
    'name\tapi key\nana\t<<a81f9c2e77>>',
    '<label>Password</label><br><b><<hunter2x>></b>',
    '<input type=password value=<<hunter2x>>>',
    '<input value="<<hunter2x>>" class="x" type="password">',
    '<add key="ClearTextPassword" value="<<hunter2x>>" />',
    '<password><![CDATA[<<p@ss w0rd>>]]></password>',
    // Command lines
    'mysql -u root -p<<hunter2x>> acme',
    '/usr/bin/mysqldump --user=root -p<<hunter2x>> acme > x.sql',
    'sshpass -p <<hunter2x>> ssh root@web-01',
    "sshpass -p'<<hunter 2x>>' ssh root@web-01",
    'curl -u <<ana:hunter2x>> https://api.example',
    'curl -s \\\n  -u <<ana:hunter2x>> \\\n  https://api.example',
    "curl -b '<<session=a81f9c2e77d>>' https://api.example",
    'curl -H "X-Auth-Token: <<abcdefgh>>" https://api.example',
    "curl -H 'PRIVATE-TOKEN: <<abcd1234efgh>>' https://api.example",
    'redis-cli -h cache -a <<geheimnis>> PING',
    'docker login -u ana -p <<hunter2x>> registry.example',
    'smbclient //host/share -U ana%<<hunter2x>>',
    'sqlplus scott/<<tiger9>>@db',
    'openssl rsa -passin pass:<<hunter2x>> -in key.pem',
    'psql postgresql://<<ana:hunter2x>>@db.example/acme',
    'PGPASSWORD=<<geheim>> psql -h db',
    'app login --password <<geheim>> --verbose',
    'app login --admin-password <<geheim>> --token <<a81f9c2e>>',
    'Connect-Server -Password <<geheim>> -Verbose',
    'mot de passe du compte : <<soleil42>>',
    // Files
    '{"auths":{"registry.example":{"auth":"<<YW5hOmh1bnRlcjJ4>>"}}}',
    '//registry.example/:_auth=<<YW5hOmh1bnRlcjJ4>>',
    '//registry.example/:_authToken=<<abcdef0123456789>>',
    'users:\n- name: ana\n  user:\n    client-key-data: <<LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQo=>>',
    'machine api.example login ana password <<geheim>>',
    'db.example:5432:acme:ana:<<geheim>>',
    'https://<<ana:geheim>>@git.example',
    'apiVersion: v1\nkind: Secret\ndata:\n  one: <<aHVudGVyMg==>>\n  two: <<c2VjcmV0eA==>>\ntype: Opaque',
    // Headers
    'Authorization: Digest username="Mufasa", realm="x", response="<<6629fae49393a05397450978507c4ef1>>"',
    'Authorization: <<a81f9c2e77d3>>',
    'Authorization: GenieKey <<eb243592-faa2-4ba2-a551q-1afdf565c889>>',
    'Cookie: <<session=a81f9c2e77d3; theme=dark>>',
    // Disguises
    'p\u200bassword: <<hunter2x>>',
    'pass\u200fword\u200e: <<hunter2x>>',
    'ｐａｓｓｗｏｒｄ：<<hunter2x>>',
    'passwo\u0301rd: <<hunter2x>>',
    'p\u0430ssw\u043erd: <<hunter2x>>',
    'ﾊﾟｽﾜｰﾄﾞ: <<abc123x>>',
    // Values that only look like code or placeholders
    'password: <<@Passw0rd9>>',
    'password: <<$ecret123>>',
    'password: <<John.Smith1>>',
    'password: <<monkey>>',
    "$config['password'] = '<<hunter2x>>';",
    'client.setProperty("password", "<<hunter2x>>")',
  ])('finds the secret in %s', (template) => {
    const { text, expected } = marked(template);
    expect(redactText(text)).toBe(expected);
  });
});
