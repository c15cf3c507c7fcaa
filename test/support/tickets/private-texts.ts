/** Tickets with private data: each kind of value in the contexts in which people write it. */
import { birthDate, phoneNumber, postalAddress } from './contacts.ts';
import { commandWithCredential, configWithCredential, labelledCredential } from './credentials.ts';
import type { Dice } from './dice.ts';
import { form, framed, mention, peopleTable, type Scene, sceneOf } from './frames.ts';
import { attachmentLink, credentialUrl, personalFileName } from './links.ts';
import { LOCALE_NAMES, LOCALES, type LocaleName } from './locales.ts';
import {
  type Fragment,
  fill,
  type GeneratedTicket,
  join,
  mark,
  neutral,
  PRIVATE_TYPES,
  type PrivateType,
  t,
} from './marked-text.ts';
import { cardNumber, iban, ipAddress, macAddress, socialSecurityNumber } from './numbers.ts';
import { type Character, emailAddress, makeCharacter, recordOf } from './people.ts';
import { RECORDS } from './records.ts';
import { timestamp, word } from './technical-values.ts';
import { markedVendorKey } from './vendor-keys.ts';

type Body = (scene: Scene) => Fragment;

function inFence(dice: Dice, fragment: Fragment): Fragment {
  return dice.chance(0.5) ? t`\`\`\`\n${fragment}\n\`\`\`` : fragment;
}

const email: Body = ({ dice, language, locale }) => {
  const address = mark('email', emailAddress(dice, locale));
  return dice.pick<() => Fragment>([
    () => fill(dice.pick(language.mail), address),
    () => fill(dice.pick(language.mail), address),
    () => t`${dice.pick(language.email)}: ${address}`,
    () => t`${dice.pick(language.email)}：${address}`,
    () => t`<${address}>`,
    () => t`[${address}](mailto:${mark('email', emailAddress(dice, locale))})`,
    () => t`(${address})`,
    () => t`${address}; ${mark('email', emailAddress(dice, locale))},${mark('email', emailAddress(dice, locale))}`,
    () => t`user=${address} status=locked`,
    () => t`{"email":"${address}","role":"editor"}`,
    () => t`'${address}' is not allowed to sign in`,
    () =>
      t`https://app.example.com/users?email=${mark('email', emailAddress(dice, locale).replace('@', '%40'))}&page=2`,
    () => t`"${address}" <no-reply>`,
  ])();
};

const phone: Body = ({ dice, language, locale }) => {
  const { region } = LOCALES[locale];
  const written = phoneNumber(dice, region);
  const value = mark('phone', written.text);
  const label = dice.pick(language.phone);
  const labelled: (() => Fragment)[] = [
    () => fill(dice.pick(language.call), value),
    () => fill(dice.pick(language.call), value),
    () => t`${label}: ${value}`,
    () => t`${label}：${value}`,
    () => t`${label} ${value}`,
    () => t`| ${label} | ${value} |`,
    () => t`<b>${label}:</b> ${value}`,
    () => t`${label}: ${value} / ${mark('phone', phoneNumber(dice, region).text)}`,
  ];
  return dice.pick(
    written.bare
      ? labelled
      : [
          ...labelled,
          () => t`\n${value}\n`,
          () => t`${dice.pick(['📞 ', 'T: ', 'M: ', 'Ph. '])}${value}`,
          () => t`| ${word(dice)} | ${value} | ${word(dice)} |`,
          () => t`tel:${mark('phone', phoneNumber(dice, region, true).text.replaceAll(/[^\d+]/g, ''))}`,
        ],
  )();
};

const person: Body = (scene) => {
  const { dice, language, requester } = scene;
  return dice.chance(0.3) ? fill(dice.pick(language.intro), mark('person', requester.full)) : mention(scene);
};

const address: Body = ({ dice, language, locale }) => {
  const label = dice.pick(language.address);
  return dice.pick<() => Fragment>([
    () => t`${label}: ${mark('address', postalAddress(dice, locale))}`,
    () => t`${label}：${mark('address', postalAddress(dice, locale))}`,
    () => t`${label}:\n${mark('address', postalAddress(dice, locale, true))}`,
    () => t`**${label}:** ${mark('address', postalAddress(dice, locale))}`,
    () => t`| ${label} | ${mark('address', postalAddress(dice, locale))} |`,
    () => t`<b>${label}:</b> ${mark('address', postalAddress(dice, locale))}`,
  ])();
};

const birthdate: Body = ({ dice, language, locale }) => {
  const label = dice.pick(language.born);
  const value = mark('birthdate', birthDate(dice, locale));
  return dice.pick<Fragment>([
    t`${label}: ${value}`,
    t`${label}: ${value}`,
    t`${label}：${value}`,
    t`${label} ${value}`,
    t`**${label}:** ${value}`,
    t`| ${label} | ${value} |`,
    t`- ${label}: ${value}`,
    t`DOB: ${value}`,
  ]);
};

const ip: Body = ({ dice }) => {
  const value = mark('ip', ipAddress(dice));
  return dice.pick<Fragment>([
    t`Our office IP is ${value}, please add it to the allow list.`,
    t`${timestamp(dice)} client ${value} denied`,
    t`${value} - - [04/Mar/2024:15:12:08 +0000] "GET /${word(dice)} HTTP/1.1" 403 512`,
    t`{"ip":"${value}","path":"/${word(dice)}"}`,
    t`X-Forwarded-For: ${value}`,
    t`IP: ${value}`,
    t`blocked (${value})`,
    t`from=${value} to=${mark('ip', ipAddress(dice))}`,
    t`ssh deploy@${value}`,
    t`ping ${value} times out`,
  ]);
};

const mac: Body = ({ dice }) => {
  const value = mark('mac', macAddress(dice));
  return dice.pick<Fragment>([
    t`MAC: ${value}`,
    t`device ${value} does not connect`,
    t`link/ether ${value} brd ff:ff:ff:ff:ff:ff`,
    t`HWaddr ${value}`,
    t`The MAC address of the laptop is ${value}.`,
    t`{"mac":"${value}"}`,
    t`| laptop | ${value} |`,
  ]);
};

const card: Body = ({ dice }) => {
  const value = mark('card', cardNumber(dice));
  return dice.pick<Fragment>([
    t`Card number: ${value}`,
    t`My card ${value} was charged twice.`,
    t`Visa ${value}, exp. 04/27`,
    t`| card | ${value} |`,
    t`cc=${value}`,
    t`please use ${value}`,
    t`Kreditkarte: ${value}`,
    t`"card_number": "${value}"`,
  ]);
};

const bank: Body = ({ dice }) => {
  const value = mark('iban', iban(dice));
  return dice.pick<Fragment>([
    t`IBAN: ${value}`,
    t`IBAN ${value}`,
    t`Please refund to ${value}.`,
    t`| IBAN | ${value} |`,
    t`Bankverbindung: ${value}`,
    t`"iban":"${value}"`,
    t`Our account is ${value}, thanks`,
  ]);
};

const ssn: Body = ({ dice }) => {
  const value = mark('ssn', socialSecurityNumber(dice));
  return dice.pick<Fragment>([
    t`SSN: ${value}`,
    t`My social security number is ${value}.`,
    t`SSN ${value}`,
    t`social: ${value}`,
    t`| SSN | ${value} |`,
  ]);
};

const vendor: Body = ({ dice }) => {
  const value = markedVendorKey(dice);
  return dice.pick<Fragment>([
    t`I use ${value} and get a 401.`,
    t`${value}`,
    t`key: ${value}`,
    t`export TOKEN=${value}`,
    t`Authorization: Bearer ${value}`,
    t`const client = new Client("${value}");`,
    t`\`${value}\``,
    t`(${value})`,
    t`error: ${value} was rejected`,
    t`| key | ${value} |`,
  ]);
};

const fileName: Body = ({ dice, requester }) => {
  const name = personalFileName(dice, requester);
  return dice.pick<Fragment>([
    t`${name}`,
    t`I attached ${name}.`,
    t`Attachment: ${name}`,
    t`[${name}]`,
    t`- ${name} (${String(dice.int(10, 900))} KB)`,
    t`see "${name}"`,
  ]);
};

const attachment: Body = ({ dice }) => {
  const link = attachmentLink(dice);
  return dice.pick<Fragment>([
    link,
    t`Screenshot: ${link}`,
    t`![image](${link})`,
    t`<${link}>`,
    t`[${neutral('screenshot.png')}](${link})`,
    t`see ${link} for details`,
    t`<a href="${link}">file</a>`,
  ]);
};

const BODIES: Readonly<Record<PrivateType, Body>> = {
  email,
  phone,
  person,
  address,
  birthdate,
  ip,
  mac,
  card,
  iban: bank,
  ssn,
  password: ({ dice }) => (dice.chance(0.6) ? labelledCredential(dice) : inFence(dice, commandWithCredential(dice))),
  token: ({ dice }) => (dice.chance(0.3) ? labelledCredential(dice) : inFence(dice, configWithCredential(dice))),
  'vendor-key': vendor,
  'url-credential': ({ dice }) => inFence(dice, credentialUrl(dice)),
  attachment,
  'file-name': fileName,
};

/** A value of the type: in a sentence, after a label, or in a record. */
function bodyOf(type: PrivateType, scene: Scene): Fragment {
  const record = RECORDS[type];
  return record !== undefined && scene.dice.chance(0.3) ? inFence(scene.dice, record(scene)) : BODIES[type](scene);
}

function contactForm(scene: Scene, writer: Character, body: Fragment): Fragment {
  const { dice, language, locale } = scene;
  const fields = dice.sample<readonly [string, Fragment]>(
    [
      [dice.pick(language.email), mark('email', writer.email)],
      [dice.pick(language.phone), mark('phone', phoneNumber(dice, LOCALES[locale].region).text)],
      [dice.pick(language.address), mark('address', postalAddress(dice, locale))],
      [dice.pick(language.born), mark('birthdate', birthDate(dice, locale))],
    ],
    dice.int(1, 4),
  );
  return t`${form(scene, writer, fields)}\n\n${body}`;
}

function customerTable(scene: Scene): Fragment {
  const { dice, language, locale, requester, agent } = scene;
  const { region } = LOCALES[locale];
  const formatted = () => {
    for (;;) {
      const number = phoneNumber(dice, region);
      if (!number.bare && !number.text.includes(',')) {
        return mark('phone', number.text);
      }
    }
  };
  const rows = [requester, agent].map(({ full, email: own }) => [
    mark('person', full.replace(',', '')),
    mark('email', own),
    formatted(),
  ]);
  return peopleTable(scene, rows, [dice.pick(language.name), dice.pick(language.email), dice.pick(language.phone)]);
}

/** The ticket `index` of the seed's sequence; each type is the main one of every sixteenth ticket. */
export function privateTicket(dice: Dice, seed: number, index: number): GeneratedTicket {
  dice.seed(seed, 1, index);
  const focus = PRIVATE_TYPES[index % PRIVATE_TYPES.length] ?? 'email';
  const locale = dice.pick(LOCALE_NAMES);
  const agentLocale: LocaleName = dice.chance(0.6) ? locale : dice.pick(LOCALE_NAMES);
  const requester = makeCharacter(dice, locale);
  const agent = makeCharacter(dice, agentLocale);
  const scene = sceneOf(dice, requester, agent);
  const main = bodyOf(focus, scene);
  const others = dice.times(0, 2, () => bodyOf(dice.pick(PRIVATE_TYPES), scene));
  const kind = dice.int(1, 100);
  const fragment =
    kind <= 8
      ? contactForm(scene, dice.chance(0.5) ? requester : makeCharacter(dice, locale), main)
      : kind <= 12
        ? t`${customerTable(scene)}\n\n${join([main], '\n')}`
        : framed(scene, dice.shuffle([main, ...others]));
  return {
    fragment,
    people: [recordOf(dice, requester), recordOf(dice, agent)],
    region: LOCALES[locale].region,
    manyRegions: dice.chance(0.5),
  };
}
