import { SourceError } from '../core/errors.ts';
import { redact } from './run.ts';

/** Transports that are not commands. */
const SCHEMES = ['https:', 'http:', 'ssh:', 'git:', 'file:'];

/** A repository's address, taken apart so that nothing secret has to be passed on a command line. */
export interface RemoteAddress {
  /** Without a password, and without a user where git gets it another way. */
  readonly url: string;
  /** For messages. */
  readonly label: string;
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/**
 * Reads a repository's URL: https, http, ssh, git or file, `user@host:path`, or a folder. Throws SourceError for
 * anything else, above all for what git would take as an option or a command.
 */
export function readRemote(url: string): RemoteAddress {
  const label = redact(url);
  const refuse = () =>
    new SourceError(`${JSON.stringify(label)} is not a repository URL; use a URL such as https://git.example/docs.git`);
  if (url === '' || url.startsWith('-') || hasControl(url) || /^[a-z0-9+.-]+::/i.test(url)) {
    throw refuse();
  }
  if (!url.includes('://')) {
    const isFolder = url.startsWith('/') || url.startsWith('.');
    if (!isFolder && !/^([A-Za-z0-9._~+-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:[^-]/.test(url)) {
      throw refuse();
    }
    return { url, label, credentials: null };
  }
  const parsed = URL.parse(url);
  if (parsed === null || !SCHEMES.includes(parsed.protocol) || parsed.hostname.startsWith('-')) {
    throw refuse();
  }
  if (!parsed.protocol.startsWith('http') || (parsed.username === '' && parsed.password === '')) {
    return { url, label, credentials: null };
  }
  const credentials = { username: decodeURIComponent(parsed.username), password: decodeURIComponent(parsed.password) };
  parsed.username = '';
  parsed.password = '';
  return { url: parsed.href, label, credentials };
}

/** Whether a text is a commit's full id. */
export function isCommitId(ref: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

/**
 * Throws SourceError for what can be no name of a branch, a tag or a commit: git's own rules, and nothing that git
 * would take as an option. `~` and `^` are refused too, since a ref is a name here and no expression.
 */
export function checkRefName(ref: string): void {
  const bad =
    ref === '' ||
    ref.startsWith('-') ||
    ref.startsWith('/') ||
    hasControl(ref) ||
    /[\s~^:?*[\\]|\.\.|@\{|\/\/|\/$|\.lock$/.test(ref);
  if (bad) {
    throw new SourceError(`${JSON.stringify(ref)} is not a valid branch, tag or commit name`);
  }
}

function hasControl(text: string): boolean {
  return [...text].some((character) => character < ' ' || character === '\u007f');
}
