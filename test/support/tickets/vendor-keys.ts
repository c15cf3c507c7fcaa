/** Access keys in the published formats of their vendors; every value is random. */
import type { Dice } from './dice.ts';
import { type Fragment, mark, neutral, t } from './marked-text.ts';

/**
 * Formats, separated by `|` and lines. `{alphabet:length}` is random text; `{uuid}` is a random UUID. Prefixes contain a
 * space, which is removed, so that the repository contains nothing that looks like a key.
 */
const FORMATS = `
gh p_{alnum:36}|gh o_{alnum:36}|gh u_{alnum:36}|gh s_{alnum:36}|gh r_{alnum:36}
github _pat_{alnum:22}_{alnum:59}|gl pat-{base64url:20}|gl ptt-{hex:40}|gl dt-{base64url:20}
gl rt-{base64url:20}|GR 1348941{base64url:20}|AK IA{base32:16}|AS IA{base32:16}
xo xb-{digit:12}-{digit:12}-{alnum:24}|xo xp-{digit:12}-{digit:12}-{digit:12}-{hex:32}
xa pp-1-{upperDigit:11}-{digit:13}-{hex:64}
https://hooks.sl ack.com/services/T{upperDigit:10}/B{upperDigit:10}/{alnum:24}|sk _live_{alnum:24}
rk _live_{alnum:24}|sk _test_{alnum:99}|wh sec_{alnum:32}|sk -proj-{base64url:48}
sk -{alnum:20}T3BlbkFJ{alnum:20}|sk -ant-api03-{base64url:93}AA|AI za{base64url:35}|GOC SPX-{base64url:28}
ya 29.a0{base64url:120}|np m_{alnum:36}|py pi-AgEIcHlwaS5vcmc{base64url:90}|S G.{base64url:22}.{base64url:43}
S K{hex:32}|ke y-{hex:32}|{hex:32}- us{digit:2}|do p_v1_{hex:64}|do o_v1_{hex:64}|HR KU-{uuid}|sh pat_{hex:32}
sh pss_{hex:32}|sh pca_{hex:32}|sq 0atp-{base64url:22}|sq 0csp-{base64url:43}|EA AA{base64url:60}
{digit:10}: AA{base64url:33}|https://disc ord.com/api/webhooks/{digit:18}/{base64url:68}|li n_api_{alnum:40}
se cret_{alnum:43}|nt n_{digit:11}{alnum:35}|fi gd_{base64url:43}|hf _{alnum:34}|da pi{hex:32}|dp .pt.{alnum:43}
dp .st.dev.{alnum:43}|hv s.{alnum:24}|hv b.{base64url:140}|{alnum:14}. atlasv1.{base64url:64}
gl sa_{alnum:32}_{hex:8}|gl c_{base64:60}|NR AK-{upperDigit:27}|NR JS-{hex:19}|ps cale_tkn_{base64url:43}
ps cale_pw_{base64url:43}|PM AK-{hex:24}-{hex:34}|pu l-{hex:40}|sn trys_{base64:60}_{base64:43}|sn tryu_{hex:64}
ru bygems_{hex:48}|AT ATT3{base64url:180}={HEX:8}|AT BB{base64url:28}|pa t{alnum:14}.{hex:64}
CF PAT-{base64url:43}|nf p_{alnum:36}|sb p_{hex:40}|rn d_{alnum:32}|fo 1_{base64url:43}|sl .{base64url:135}
dc kr_pat_{base64url:27}|AG E-SECRET-KEY-1{bech32age:58}|LT AI{alnum:20}|xk eysib-{hex:64}-{alnum:16}
CL OJARS_{lowerDigit:60}|du ffel_live_{base64url:43}|dt 0c01.{base32:24}.{base32:64}|EZ AK{alnum:54}
FL WSECK-{hex:32}-X|fi o-u-{base64url:64}|pa t-na1-{uuid}|AK Cp{alnum:69}|pn u_{alnum:36}|rd me_{lowerDigit:70}
tk -us-{base64url:48}|sh ippo_live_{hex:40}|sg p_{hex:40}|tf p_{base64url:44}_{base64url:14}|pp lx-{alnum:48}
xa i-{alnum:80}|gs k_{alnum:52}|r8 _{alnum:37}|sd k-{uuid}|tsk ey-auth-{alnum:17}-{alnum:32}
lsv 2_pt_{hex:32}_{hex:10}|phx _{alnum:43}|ops _eyJ{base64url:260}|v1.0-{hex:24}-{hex:146}|ap ify_api_{alnum:36}
`
  .trim()
  .split(/[|\n]/);

/** Access keys that are unambiguous in any context. */
function vendorKey(dice: Dice): string {
  return dice
    .pick(FORMATS)
    .replace(' ', '')
    .replaceAll('{uuid}', () => uuid(dice))
    .replaceAll(/\{bech32age:(\d+)\}/g, (_, length: string) => dice.chars('bech32', Number(length)).toUpperCase())
    .replaceAll(/\{(\w+):(\d+)\}/g, (_, alphabet: string, length: string) =>
      dice.chars(alphabet as Parameters<Dice['chars']>[0], Number(length)),
    );
}

/** A vendor's key with its label; in the address of a webhook, only the last part is secret. */
export function markedVendorKey(dice: Dice): Fragment {
  const key = vendorKey(dice);
  const cut = key.startsWith('https://') ? key.lastIndexOf('/') + 1 : 0;
  return t`${neutral(key.slice(0, cut))}${mark('vendor-key', key.slice(cut))}`;
}

export function uuid(dice: Dice): string {
  return [8, 4, 4, 4, 12]
    .map(
      (length, index) =>
        (index === 2 ? '4' : index === 3 ? dice.pick(['8', '9', 'a', 'b']) : '') +
        dice.chars('hex', index === 2 || index === 3 ? length - 1 : length),
    )
    .join('-');
}

const LABELS = [
  'PRIVATE KEY',
  'RSA PRIVATE KEY',
  'EC PRIVATE KEY',
  'OPENSSH PRIVATE KEY',
  'ENCRYPTED PRIVATE KEY',
  'PGP PRIVATE KEY BLOCK',
];

export function privateKey(dice: Dice): string {
  const label = dice.pick(LABELS);
  const lines = dice.times(4, 14, () => dice.chars('base64', 64));
  return [
    `-----BEGIN ${label}-----`,
    ...lines,
    `${dice.chars('base64', dice.int(10, 60))}==`,
    `-----END ${label}-----`,
  ].join('\n');
}

export function jsonWebToken(dice: Dice): string {
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const header = encode({
    alg: dice.pick(['HS256', 'RS256', 'ES256']),
    typ: 'JWT',
    ...(dice.chance(0.4) ? { kid: dice.chars('hex', 16) } : {}),
  });
  const payload = encode({
    sub: dice.chars('digit', 10),
    iat: 1_700_000_000 + dice.int(0, 9_999_999),
    scope: dice.pick(['read', 'admin', 'docs:write']),
  });
  return `${header}.${payload}.${dice.chars('base64url', dice.pick([43, 86, 342]))}`;
}
