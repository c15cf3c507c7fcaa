import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { getFeatures } from '../../src/emulator/model/features.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const MANIFEST = `sites:
  help:
    title: Help
    customization:
      styling:
        theme: bold # ours
        corners: rounded
    visitorAuth: { backend: custom }
    mcpServers:
      a: { name: A, url: "https://a.example", headers: { X-Team: docs }, transport: sse }
    shareLinks:
      p: { name: P, active: true }
`;

let work: Workspace;
let site: string;
beforeEach(async () => {
  work = await openWorkspace({ features: getFeatures('0.202') });
  work.repository.write('octavo.yaml', MANIFEST);
  work.repository.commit('Site');
  expect(await work.inside(['apply', '.', '--yes'])).toMatchObject({ code: 0 });
  site = `/sites/${((await work.call('GET', '/sites')) as { items: { id: string }[] }).items[0]?.id}`;
});
afterEach(() => work[Symbol.asyncDispose]());

const get = async (path: string) => (await work.call('GET', `${site}${path}`)) as Record<string, unknown>;
const idIn = async (path: string) => ((await get(path)) as { items?: { id: string }[] }).items?.[0]?.id ?? '';
const read = (file: string) => readFileSync(join(work.repository.directory, file), 'utf8');

test('drift of a declared member is written at its line, and others are left alone', async () => {
  const { updatedAt: _, ...now } = await get('/customization');
  const styling = { ...(now.styling as object), theme: 'muted' };
  await work.call('PUT', `${site}/customization`, { ...now, styling, pagination: { enabled: false } });
  await work.call('PATCH', `${site}/publishing/auth`, { backend: 'integration' });
  await work.call('PATCH', `${site}/share-links/${await idIn('/share-links')}`, { active: false });
  await work.call('PATCH', `${site}/mcp-servers/${await idIn('/mcp-servers')}`, { transport: 'http' });
  expect(await work.inside(['import', '--drift', '--base', 'HEAD'])).toMatchObject({ code: 0 });
  const drifted = [
    ['bold # ours', 'muted # ours'],
    ['backend: custom', 'backend: integration'],
    ['transport: sse', 'transport: http'],
    ['active: true', 'active: false'],
  ].reduce((text, [from = '', to = '']) => text.replace(from, to), MANIFEST);
  expect(read('octavo.yaml')).toBe(drifted);
  expect((await work.inside(['plan', '.', '--base', 'HEAD'])).stdout).toContain('No changes');
});

test('an import has every member of a customization that was set, names of secrets, and an empty plan', async () => {
  expect(await work.inside(['import', '--out', 'imported'])).toMatchObject({ code: 0 });
  const text = read('imported/sites/help.yaml');
  expect(text).toContain('customization: { file: ../customization/help.json }');
  expect(text).toContain('headers: { X-Team: "$' + '{secret:MCP_A_X_TEAM}" }');
  expect(text).toContain('shareLinks: { p: { name: P, active: true } }');
  expect(text).not.toContain('visitorAuth');
  const { updatedAt: _, ...whole } = await get('/customization');
  expect(JSON.parse(read('imported/customization/help.json'))).toEqual(whole);
  work.repository.commit('Imported');
  const { stdout } = await work.inside(['plan', 'imported', '--base', 'none']);
  expect(stdout).toContain('No changes');
});
