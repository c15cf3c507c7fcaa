/** Lists that are requested while a large manifest is parsed. */
import { expect, test } from 'vitest';
import { openWorkspace } from '../support/workspace.ts';

const entries = (count: number) => Array.from({ length: count }, (_, index) => `  t${index}: { title: T${index} }\n`);
const LARGE = `teams:\n${entries(600).join('')}`;

test('the plan of a large manifest is made with as many requests as that of a small one', async () => {
  await using work = await openWorkspace();
  await work.call('PUT', '/teams', { title: 'T7' });
  const requestsOf = async (text: string) => {
    work.repository.write('a.yaml', text);
    const before = work.emulator.requests.total;
    const { code, stdout } = await work.inside(['plan']);
    expect(code).toBe(0);
    expect(stdout).toContain('1 request made to read');
    expect(stdout).toContain('team/t7 is ');
    return work.emulator.requests.total - before;
  };
  expect(await requestsOf(`teams:\n${entries(8).join('')}`)).toBe(1);
  expect(await requestsOf(LARGE)).toBe(1);
});

// A request that is not cancelled would keep the command open for five seconds.
test('problems of a large manifest are reported at once, whatever the platform answers', {
  timeout: 4500,
}, async () => {
  await using work = await openWorkspace();
  const broken = (text: string) => `${text}  bad: { titel: Bad }\n`;
  const faults = [
    null,
    { kind: 'status', status: 500 },
    { kind: 'status', status: 401 },
    { kind: 'delay', ms: 30_000 },
  ] as const;
  for (const fault of faults) {
    work.emulator.setFaults(fault === null ? [] : [{ match: { method: 'GET' }, fault }]);
    for (const [text, requests] of [
      [`teams:\n${entries(8).join('')}`, 0],
      [LARGE, 1],
    ] as const) {
      work.repository.write('a.yaml', broken(text));
      work.emulator.requests.reset();
      const { code, stdout, stderr } = await work.inside(['plan']);
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^a\.yaml:\d+:10: team\/bad: unknown field "titel"; did you mean "title"\?\n/);
      expect(work.emulator.requests.total).toBe(requests);
    }
  }
});

test('an error of the list is reported once the manifests are read', async () => {
  await using work = await openWorkspace();
  work.repository.write('a.yaml', LARGE);
  work.emulator.setFaults([{ match: { method: 'GET' }, fault: { kind: 'status', status: 401 } }]);
  const { code, stderr } = await work.inside(['plan']);
  expect(code).toBe(1);
  expect(stderr).toContain('token');
});
