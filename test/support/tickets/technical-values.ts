/** Identifiers, numbers and placeholders of technical texts; none are private. */
import type { Dice } from './dice.ts';
import { uuid } from './vendor-keys.ts';

const WORDS =
  'page space site search sync import export cache index token user session theme locale webhook block render build deploy config schema query proxy worker queue event header footer menu table image asset upload visitor section group member plan invoice usage redirect domain cookie auth login key parser client server router store model view layout preview draft merge review change request reader editor widget plugin runtime handler'.split(
    ' ',
  );

export const word = (dice: Dice): string => dice.pick(WORDS);
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
export const camel = (dice: Dice): string => word(dice) + dice.times(1, 2, () => capital(word(dice))).join('');
export const pascal = (dice: Dice): string => capital(camel(dice));
export const snake = (dice: Dice): string => dice.times(2, 3, () => word(dice)).join('_');
export const kebab = (dice: Dice): string => dice.times(2, 3, () => word(dice)).join('-');
export const constant = (dice: Dice): string => snake(dice).toUpperCase();

export const version = (dice: Dice): string =>
  dice.pick([
    () => `${dice.int(0, 24)}.${dice.int(0, 40)}.${dice.int(0, 30)}`,
    () => `v${dice.int(0, 24)}.${dice.int(0, 40)}.${dice.int(0, 30)}`,
    () =>
      `${dice.int(1, 9)}.${dice.int(0, 20)}.${dice.int(0, 9)}-${dice.pick(['rc', 'beta', 'alpha', 'canary'])}.${dice.int(0, 12)}`,
    () => `v${dice.int(1, 9)}.${dice.int(0, 20)}.${dice.int(0, 9)}+build.${dice.int(100, 9999)}`,
    () => `20${dice.int(20, 26)}.${dice.int(1, 12)}.${dice.int(0, 9)}`,
  ])();

/** A version with four parts after the name of its product. */
export const productVersion = (dice: Dice): string =>
  dice.pick([
    () => `Chrome/${dice.int(90, 130)}.0.${dice.int(1000, 7000)}.${dice.int(10, 200)}`,
    () => `Chrome ${dice.int(90, 130)}.0.${dice.int(1000, 7000)}.${dice.int(10, 200)}`,
    () => `Firefox ${dice.int(90, 130)}.0.${dice.int(0, 3)}.${dice.int(0, 9)}`,
    () => `Edge ${dice.int(90, 130)}.0.${dice.int(1000, 2900)}.${dice.int(10, 99)} (Official build) (64-bit)`,
    () => `version ${dice.int(1, 20)}.${dice.int(0, 9)}.${dice.int(0, 9)}.${dice.int(0, 99)}`,
    () => `Windows ${dice.pick(['10', '11'])} (10.0.${dice.int(19_041, 22_631)}.${dice.int(100, 4000)})`,
    () => `.NET ${dice.int(4, 8)}.0.${dice.int(1, 30)}.${dice.int(1, 200)}`,
    () => `build ${dice.int(1, 20)}.${dice.int(0, 9)}.${dice.int(1000, 9999)}.${dice.int(0, 99)}`,
    () => `Safari/605.1.15 Version/${dice.int(13, 18)}.${dice.int(0, 6)}`,
    () => `java version "1.8.0_${dice.int(100, 400)}"`,
    () => `AssemblyVersion("${dice.int(1, 9)}.${dice.int(0, 9)}.${dice.int(0, 9)}.${dice.int(0, 9)}")`,
    () => `octavo-agent/${dice.int(1, 9)}.${dice.int(0, 40)}.${dice.int(0, 30)}.${dice.int(0, 30)}`,
  ])();

const date = (dice: Dice) =>
  [dice.int(2019, 2026), String(dice.int(1, 12)).padStart(2, '0'), String(dice.int(1, 28)).padStart(2, '0')] as const;
const clock = (dice: Dice) =>
  [dice.int(0, 23), dice.int(0, 59), dice.int(0, 59)].map((part) => String(part).padStart(2, '0')).join(':');

export const timestamp = (dice: Dice): string => {
  const [year, month, day] = date(dice);
  return dice.pick([
    () => `${year}-${month}-${day}T${clock(dice)}.${dice.chars('digit', 3)}Z`,
    () => `${year}-${month}-${day} ${clock(dice)},${dice.chars('digit', 3)}`,
    () => `${year}-${month}-${day}T${clock(dice)}+0${dice.int(0, 9)}:00`,
    () => `[${day}/Mar/${year}:${clock(dice)} +0000]`,
    () => `${year}/${month}/${day} ${clock(dice)}`,
    () => `${day}.${month}.${year} ${clock(dice)}`,
    () => `1${dice.int(5, 7)}${dice.chars('digit', 8)}`,
    () => `1${dice.int(5, 7)}${dice.chars('digit', 11)}`,
    () => `${year}${month}${day}${clock(dice).replaceAll(':', '')}`,
  ])();
};

/** Random characters that identify content and grant no access. */
export const digest = (dice: Dice): string =>
  dice.pick([
    () => `commit ${dice.chars('hex', 40)}`,
    () => `commit ${dice.chars('hex', dice.int(7, 12))}`,
    () => `sha256:${dice.chars('hex', 64)}`,
    () => `acme/docs@sha256:${dice.chars('hex', 64)}`,
    () => `md5 ${dice.chars('hex', 32)}`,
    () => `"integrity": "sha512-${dice.chars('base64', 86)}=="`,
    () => `integrity="sha384-${dice.chars('base64', 64)}"`,
    () => `ETag: W/"${dice.chars('hex', 32)}"`,
    () => `ETag: "${dice.chars('hex', 10)}-${dice.chars('hex', 5)}"`,
    () => `request id ${uuid(dice)}`,
    () => `x-request-id: ${uuid(dice)}`,
    () => `x-amz-request-id: ${dice.chars('upperDigit', 16)}`,
    () => `cf-ray: ${dice.chars('hex', 16)}-${dice.pick(['FRA', 'AMS', 'IAD', 'LHR'])}`,
    () => `traceparent: 00-${dice.chars('hex', 32)}-${dice.chars('hex', 16)}-01`,
    () => `trace_id=${dice.chars('hex', 32)} span_id=${dice.chars('hex', 16)}`,
    () => `SHA256:${dice.chars('base64', 43)}`,
    () => `sha1: ${dice.chars('hex', 40)}`,
    () => `main-${dice.chars('alnum', 8)}.js`,
    () => `chunk-${dice.chars('upperDigit', 8)}.mjs`,
    () => `space ${dice.chars('alnum', 20)}`,
    () => `https://app.example.com/o/${dice.chars('alnum', 20)}/s/${dice.chars('alnum', 20)}/`,
    () => `page id -${dice.chars('base64url', 19)}`,
    () => `Sentry event ${dice.chars('hex', 32)}`,
    () => `0x${dice.chars('hex', 8)} (${dice.int(1_000_000_000, 4_294_967_295)})`,
    () => `0x${dice.chars('hex', 16)}`,
    () => `uuid ${uuid(dice).toUpperCase()}`,
    () => `checksum ${dice.chars('hex', 8)}`,
  ])();

/** Numbers that are not phone numbers, cards or accounts. */
export const figure = (dice: Dice): string =>
  dice.pick([
    () => `${dice.int(1, 99)}.${dice.chars('digit', 6)} ${dice.pick(['BTC', 'ETH', 'XMR', 'SOL'])}`,
    () => `0.${dice.chars('digit', 8)} BTC`,
    () => `$${dice.int(1, 999)},${dice.chars('digit', 3)}.${dice.chars('digit', 2)}`,
    () => `${dice.int(1, 99)}.${dice.chars('digit', 3)},${dice.chars('digit', 2)} €`,
    () => `EUR ${dice.int(10, 9999)}.${dice.chars('digit', 2)}`,
    () => `¥${dice.int(1, 999)},${dice.chars('digit', 3)}`,
    () => `${dice.int(1, 999)} ${dice.chars('digit', 3)} ${dice.chars('digit', 3)} requests`,
    () => `${dice.int(1, 9)},${dice.chars('digit', 3)},${dice.chars('digit', 3)} rows`,
    () => `${dice.chars('digit', dice.int(9, 12))} bytes`,
    () => `order ${dice.chars('digit', dice.int(6, 12))}`,
    () => `Order #${dice.chars('digit', dice.int(6, 12))}`,
    () => `invoice INV-${dice.int(2019, 2026)}-${dice.chars('digit', 6)}`,
    () => `invoice no. ${dice.chars('digit', 8)}`,
    () => `ticket #${dice.chars('digit', dice.int(5, 8))}`,
    () => `run ${dice.chars('digit', 10)}`,
    () =>
      `https://github.com/acme/docs/actions/runs/${dice.int(1, 9)}${dice.chars('digit', 9)}/job/${dice.int(1, 9)}${dice.chars('digit', 10)}`,
    () => `PR #${dice.int(1, 9999)}`,
    () => `DOCS-${dice.int(1, 9999)}`,
    () => `ISBN 978-${dice.int(0, 9)}-${dice.chars('digit', 4)}-${dice.chars('digit', 4)}-${dice.int(0, 9)}`,
    () => `lines ${dice.int(1, 900)}-${dice.int(901, 4000)}`,
    () => `ports ${dice.int(3000, 9999)}, ${dice.int(3000, 9999)} and ${dice.int(3000, 9999)}`,
    () => `:${dice.int(1024, 65_535)}`,
    () => `pid ${dice.int(100, 99_999)}`,
    () => `HTTP ${dice.pick([400, 401, 403, 404, 409, 422, 429, 500, 502, 503, 504])}`,
    () => `error ${dice.int(1000, 99_999)}`,
    () => `ERR_${constant(dice)}`,
    () => `0x8007${dice.chars('HEX', 4)} (${dice.int(2_147_483_648, 2_147_999_999)})`,
    () => `-${dice.int(2_147_000_000, 2_147_483_648)}`,
    () => `2147483647`,
    () => `9007199254740991`,
    () => `${dice.int(0, 100)}.${dice.int(0, 99)}%`,
    () => `${dice.int(1, 9999)} ms`,
    () => `${dice.int(320, 3840)}x${dice.int(240, 2160)}`,
    () => `#${dice.chars('hex', 6)}`,
    () => `rgba(${dice.int(0, 255)}, ${dice.int(0, 255)}, ${dice.int(0, 255)}, 0.${dice.int(1, 9)})`,
    () => `${dice.int(-89, 89)}.${dice.chars('digit', 6)}, ${dice.int(-179, 179)}.${dice.chars('digit', 6)}`,
    () => `chmod 0${dice.pick(['644', '755', '600'])}`,
    () => `cron "${dice.int(0, 59)} ${dice.int(0, 23)} * * ${dice.int(0, 6)}"`,
    () => `epoch ${dice.int(1_500_000_000, 1_790_000_000)}`,
    () => `v${dice.int(1, 9)} of ${dice.int(10, 20)}`,
    () => `RFC ${dice.int(1000, 9999)}`,
    () => `CVE-20${dice.int(19, 25)}-${dice.int(1000, 49_999)}`,
    () => `ISO 8601, ISO/IEC 27001:${dice.int(2013, 2022)}`,
    () => `x=${dice.int(1, 4000)} y=${dice.int(1, 4000)} w=${dice.int(1, 4000)}`,
  ])();

/** Placeholder for a value of the reader in documentation. */
export const placeholder = (dice: Dice): string =>
  dice.pick([
    () => '<token>',
    () => `<${word(dice)}>`,
    () => `<your-${kebab(dice)}>`,
    () => `<YOUR_${constant(dice)}>`,
    () => `YOUR_${constant(dice)}`,
    () => `YOUR_API_KEY`,
    () => `your-api-key-here`,
    () => `$${constant(dice)}`,
    () => `\${${constant(dice)}}`,
    () => `\${{ secrets.${constant(dice)} }}`,
    () => `{{ ${snake(dice)} }}`,
    () => `{{${camel(dice)}}}`,
    () => '********',
    () => 'xxxxxxxx',
    () => 'XXXX-XXXX-XXXX',
    () => '...',
    () => '[REDACTED]',
    () => '<redacted>',
    () => `%${constant(dice)}%`,
    () => `process.env.${constant(dice)}`,
    () => `{${camel(dice)}}`,
    () => `:${camel(dice)}`,
    () => 'changeme',
    () => '•••••••••',
  ])();

/** A placeholder that a shell reads as one word. */
export const shellPlaceholder = (dice: Dice): string =>
  dice.pick([
    () => `$${constant(dice)}`,
    () => `\${${constant(dice)}}`,
    () => '<token>',
    () => `YOUR_${constant(dice)}`,
    () => `<your-${kebab(dice)}>`,
    () => '***',
  ])();

/** Expression of a program in the place of a value. */
export const expression = (dice: Dice): string =>
  dice.pick([
    () => `process.env.${constant(dice)}`,
    () => `os.environ["${constant(dice)}"]`,
    () => `os.getenv('${constant(dice)}')`,
    () => `form.${camel(dice)}.value`,
    () => `req.body.${camel(dice)}`,
    () => `request.form['${snake(dice)}']`,
    () => `config.get('${word(dice)}.${word(dice)}')`,
    () => `get${pascal(dice)}()`,
    () => `await fetch${pascal(dice)}(${camel(dice)})`,
    () => `${camel(dice)}.${camel(dice)}`,
    () => `z.string().min(${dice.int(1, 16)})`,
    () => `Joi.string().min(${dice.int(1, 16)}).required()`,
    () => `this.${camel(dice)}`,
    () => `self.${snake(dice)}`,
    () => `props.${camel(dice)} ?? ''`,
    () => `bcrypt.hash(${camel(dice)}, ${dice.int(8, 14)})`,
    () => `crypto.randomBytes(${dice.int(16, 64)}).toString('hex')`,
    () => `hashlib.sha256(${snake(dice)}.encode()).hexdigest()`,
    () => `useState('')`,
    () => `useRef(null)`,
    () => `document.getElementById('${kebab(dice)}').value`,
    () => `Deno.env.get('${constant(dice)}')`,
    () => `std::env::var("${constant(dice)}")?`,
    () => `os.Getenv("${constant(dice)}")`,
    () => `ENV.fetch("${constant(dice)}")`,
    () => `System.getenv("${constant(dice)}")`,
    () => `null`,
    () => `undefined`,
    () => `true`,
    () => `''`,
    () => `None`,
    () => `new ${pascal(dice)}(${camel(dice)})`,
    () => `\`\${${camel(dice)}}-\${${camel(dice)}}\``,
  ])();
