/** Frame of the pages, with names of people from a provider or a proxy. */
import { html } from 'hono/html';
import { expect, test } from 'vitest';
import { configurationViews } from '../../src/web/model/configuration.ts';
import { loadAssets } from '../../src/web/server/assets.ts';
import { layout } from '../../src/web/server/layout.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { NOW, skeleton } from './some-backend.ts';

const assets = await loadAssets();

const PROBLEM = { since: NOW, usedSince: NOW, isPartial: false };

/** Renders a page for a person, about an organization of the same name whose configuration is invalid. */
function render(name: string): Promise<string> {
  return layout({
    ...{ title: name, main: html`<p>Content</p>`, path: '/', organization: name, assets, notice: name },
    viewer: { actor: { name, method: 'oidc' }, role: () => 'viewer' },
    live: { etag: 'W/"a"', topics: [name] },
    ...{
      configuration: configurationViews([{ ...PROBLEM, replica: name, reason: name }], () => ({ seesAll: true })),
      now: NOW,
    },
  });
}

test('names are text in the frame of a page, and the name of a person cannot change its direction', async () => {
  const expected = skeleton(await render('ana'));
  for (const text of [...HOSTILE_TEXTS, '"><script>alert(1)</script>', "' autofocus onfocus='x", 'x'.repeat(5000)]) {
    const shown = await render(text);
    expect(skeleton(shown), JSON.stringify(text)).toEqual(expected);
    const [, person = ''] = /<div class="person"><span>(.*?)<\/span>/s.exec(shown) ?? [];
    expect(person).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\ufeff]/u);
    expect(person.length).toBeLessThan(1500);
  }
});
