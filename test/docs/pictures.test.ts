/** The pictures of the documentation show the present look of the web page. */
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pictureSources } from '../../scripts/picture-sources.ts';

const images = new URL('../../docs/images/', import.meta.url);

test('the pictures were taken of the present look', () => {
  const taken: Record<string, string> = JSON.parse(readFileSync(new URL('source.json', images), 'utf8'));
  const present = pictureSources();
  const paths = [...new Set([...Object.keys(taken), ...Object.keys(present)])];
  const changed = paths.filter((path) => taken[path] !== present[path]);
  expect(changed, 'these have changed since the pictures were taken: run npm run screenshot').toEqual([]);
});

test('every picture is used, and small', () => {
  const pictures = readdirSync(images).filter((name) => name !== 'source.json');
  const pages = ['README.md', 'docs/web-page.md'].map((path) => readFileSync(new URL(`../../${path}`, images), 'utf8'));
  const text = pages.join('\n');
  expect(pictures.filter((name) => !text.includes(`images/${name}`))).toEqual([]);
  const sizes = pictures.map((name) => readFileSync(new URL(name, images)).length);
  expect(Math.max(...sizes)).toBeLessThan(100_000);
});
