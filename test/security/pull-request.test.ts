/** Plans and problems of a pull request with hostile texts and a secret, in the job's output, its summary and the comments. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FORGES } from '../forge/samples.ts';
import { FakeForge } from '../support/fake-forge.ts';
import { HOSTILE_TEXTS } from '../support/hostile-texts.ts';
import { commentSkeleton } from '../support/markdown-skeleton.ts';
import { openWorkspace, type Workspace } from '../support/workspace.ts';

const [{ open: openForge }] = FORGES;
/**
 * Control characters, invisible characters, changes of the reading direction, commands of runners, and quick actions.
 */
const ACTIVE =
  /[\p{Cs}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2028\u2029\ufeff]|[^\P{Cc}\n]|##\w*\[|^\s*::|^\//mu;
/** Longest title that every kind accepts, in characters. */
const MAX_LENGTH = 50;

const SECRET = 'Qz9canary7XkVw2Lm';
/** Specification whose address has a secret. */
const SPECIFICATION = `openapi: { x: { source: { url: "https://git.example/a.json?private_token=${SECRET}" } } }\n`;

/** Manifests, each in a file with the text in its name, with the text in every field that accepts one. */
function manifestsOf(texts: readonly string[], isValid: boolean): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text, index) => {
      const name = text.replaceAll(/[/\0]|\p{Cs}/gu, '_').slice(0, 60);
      const field = text.toWellFormed().replaceAll('\0', '_').slice(0, MAX_LENGTH);
      // A valid title is on one line.
      const title = isValid ? field.replaceAll(/\s+/gu, ' ').trim() : field;
      const content = {
        teams: { [`t${index}`]: { title, ...(isValid ? {} : { [field]: field }) } },
        collections: { [`c${index}`]: { title, description: field } },
        spaces: { [`s${index}`]: { title, collection: `c${index}`, paused: { reason: field } } },
        ...(isValid ? {} : { [field]: {} }),
      };
      return [
        `${String(index).padStart(3, '0')}/${name.startsWith('.') ? '_' : ''}${name}.yaml`,
        JSON.stringify(content),
      ];
    }),
  );
}

function jobOf(work: Workspace, fake: FakeForge, head: string): Record<string, string> {
  const event = join(work.folder, 'event.json');
  const summary = join(work.folder, 'summary.md');
  writeFileSync(summary, '');
  writeFileSync(event, JSON.stringify({ pull_request: { number: 12, head: { sha: head }, base: { sha: head } } }));
  return {
    GITHUB_ACTIONS: 'true',
    GITHUB_API_URL: fake.apiUrl,
    GITHUB_SERVER_URL: fake.url,
    GITHUB_REPOSITORY: 'acme/docs',
    GITHUB_EVENT_PATH: event,
    GITHUB_RUN_ID: '1',
    GITHUB_RUN_ATTEMPT: '1',
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_TOKEN: FakeForge.token,
  };
}

/** Complete output of Octavo for one pull request. */
async function shownFor(texts: readonly string[], isValid: boolean) {
  await using fake = await openForge();
  await using work = await openWorkspace();
  for (const [path, content] of manifestsOf(texts, isValid)) {
    work.repository.write(path, content);
  }
  work.repository.write('specification.yaml', SPECIFICATION);
  const head = work.repository.commit(texts[0] ?? '');
  const env = jobOf(work, fake, head);
  const withoutId = (text: string) =>
    text.replaceAll(head.slice(0, 7), 'COMMIT').replaceAll(fake.url, 'http://forge.example');
  const markdown = await work.inside(['plan', '.', '--format', 'markdown'], env);
  const commented = await work.inside(['plan', '.', '--comment'], env);
  return {
    code: markdown.code,
    markdown: withoutId(markdown.stdout),
    comment: withoutId(fake.own.map(({ body }) => body).join('\n')),
    status: fake.statuses.map(({ description }) => description).join('\n'),
    summary: withoutId(readFileSync(String(env.GITHUB_STEP_SUMMARY), 'utf8')),
    terminal: (markdown.stderr + commented.stdout + commented.stderr).replaceAll(/^::error (?=file=)/gm, ''),
  };
}

test.each([
  ['a plan', true, 0],
  ['problems', false, 3],
] as const)('%s of hostile file names, titles and texts executes none of them', async (_name, isValid, code) => {
  const plain = await shownFor(
    HOSTILE_TEXTS.map((_, index) => `plain ${index}`),
    isValid,
  );
  const hostile = await shownFor(HOSTILE_TEXTS, isValid);
  expect([plain.code, hostile.code]).toEqual([code, code]);
  for (const place of ['markdown', 'comment', 'status', 'summary', 'terminal'] as const) {
    expect(hostile[place], place).not.toMatch(ACTIVE);
    expect(hostile[place], place).not.toContain(SECRET);
  }
  for (const place of ['markdown', 'comment', 'summary'] as const) {
    expect(commentSkeleton(hostile[place]), place).toBe(commentSkeleton(plain[place]));
  }
  expect(hostile.comment).toContain(isValid ? '@acme/everyone and @ana' : 'Planning failed');
  expect(hostile.markdown.includes('private_token=sha256-')).toBe(isValid);
});
