/** Comparison of two configurations of a running daemon. */
import { expect, test } from 'vitest';
import * as z from 'zod';
import { compareConfigs, configSchema, RESTART_SECTIONS } from '../../src/config/config.ts';
import { kinds } from '../../src/kinds/registry.ts';
import { configOf } from './loading.ts';

const load = (organizations: string, rest = 'platform: { token: a-token }') =>
  configOf(`${rest}\norganizations:\n${organizations}`);

const A = '  - { id: org_a, clusters: { defaultSpace: guides, changeRequest: { reviewers: [ana@acme.example] } } }\n';

test('every section but the organizations needs a restart', () => {
  const { properties = {} } = z.toJSONSchema(configSchema(kinds), { io: 'input', unrepresentable: 'any' });
  expect([...RESTART_SECTIONS, 'organizations'].toSorted()).toEqual(Object.keys(properties).toSorted());
});

test('organizations without a difference stay the same objects, wherever they are in the file', () => {
  const before = load(`${A}  - id: org_b\n  - id: org_c\n`);
  const after = load(`\n\n  - id: org_d\n  - { id: org_b, selfHeal: false }\n${A}`);
  const { organizations, ...changes } = compareConfigs(before, after);
  expect(changes).toEqual({ added: ['org_d'], removed: ['org_c'], changed: ['org_b'], needRestart: [] });
  expect(organizations.map(({ id }) => id)).toEqual(['org_d', 'org_b', 'org_a']);
  expect(organizations[2]).toBe(before.organizations[0]);
});

test.each([
  ['id: org_a\n    token: another', 'a token'],
  ['id: org_a\n    syncWindows: [{ allow: "0 8 * * *", duration: 2h }]', 'a sync window'],
  ['id: org_a\n    clusters: { defaultSpace: other }', 'the space of clusters'],
  ['id: org_a\n    clusters: { changeRequest: { reviewers: [bo@acme.example] } }', 'a reviewer'],
])('%s: a difference', (settings) => {
  const before = load(A);
  expect(compareConfigs(before, load(`  - ${settings}\n`)).changed).toEqual(['org_a']);
});

test('the token of the platform changes the organizations that use it, and its value is not part of the result', () => {
  const organizations = '  - id: org_a\n  - { id: org_b, token: own-token }\n';
  const changes = compareConfigs(load(organizations), load(organizations, 'platform: { token: next-secret }'));
  expect(changes.changed).toEqual(['org_a']);
  const { organizations: _configs, ...shown } = changes;
  expect(JSON.stringify(shown)).not.toContain('next-secret');
});
