import type { Found } from './found.ts';

/** What stands before a password. */
const PASSWORD =
  'pass[ _-]?word|pass[ _-]?phrase|passwd|passwort|kennwort|pwd|pw(?![a-z])|mot de passe|contraseña|contrasena|senha|wachtwoord|(?<!com|by|sur|tres|over|under)pass(?=\\s{0,2}[=:])';
/** What stands before a key or a token, and before much else: what follows has to look like one. */
const TOKEN =
  'api[ _-]?key|api[ _-]?token|api[ _-]?secret|access[ _-]?key(?:[ _-]?id)?|account[ _-]?key|secret[ _-]?(?:access[ _-]?)?key|shared[ _-]?access[ _-]?(?:key|signature)|private[ _-]?key|client[ _-]?secret|signing[ _-]?(?:key|secret)|encryption[ _-]?key|license[ _-]?key|auth[ _-]?key|token|secret|signature|credentials?|sig|session[ _-]?id|x-api-key|code[ _-]?verifier';

/** Quotes and emphasis around names and values; a backslash where JSON stands in a string. */
const AROUND = '[\\\\"\'`*_]{0,4}';
/** Up to the value: `:`, `=`, `=>`, `:=`, `>` of an element, and "is" in some languages. */
const BETWEEN = [
  '\\s{0,4}(?::=|=>|==?|:|>)\\s{0,4}',
  '\\s{1,2}(?:is|was|ist|lautet|est|es)(?: (?:now|still|jetzt))?(?: (?:set|changed|reset))?(?: to)?(?:\\s{0,2}:)?\\s{1,2}',
  // "password for the demo: …"
  '\\s(?:for|to|f[uü]r|pour|de)\\s(?:[^\\s:=]{1,40}\\s){0,2}[^\\s:=]{1,40}\\s?[:=]\\s{1,4}',
  // A list of names and values, as of a container's environment.
  '["\',]{0,3}\\s{1,20}["\']?value["\']?\\s{0,3}[:=]\\s{0,4}',
  '\\s{1,2}[-–—]\\s{1,2}',
  '\\s',
].join('|');
const QUOTED =
  '\\\\{0,2}"((?:[^"\\\\\\r\\n]|\\\\(?!["\\s])[^\\r\\n]|\\\\"(?=[^,;}\\s])){1,512})|\\\\{0,2}\'([^\'\\r\\n]{1,512})|`([^`\\r\\n]{1,512})';
const BARE = '([^\\s"\'`<>]{1,512})';

/** What may stand before a name in the same word: `DB_PASSWORD`, `x-my-api-key`. */
const BEFORE = '(?:(?<=-{1,2})|(?<![A-Za-z0-9]))(?:[A-Za-z0-9]{1,24}[_.-]){0,3}[a-z0-9]{0,24}';
// The name comes first and what stands before it is looked back at: thirty times as fast as the other way round, since
// nearly every word could begin what stands before a name.
const pairs = (names: string) =>
  new RegExp(
    `(?:${names})(?<=${BEFORE}(?:${names}))s?${AROUND}(?<between>${BETWEEN})(?:[*_]{1,3}\\s{0,2})?(?:${QUOTED}|${BARE})`,
    'gidu',
  );
const PASSWORD_PAIR = pairs(PASSWORD);
const TOKEN_PAIR = pairs(TOKEN);
/** On a command line: `--password VALUE`, `-u name:password`. */
const flag = (names: string) =>
  new RegExp(`(?<![\\w-])--(?:[a-z0-9]{1,20}-){0,3}(?:${names}) {1,2}["']?([^\\s"'-][^\\s"']{2,256})`, 'gidu');
const PASSWORD_FLAG = flag(PASSWORD);
const TOKEN_FLAG = flag(TOKEN);
const CURL_USER = /(?<![\w-])(?:-u|--user)[ =]{1,2}["']?([^\s:"'/]{1,64}:[^\s"']{1,128})/dg;

/** In an address: codes that let in whoever has them. */
const LETS_IN =
  /[?&](?:code|key|auth|sid|session|state|otp|magic|invite|invitation|ticket|hash)=([A-Za-z0-9._~-]{16,512})/dg;
/** As in lists of accounts: `ana@example.com:password`. */
const AFTER_EMAIL = /@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}:([^\s"'<>,;:/]{5,128})(?=[\s"',;<)]|$)/dg;

/** Names and values: `password: …`, `"token": "…"`, `<secret>…</secret>`, `--api-key …`. */
export function findPairs(text: string): readonly Found[] {
  return [
    ...values(PASSWORD_PAIR, text, isPassword),
    ...values(TOKEN_PAIR, text, isToken),
    ...values(PASSWORD_FLAG, text, (value) => isPassword(value, false, 'sign')),
    ...values(TOKEN_FLAG, text, (value) => isToken(value, false, 'sign')),
    ...values(CURL_USER, text, () => true),
    ...values(LETS_IN, text, (value) => /\d/.test(value) && /[A-Za-z]/.test(value)),
    ...values(AFTER_EMAIL, text, (value) => /\d/.test(value) && /\p{L}/u.test(value)),
  ];
}

/** What links a name with its value: a sign, a word, or nothing but a space. */
type Link = 'sign' | 'word' | 'space';
type Judge = (value: string, isQuoted: boolean, link: Link) => boolean;

function linkOf(between: string): Link {
  if (/[:=>]/.test(between)) {
    return 'sign';
  }
  return /\S/.test(between) ? 'word' : 'space';
}

function values(pattern: RegExp, text: string, isSecret: Judge): readonly Found[] {
  const found: Found[] = [];
  pattern.lastIndex = 0;
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const group = match.findLastIndex((part) => part !== undefined);
    const [start, until] = match.indices?.[group] ?? [0, 0];
    const isBare = group === match.length - 1;
    const end = isBare ? start + bareLength(text.slice(start, until)) : until;
    const between = match.groups?.between ?? '=';
    const value = text.slice(start, end);
    const isFound = value !== '' && !isHole(value) && isSecret(value, !isBare, linkOf(between));
    if (isFound) {
      found.push({ type: 'secret', label: 'SECRET', start, end, key: value });
    }
    // What was read as a value may hold the next pair: `key=…&token=…`, "the password: token is …".
    pattern.lastIndex = isFound ? end : start;
  }
  return found;
}

/** What is no part of a value that has no quotes: the end of a sentence, of a list, of a parameter. */
function bareLength(value: string): number {
  const [head = ''] = value.split(/&(?=[\w.-]{1,40}=)|[;,](?=[\w.-]{1,40}[=:])|\\[nrt]/, 1);
  return head.replace(/(?:[.,;:)}\]]|\\){1,8}$/, '').length;
}

/** No value but the place for one, or the way to it: `${PASSWORD}`, `<password>`, `****`, `process.env.X`. */
function isHole(value: string): boolean {
  return (
    /^(?:[*•●x.…_-]{2,}|\$\{.*|\$\(.*|\{\{.*|\$[A-Z_][A-Z0-9_]*|<.*|%[A-Z_]+%|%s|\[.*|\{|\|-?|>-?)$/i.test(value) ||
    /^(?:process\.env|os\.environ|os\.getenv|getenv|env|secrets?|vars?|config|self|this|props|req|request|data|params|input)[.[(]/i.test(
      value,
    )
  );
}

/** Words that follow "password:" or "token:" in prose and in schemas. */
const PROSE = new Set(
  (
    'a an and any are as at be been being but by can cannot changed check correct could did does do done email empty enter ' +
    'expired expires failed false field for forgot forgotten from generated given had has have hidden how i id if in incorrect ' +
    'input int integer invalid is it its link list manager may mismatch missing must my need needed needs never new nil no none ' +
    'not null number of ok old on only optional or page please policy protected provided redacted refused rejected required ' +
    'requirements reset rotated same see sent set should so string text that the then this to too true type undefined unknown ' +
    'unset update updated use used user username using valid value was we what when where which why will with won wrong you your'
  ).split(' '),
);

/** Has digits and letters, and is no password for all that. */
const ALGORITHM =
  /^(?:sha-?\d+|md5|oauth2?|base\d+|bcrypt|argon2\w*|pbkdf2|utf-?8|ed25519|rs256|hs256|v\d.*|\d+(?:st|nd|rd|th|[a-z]))\W*$/i;

const isPassword: Judge = (value, isQuoted, link) => {
  if (PROSE.has(value.toLowerCase()) && !(isQuoted && value !== value.toLowerCase())) {
    return false;
  }
  if (link === 'space') {
    return (
      value.length >= 6 && /\d/.test(value) && /\p{L}/u.test(value) && !/[/:]/.test(value) && !ALGORITHM.test(value)
    );
  }
  if (isQuoted) {
    return true;
  }
  if (/^(?:https?:\/\/|(?:~|\.{1,2})?\/[\w.-]+(?:\/|$))/i.test(value)) {
    return false;
  }
  // "The password is wrong": only what no word looks like.
  return link === 'sign' || /\d|[^\p{L}\p{N}'’-]/u.test(value);
};

const isToken: Judge = (value, isQuoted, link) => {
  const hasLetter = /\p{L}/u.test(value);
  const hasDigit = /\d/.test(value);
  if (value.length < 8 || !hasLetter || /^https?:\/\//i.test(value) || ALGORITHM.test(value)) {
    return false;
  }
  if (link === 'space' && !(value.length >= 16 && /^[\w+/=~.-]+$/.test(value))) {
    return false;
  }
  if (hasDigit) {
    return isQuoted || link === 'sign' || value.length >= 12;
  }
  // No digit: neither a word, nor words with hyphens between them.
  const mixed = /[a-z]/.test(value) && /[A-Z]/.test(value) && !/^(?:[A-Z]?[a-z]+){1,4}$/.test(value);
  return value.length >= 16 && (mixed || entropy(value) > 3.9);
};

/** Bits of a character, as often as each occurs (Shannon). */
function entropy(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) {
    counts.set(character, (counts.get(character) ?? 0) + 1);
  }
  let bits = 0;
  for (const count of counts.values()) {
    bits -= (count / value.length) * Math.log2(count / value.length);
  }
  return bits;
}
