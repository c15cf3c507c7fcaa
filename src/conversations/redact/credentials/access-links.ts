/** Finds links that grant access to anyone who has them: attachments, signed URLs, file shares, invitations and password resets. */

import type { Finder, PrivateValue } from '../model/found.ts';
import { ACCESS_HOSTS } from './access-hosts.ts';

/** Longest link that is read, in characters. */
const MAX_LENGTH = 4096;
/**
 * A host, an optional port, and the rest up to the next link; user info is found separately. A decoded space belongs to
 * a file name before a query.
 */
const LINK =
  /(?:[^\s/?#"'<>`\\@]{0,200}@)?([a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)(?::\d{1,5})?([/?#](?:[^\s"'<>`\\|^{}:]|:(?!\/\/)| (?=(?:[^\s?"'<>]{1,60} ){0,6}[^\s?"'<>]{1,60}\.[a-z]{2,5}\?[a-z_-]{1,20}=)){0,4096})/iy;
/** A path as written in logs and API documentation. */
const REQUEST = /(?<![A-Za-z])(?:GET|POST|PUT|PATCH|DELETE|HEAD) (\/[^\s"'<>`\\|^{}]{1,2000})/g;
/** A link without a scheme, only for file shares whose links are often pasted this way. */
const BARE =
  /(?:zendesk\.com|intercomcdn\.com|freshdesk\.com|slack\.com|slack-files\.com|githubusercontent\.com|github\.com|google\.com|dropbox\.com|1drv\.ms|sharepoint\.com|wetransfer\.com|we\.tl|loom\.com|box\.com|amazonaws\.com|windows\.net|icloud\.com|zoom\.us)\//gi;
/** Subdomains before such a host. */
const SUBDOMAINS = /(?<![\w@/.:-])(?:[a-z0-9-]{1,63}\.){0,3}$/i;

/** The signature or token of a signed URL on any host. */
const SIGNED =
  /[?&#;](?:x-amz-signature|x-amz-credential|x-amz-security-token|awsaccesskeyid|x-goog-signature|x-goog-credential|googleaccessid|ossaccesskeyid|x-oss-signature|x-oss-credential|q-signature|x-cos-security-token|x-obs-signature|x-bce-signature|key-pair-id|sig(?=[^#]{0,2000}[?&](?:se|sv|sp|sr)=)|(?:se|sv|sp|sr)=[^#]{0,2000}[?&]sig|hdnt[ls]|__token__|__gda__|_signature|signature|sign|hmac|verify|policy(?=[^#]{0,2000}[?&]signature=))=/i;
/** Query parameters whose value grants access to anyone who has it. */
const PARAMETER =
  /[?&#;]((?:[a-z0-9]{1,20}[-_.]){0,3}(?:token|tok|jwt|authkey|auth|authuser_token|access|accesskey|key|k|code|secret|sig|hash|sid|session|sessionid|ticket|otp|nonce|magic|invite|invitation|invitecode|inv|verification|verify|confirm|confirmation|confirmationtoken|activation|reset|resetkey|resettoken|resetpasswordtoken|passwordresettoken|pwd|passcode|password|share|shareid|sharekey|resourcekey|rlkey|usp_token|expires_token|t|s|h|st|e_token|ct|oobcode|state|id_token|samlresponse|login|loginkey|loginhint|uid_token|optout|unsubscribe|subscription|user_id_hash|download_token|link))=([^&#;\s]{6,2048})/gi;
/** Path segments that precede a key. */
const IN_PATH =
  /\/(?:attachments?\/(?:token|download|view|blob)|attachments?|uploads|files?\/(?:download|shared?|public|private|token)|download(?:s|-file)?|object\/sign|reset[-_]?password|password[-_]?reset|passwords?(?:\/(?:reset|edit|new|change|confirm))?|forgot[-_]?password|recover(?:y|-account)?|reset|set[-_]password|magic[-_]?(?:link|login)?|invit(?:e|es|ation|ations)|accept[-_]?invit(?:e|ation)|join|verif(?:y|ication)(?:[-_]email)?|email[-_]?verif(?:y|ication)|confirm(?:ation)?(?:[-_]email)?|activat(?:e|ion)|unsubscribe|opt-?out|one[-_]time(?:[-_]\w{1,20})?|login\/(?:token|link|magic|email)|sign-?in\/(?:token|link|magic|email)|auth\/(?:token|magic|verify|callback|email|link)|share|shared|sharing|share-?link|secret|token|guest|webhooks?|hooks?)\/([A-Za-z0-9_~.=%+-]{10,512})/gi;
/** Paths of uploads whose name is always their key: GitLab, Redmine, Nextcloud shares. */
const UPLOAD =
  /\/(?:uploads\/[0-9a-f]{32}|index\.php\/s\/[A-Za-z0-9]{10,20}|-\/(?:uploads|project\/\d+\/uploads)\/[0-9a-f]{32})/i;
const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;

/** Finds links that contain a key. They are redacted from the start of the key, so that the host stays visible. */
export const findAccessLinks: Finder = (text) => {
  const found: PrivateValue[] = [];
  const take = (from: number) => {
    LINK.lastIndex = from;
    const match = LINK.exec(text);
    if (match === null) {
      return;
    }
    const [whole, host = '', tail = ''] = match;
    const end = from + bare(whole).length;
    const start = from + whole.length - tail.length;
    for (const [first, last] of keysOf(host.toLowerCase(), text.slice(start, end))) {
      found.push(secret(text, start + first, start + last));
    }
  };
  for (let at = text.indexOf('://'); at >= 0; at = text.indexOf('://', at + 3)) {
    take(at + 3);
  }
  for (const { index } of text.matchAll(BARE)) {
    const before = SUBDOMAINS.exec(text.slice(Math.max(0, index - 200), index));
    if (before !== null) {
      take(index - before[0].length);
    }
  }
  for (const { index, 0: request, 1: path = '' } of text.matchAll(REQUEST)) {
    const start = index + request.length - path.length;
    for (const [first, last] of queryKeys(path)) {
      found.push(secret(text, start + first, start + last));
    }
  }
  return found;
};

function secret(text: string, start: number, end: number): PrivateValue {
  return { type: 'secret', label: 'SECRET', start, end, key: text.slice(start, end) };
}

/** Returns a link without the punctuation of the sentence around it. */
function bare(link: string): string {
  const closed = link.includes('(') ? link : link.replace(/\).*$/, '');
  const single = closed.split(/\]\(|\*\*|\]\[/, 1)[0] as string;
  return single.slice(0, MAX_LENGTH).replace(/[.,;:!?)\]*_~]{1,8}$/, '');
}

/** Returns the positions of the keys of a link, in the text after its host. */
function keysOf(host: string, tail: string): readonly (readonly [number, number])[] {
  if (isPlaceholder(tail)) {
    return [];
  }
  const start = hostKey(host, tail);
  if (start !== null) {
    return [[start, tail.length]];
  }
  if (SIGNED.test(tail) && hasValue(tail)) {
    return [[1, tail.length]];
  }
  const upload = UPLOAD.exec(tail);
  if (upload !== null) {
    return [[upload.index + 1, tail.length]];
  }
  return [...pathKeys(tail), ...queryKeys(tail)];
}

function hostKey(host: string, tail: string): number | null {
  for (let name = host; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) {
    // Some vendors number their hosts: `acme.intercom-attachments-7.com`.
    for (const path of PATHS.get(name.replace(/-\d{1,3}\./, '.')) ?? []) {
      const match = path.exec(tail);
      if (match !== null && isKey(tail.slice(match[0].length))) {
        return match[0].length;
      }
    }
  }
  return null;
}

const PATHS = new Map<string, RegExp[]>();
for (const [hosts, path] of Object.entries(ACCESS_HOSTS)) {
  for (const host of hosts.split(' ')) {
    PATHS.set(host, [...(PATHS.get(host) ?? []), path]);
  }
}

/** Reports whether the rest of a link is a key: on these hosts, everything is except a placeholder. */
function isKey(rest: string): boolean {
  return (
    rest.length >= 4 &&
    !/^(?:index\.html?|help|about|pricing|login|signup|docs?|terms|privacy|legal|blog|support|download|features|your[-_]|example|xxx)/i.test(
      rest,
    )
  );
}

function isPlaceholder(tail: string): boolean {
  return /[?&/=](?:\[|%5B[A-Z]|\$|:[a-z]{2})/.test(tail) && !/\d{3}/.test(tail);
}

/** Reports whether a parameter of a signed URL has a value that is not a placeholder. */
function hasValue(tail: string): boolean {
  return /=[A-Za-z0-9%_~+/.-]*\d[A-Za-z0-9%_~+/.-]{5,}/.test(tail) || /=[A-Za-z0-9%_~+/-]{16,}/.test(tail);
}

function pathKeys(tail: string): readonly (readonly [number, number])[] {
  const path = tail.split(/[?#]/, 1)[0] as string;
  const found: [number, number][] = [];
  for (const match of path.matchAll(IN_PATH)) {
    const [whole, value = ''] = match;
    const at = match.index + whole.length - value.length;
    const segment = value.split('/', 1)[0] as string;
    if (isRandom(segment)) {
      found.push([at, path.length]);
      break;
    }
  }
  return found;
}

function queryKeys(tail: string): readonly (readonly [number, number])[] {
  const from = tail.search(/[?#]/);
  if (from < 0) {
    return [];
  }
  return [...tail.slice(from).matchAll(PARAMETER)].flatMap((match): readonly [number, number][] => {
    const [whole, name = '', value = ''] = match;
    const at = from + match.index + whole.length - value.length;
    const isShort = name.length <= 2;
    return (isShort ? isRandom(value) && value.length >= 16 : isRandom(value)) ? [[at, at + value.length]] : [];
  });
}

/** Reports whether a value is random: an id, a hash, base64, a JSON Web Token, but not hyphenated words and dates. */
function isRandom(value: string): boolean {
  if (UUID.test(value)) {
    return true;
  }
  const plain = value.replaceAll(/%[0-9a-f]{2}/gi, '');
  if (
    /^(?:[a-z]+[-_.])*[a-z]+(?:[-_.]?\d{1,4})?(?:\.[a-z]{2,5})?$/i.test(plain) &&
    !/[a-z][A-Z].*[a-z][A-Z].*[a-z][A-Z]/.test(plain)
  ) {
    return false;
  }
  const digits = plain.match(/\d/g)?.length ?? 0;
  const letters = plain.match(/[A-Za-z]/g)?.length ?? 0;
  const words = plain.split(/[-_.]/).filter((part) => /^[a-z]{3,}$/i.test(part)).length;
  return plain.length >= 10 && letters >= 3 && (digits >= 2 || plain.length >= 20) && words < 3;
}
