/** Recognizes values after a credential name that are not secrets: placeholders, code, schema words and prose. */
import formWords from '../data/form-words.json' with { type: 'json' };

/** Reports whether a value is a placeholder for a credential, as in documentation. */
export function isPlaceholder(value: string): boolean {
  return (
    TEMPLATE.test(value) ||
    INTERPOLATED.test(value) ||
    isMasked(value) ||
    isSampleName(value) ||
    /EXAMPLE(?:KEY)?$/.test(value)
  );
}

/** Template expression with only words around it: `prefix-${TOKEN}`, `NAME: ${{ secrets.NAME }}`. */
const INTERPOLATED = /^[A-Za-z_: -]{0,64}\$\{[^}]{1,80}\}\}?[A-Za-z_-]{0,32}$/;

/**
 * `<token>`, `${TOKEN}`, `$TOKEN`, `$env:TOKEN`, `$(command)`, `{{ token }}`, `{token}`, `#{token}`, `%TOKEN%`, `%s`,
 * `%(token)s`, `:token`, `@token`, `[token]`, a YAML tag or block sign, an entity reference.
 */
const TEMPLATE =
  /^(?:<.*|>[-+]?|\[(?:[^\]\d]{0,60}|[A-Z][A-Z0-9_]*)\].*|\[[A-Za-z_-]*|\{[A-Za-z_.$ -]*(?:\}.*)?|\{\{.*|\{\d\}|\$[({].*|\$(?:env:)?[A-Z_][A-Z0-9_]*|\$_?[A-Za-z_]{1,40}(?:\[|->).*|\$[A-Za-z_][\w:]{0,60}-|\$[a-z_]+|\$[A-Za-z_]*(?:[Pp]ass|[Tt]oken|[Ss]ecret|[Kk]ey|[Pp]wd)\w*|\$\d|[#@%]\{.*|%\(.*|%[A-Z_]+%|%[sdvq]|__[A-Z_]+__|[:@][A-Za-z_]{1,40}|\|[-+]?|\?|!(?:Ref|Sub|GetAtt|vault|secret|env|ENV|reference|ImportValue|FindInMap|var)\b.*|&[a-z]+;.*|\\[nrt].*)$/s;

/** Reports whether a value is masked: `xxxxx`, `****`, `••••`, `...`, `ghp_xxxxxxxx`, `abcd…wxyz`, `sk-****1234`. */
function isMasked(value: string): boolean {
  if (/^[*•●xX.…_#?-]{2,}$/.test(value) || /^(\D)\1{3,}$/.test(value)) {
    return true;
  }
  const rest = value.replace(/[*•●]{3,}|[xX]{4,}|\.{3}|…/, '');
  return rest.length < value.length && rest.replaceAll(/[*•●xX.…-]/g, '').length <= 8;
}

const SAMPLE_WORD =
  '(?:your|my|our|the|some|any|insert|enter|replace|add|put|paste|example|sample|dummy|fake|placeholder|todo|fixme|change|changeme|changeit|redacted|removed|hidden|masked|here|goes|with|me|it|this|new|old|own|real|actual|personal|user|client|access|auth|api|app|db|database|root|admin|mysql|postgres|super|strong|secure|pass|passwd|password|pw|pwd|passphrase|token|secret|key|apikey|credential|credentials|value|string|id|bearer|jwt|oauth|github|gitlab|slack|service|account|private|public|of|from|and|to|in|signing|webhook|refresh|session|test|demo)';
/** A phrase that describes a credential: `my awesome password`. */
const SAMPLE_PHRASE =
  /^(?:my|your|our|the|a|an|some)(?:[-_ ][a-z]{2,12}){0,3}[-_ ](?:password|passphrase|token|secret|key|credentials?)$/i;
const SAMPLE_NAME = new RegExp(`^${SAMPLE_WORD}(?:[-_. ]?${SAMPLE_WORD}){0,8}$`, 'i');
const SAMPLE_HINT =
  /your|my[-_ ]|insert|enter|replace|example|sample|dummy|fake|placeholder|change|redacted|removed|hidden|masked|pass|token|secret|key|credential|pwd/i;

/** Reports whether a value is a sample (`YOUR_API_KEY`, `my-secret-token`) or a constant such as `API_TOKEN`. */
function isSampleName(value: string): boolean {
  return (
    value.length <= 64 &&
    ((SAMPLE_NAME.test(value) && SAMPLE_HINT.test(value)) ||
      SAMPLE_PHRASE.test(value) ||
      /^[A-Z]{2,24}(?:_[A-Z]{1,24}){1,6}$/.test(value) ||
      /^(?:your|insert|enter|replace|example|sample|dummy)[-_ ][A-Za-z_ -]+$/i.test(value))
  );
}

const OBJECT =
  '(?:process|os|env|environ|getenv|config|configuration|settings|secrets?|vars?|self|this|props|state|store|req|request|res|response|result|data|body|form|formdata|params?|query|input|inputs|args?|argv|options?|opts|ctx|context|event|target|value|user|account|auth|session|credentials?|creds|payload|headers?|cookies?|local|module|document|window|element|field|row|item|obj|object|model|entity|client|server|app|steps|github|needs|matrix|vault|sys|system|std|z|yup|joi|t|fs|crypto|buffer|string|json|jwt)';
const CHAIN = new RegExp(
  `^(?:await\\s|new\\s)?[([{]?${OBJECT}(?:(?:(?:\\?\\.|\\.|::|->)[A-Za-z_$]{1,40}\\d?){1,8}(?:[;,)\\]!?}]{0,8}$|[[(])|[[(])`,
  'i',
);
const CALL =
  /^(?:await |new )?[([]?(?:[A-Za-z_$][\w$]{0,40}(?:\.|::)[\w$.:]{0,80}\(|[A-Za-z_$](?:[A-Za-z_$.:]*\w?(?:<[^<>]*>)?\(|[\w$.:]*\([\w$.,\s]*\);?$)|[A-Z][A-Za-z]{1,60}::$)/;
const MEMBERS = /^[([]?[A-Za-z_$][A-Za-z_$]*(?:\??\.[A-Za-z_$][A-Za-z_$]*){1,6}[:;,)\]]*$/;
/** An item or a part of a list, whose last bracket may be missing: `parts[1]`, `line[:-1`, `Optional[bytes`. */
const ITEM =
  /^[([{]?[A-Za-z_$][A-Za-z_$.]*\[(?:-?\d{1,3}|(?:-?\d{1,3})?:(?:-?\d{1,3})?|["']?[A-Za-z_$][A-Za-z_$.]*["']?)\]{0,2}[;,)\]]*$/;
/** A call of a result: `encode(value).decode(`. */
const CALLS = /^[A-Za-z_$][\w$.]{0,80}\([\w$.,]{0,80}\)(?:\.[A-Za-z_$][\w$]{0,40}\(?){1,4}[;,)\]"']*$/;
const IDENTIFIER =
  /^[A-Za-z_$]*(?:pass(?:word|wd|phrase)?|pwd|token|secret|api_?key|key|credentials?|creds|auth|header|signature)[A-Za-z_$]{0,24}[;,)\]!?]*$/i;

/** Reports whether an unquoted value is code: member access, a call, a variable named after the credential. */
export function isExpression(value: string): boolean {
  return (
    CHAIN.test(value) ||
    CALL.test(value) ||
    CALLS.test(value) ||
    ITEM.test(value) ||
    (MEMBERS.test(value) && (/[a-z][A-Z]|_/.test(value) || SAMPLE_HINT.test(value))) ||
    (IDENTIFIER.test(value) && /[a-z][A-Z]|_/.test(value))
  );
}

/** Reports whether a value reads an environment variable, also in quotes: `process.env.TOKEN`. */
export function isEnvironment(value: string): boolean {
  return /^(?:process\.env|import\.meta\.env|os\.environ|ENV|env)[.[]["']?[A-Za-z_]{2,64}["'\]]{0,2}$/.test(value);
}

/** Reports whether the whole value is an algorithm, an encoding, a version, a duration or a size. */
export function isAlgorithm(value: string): boolean {
  return ALGORITHM.test(value) || VERSION.test(value) || isSuite(value);
}

/** Version: `~1.5.7`, `v7.17.9+build.8917`, `>=2.0.0-rc.1`. */
const VERSION = /^[~^<>=]{0,2}v?\d{1,4}(?:\.\d{1,5}){1,3}(?:[-+](?:[a-z]{1,8}[.-]?)?\d{0,6}(?:\.\d{1,6})?)?$/;

/** Longest name of a cipher suite, in characters. */
const MAX_SUITE_LENGTH = 48;

/** Reports whether every part belongs to a cipher suite: `RSA-OAEP-256`, `TLS_AES_128_GCM_SHA256`. */
function isSuite(value: string): boolean {
  if (value.length > MAX_SUITE_LENGTH) {
    return false;
  }
  const parts = value.toLowerCase().split(/[-_/+]/);
  return (
    parts.length > 1 && parts.every((part) => SUITE_PART.test(part)) && parts.some((part) => /[a-z]{2}/.test(part))
  );
}

const SUITE_PART =
  /^(?:tls|ssl|rsa|dsa|ecdsa|eddsa|ecdhe?|dhe?|psk|oaep|pss|pkcs\d?|hmac|sha\d{0,3}|md5|aes\d{0,3}|gcm|cbc|ctr|ccm|kw|siv|chacha20|poly1305|camellia\d{0,3}|ed25519|ed448|x25519|p\d{3}|k\d{3}|argon2id?|pbkdf2|hkdf|with|and|null|anon|\d{1,4})$/;

const ALGORITHM =
  /^(?:(?:hmac-?)?sha-?\d{1,3}(?:[-/_]\d{3})?(?:withrsa|withecdsa)?|md[245]|oauth-?[12](?:\.0a?)?|oidc|saml2?|base(?:16|32|36|58|62|64|85)(?:url)?|bcrypt|scrypt|argon2(?:id?|d)?|pbkdf2(?:_\w{1,12})?|utf-?(?:8|16|32)|ascii|hex|ed25519|ed448|x25519|curve25519|secp\d{3}[kr]1|p-?(?:256|384|521)|[rehp]s(?:256|384|512)|eddsa|ecdsa|e?cdh|rsa(?:-?\d{4})?(?:-sha\d{1,3})?|dsa|aes(?:-?\d{3})?(?:-?(?:gcm|cbc|ctr|ecb))?|a\d{3}gcm(?:kw)?|chacha20(?:-poly1305)?|hs256|jwt|jws|jwe|totp|hotp|webauthn|fido2|u2f|2fa|mfa|tls-?v?1\.[0-3]|aws4-hmac-sha256|v\d{1,4}|v?\d{1,4}(?:\.\d{1,4}){1,3}|\d{1,6}(?:st|nd|rd|th|ms|s|m|h|d|w|y|px|kb|mb|gb|kib|mib|bit|bits|%))(?:-?(?:encoded|hash|hashed|encrypted|signed|based|bits?))?\W{0,3}$/i;

/** Words that follow "password:" or "token:" in prose, in schemas and in forms. */
const PROSE = new Set(
  (
    'a about above after again all also always an and any are as at automatically be because been before being below both but by ' +
    'can cannot case-sensitive changed check char character characters contains correct could count did do does done during e.g each ' +
    'either email empty enabled disabled enter expected expire expired expires expiry failed false field first follow following for ' +
    'forgot forgotten from generate generated given had has hash hashed have hidden how however i id if in include includes ' +
    'incorrect input int integer invalid is it its keep last leave length let like link list long longer make manager mandatory may ' +
    'maximum max min minimum mismatch missing must my need needed needs never new next nil no none normal not null number object of off ok ' +
    'old on once one only optional or our page param parameter per plain plaintext please policy protected provided random read redacted ' +
    'refused rejected removed request required requirements reset restored rotated same see select send sent set shared short should ' +
    'show shows so something stored str string strings strong such supported text than that the their them then there these they this ' +
    'those to too true try two type undefined unique unknown unless unset unsupported until update updated upper uppercase use used user ' +
    'username users uses using valid validated value varchar via visible was we weak what when where whether which while who why will with ' +
    'within without won wrong yes yet you your ' +
    'allow allows enable enables disable disables return returns specify specifies ' +
    'any array bool boolean byte bytes bytea date default double enum float json jsonb map nvarchar option secretstr securestring ' +
    'std::string struct uuid void writeonly readonly sensitive encrypted env environment vault file header headers body query path ' +
    'include omit same-origin bearer basic digest admin/admin cookie cookies session tbd ' +
    'zurücksetzen ist wird забыли забыл сброс zapomniałem'
  )
    .split(' ')
    .concat(formWords),
);

/** Reports whether a value is a word of prose or of a schema, with any punctuation around it. */
export function isProse(value: string): boolean {
  const characters = [...value.toLowerCase()];
  const isWordCharacter = (character: string) => /[\p{L}\p{N}]/u.test(character);
  const word = characters
    .slice(Math.max(0, characters.findIndex(isWordCharacter)), characters.findLastIndex(isWordCharacter) + 1)
    .join('');
  return (
    PROSE.has(word) ||
    PROSE.has(value.toLowerCase()) ||
    /^(?:required|nullable|optional|confirmed|sometimes)\|/.test(value)
  );
}

/** Reports whether several words read like a message: "The password must be at least 8 characters". */
export function isSentence(value: string): boolean {
  const words = value.split(/\s+/);
  return words.length >= 3 && words.filter((word) => isProse(word)).length >= 2;
}
