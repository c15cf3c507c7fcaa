/** Private values in records, source code and tool output, as people paste them into tickets. */
import { birthDate, phoneNumber, postalAddress } from './contacts.ts';
import { password, token } from './credentials.ts';
import type { Dice } from './dice.ts';
import type { Scene } from './frames.ts';
import { LOCALES } from './locales.ts';
import { type Fragment, mark, neutral, type PrivateType, t } from './marked-text.ts';
import { cardNumber, iban, ipAddress, macAddress } from './numbers.ts';
import { emailAddress } from './people.ts';
import { camel, kebab, timestamp, version, word } from './technical-values.ts';
import { uuid } from './vendor-keys.ts';

type Body = (scene: Scene) => Fragment;

/** A value that needs no escaping in any language. */
const plain = (text: string) => text.replaceAll(/[^\w.-]/g, 'x');
const secret = (dice: Dice) => mark('password', plain(password(dice)));
const key = (dice: Dice) => mark('token', plain(token(dice)));

const emailRecords: Body = ({ dice, locale, requester }) => {
  const address = mark('email', emailAddress(dice, locale));
  const other = mark('email', emailAddress(dice, locale));
  const name = mark('person', requester.full);
  return dice.pick<() => Fragment>([
    () => t`mailto:${address}?subject=${word(dice)}`,
    () => t`Signed-off-by: ${name} <${address}>`,
    () => t`Co-authored-by: ${name} <${address}>`,
    () => t`Author: ${name} <${address}>\nDate:   Mon Mar 4 15:12:08 2024 +0100`,
    () => t`SELECT * FROM users WHERE email = '${address}' OR email = '${other}';`,
    () => t`users:\n  - ${address}\n  - ${other}`,
    () => t`${timestamp(dice)} login failed user="${address}" reason=expired`,
    () => t`550 5.1.1 <${address}>: Recipient address rejected`,
    () => t`Delivered-To: ${address}\nReturn-Path: <${other}>`,
    () => t`BEGIN:VCARD\nFN:${name}\nEMAIL;TYPE=work:${address}\nEND:VCARD`,
    () => t`git config user.email ${address}`,
    () => t`${address}'s seat, not ${other}'s`,
    () => t`to="${address}" cc='${other}'`,
    () => t`invited: [${address}, ${other}]`,
  ])();
};

const phoneRecords: Body = ({ dice, locale, language }) => {
  const { region } = LOCALES[locale];
  const number = () => mark('phone', phoneNumber(dice, region).text);
  const abroad = mark('phone', phoneNumber(dice, region, true).text);
  return dice.pick<() => Fragment>([
    () => t`"phone": "${number()}"`,
    () => t`"mobile":"${abroad}"`,
    () => t`TEL;TYPE=CELL:${abroad}`,
    () =>
      t`<a href="tel:${mark('phone', phoneNumber(dice, region, true).text.replaceAll(/[^\d+]/g, ''))}">${abroad}</a>`,
    () =>
      t`https://wa.me/${mark('phone', phoneNumber(dice, region, true).text.replaceAll(/\D/g, '').replace(/^00/, ''))}`,
    () => t`${abroad} (mobile)`,
    () => t`${dice.pick(language.phone)} 1: ${number()}\n${dice.pick(language.phone)} 2: ${number()}`,
    () => t`phone=${number()}&lang=${LOCALES[locale].tag}`,
    () => t`WhatsApp ${abroad} or ${abroad}`,
    () => t`${dice.pick(language.phone)}:\n${number()}`,
  ])();
};

const personRecords: Body = ({ dice, requester, agent, language }) => {
  const name = mark('person', requester.full);
  const other = mark('person', agent.full);
  return dice.pick<() => Fragment>([
    () => t`"author": { "name": "${name}", "id": "${uuid(dice)}" }`,
    () => t`Assigned to: ${other}, reported by ${name}`,
    () => t`Approved-by: ${name}`,
    () => t`${name} & ${other} have both seen it.`,
    () => t`| ${dice.pick(language.name)} | Role |\n| --- | --- |\n| ${name} | admin |\n| ${other} | editor |`,
    () => t`*${name}*  3:12 PM\n${dice.pick(language.filler)}`,
    () => t`${timestamp(dice)} ${name} changed the title of the page`,
    () => t`last edited by ${name} on 2024-03-04`,
    () => t`owner: "${name}"`,
    () => t`“${dice.pick(language.filler)}” (${name})`,
    () => t`@${name} ${dice.pick(language.filler)}`,
    () => t`<author>${name}</author>`,
  ])();
};

const addressRecords: Body = ({ dice, locale, language }) => {
  const value = mark('address', postalAddress(dice, locale));
  const label = dice.pick(language.address);
  return dice.pick<() => Fragment>([
    () => t`${label} = ${value}`,
    () => t`${label}: "${value}"`,
    () => t`"address": "${value}"`,
    () => t`<tr><th>${label}</th><td>${value}</td></tr>`,
    () => t`${label}\n${mark('address', postalAddress(dice, locale, true))}`,
    () => t`1. ${label}: ${value}`,
    () => t`${label.toUpperCase()}: ${value}`,
    () => t`_${label}_: ${value}`,
  ])();
};

const birthRecords: Body = ({ dice, locale, language }) => {
  const value = mark('birthdate', birthDate(dice, locale));
  const label = dice.pick(language.born);
  return dice.pick<Fragment>([
    t`"dateOfBirth": "${value}"`,
    t`"birth_date":"${value}"`,
    t`<birthdate>${value}</birthdate>`,
    t`birthday=${value}`,
    t`${label} = ${value}`,
    t`${label}: "${value}"`,
    t`<tr><th>${label}</th><td>${value}</td></tr>`,
    t`(${label} ${value})`,
    t`BDAY:${value}`,
    t`${label.toUpperCase()}: ${value}`,
  ]);
};

const ipRecords: Body = ({ dice }) => {
  const value = ipAddress(dice);
  const inUrl = value.includes(':') ? t`[${mark('ip', value)}]` : mark('ip', value);
  const ip = mark('ip', value);
  return dice.pick<Fragment>([
    t`http://${inUrl}:8080/${word(dice)}`,
    t`server ${inUrl}:443 weight=5;`,
    t`allow ${ip}/${value.includes(':') ? '64' : '32'};`,
    t`${ip}   ${kebab(dice)}.internal ${word(dice)}`,
    t`v=spf1 ip${value.includes(':') ? '6' : '4'}:${ip} -all`,
    t`Remote Address: ${inUrl}:${String(dice.int(1024, 65_535))}`,
    t`inet ${ip} netmask 255.255.255.0`,
    t`remote_addr=${ip}, status=403`,
    t`{"clientIp":["${ip}"]}`,
    t`Connection to ${ip} port 22 refused.`,
  ]);
};

const macRecords: Body = ({ dice }) => {
  const value = mark('mac', macAddress(dice));
  return dice.pick<Fragment>([
    t`BSSID: ${value}`,
    t`ether ${value}  txqueuelen 1000`,
    t`dhcp lease for ${value} expired`,
    t`hw_addr=${value},port=${String(dice.int(1, 48))}`,
    t`<mac>${value}</mac>`,
  ]);
};

const moneyRecords: Body = ({ dice }) => {
  const card = mark('card', cardNumber(dice));
  const account = mark('iban', iban(dice));
  return dice.pick<Fragment>([
    t`{"number":"${card}","exp":"12/27"}`,
    t`pan=${card};`,
    t`${card} 12/27 ${neutral('123')}`,
    t`IBAN=${account}`,
    t`<iban>${account}</iban>`,
    t`Konto: ${account} (Acme)`,
    t`refund ${card} please`,
  ]);
};

const passwordRecords: Body = ({ dice }) => {
  const user = dice.pick(['admin', 'deploy', 'svc-docs', 'jenkins']);
  const name = dice.pick(['password', 'Password', 'dbPassword', 'adminPassword', 'PASSWORD', 'smtpPassword']);
  return dice.pick<() => Fragment>([
    () => t`'${name}' => '${secret(dice)}',`,
    () => t`"${name}" => "${secret(dice)}"`,
    () => t`${name}: "${secret(dice)}",`,
    () => t`:${name.toLowerCase()} => '${secret(dice)}'`,
    () =>
      t`services:\n  db:\n    environment:\n      - POSTGRES_PASSWORD=${secret(dice)}\n      - POSTGRES_USER=${user}`,
    () => t`${name} = "${secret(dice)}"\nusername = "${user}"`,
    () => t`{ "key": "password", "value": "${secret(dice)}", "type": "text" }`,
    () => t`jdbc:mysql://db.internal:3306/docs?user=${user}&password=${secret(dice)}`,
    () => t`axios.get(url, { auth: { username: '${user}', password: '${secret(dice)}' } })`,
    () => t`await page.fill('#password', '${secret(dice)}');`,
    () => t`cy.get('input[name=password]').type('${secret(dice)}')`,
    () => t`mutation { login(email: "x", password: "${secret(dice)}") { token } }`,
    () => t`<datasource user="${user}" password="${secret(dice)}" />`,
    () => t`[client]\nuser=${user}\npassword=${secret(dice)}`,
    () => t`SSID: Guest\nKey: ${secret(dice)}`,
    () => t`username: ${user} password: ${secret(dice)}`,
    () => t`user/pw: ${user} / ${secret(dice)}`,
    () => t`login: ${user}\npass: ${secret(dice)}`,
    () => t`Uid=${user};Pwd=${secret(dice)};`,
    () => t`PSCredential("${user}", (ConvertTo-SecureString "${secret(dice)}" -AsPlainText -Force))`,
    () => t`echo '${secret(dice)}' | sudo -S systemctl restart ${word(dice)}`,
    () => t`db.createUser({ user: "${user}", pwd: "${secret(dice)}", roles: ["readWrite"] })`,
    () => t`username=${user}&password=${secret(dice)}&submit=Login`,
    () => t`variable "db_password" {\n  default = "${secret(dice)}"\n}`,
  ])();
};

const tokenRecords: Body = ({ dice }) => {
  return dice.pick<() => Fragment>([
    () => t`headers = {"Authorization": "Bearer ${key(dice)}"}`,
    () => t`req.Header.Set("Authorization", "Bearer ${key(dice)}")`,
    () => t`'Authorization': 'Token ${key(dice)}'`,
    () => t`-H "X-Auth-Token: ${key(dice)}"`,
    () => t`  --set secrets.apiKey=${key(dice)} \\`,
    () => t`environment:\n  API_TOKEN: ${key(dice)}`,
    () => t`apiKey: '${key(dice)}',`,
    () => t`<apiKey>${key(dice)}</apiKey>`,
    () => t`{ "key": "Authorization", "value": "Bearer ${key(dice)}" }`,
    () => t`"access_token": "${key(dice)}",\n"expires_in": 3600`,
    () => t`window.DOCS_CONFIG = { token: "${key(dice)}" };`,
    () => t`setx DOCS_API_KEY ${key(dice)}`,
    () => t`ENV DOCS_TOKEN=${key(dice)}`,
    () => t`ARG NPM_TOKEN=${key(dice)}`,
    () => t`secrets.${camel(dice)}Secret=${key(dice)}`,
    () => t`new Client(token: '${key(dice)}')`,
    () => t`<meta name="csrf-token" content="${key(dice)}">`,
    () => t`x-api-key=${key(dice)}`,
    () => t`docs login --api-key=${key(dice)} --version ${version(dice)}`,
    () => t`token="${key(dice)}"; curl -H "Authorization: Bearer $token" https://api.example.com`,
  ])();
};

/** Records by the type of their main value; the other types have none. */
export const RECORDS: Partial<Record<PrivateType, Body>> = {
  email: emailRecords,
  phone: phoneRecords,
  person: personRecords,
  address: addressRecords,
  birthdate: birthRecords,
  ip: ipRecords,
  mac: macRecords,
  card: moneyRecords,
  iban: moneyRecords,
  password: passwordRecords,
  token: tokenRecords,
};
