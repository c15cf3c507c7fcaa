/** Whether an address stays on this machine, so that nobody on a network can read what is sent to it. */
export function isLoopback(url: string | URL): boolean {
  const { hostname } = new URL(url);
  const name = hostname.replace(/\.$/, '');
  return name === 'localhost' || name.endsWith('.localhost') || name === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(name);
}
