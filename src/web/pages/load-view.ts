/** View models of pages by their path, for callers other than browsers. */
import type { Backend } from '../model/backend.ts';
import type { PageDefinition, Viewer } from '../page.ts';
import { pages } from './index.ts';

/**
 * Returns the view model of the page at a path with its query, such as `/o/acme/passes?before=20`. Null if there is no
 * such page, or if the person may not see it.
 */
export async function loadView(backend: Backend, viewer: Viewer, path: string): Promise<object | null> {
  const url = URL.parse(path, 'http://octavo');
  if (url === null) {
    return null;
  }
  for (const page of pages) {
    const params = match(page, url.pathname);
    if (params !== null) {
      const { organization } = params;
      await backend.refresh();
      const isHidden = organization !== undefined && !canSee(backend, viewer, organization);
      const query = Object.fromEntries(url.searchParams);
      return isHidden ? null : page.load(backend, { params, query, viewer, now: backend.clock.now() });
    }
  }
  return null;
}

function canSee(backend: Backend, viewer: Viewer, organization: string): boolean {
  return viewer.role(organization) !== null && backend.organizations().some(({ id }) => id === organization);
}

/** Returns the parameters of a path; null if it is not of this page. `*` is the rest of the path. */
function match({ path }: PageDefinition, pathname: string): Record<string, string> | null {
  const pattern = path.split('/');
  const parts = pathname.split('/');
  const isOpen = pattern.at(-1) === '*';
  if (isOpen ? parts.length < pattern.length : parts.length !== pattern.length) {
    return null;
  }
  const params: Record<string, string> = {};
  for (const [index, segment] of pattern.entries()) {
    const part = segment === '*' ? parts.slice(index).join('/') : (parts[index] ?? '');
    const value = decode(part);
    if (value === null || (segment !== '*' && !segment.startsWith(':') && segment !== part)) {
      return null;
    }
    if (segment === '*' || segment.startsWith(':')) {
      params[segment.replace(/^:/, '')] = value;
    }
  }
  return params;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
