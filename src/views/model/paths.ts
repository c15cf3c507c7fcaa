/** Paths of the pages, relative to the host. Every variable part is encoded. */

/** Path of an organization, or of a page below it. */
export function organizationPath(organization: string, below = ''): string {
  return `/o/${encodeURIComponent(well(organization))}${below}`;
}

/** Path of a resource. Slashes of the address stay slashes. */
export function resourcePath(organization: string, address: string): string {
  const segments = address.split('/').map((segment) => encodeURIComponent(well(segment)));
  return organizationPath(organization, `/r/${segments.join('/')}`);
}

export function planPath(organization: string, checksum: string): string {
  return organizationPath(organization, `/plans/${encodeURIComponent(well(checksum))}`);
}

export function passPath(organization: string, number: number): string {
  return organizationPath(organization, `/passes/${number}`);
}

/** Returns a path with a query; members that are null or empty are left out. */
export function withQuery(path: string, query: Readonly<Record<string, string | number | null>>): string {
  const present = Object.entries(query).filter(([, value]) => value !== null && value !== '');
  const text = present.map(([name, value]) => `${name}=${encodeURIComponent(well(String(value)))}`).join('&');
  return text === '' ? path : `${path}?${text}`;
}

/** Replaces halves of surrogate pairs, which cannot be encoded. */
function well(text: string): string {
  return text.toWellFormed();
}
