/** Pages in which every text that comes from elsewhere is hostile. */
import { expect, test } from 'vitest';
import { pages } from '../../../src/web/pages/index.ts';
import { loadAssets } from '../../../src/web/server/layout.ts';
import { renderPage } from '../../../src/web/server/respond.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { NOW, request } from '../fake-daemon.ts';
import { addressWith, hostileDaemon } from '../hostile-daemon.ts';
import { skeleton } from '../some-backend.ts';

const PAGES = pages.filter(({ render }) => render !== null);
const assets = await loadAssets();

const TEXTS = [
  ...HOSTILE_TEXTS,
  '"><script>alert(1)</script>',
  "' onmouseover=alert(1) x='",
  '</title></main></html>',
  'javascript:alert(1)',
  'x'.repeat(10_000),
  '🚀'.repeat(500),
  '👩‍👩‍👧',
  '../../../etc/passwd',
  '?q=1#fragment',
];

/** Returns all pages of a daemon with a text, for a person of that name, and whose configuration is invalid. */
async function renderAll(text: string): Promise<readonly string[]> {
  const { backend, handlers, checksum } = await hostileDaemon([text]);
  const problem = { since: NOW, usedSince: NOW, isPartial: false, replica: text, reason: text };
  const context = { backend: { ...backend, configurationProblems: () => [problem] }, assets };
  const params = { '*': addressWith(text), number: '2', checksum, key: text, cluster: text };
  const asked = request(params, { actor: { name: text, method: 'oidc' }, handlers });
  const rendered = PAGES.map((page) => renderPage(page, context, asked, { path: '/', isJson: false, done: '' }));
  return (await Promise.all(rendered)).map(({ body }) => body);
}

test('every page shows them as text', async () => {
  const expected = (await renderAll('plain')).map(skeleton);
  for (const text of TEXTS) {
    for (const [index, shown] of (await renderAll(text)).entries()) {
      const where = `${PAGES[index]?.path} ${JSON.stringify(text.slice(0, 40))}`;
      expect(skeleton(shown), where).toEqual(expected[index]);
      expect(shown, where).not.toMatch(/ style=|<script(?! src="\/assets\/)|(?:href|src|action)="\s*javascript:/i);
      // Fields carry values as they are; nobody reads them.
      const visible = shown.replaceAll(/<input type="hidden"[^>]*>| value="[^"]*"/g, '');
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be in a page
      expect(visible, where).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      expect(shown.length, where).toBeLessThan(150_000);
    }
  }
});

test('every link of a page is a path of the host or https, every attribute is quoted, and nothing runs', async () => {
  for (const shown of await renderAll('plain')) {
    for (const [, href = ''] of shown.matchAll(/(?:href|action)="([^"]*)"/g)) {
      expect(href).toMatch(/^(?:\/(?!\/)|https:\/\/|[?#])/);
    }
    expect(shown).not.toMatch(/<(?!meta )[^>]*\s[a-z-]+=[^"][^>]*>/);
    expect(shown).not.toMatch(/<(?:script(?! src="\/assets\/)|style|iframe|object|embed)|\sstyle=|\son[a-z]+=/);
    const ids = [...shown.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of shown.matchAll(/(?:for|aria-labelledby)="([^"]*)"/g)) {
      expect(ids).toContain(id);
    }
  }
});
