/** Paths that redirects lead away from: their normal form, and what they match. */

/** Longest source, in characters. Source: docs/platform-notes.md#redirects */
export const MAX_SOURCE = 512;

/** The vendor's pattern of a source, without its length. Source: docs/platform-notes.md#redirects */
const SOURCE = /^(?:\/(?:[\w\-.~+]|%[0-9A-Fa-f]{2})+)+(?:\/\*|\*)?$/;

/** Returns why a text cannot be the source of a redirect; null if it can. */
export function sourceProblem(written: string): string | null {
  if (written.length > MAX_SOURCE) {
    return `is ${written.length} characters long, must be at most ${MAX_SOURCE}`;
  }
  const normal = normalSource(written);
  if (normal === null) {
    return `${JSON.stringify(written)} is not a path on the site, such as /old/page or /old/*`;
  }
  return normal === written ? null : `${JSON.stringify(written)} has another normal form; write ${normal}`;
}

/** Returns the form in which the platform compares a path; null for what is not a path on the site. */
export function normalSource(written: string): string | null {
  const path = /^\/(?!\/)/.test(written) ? written.replace(/[?#].*$/s, '') : null;
  if (path === null || hasControls(path)) {
    return null;
  }
  const [, plain = '', wildcard = ''] = /^(.*?)(\*?)$/s.exec(path) ?? [];
  const segments = plain.split('/').map(normalSegment);
  if (segments.some((segment) => segment === null || segment === '.' || segment === '..')) {
    return null;
  }
  const joined = segments.join('/').replace(/\/{2,}/g, '/');
  const normal = `${wildcard === '' ? joined.replace(/\/$/, '') : joined}${wildcard}`;
  return SOURCE.test(normal) && normal.length <= MAX_SOURCE ? normal : null;
}

function hasControls(text: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}]/u.test(text);
}

/** Encodes every character that has to be, and no other. */
function normalSegment(segment: string): string | null {
  try {
    const decoded = decodeURIComponent(segment);
    return hasControls(decoded) || /[/\\]/.test(decoded) || decoded.includes('*')
      ? null
      : encodeURIComponent(decoded)
          .replaceAll('%2B', '+')
          .replaceAll(/[!'()*]/g, encoded);
  } catch {
    return null;
  }
}

function encoded(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Reports whether the source of a redirect matches a path. */
export function matches(source: string, path: string): boolean {
  return source.endsWith('*') ? path.startsWith(source.slice(0, -1)) : path === source;
}
