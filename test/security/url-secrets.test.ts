/** Secrets in URLs of manifests and of the platform, in everything that Octavo prints, sends and stores. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const CANARY = 'Qz9canary7XkVw2Lm';
const URLS: readonly string[] = [
  `https://ana:${CANARY}@acme.example/openapi.json`,
  `https://git.example/api/v4/files/openapi.json?private_token=${CANARY}&ref=main`,
  `https://acme.blob.core.windows.net/specs/a.json?sv=2024-01-01&sig=${CANARY}`,
  `https://acme.example/openapi.json?access_token=${CANARY}`,
  `https://acme.example/openapi.json?key=${CANARY}`,
  `https://acme.s3.amazonaws.com/a.json?X-Amz-Credential=a&X-Amz-Signature=${CANARY}`,
  `https://acme.example/token/${CANARY}/openapi.json`,
];

/** Specifications with these sources, and other fields that hold URLs. */
function manifests(urls: readonly string[]): string {
  const specs = urls.map((url, at) => `  spec-${at}: { source: { url: "${url}" }, visibility: private }`);
  const [logo = '', sso = ''] = [urls[3], urls[4]];
  return `organization: { logo: "${logo}" }\nsaml: { okta: { label: Okta, entityID: "${sso}", ssoURL: "${sso}" } }\nopenapi:\n${specs.join('\n')}\n`;
}

/** All files below folders of the machine except checkouts, whose manifests contain a person's text. */
function everything(work: Workspace, ...folders: string[]): string {
  return folders
    .flatMap((folder) =>
      readdirSync(join(work.folder, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.parentPath.includes('/checkouts'))
        .map((entry) => `${entry.name}\n${readFileSync(join(entry.parentPath, entry.name), 'latin1')}`),
    )
    .join('\n');
}

test('plans, results, snapshots and errors replace secrets in URLs with distinct digests', async () => {
  await using work = await openWorkspace();
  work.repository.commit('URLs', { 'a.yaml': manifests(URLS) });
  const creation: string[] = [];
  for (const format of ['text', 'markdown', 'json']) {
    const { code, stdout, stderr } = await work.inside(['plan', '--format', format]);
    expect(code).toBe(0);
    creation.push(stdout + stderr);
  }
  expect(creation[0]).toContain('private_token=sha256-');
  const applied = await work.inside(['apply', '--yes', '--record', '--format', 'json']);
  expect(applied).toMatchObject({ code: 0 });
  expect(await work.inside(['plan', '--detailed-exitcode'])).toMatchObject({ code: 0 });
  const snapshot = await work.inside(['snapshot', '--out', '../snapshot.json']);
  const over = await work.inside(['plan', '--snapshot', '../snapshot.json', '--detailed-exitcode']);
  expect(over).toMatchObject({ code: 0, stdout: expect.stringContaining('No changes') });
  work.repository.write('a.yaml', manifests(URLS.map((url) => url.replace(CANARY, `${CANARY}2`))));
  const changed = await work.inside(['plan', '--format', 'json', '--base', 'applied']);
  expect(JSON.parse(changed.stdout).summary).toMatchObject({ update: URLS.length + 2 });
  const changedOver = await work.inside(['plan', '--snapshot', '../snapshot.json']);
  work.repository.write(
    'bad.yaml',
    `openapi:\n  x: { source: { url: "ftp://ana:${CANARY}@x.example" } }\nsites: "https://u:${CANARY}@x"\n`,
  );
  const problems = await Promise.all(
    ['text', 'json', 'github', 'sarif', 'junit'].map((format) => work.inside(['validate', '--format', format])),
  );
  expect(problems.map(({ code }) => code)).toEqual([3, 3, 3, 3, 3]);
  const all = JSON.stringify([creation, applied, snapshot, over, changed, changedOver, problems]);
  expect(all + readFileSync(join(work.folder, 'snapshot.json'), 'utf8')).not.toContain(CANARY);
});

test('an import omits a URL with a secret, notes why, and leaves an empty plan', async () => {
  await using work = await openWorkspace();
  for (const [at, url] of URLS.entries()) {
    await work.call('PUT', `/openapi/spec-${at}`, { source: { url } });
  }
  await work.call('PUT', '/openapi/plain', { source: { url: 'https://acme.example/openapi.json?version=3' } });
  await work.call('POST', '/saml', { label: 'Okta', entityID: URLS[4], ssoURL: URLS[4] });
  await work.call('PATCH', '', { logo: URLS[3] });
  const dry = await work.inside(['import', '--out', 'imported', '--dry-run']);
  const imported = await work.inside(['import', '--out', 'imported']);
  expect(imported.code).toBe(0);
  const written = everything(work, 'repository/imported');
  expect(written).toContain('https://acme.example/openapi.json?version=3');
  expect(written).toMatch(/spec-1: \{? ?id: /);
  expect(written).toMatch(/a URL .*(?:a password or a token)/);
  expect(JSON.stringify([dry, imported]) + written).not.toContain(CANARY);
  expect(await work.inside(['plan', 'imported', '--detailed-exitcode'])).toMatchObject({ code: 0 });
});

test('drift to a URL with a secret is reported and not written', async () => {
  await using work = await openWorkspace();
  const text =
    'openapi: { pets: { source: { url: "https://acme.example/openapi.json" } } }\norganization: { logo: "https://acme.example/a.svg" }\n';
  work.repository.commit('One', { 'a.yaml': text });
  expect(await work.inside(['apply', '--yes', '--record'])).toMatchObject({ code: 0 });
  await work.call('PUT', '/openapi/pets', { source: { url: URLS[1] } });
  await work.call('PATCH', '', { logo: URLS[3] });
  const drift = await work.inside(['import', '--drift', '--base', 'applied']);
  expect(drift).toMatchObject({ code: 0, stdout: '' });
  expect(drift.stderr).toContain(
    'openapi/pets: sourceURL holds a URL with a password or a token, which do not belong in a repository',
  );
  expect(readFileSync(join(work.repository.directory, 'a.yaml'), 'utf8')).toBe(text);
  expect(JSON.stringify(drift)).not.toContain(CANARY);
});

test('octavo api --dry-run and its confirmation prompt mask secrets in URLs', async () => {
  await using work = await openWorkspace();
  const url = URLS[1] ?? '';
  for (const format of ['text', 'json']) {
    const fields = ['-f', `source[url]=${url}`];
    const shown = await work.inside(['api', 'putOpenApiSpec', 'pets', ...fields, '--dry-run', '--format', format]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('private_token=sha256-') });
    expect(JSON.stringify(shown)).not.toContain(CANARY);
  }
});

test('a daemon neither logs nor stores a secret of a URL', async () => {
  await using work = await openWorkspace();
  mkdirSync(join(work.folder, 'state'));
  work.repository.commit('URLs', { 'a.yaml': manifests(URLS) });
  const config = work.configure({ top: { log: { level: 'trace', format: 'json' } } });
  const ended = await work.run('run', '--once', '--config', config);
  expect(ended.code).toBe(0);
  expect(JSON.stringify(work.emulator.state())).toContain(CANARY);
  expect(ended.stderr + everything(work, 'state')).not.toContain(CANARY);
});
