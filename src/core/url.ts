/** URLs: those of this machine, their trailing slashes, and paths inside them. */

/** Returns true if a URL points to this machine, so that requests to it do not cross a network. */
export function isLoopback(url: string | URL): boolean {
  return isLoopbackHost(new URL(url).hostname);
}

/** Returns true if a host name or address, of IPv6 with or without brackets, is this machine. */
export function isLoopbackHost(host: string): boolean {
  const name = host.replace(/\.$/, '').toLowerCase();
  return (
    ['localhost', '::1', '[::1]'].includes(name) || name.endsWith('.localhost') || /^127\.\d+\.\d+\.\d+$/.test(name)
  );
}

/** Returns a text without its trailing slashes. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') {
    end -= 1;
  }
  return text.slice(0, end);
}

/** Encodes a path for a URL, also one inside Markdown: only slashes stay. */
export function encodedPath(path: string): string {
  const encoded = (text: string) =>
    encodeURIComponent(text).replace(/[!'()*~_]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  return path.toWellFormed().split('/').map(encoded).join('/');
}
