import { expect, test } from 'vitest';
import { configOf, problemsIn } from './loading.ts';

const ENV = { TOKEN: 'token-of-the-platform', MCP: 'value-of-a-secret' };
const REFERENCE = '$' + '{env:MCP}';
const config = (secrets: string) =>
  `platform: { token: "\${env:TOKEN}" }\norganizations:\n  - { id: org_1, manifestSecrets: { ${secrets} } }\n`;
const SECRET = `MCP_TOKEN: { value: "${REFERENCE}", sendTo: [https://mcp.acme.example/] }`;

test('a secret has a value, which no output may contain, and addresses', () => {
  const { organizations, secrets } = configOf(config(SECRET), { env: ENV });
  expect(organizations[0]?.manifestSecrets).toEqual({
    MCP_TOKEN: { value: ENV.MCP, sendTo: ['https://mcp.acme.example'] },
  });
  expect(secrets).toContain(ENV.MCP);
});

test('a value in the file itself is a secret, too', () => {
  const { secrets } = configOf(config('A: { value: written-in-the-file, sendTo: [https://a.example] }'), { env: ENV });
  expect(secrets).toContain('written-in-the-file');
});

test.each([
  ['a variable', SECRET],
  ['a file', SECRET.replace('env:MCP', 'file:mcp')],
])('%s that does not exist is accepted: a job of a pull request has none', (_what, secret) => {
  const { organizations } = configOf(config(secret), { env: { TOKEN: ENV.TOKEN } });
  expect(organizations[0]?.manifestSecrets).toEqual({ MCP_TOKEN: { sendTo: ['https://mcp.acme.example'] } });
});

test('a file that was found and not named cannot read variables of other programs', () => {
  const given = { env: { OCTAVO_TOKEN: 'x', MCP: ENV.MCP }, trust: 'found' } as const;
  const problems = problemsIn(() => configOf(config(SECRET).replace('TOKEN}', 'OCTAVO_TOKEN}'), given));
  expect(problems.join('\n')).toContain('the variable MCP is not read');
});

test.each([
  ['A: { value: short, sendTo: [https://a.example] }', 'this is not valid; expected a secret of 8 or more characters'],
  ['A: { value: long-enough }', 'organizations[0].manifestSecrets.A.sendTo: is missing; expected a list'],
  ['A: { value: long-enough, sendTo: [] }', 'sendTo: this is not valid; expected at least one entry'],
  ['A: { value: long-enough, sendTo: [mcp.acme.example] }', 'expected an address such as https://mcp.acme.example'],
  ['A: { value: long-enough, sendto: [https://a.example] }', 'unknown setting; did you mean "sendTo"?'],
  ['"a b": { sendTo: [https://a.example] }', 'manifestSecrets'],
])('%s is a problem', (secrets, problem) => {
  const problems = problemsIn(() => configOf(config(secrets), { env: ENV }));
  expect(problems.join('\n')).toContain(problem);
  expect(problems.join('\n')).not.toMatch(/short|long-enough/);
});
