/** Hostile texts are inert in commit statuses. */
import { expect, test } from 'vitest';
import { openForgeStatuses } from '../../../src/forge/open-forge.ts';
import { messageLine } from '../../../src/notify/messages.ts';
import { createRedactor } from '../../../src/redact.ts';
import {
  FakeBitbucketStatuses,
  FakeGiteaStatuses,
  FakeGitHubStatuses,
  FakeGitLabStatuses,
  FakeStatusForge,
} from '../../support/fake-status-forge.ts';
import { HOSTILE_TEXTS } from '../../support/hostile-texts.ts';

const { signal } = new AbortController();

test.each([
  ['github', 'acme/docs', () => new FakeGitHubStatuses()],
  ['gitlab', 'acme/team/docs', () => new FakeGitLabStatuses()],
  ['gitea', 'acme/docs', () => new FakeGiteaStatuses()],
  ['bitbucket', 'acme/docs', () => new FakeBitbucketStatuses()],
] as const)('%s gets one short line without control characters and secrets', async (type, repository, make) => {
  await using fake = await make().listen();
  const target = { type, apiUrl: fake.apiUrl, repository, token: FakeStatusForge.token, ref: null };
  const client = openForgeStatuses(target, signal, 'octavo/0');
  const redact = createRedactor(['a-known-secret']);
  const secret = 'https://user:hunter2@git.acme.example/docs.git a-known-secret';
  const texts = [...HOSTILE_TEXTS, secret, `${'x'.repeat(1000)} ${secret}`, `${secret} ${'😀'.repeat(500)}`];
  for (const text of texts) {
    const description = messageLine(`teams.yaml:1:1: ${text}`, client.maxDescription, redact);
    await client.setStatus('a'.repeat(40), { state: 'error', context: 'octavo/org_1', description, url: null });
  }
  expect(fake.statuses).toHaveLength(texts.length);
  expect(fake.problems).toEqual([]);
  for (const { description, state } of fake.statuses) {
    expect(state).toMatch(/^(?:error|failed|FAILED)$/);
    expect(description).toMatch(/^teams\.yaml:1:1: /);
    expect(description).not.toMatch(/[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    expect(description).not.toMatch(/hunter2|a-known-secret/);
    expect([...description].length).toBeLessThanOrEqual(client.maxDescription);
  }
});
