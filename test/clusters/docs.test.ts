import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { BUILT_IN_TEMPLATE } from '../../src/clusters/description.ts';
import { clustersSchema, TEMPLATE_NAMES } from '../../src/config/clusters.ts';

const page = readFileSync(new URL('../../docs/clusters.md', import.meta.url), 'utf8');

test('docs/clusters.md explains every template variable and shows the built-in template', () => {
  const table = page.split('\n').filter((line) => line.startsWith('| `{{'));
  expect(TEMPLATE_NAMES.filter((name) => !table.some((line) => line.includes(`\`{{${name}}}\``)))).toEqual([]);
  expect(page).toContain(`\`\`\`markdown\n${BUILT_IN_TEMPLATE}\`\`\``);
});

test('docs/clusters.md explains every setting of the selection and of the limits', () => {
  const { select, limits } = clustersSchema().parse({});
  const names = [...Object.keys(select), ...Object.keys(limits)];
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
