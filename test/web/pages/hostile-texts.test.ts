/** Pages in which every text that comes from elsewhere is hostile. */
import { expect, test } from 'vitest';
import type { PageDefinition } from '../../../src/web/page.ts';
import { auditPage, organizationAuditPage } from '../../../src/web/pages/audit.ts';
import { budgetPage } from '../../../src/web/pages/budget.ts';
import { clustersPage } from '../../../src/web/pages/clusters.ts';
import { conversationsPage } from '../../../src/web/pages/conversations.ts';
import { deadLetterPage, deadLettersPage } from '../../../src/web/pages/dead-letters.ts';
import { logPage } from '../../../src/web/pages/log.ts';
import { organizationPage } from '../../../src/web/pages/organization.ts';
import { organizationsPage } from '../../../src/web/pages/organizations.ts';
import { passesPage, passPage } from '../../../src/web/pages/passes.ts';
import { planPage } from '../../../src/web/pages/plan.ts';
import { resourcePage } from '../../../src/web/pages/resource.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';
import { request } from '../fake-daemon.ts';
import { addressWith, hostileDaemon } from '../hostile-daemon.ts';
import { render, skeleton } from '../some-backend.ts';

const PAGES: readonly PageDefinition[] = [
  ...[organizationsPage, organizationPage, resourcePage, planPage, passesPage, passPage],
  ...[conversationsPage, deadLettersPage, deadLetterPage, clustersPage, budgetPage],
  ...[auditPage, organizationAuditPage, logPage],
];

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

/** Returns all pages of a daemon with a text. */
async function renderAll(text: string): Promise<readonly string[]> {
  const { backend, checksum } = await hostileDaemon([text]);
  const asked = request({ '*': addressWith(text), number: '2', checksum, key: text });
  return Promise.all(PAGES.map((page) => render(page, backend, asked)));
}

test('every page shows them as text', async () => {
  const expected = (await renderAll('plain')).map(skeleton);
  for (const text of TEXTS) {
    for (const [index, shown] of (await renderAll(text)).entries()) {
      const where = `${PAGES[index]?.path} ${JSON.stringify(text.slice(0, 40))}`;
      expect(skeleton(shown), where).toEqual(expected[index]);
      expect(shown, where).not.toMatch(/ style=|<script|(?:href|src|action)="\s*javascript:/i);
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
    expect(shown).not.toMatch(/<[^>]*\s[a-z-]+=[^"][^>]*>/);
    expect(shown).not.toMatch(/<(?:script|style|iframe|object|embed)|\sstyle=|\son[a-z]+=/);
    const ids = [...shown.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, id] of shown.matchAll(/(?:for|aria-labelledby)="([^"]*)"/g)) {
      expect(ids).toContain(id);
    }
  }
});
