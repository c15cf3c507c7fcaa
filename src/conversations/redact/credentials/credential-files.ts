/** Finds credentials in excerpts of files: Docker, npm, Kubernetes, netrc, PostgreSQL, HTML forms, XML settings. */
import { isBasicCredentials } from './http-headers.ts';
import { isEnvironment, isPlaceholder, isProse } from './non-secrets.ts';
import type { TextSpan } from './spans.ts';
import { matchSpans } from './spans.ts';

export function findFileSecrets(text: string): readonly TextSpan[] {
  return [
    ...(text.includes('auth') ? matchSpans(ENCODED_AUTH, text, isBasicCredentials) : []),
    ...(text.includes('-key-data') ? matchSpans(KEY_DATA, text, (value) => !isPlaceholder(value)) : []),
    ...(text.includes('login') ? matchSpans(NETRC, text, (value) => !isPlaceholder(value)) : []),
    ...matchSpans(PGPASS, text, (value) => !isPlaceholder(value)),
    ...OTHERS.flatMap((pattern) => matchSpans(pattern, text, (value) => !isPlaceholder(value) && !isProse(value))),
    ...kubernetesSecrets(text),
    ...inputs(text),
  ];
}

/** `"auth": "dXNlcjpwYXNz"` of a Docker configuration, `_auth=…` of npm. */
const ENCODED_AUTH =
  /(?<![A-Za-z0-9])(?:_auth|auth)\\{0,2}["']?[ \t]{0,3}[:=][ \t]{0,3}\\{0,2}["']?([A-Za-z0-9+/_-]{6,2000}={0,2})/dgi;
const KEY_DATA = /(?<![A-Za-z0-9])client-key-data["']?[ \t]{0,3}:[ \t]{0,3}["']?([A-Za-z0-9+/=]{16,20000})/dg;
const NETRC =
  /\b(?:machine\s{1,4}\S{1,255}|default)\s{1,8}login\s{1,4}\S{1,255}\s{1,8}password\s{1,4}([^\s"'\\]{1,255})/dg;
/** `host:port:database:user:password`. */
const PGPASS =
  /(?:^|[\s>("'`])(?:\*|localhost|[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}):(?:\*|\d{4,5}):[\w*-]{1,63}:[\w*.-]{1,63}:([^\s<>"'`\\]{1,255})(?=$|[\s<)"'`\\])/dgm;
const USER =
  'user(?:[ _-]?(?:name|id))?|login|account|e-?mail|benutzer(?:name)?|usuario|usuário|utilisateur|utente|gebruiker|логин';
const PASSWORD = 'pass(?:word|wd)?|pw|pwd|passwort|kennwort|contraseña|mot de passe|mdp|senha|wachtwoord|hasło|пароль';

/** Credentials whose name is not directly before them: in the statement, the heading, or the rest of the line. */
const OTHERS: readonly RegExp[] = [
  // IDENTIFIED BY 'x', WITH PASSWORD 'x'
  /(?<![A-Za-z])(?:identified\s{1,4}(?:with\s{1,4}\S{1,40}\s{1,4})?(?:by|as)|password)\s{1,4}(?:password\s{1,4})?N?'([^'\r\n]{1,256})'/dgi,
  // user/password: ana / x
  new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${USER})\\s?[/&+]\\s?(?:${PASSWORD})\\s{0,2}[:=]\\s{0,3}[^\\s/:|]{1,64}\\s{0,2}[/:|]\\s{0,2}([^\\s"'\\\\]{3,256})`,
    'dgiu',
  ),
  // get('[name=password]').type('x')
  /(?:pass(?:word|wd)?|pwd|secret|token)[^\n]{0,40}\)\s{0,2}\.(?:type|fill|sendKeys|send_keys|setValue|set_value|val|input|pressSequentially)\(\s{0,2}\\{0,2}["'`]([^"'`\\\r\n]{1,256})/dgi,
  // echo x | sudo -S
  /(?<![A-Za-z])(?:echo|printf)\s{1,4}\\{0,2}["']?([^"'|\s\\]{1,128})\\{0,2}["']?\s{0,4}\|\s{0,4}sudo\s{1,4}-S/dg,
  // variable "password" { default = "x" }
  /variable\s{1,4}\\{0,2}"[^"\n]{0,60}(?:password|passwd|secret|token|key)[^"\n]{0,40}"\s{0,4}\{[^{}]{0,400}default\s{0,20}=\s{0,4}\\{0,2}"([^"\\\n]{1,256})/dgi,
  // WW: x, MK: x: short for a password in Dutch and in Vietnamese, with a value at the end of a line or cell that looks like one
  /(?<![\p{L}\p{N}])(?:WW|ww|MK)(?:<\/[a-z]{1,6}>|\*\*)?(?: \([^()\n]{1,20}\))?[:：](?:<\/[a-z]{1,6}>|\*\*)?\s{0,3}(?=[^\s<>]{0,40}\d)(?=[^\s<>]{0,40}[A-Za-z])([^\s<>"'\\]{8,64})(?=\s{0,3}(?:$|[\n<,;|"'\\]))/dgu,
  // { "key": "password", "value": "x" }
  /(?:key|name|field|id)\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["'](?:[\w.-]{0,30}[_.-])?(?:password|passwd|passphrase|secret|token|api[_-]?key)\\{0,3}["']\s{0,3},\s{0,8}\\{0,3}["']value\\{0,3}["']\s{0,3}:\s{0,3}\\{0,3}["']([^"'\\\r\n]{1,256})/dgi,
  // The name of a wireless network, and its key on the next line.
  /(?<![A-Za-z])(?:ssid|wi-?fi|wlan)(?![A-Za-z])[^\n]{0,60}\n[ \t>*-]{0,8}(?:key|pass|pw|code)\s{0,2}[:=]\s{0,3}([^\s"'\\]{6,63})/dgi,
];

const SECRET_KIND = /(?<![A-Za-z])kind["']?[ \t]{0,3}:[ \t]{0,3}["']?Secret(?![A-Za-z])/g;
const DATA_ENTRY = /(?<=\n)([ \t]{1,16})["']?[\w.-]{1,128}["']?:[ \t]{1,3}["']?([^\s"'#|>{][^\s"']{3,20000})/dy;
const DATA = /(?<=\n)[ \t]{0,8}(?:stringData|data):[ \t]{0,4}\r?(?=\n)/g;
/** Longest distance from the kind of a Kubernetes secret to its data, in characters. */
const NEAR = 2000;

/** Returns all values of a Kubernetes secret, with any key. */
function kubernetesSecrets(text: string): readonly TextSpan[] {
  const kinds = text.includes('Secret') ? [...text.matchAll(SECRET_KIND)].map(({ index }) => index) : [];
  if (kinds.length === 0) {
    return [];
  }
  let next = 0;
  return [...text.matchAll(DATA)].flatMap(({ index, 0: { length } }) => {
    while (next < kinds.length - 1 && (kinds[next] ?? 0) < index - NEAR) {
      next += 1;
    }
    return Math.abs((kinds[next] ?? Number.POSITIVE_INFINITY) - index) <= NEAR ? entries(text, index + length) : [];
  });
}

function entries(text: string, from: number): readonly TextSpan[] {
  const found: TextSpan[] = [];
  for (let at = from; text[at] === '\n' || text[at] === '\r'; at = endOfLine(text, at + 1)) {
    DATA_ENTRY.lastIndex = at + 1;
    const match = DATA_ENTRY.exec(text);
    if (match === null) {
      break;
    }
    const [start, end] = match.indices?.[2] ?? [0, 0];
    if (!isPlaceholder(match[2] ?? '') && !isEnvironment(match[2] ?? '')) {
      found.push({ start, end });
    }
  }
  return found;
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end;
}

/** Elements with a name or type and a value: `<input type=password value=x>`, `<add key="Password" value="x"/>`. */
const ELEMENT = /<(?:input|meta|add|property|param|parameter|env|setting|variable|field|entry)\s([^<>]{1,600})>/dgi;
const SECRET_ATTRIBUTE =
  /(?:^|\s)(?:type|name|id|key|autocomplete|property)\s{0,2}=\s{0,2}["']?[\w.:-]{0,60}(?:password|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|one-time-code)/i;
const VALUE_ATTRIBUTE =
  /(?:^|\s)(?:value|content)\s{0,2}=\s{0,2}(?:"([^"]{1,512})"|'([^']{1,512})'|([^\s"'>]{1,512}))/d;

function inputs(text: string): readonly TextSpan[] {
  return [...text.matchAll(ELEMENT)].flatMap(({ 1: attributes = '', indices }) => {
    const match = SECRET_ATTRIBUTE.test(attributes) ? VALUE_ATTRIBUTE.exec(attributes) : null;
    const group = match === null ? 0 : match.findLastIndex((part) => part !== undefined);
    const value = (match?.[group] ?? '').replace(/\/$/, '');
    const [start = 0] = match?.indices?.[group] ?? [];
    const from = (indices?.[1]?.[0] ?? 0) + start;
    return group === 0 || value === '' || isPlaceholder(value) || isProse(value)
      ? []
      : [{ start: from, end: from + value.length }];
  });
}
