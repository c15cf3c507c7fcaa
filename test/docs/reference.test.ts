import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { referencePages } from '../../scripts/docs.ts';

const read = (path: string) => {
  try {
    return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
  } catch {
    return 'nothing';
  }
};

describe('generated pages', () => {
  test.each([...referencePages()])('%s is up to date', (path, text) => {
    expect(read(path) === text, `${path} is stale; run: npm run docs`).toBe(true);
  });

  test('describe every command and option', () => {
    const page = referencePages().get('docs/commands.md') ?? '';
    expect(page).not.toMatch(/\| {2}\|.*\|$\n^\| `-.*\| {2}\| {2}\|$/m);
    expect(page.match(/^## octavo /gm)?.length).toBeGreaterThan(8);
    expect(page).toContain('## octavo plan');
  });

  test('describe every metric', () => {
    const rows = ((referencePages().get('docs/metrics.md') ?? '').split('## Alerts')[0] ?? '')
      .split('\n')
      .filter((line) => line.startsWith('| `'));
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => !/\| [A-Z1][^|]+\. \|$/.test(row))).toEqual([]);
  });
});
