/** Returns true if a URL points to this machine, so that requests to it do not cross a network. */
export function isLoopback(url: string | URL): boolean {
  const { hostname } = new URL(url);
  const name = hostname.replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}
