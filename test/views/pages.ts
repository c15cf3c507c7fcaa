/** Pages as tests ask for them. */
import { html } from 'hono/html';
import type { Backend } from '../../src/web/model/backend.ts';
import type { PageDefinition, PageRequest } from '../../src/web/page.ts';

/** Returns the view model of a page. Fails if there is none. */
export async function viewOf<View>(page: PageDefinition, backend: Backend, request: PageRequest): Promise<View> {
  const view = await page.load(backend, request);
  if (view === null) {
    throw new Error(`${page.path} has nothing to show`);
  }
  return view as View;
}

/** Returns the title and the content of a page. */
export async function render(page: PageDefinition, backend: Backend, request: PageRequest): Promise<string> {
  const view = await viewOf<object>(page, backend, request);
  return String(await html`<title>${page.title(view)}</title>${await page.render?.(view, request)}`);
}

/** Returns the tags and the names of their attributes: what a text must not change. */
export function skeleton(text: string): readonly string[] {
  return [...text.matchAll(/<\/?[a-z][^>]*>/g)].map(([tag]) => tag.replaceAll(/="[^"]*"/g, '='));
}

/** Returns the items of all pages of a list, from the first one on. */
export async function allPages<View extends { readonly next: string | null }, Item>(
  load: (after: string) => Promise<View>,
  itemsOf: (view: View) => readonly Item[],
): Promise<Item[]> {
  const items: Item[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const view: View = await load(after);
    items.push(...itemsOf(view));
    after = view.next;
  }
  return items;
}
