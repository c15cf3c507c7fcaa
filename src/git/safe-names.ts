// Validates repository URLs and ref names before git sees them.
import { SourceError } from '../core/errors.ts';
import { redact } from './run.ts';

/** Transports that are not commands. */
const SCHEMES = ['https:', 'http:', 'ssh:', 'git:', 'file:'];

/** Address of a repository, parsed so that no secret has to be passed on a command line. */
export interface RemoteAddress {
  /** URL without a password, and without a user name if that is passed separately. */
  readonly url: string;
  /** Form for messages, without secrets. */
  readonly label: string;
  readonly credentials: { readonly username: string; readonly password: string } | null;
}

/**
 * Parses a repository URL: https, http, ssh, git or file, `user@host:path`, or a directory. Throws SourceError for
 * anything else, especially for text that git would take as an option or a command.
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

/** Returns true if a text is the full id of a commit. */
export function isCommitId(ref: string): boolean {
  return /^([0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
}

/**
 * Throws SourceError if a text is not a valid name of a branch, a tag or a commit by git's rules, or could be taken as
 * an option. `~` and `^` are refused too, because a ref must be a name, not an expression.
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
