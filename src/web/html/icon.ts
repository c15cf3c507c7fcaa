/** Icons of kinds, actions and states: an inline sprite, and references to it. They repeat what a word next to them says. */
import { html, raw } from 'hono/html';
import type { Html } from '../page.ts';
import paths from './icons.json' with { type: 'json' };

export type IconName = Exclude<keyof typeof paths, ''>;

/** Icons of kinds; of a new kind, that of a book. */
const KINDS: Readonly<Record<string, IconName>> = {
  organization: 'organization',
  team: 'people',
  member: 'person',
  saml: 'shield-lock',
  collection: 'file-directory-fill',
  space: 'book',
  site: 'globe',
  'section-group': 'stack',
  section: 'list-unordered',
  'site-space': 'browser',
  openapi: 'code-square',
  translation: 'typography',
};

/** Returns the icon of a kind. */
export function kindIcon(kind: string): Html {
  return icon(KINDS[kind] ?? 'book');
}

/** Returns an icon, which {@link sprite} has to be on the same page for. */
export function icon(name: IconName): Html {
  return html`<svg class="icon" aria-hidden="true"><use href="#i-${name}"></use></svg>`;
}

/** Returns the shapes of the icons that a page refers to. Its texts are escaped, so that they cannot refer to any. */
export function sprite(page: string): Html {
  const used = new Set([...page.matchAll(/<use href="#i-([\w-]+)">/g)].map(([, name]) => name as IconName));
  if (used.size === 0) {
    return html``;
  }
  const shapes = [...used].map(
    (name) => `<symbol id="i-${name}" viewBox="0 0 16 16"><path d="${paths[name]}"/></symbol>`,
  );
  return html`<svg class="hidden" aria-hidden="true">${raw(shapes.join(''))}</svg>`;
}
