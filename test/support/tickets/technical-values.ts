/** Identifiers, numbers and placeholders of technical texts, none of them private, and templates that contain them. */
import type { Alphabet, Dice } from './dice.ts';
import { uuid } from './vendor-keys.ts';

/** A template: `«word»` is a value by name (`«Word»`: capitalized), `«a|b»` one of two, `«1..9»` a number, `«hex 7»` characters. */
type Template = string | (() => string);

/** Expands one of the templates, or calls it. */
export function write(
  dice: Dice,
  templates: readonly Template[],
  names: Readonly<Record<string, string>> = {},
): string {
  const template = dice.pick(templates);
  return typeof template === 'string' ? expand(dice, template, names) : template();
}

export function expand(dice: Dice, template: string, names: Readonly<Record<string, string>> = {}): string {
  return template.replaceAll(/«(.*?)»/g, (_, term: string) => {
    const [, alphabet, min, max = min] = /^(?:(\w+) )?(-?\d+)(?:\.\.(-?\d+))?$/.exec(term) ?? [];
    if (term.includes('|')) {
      return dice.pick(term.split('|'));
    }
    if (min !== undefined) {
      const number = min === max ? Number(min) : dice.int(Number(min), Number(max));
      return alphabet === undefined ? String(number) : dice.chars(alphabet as Alphabet, number);
    }
    const value = (name: string) => names[name] ?? VALUES[name]?.(dice);
    const found = value(term) ?? capital(value(term.charAt(0).toLowerCase() + term.slice(1)) ?? '');
    if (found === '') {
      throw new RangeError(`no value ${term}`);
    }
    return found;
  });
}

const WORDS =
  'page space site search sync import export cache index token user session theme locale webhook block render build deploy config schema query proxy worker queue event header footer menu table image asset upload visitor section group member plan invoice usage redirect domain cookie auth login key parser client server router store model view layout preview draft merge review change request reader editor widget plugin runtime handler'.split(
    ' ',
  );

export const word = (dice: Dice): string => dice.pick(WORDS);
const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const camel = (dice: Dice): string => word(dice) + dice.times(1, 2, () => capital(word(dice))).join('');
const pascal = (dice: Dice): string => capital(camel(dice));
const snake = (dice: Dice): string => dice.times(2, 3, () => word(dice)).join('_');
export const kebab = (dice: Dice): string => dice.times(2, 3, () => word(dice)).join('-');
const constant = (dice: Dice): string => snake(dice).toUpperCase();

export const version = (dice: Dice): string =>
  write(dice, [
    `«0..24».«0..40».«0..30»`,
    `v«0..24».«0..40».«0..30»`,
    `«1..9».«0..20».«0..9»-«rc|beta|alpha|canary».«0..12»`,
    `v«1..9».«0..20».«0..9»+build.«100..9999»`,
    `20«20..26».«1..12».«0..9»`,
  ]);

/** A version with four parts after the name of its product. */
const productVersion = (dice: Dice): string =>
  write(dice, [
    `Chrome/«90..130».0.«1000..7000».«10..200»`,
    `Chrome «90..130».0.«1000..7000».«10..200»`,
    `Firefox «90..130».0.«0..3».«0..9»`,
    `Edge «90..130».0.«1000..2900».«10..99» (Official build) (64-bit)`,
    `version «1..20».«0..9».«0..9».«0..99»`,
    `Windows «10|11» (10.0.«19041..22631».«100..4000»)`,
    `.NET «4..8».0.«1..30».«1..200»`,
    `build «1..20».«0..9».«1000..9999».«0..99»`,
    `Safari/605.1.15 Version/«13..18».«0..6»`,
    `java version "1.8.0_«100..400»"`,
    `AssemblyVersion("«1..9».«0..9».«0..9».«0..9»")`,
    `octavo-agent/«1..9».«0..40».«0..30».«0..30»`,
  ]);

const date = (dice: Dice) =>
  [dice.int(2019, 2026), String(dice.int(1, 12)).padStart(2, '0'), String(dice.int(1, 28)).padStart(2, '0')] as const;
const clock = (dice: Dice) =>
  [dice.int(0, 23), dice.int(0, 59), dice.int(0, 59)].map((part) => String(part).padStart(2, '0')).join(':');

export const timestamp = (dice: Dice): string => {
  const [year, month, day] = date(dice);
  return write(dice, [
    () => `${year}-${month}-${day}T${clock(dice)}.${dice.chars('digit', 3)}Z`,
    () => `${year}-${month}-${day} ${clock(dice)},${dice.chars('digit', 3)}`,
    () => `${year}-${month}-${day}T${clock(dice)}+0${dice.int(0, 9)}:00`,
    () => `[${day}/Mar/${year}:${clock(dice)} +0000]`,
    () => `${year}/${month}/${day} ${clock(dice)}`,
    () => `${day}.${month}.${year} ${clock(dice)}`,
    `1«5..7»«digit 8»`,
    `1«5..7»«digit 11»`,
    () => `${year}${month}${day}${clock(dice).replaceAll(':', '')}`,
  ]);
};

/** Random characters that identify content and grant no access. */
const digest = (dice: Dice): string =>
  write(dice, [
    `commit «hex 40»`,
    `commit «hex 7..12»`,
    `sha256:«hex 64»`,
    `acme/docs@sha256:«hex 64»`,
    `md5 «hex 32»`,
    `"integrity": "sha512-«base64 86»=="`,
    `integrity="sha384-«base64 64»"`,
    `ETag: W/"«hex 32»"`,
    `ETag: "«hex 10»-«hex 5»"`,
    `request id «uuid»`,
    `x-request-id: «uuid»`,
    `x-amz-request-id: «upperDigit 16»`,
    `cf-ray: «hex 16»-«FRA|AMS|IAD|LHR»`,
    `traceparent: 00-«hex 32»-«hex 16»-01`,
    `trace_id=«hex 32» span_id=«hex 16»`,
    `SHA256:«base64 43»`,
    `sha1: «hex 40»`,
    `main-«alnum 8».js`,
    `chunk-«upperDigit 8».mjs`,
    `space «alnum 20»`,
    `https://app.example.com/o/«alnum 20»/s/«alnum 20»/`,
    `page id -«base64url 19»`,
    `Sentry event «hex 32»`,
    `0x«hex 8» («1000000000..4294967295»)`,
    `0x«hex 16»`,
    () => `uuid ${uuid(dice).toUpperCase()}`,
    `checksum «hex 8»`,
  ]);

/** Numbers that are not phone numbers, cards or accounts. */
const figure = (dice: Dice): string =>
  write(dice, [
    `«1..99».«digit 6» «BTC|ETH|XMR|SOL»`,
    `0.«digit 8» BTC`,
    `$«1..999»,«digit 3».«digit 2»`,
    `«1..99».«digit 3»,«digit 2» €`,
    `EUR «10..9999».«digit 2»`,
    `¥«1..999»,«digit 3»`,
    `«1..999» «digit 3» «digit 3» requests`,
    `«1..9»,«digit 3»,«digit 3» rows`,
    `«digit 9..12» bytes`,
    `order «digit 6..12»`,
    `Order #«digit 6..12»`,
    `invoice INV-«2019..2026»-«digit 6»`,
    `invoice no. «digit 8»`,
    `ticket #«digit 5..8»`,
    `run «digit 10»`,
    `https://github.com/acme/docs/actions/runs/«1..9»«digit 9»/job/«1..9»«digit 10»`,
    `PR #«1..9999»`,
    `DOCS-«1..9999»`,
    `ISBN 978-«0..9»-«digit 4»-«digit 4»-«0..9»`,
    `lines «1..900»-«901..4000»`,
    `ports «3000..9999», «3000..9999» and «3000..9999»`,
    `:«1024..65535»`,
    `pid «100..99999»`,
    `HTTP «400|401|403|404|409|422|429|500|502|503|504»`,
    `error «1000..99999»`,
    `ERR_«constant»`,
    `0x8007«HEX 4» («2147483648..2147999999»)`,
    `-«2147000000..2147483648»`,
    `2147483647`,
    `9007199254740991`,
    `«0..100».«0..99»%`,
    `«1..9999» ms`,
    `«320..3840»x«240..2160»`,
    `#«hex 6»`,
    `rgba(«0..255», «0..255», «0..255», 0.«1..9»)`,
    `«-89..89».«digit 6», «-179..179».«digit 6»`,
    `chmod 0«644|755|600»`,
    `cron "«0..59» «0..23» * * «0..6»"`,
    `epoch «1500000000..1790000000»`,
    `v«1..9» of «10..20»`,
    `RFC «1000..9999»`,
    `CVE-20«19..25»-«1000..49999»`,
    `ISO 8601, ISO/IEC 27001:«2013..2022»`,
    `x=«1..4000» y=«1..4000» w=«1..4000»`,
  ]);

/** Placeholder for a value of the reader in documentation. */
export const placeholder = (dice: Dice): string =>
  write(dice, [
    '<token>',
    `<«word»>`,
    `<your-«kebab»>`,
    `<YOUR_«constant»>`,
    `YOUR_«constant»`,
    `YOUR_API_KEY`,
    `your-api-key-here`,
    `$«constant»`,
    `\${«constant»}`,
    `\${{ secrets.«constant» }}`,
    `{{ «snake» }}`,
    `{{«camel»}}`,
    '********',
    'xxxxxxxx',
    'XXXX-XXXX-XXXX',
    '...',
    '[REDACTED]',
    '<redacted>',
    `%«constant»%`,
    `process.env.«constant»`,
    `{«camel»}`,
    `:«camel»`,
    'changeme',
    '•••••••••',
  ]);

/** A placeholder that a shell reads as one word. */
const shellPlaceholder = (dice: Dice): string =>
  write(dice, [`$«constant»`, `\${«constant»}`, '<token>', `YOUR_«constant»`, `<your-«kebab»>`, '***']);

/** Expression of a program in the place of a value. */
const expression = (dice: Dice): string =>
  write(dice, [
    `process.env.«constant»`,
    `os.environ["«constant»"]`,
    `os.getenv('«constant»')`,
    `form.«camel».value`,
    `req.body.«camel»`,
    `request.form['«snake»']`,
    `config.get('«word».«word»')`,
    `get«pascal»()`,
    `await fetch«pascal»(«camel»)`,
    `«camel».«camel»`,
    `z.string().min(«1..16»)`,
    `Joi.string().min(«1..16»).required()`,
    `this.«camel»`,
    `self.«snake»`,
    `props.«camel» ?? ''`,
    `bcrypt.hash(«camel», «8..14»)`,
    `crypto.randomBytes(«16..64»).toString('hex')`,
    `hashlib.sha256(«snake».encode()).hexdigest()`,
    `useState('')`,
    `useRef(null)`,
    `document.getElementById('«kebab»').value`,
    `Deno.env.get('«constant»')`,
    `std::env::var("«constant»")?`,
    `os.Getenv("«constant»")`,
    `ENV.fetch("«constant»")`,
    `System.getenv("«constant»")`,
    `null`,
    `undefined`,
    `true`,
    `''`,
    `None`,
    `new «pascal»(«camel»)`,
    `\`\${«camel»}-\${«camel»}\``,
  ]);

/** Values by the name that templates give them. */
const VALUES: Readonly<Record<string, (dice: Dice) => string>> = {
  word,
  camel,
  pascal,
  snake,
  kebab,
  constant,
  version,
  productVersion,
  timestamp,
  digest,
  figure,
  placeholder,
  shellPlaceholder,
  expression,
  uuid,
  file: (dice) =>
    expand(dice, '«src|docs|lib|test|app|pages|.github/workflows»/«kebab».«ts|js|md|yaml|json|py|go|rs|tsx|mdx»'),
  anyHost: (dice) =>
    expand(
      dice,
      '«api.example.com|docs.acme.dev|localhost:3000|registry.packages.example|app.acme.io|api.gitbook.com|127.0.0.1:8080|my-host»',
    ),
  secretName: (dice) =>
    expand(
      dice,
      '«password|token|apiKey|api_key|secret|client_secret|accessToken|authToken|passwd|credentials|private_key|sessionId|jwt|refreshToken|passphrase»',
    ),
  mime: (dice) =>
    expand(
      dice,
      '«application/json|text/html; charset=utf-8|application/x-www-form-urlencoded|image/svg+xml|multipart/form-data; boundary=----WebKitFormBoundary|text/event-stream|application/vnd.api+json|application/octet-stream»',
    ),
  algorithm: (dice) =>
    expand(
      dice,
      '«HS256|RS256|ES256|EdDSA|AES-256-GCM|SHA-256|PBKDF2|argon2id|bcrypt|RSA-OAEP-256|ed25519|TLS_AES_128_GCM_SHA256|ECDHE-RSA-AES128-GCM-SHA256|HMAC-SHA256|v1|v4|S256»',
    ),
};
