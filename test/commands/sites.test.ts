import { afterEach, beforeEach, expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

let work: Workspace;
let site: string;
beforeEach(async () => {
  work = await openWorkspace();
  site = ((await work.call('POST', '/sites', { title: 'Help' })) as { id: string }).id;
  await work.call('PATCH', `/sites/${site}`, { basename: 'help' });
});
afterEach(() => work[Symbol.asyncDispose]());

const key = async () =>
  ((await work.call('GET', `/sites/${site}/publishing/auth`)) as { privateKey: string }).privateKey;
const run = (...args: string[]) => work.inside(['sites', 'regenerate-key', ...args]);

test.each([['id'], ['help'], ['Help']])('a new key is made for the site with the %s, and not shown', async (name) => {
  const before = await key();
  const { code, stdout, stderr } = await run(name === 'id' ? site : name, '--yes');
  const after = await key();
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Help (${site}) has a new key. Copy it from the application to what signs the tokens of visitors.\n`,
  });
  expect(after).not.toBe(before);
  expect(stdout + stderr).not.toMatch(new RegExp(`${before}|${after}`));
});

test('JSON has no key either', async () => {
  const { stdout } = await run('help', '--yes', '--format', 'json');
  expect(JSON.parse(stdout)).toEqual({ format: 'octavo.site-key/1', site, title: 'Help' });
});

test('nothing changes without a confirmation', async () => {
  const before = await key();
  const refused = await run('help');
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('pass --yes to replace the key') });
  const ask = async () => 'no';
  const declined = await work.inside(['sites', 'regenerate-key', 'help'], {}, '.', { ask });
  expect(declined).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot sign in until') });
  expect(await key()).toBe(before);
});

test('a site that does not exist, or a title of two, is an error', async () => {
  expect(await run('Helb', '--yes')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no site has the id, path or title "Helb"; did you mean "Help"?'),
  });
  await work.call('POST', '/sites', { title: 'Help' });
  expect(await run('Help', '--yes')).toMatchObject({
    code: 3,
    stderr: expect.stringContaining(`2 sites are called "Help"; pass an id, such as ${site}`),
  });
});
