/** Output of tools, data files and documents without private data. */
import type { Dice } from './dice.ts';
import {
  camel,
  capital,
  constant,
  digest,
  figure,
  kebab,
  pascal,
  placeholder,
  snake,
  timestamp,
  version,
  word,
} from './technical-values.ts';

const numbers = (dice: Dice, count: number, max: number) =>
  Array.from({ length: count }, () => dice.int(0, max)).join(' ');
/** Labels of forms in other languages, as translation files contain them. */
const TRANSLATIONS: readonly (readonly [
  password: string,
  email: string,
  phone: string,
  address: string,
  token: string,
])[] = [
  ['Passwort', 'E-Mail-Adresse', 'Telefonnummer', 'Rechnungsadresse', 'API-Schlüssel'],
  ['Mot de passe', 'Adresse e-mail', 'Téléphone', 'Adresse de facturation', 'Clé API'],
  ['Contraseña', 'Correo electrónico', 'Teléfono', 'Dirección', 'Clave de API'],
  ['Senha', 'E-mail', 'Telefone', 'Endereço', 'Chave de API'],
  ['密码', '电子邮件', '电话号码', '地址', 'API 密钥'],
  ['パスワード', 'メールアドレス', '電話番号', '住所', 'APIキー'],
  ['비밀번호', '이메일 주소', '전화번호', '주소', 'API 키'],
  ['Пароль', 'Электронная почта', 'Телефон', 'Адрес', 'Ключ API'],
  ['Hasło', 'Adres e-mail', 'Numer telefonu', 'Adres', 'Klucz API'],
  ['Wachtwoord', 'E-mailadres', 'Telefoonnummer', 'Adres', 'API-sleutel'],
  ['Lösenord', 'E-postadress', 'Telefonnummer', 'Adress', 'API-nyckel'],
  ['Şifre', 'E-posta adresi', 'Telefon numarası', 'Adres', 'API anahtarı'],
  ['كلمة المرور', 'البريد الإلكتروني', 'رقم الهاتف', 'العنوان', 'مفتاح API'],
];

function listing(dice: Dice): string {
  return dice.pick([
    () =>
      [
        'total 48',
        ...dice.times(
          2,
          5,
          () =>
            `-rw-r--r--  1 root root ${String(dice.int(10, 99_999)).padStart(6)} Mar ${dice.int(1, 28)} ${dice.int(10, 23)}:${dice.int(10, 59)} ${kebab(dice)}.md`,
        ),
      ].join('\n'),
    () =>
      [
        'NAME                          READY   STATUS    RESTARTS   AGE',
        ...dice.times(
          2,
          4,
          () =>
            `${kebab(dice)}-${dice.chars('hex', 10)}-${dice.chars('lowerDigit', 5)}   1/1     Running   ${dice.int(0, 40)}          ${dice.int(1, 99)}d`,
        ),
      ].join('\n'),
    () =>
      [
        'Filesystem      Size  Used Avail Use% Mounted on',
        ...dice.times(
          1,
          3,
          () =>
            `/dev/sd${dice.pick(['a', 'b'])}${dice.int(1, 9)}       ${dice.int(10, 999)}G  ${dice.int(1, 99)}G   ${dice.int(1, 99)}G  ${dice.int(1, 99)}% /${word(dice)}`,
        ),
      ].join('\n'),
    () =>
      dice
        .times(
          2,
          4,
          (line) =>
            `${(line * 16).toString(16).padStart(8, '0')}  ${Array.from({ length: 8 }, () => dice.chars('hex', 2)).join(' ')}  ${Array.from({ length: 8 }, () => dice.chars('hex', 2)).join(' ')}  |${dice.chars('lower', 16)}|`,
        )
        .join('\n'),
    () =>
      `added ${dice.int(1, 999)} packages, and audited ${dice.int(100, 9999)} packages in ${dice.int(1, 99)}s\n\n${dice.int(0, 99)} vulnerabilities (${dice.int(0, 9)} moderate, ${dice.int(0, 9)} high)`,
    () =>
      dice
        .times(
          2,
          4,
          () =>
            `${word(dice).padEnd(12)} x ${dice.int(1, 99)},${dice.chars('digit', 3)} ops/sec ±${dice.int(0, 9)}.${dice.chars('digit', 2)}% (${dice.int(60, 99)} runs sampled)`,
        )
        .join('\n'),
    () =>
      `Plan: ${dice.int(0, 20)} to add, ${dice.int(0, 20)} to change, ${dice.int(0, 20)} to destroy.\n  + ${snake(dice)} = (sensitive value)\n  + password = (sensitive value)\n  ~ token = (known after apply)`,
    () =>
      `webpack ${dice.int(4, 5)}.${dice.int(0, 99)}.${dice.int(0, 9)} compiled with ${dice.int(1, 9)} warnings in ${dice.int(100, 99_999)} ms\nasset main.${dice.chars('hex', 20)}.js ${dice.int(1, 9)}.${dice.int(10, 99)} MiB [emitted] [immutable]`,
    () =>
      `Step ${dice.int(1, 9)}/${dice.int(10, 20)} : RUN npm ci\n ---> Running in ${dice.chars('hex', 12)}\n ---> ${dice.chars('hex', 12)}\nSuccessfully built ${dice.chars('hex', 12)}`,
    () => `${digest(dice)}\n${digest(dice)}\n${digest(dice)}`,
    () =>
      `LCP ${dice.int(1, 9)}.${dice.int(0, 9)} s, FID ${dice.int(1, 300)} ms, CLS 0.${dice.chars('digit', 3)}, TTFB ${dice.int(10, 900)} ms, score ${dice.int(1, 100)}/100`,
    () =>
      dice
        .times(2, 5, () => `PASS test/${kebab(dice)}.test.ts (${dice.int(1, 99)}.${dice.chars('digit', 3)} s)`)
        .join('\n'),
  ])();
}

function dataFile(dice: Dice): string {
  const [secret, email, phone, address, token] = dice.pick(TRANSLATIONS);
  return dice.pick([
    () =>
      `{\n  "login": {\n    "password": "${secret}",\n    "email": "${email}",\n    "phone": "${phone}",\n    "address": "${address}",\n    "apiKey": "${token}"\n  }\n}`,
    () => `login.password=${secret}\nlogin.email=${email}\nlogin.phone=${phone}\nlogin.token=${token}`,
    () => `password: ${secret}\nemail: ${email}\nphone: ${phone}\naddress: ${address}`,
    () => `msgid "Password"\nmsgstr "${secret}"`,
    () => `<string name="password">${secret}</string>\n<string name="phone">${phone}</string>`,
    () =>
      `| key | translation |\n| --- | --- |\n| password | ${secret} |\n| phone | ${phone} |\n| address | ${address} |`,
    () =>
      `<svg viewBox="0 0 ${dice.int(16, 999)} ${dice.int(16, 999)}"><path d="M${numbers(dice, 2, 99)} C ${numbers(dice, 6, 999)} L${dice.int(0, 99)}.${dice.int(0, 99)} ${dice.int(0, 99)} Z"/></svg>`,
    () =>
      `{"type":"Point","coordinates":[${dice.int(-179, 179)}.${dice.chars('digit', 7)},${dice.int(-89, 89)}.${dice.chars('digit', 7)}]}`,
    () => `[${Array.from({ length: dice.int(4, 12) }, () => dice.int(0, 9_999_999)).join(', ')}]`,
    () => `${numbers(dice, 4, 999)}\n${numbers(dice, 4, 999)}\n${numbers(dice, 4, 999)}`,
    () => `1.3.6.1.4.1.${dice.int(1, 99_999)}.${dice.int(1, 9)}.${dice.int(1, 99)}`,
    () => `doi:10.${dice.int(1000, 9999)}/${snake(dice)}.${dice.int(2000, 2025)}.${dice.int(1000, 9999)}`,
    () => `EAN ${dice.chars('digit', 13)}, SKU ${dice.chars('upper', 3)}-${dice.chars('digit', 5)}`,
    () =>
      `fontSize: [${dice.int(10, 20)}, ${dice.int(20, 40)}], spacing: ${dice.int(0, 9)}.${dice.int(0, 9)}rem, zIndex: ${dice.int(1, 999_999_999)}`,
    () =>
      `graph TD\n  A[${capital(word(dice))}] -->|${word(dice)}| B(${capital(word(dice))})\n  B --> C{${word(dice)}?}`,
    () =>
      `$$E = mc^2,\\quad \\sum_{i=${dice.int(0, 9)}}^{${dice.int(10, 99)}} x_i = ${dice.int(100, 9999)}.${dice.int(1, 99)}$$`,
    () =>
      `seed=${dice.int(1, 2_147_483_647)} lr=${dice.int(1, 9)}e-${dice.int(1, 6)} batch=${dice.int(1, 512)} loss=${dice.int(0, 9)}.${dice.chars('digit', 8)}`,
  ])();
}

function document(dice: Dice): string {
  return dice.pick([
    () =>
      `## [${version(dice)}] - 2024-03-0${dice.int(1, 9)}\n### Fixed\n- ${capital(word(dice))}: reset password mail (#${dice.int(1, 9999)}, ${dice.chars('hex', 7)})\n- Token refresh in \`${camel(dice)}\``,
    () =>
      `### \`POST /${word(dice)}s\`\n\n| Parameter | In | Description |\n| --- | --- | --- |\n| \`${camel(dice)}\` | body | The ${word(dice)} to ${word(dice)} |\n| \`password\` | body | At least ${dice.int(8, 16)} characters |\n| \`token\` | header | See [Authentication](#auth) |`,
    () =>
      `1. Go to **Settings > API keys** and create a key\n2. Copy the key; it is shown once\n3. Set it as \`${constant(dice)}\` in CI: \`${constant(dice)}: \${{ secrets.${constant(dice)} }}\``,
    () =>
      `FROM node:${dice.int(18, 24)}-alpine\nARG ${constant(dice)}\nENV ${constant(dice)}=${placeholder(dice)}\nRUN adduser -u ${dice.int(1000, 9999)} -D ${word(dice)}\nEXPOSE ${dice.int(1000, 9999)}`,
    () =>
      `.PHONY: ${word(dice)}\n${word(dice)}:\n\t@test -n "$(TOKEN)" || (echo "TOKEN is not set" && exit ${dice.int(1, 9)})\n\tcurl -H "Authorization: Bearer $(TOKEN)" $(URL)`,
    () =>
      `query ${pascal(dice)}($token: String!, $first: Int = ${dice.int(1, 100)}) {\n  ${camel(dice)}(token: $token, first: $first) { id name email phone }\n}`,
    () =>
      `type User {\n  id: ID!\n  name: String!\n  email: String!\n  phone: String\n  address: Address\n  passwordHash: String! @deprecated(reason: "${word(dice)}")\n}`,
    () =>
      `> **Note:** passwords are hashed with bcrypt (cost ${dice.int(8, 14)}); tokens expire after ${dice.int(1, 90)} days.`,
    () =>
      `Given a user with an invalid password\nWhen they log in ${dice.int(3, 9)} times\nThen the account is locked for ${dice.int(5, 60)} minutes`,
    () => `The chart shows ${figure(dice)} on ${timestamp(dice)}, up from ${figure(dice)}.`,
    () =>
      `Expected: 200, got: ${dice.int(400, 504)}. Password reset works, sign in with token does not; phone and address fields are empty.`,
    () =>
      `- [x] rotate the API key\n- [ ] change password policy to ${dice.int(12, 20)} characters\n- [ ] drop phone from the form (${kebab(dice)})`,
    () => `logger.debug("password=%s token=%s", mask(password), mask(token)); // line ${dice.int(1, 999)}`,
    () =>
      `errors.password: "must have at least ${dice.int(8, 16)} characters", errors.phone: "is invalid", errors.address: "can't be blank"`,
    () =>
      `password_confirmation: [ 'required', 'min:${dice.int(6, 16)}', 'same:password' ], phone: [ 'nullable', 'regex:/^[0-9]+$/' ]`,
    () =>
      `<input name="address" placeholder="Street and number"><input name="phone" placeholder="+1 ..."><input name="password" type="password" minlength="${dice.int(6, 16)}">`,
  ])();
}

/** Output of a tool, a data file or a document. */
export function technicalOutput(dice: Dice): string {
  const text = dice.pick([listing, dataFile, document])(dice);
  return dice.chance(0.5) ? `\`\`\`\n${text}\n\`\`\`` : text;
}
