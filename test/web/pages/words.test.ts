/** Words of the pages: people read no terms of settings, metrics and code. */
import { expect, test } from 'vitest';
import { pages } from '../../../src/web/pages/index.ts';
import { loadAssets } from '../../../src/web/server/layout.ts';
import { renderPage } from '../../../src/web/server/respond.ts';
import { request } from '../fake-daemon.ts';
import { addressWith, hostileDaemon } from '../hostile-daemon.ts';

const TERMS = /\b(?:pass(?:es)?|budgets?|conditions?|clusters?|outbox|dead[- ]letters?|silences?)\b/i;

test('no page uses a term of the settings', async () => {
  const { backend, handlers, checksum } = await hostileDaemon(['plain']);
  const assets = await loadAssets();
  const params = { '*': addressWith('plain'), number: '2', checksum, key: 'plain', cluster: 'plain' };
  for (const page of pages.filter(({ render }) => render !== null)) {
    const asked = request(params, { actor: { name: 'ana', method: 'oidc' }, handlers });
    const { body } = await renderPage(page, { backend, assets }, asked, { path: '/', isJson: false, done: '' });
    const labels = [...body.matchAll(/ (?:aria-label|title|placeholder|data-label)="([^"]*)"/g)].map(
      ([, text]) => text,
    );
    const text = body
      .replace(/<head>[\s\S]*?<title>/, '')
      .replaceAll(/<[^>]*>/g, ' ')
      .replaceAll(/\s+/g, ' ');
    const found = [text, ...labels].flatMap((each = '') =>
      [...each.matchAll(new RegExp(`.{0,30}${TERMS.source}.{0,30}`, 'gi'))].map(([all]) => all),
    );
    expect.soft(found, page.path).toEqual([]);
  }
});
