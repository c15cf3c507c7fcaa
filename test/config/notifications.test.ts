/** Settings of notifications: checks, with all problems at once, and secrets. */
import { describe, expect, test } from 'vitest';
import { namesForCode } from '../../src/config/notifications.ts';
import { CONDITION_CODES, EVENT_CODES } from '../../src/core/condition-codes.ts';
import { createRedactor } from '../../src/redact.ts';
import { configOf, problemsIn } from './loading.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const START = `platform: { token: t0ken-value }
organizations:
  - id: org_1
    source: { directory: /manifests }
`;

const load = (notifications: string, start = START, env: Record<string, string> = {}) =>
  configOf(`${start}notifications:\n${notifications.trim().replaceAll(/^/gm, '  ')}\n`, { env });
const problemsOf = (notifications: string, start = START) => problemsIn(() => load(notifications, start));

const routed = (channel: string) => `channels:\n  ops: ${channel}\nroutes:\n  - channels: [ops]`;
const template = (code: string, text: string) => `templates:\n  ${code}: ${JSON.stringify(text)}`;

describe('channels', () => {
  test.each([
    `{ webhook: { url: "https://hooks.example/x", secret: ${SECRET} } }`,
    `{ webhook: { url: "http://127.0.0.1:9000/x", secret: ${SECRET} } }`,
    '{ slack: { token: xoxb-1, channel: C012 } }',
    '{ slackWebhook: { url: "https://hooks.slack.com/services/T0/B0/x" } }',
    '{ teams: { url: "https://prod.example/workflows/x" } }',
    '{ mail: { server: "smtps://mail.example", user: octavo, password: p4ssword, from: a@acme.example, to: [b@acme.example] } }',
    '{ mail: { server: "smtp://mail.example:587", from: a@acme.example, to: [b@acme.example] } }',
    '{ pagerduty: { routingKey: r0uting } }',
  ])('%s is accepted', (channel) => {
    expect(problemsOf(routed(channel))).toEqual([]);
  });

  test.each([['whsec_short'], ['not base64 at all, but long enough'], [`${SECRET} `], [SECRET.slice(0, -1)]])(
    'the secret %j of a webhook is refused, without showing it',
    (secret) => {
      const problems = problemsOf(
        routed(`{ webhook: { url: "https://hooks.example/x", secret: ${JSON.stringify(secret)} } }`),
      );
      expect(problems).toHaveLength(1);
      expect(problems[0]).toMatch(
        /^7:\d+: notifications\.channels\.ops\.webhook\.secret: this is not a secret of Standard/,
      );
      expect(problems[0]).not.toContain(secret);
    },
  );

  test.each([
    ['webhook', `{ webhook: { url: "http://hooks.example/x", secret: ${SECRET} } }`, 'webhook.url'],
    ['slackWebhook', '{ slackWebhook: { url: "http://hooks.example/x" } }', 'slackWebhook.url'],
    ['teams', '{ teams: { url: "http://hooks.example/x" } }', 'teams.url'],
    ['slack', '{ slack: { token: xoxb-1, channel: C, apiUrl: "http://slack.example/api" } }', 'slack.apiUrl'],
    ['pagerduty', '{ pagerduty: { routingKey: r0uting, url: "http://events.example" } }', 'pagerduty.url'],
  ])('plain http to another machine is refused for %s, unless platform.insecure allows it', (_kind, channel, path) => {
    expect(problemsOf(routed(channel))).toEqual([
      expect.stringMatching(
        new RegExp(
          `^7:\\d+: notifications\\.channels\\.ops\\.${path}: would send credentials unencrypted over http; use https`,
        ),
      ),
    ]);
    expect(problemsOf(routed(channel), START.replace('{ ', '{ insecure: true, '))).toEqual([]);
  });
});

describe('all problems are reported, each with its position', () => {
  const one = (channel: string, rest = '') => `channels:\n  ops: ${channel}${rest}`;
  const mail = (settings: string) => routed(`{ mail: { from: a@acme.example, to: [b@acme.example], ${settings} } }`);
  const pager = '{ pagerduty: { routingKey: r0uting } }';
  const two = `${one(pager)}\n  mail: { mail: { server: "smtps://m.example", from: a@b.example, to: [a@b.example] } }`;

  test.each<[string, string, readonly string[]]>([
    [
      'a channel of no kind',
      routed('{}'),
      ['7:10: notifications.channels.ops: requires exactly one of webhook, slack,'],
    ],
    [
      'a channel of two kinds',
      routed('{ pagerduty: { routingKey: r0uting }, teams: { url: "https://prod.example/x" } }'),
      ['7:10: notifications.channels.ops: requires exactly one of webhook, slack,'],
    ],
    [
      'an unknown kind, once',
      routed('{ slak: { token: x } }'),
      ['7:12: notifications.channels.ops.slak: unknown setting; did you mean "slack"?'],
    ],
    [
      'a channel without a route',
      one(pager),
      ['7:5: notifications.channels.ops: is in no route, so it would never be sent anything; add it to notifications.'],
    ],
    [
      'a name that cannot be part of commands and links',
      `channels:\n  "a b": ${pager}\nroutes: [{ channels: ["a b"] }]`,
      ['7:5: notifications.channels.a b: is not a valid name; use up to 50 letters, digits, "-" and "_"'],
    ],
    [
      'a password in the address of a mail server',
      mail('server: "smtps://octavo:p4ssword@mail.example"'),
      ['.ops.mail.server: contains a user or a password; set user and password instead'],
    ],
    [
      'a user of a mail server without a password',
      mail('server: "smtps://mail.example", user: octavo'),
      ['.ops.mail.user: requires password; set both, or neither'],
    ],
    [
      'a password of a mail server without a user',
      mail('server: "smtps://mail.example", password: p4ssword'),
      ['.ops.mail.password: requires user; set both, or neither'],
    ],
    [
      'names that routes and quiet hours use',
      `${two}
routes:
  - channels: [ops, mial]
    organizations: [org_1, org_2, other]
  - channels: [mail]
quietHours:
  - { cron: "0 20 * * *", duration: 12h, channels: [everybody] }`,
      [
        '10:23: notifications.routes[0].channels[1]: "mial" is not a configured channel; did you mean "mail"?',
        '11:30: notifications.routes[0].organizations[1]: "org_2" is not a configured organization; did you mean "org_1"?',
        '11:37: notifications.routes[0].organizations[2]: "other" is not a configured organization; configured: org_1',
        '14:55: notifications.quietHours[0].channels[0]: "everybody" is not a configured channel; configured: ops, mail',
      ],
    ],
    [
      'a route without any channel',
      'routes: [{ channels: [ops] }]',
      ['"ops" is not a configured channel; none is configured'],
    ],
    [
      'codes and severities of routes',
      `${two}\nroutes:\n  - { channels: [ops, mail], codes: [drfit], severities: [pages] }`,
      ['did you mean "drift"?', 'did you mean "page"?'],
    ],
    [
      'a pager in quiet hours, which never hold it',
      `${two}\nroutes: [{ channels: [ops, mail] }]\nquietHours: [{ cron: "0 20 * * *", duration: 12h, channels: [ops, mail] }]`,
      ['quietHours[0].channels[0]: "ops" pages people, which quiet hours never hold; remove it here'],
    ],
  ])('%s', (_what, text, problems) => {
    expect(problemsOf(text)).toEqual(problems.map((problem) => expect.stringContaining(problem)));
  });
});

describe('templates', () => {
  test.each([...CONDITION_CODES, ...EVENT_CODES])('for %s may contain every name of the code', (code) => {
    const text = namesForCode(code)
      .map((name) => `{{${name}}}`)
      .join(' ');
    expect(problemsOf(template(code, text))).toEqual([]);
  });

  test.each([
    [
      'an unknown name',
      'drift',
      'of {{organisation}}',
      'uses {{organisation}}, which is not a known variable; did you mean "organization"?',
    ],
    [
      'a name of other codes',
      'applied',
      '{{since}}',
      expect.stringContaining('uses {{since}}, which is not a known variable; valid variables: organization, title'),
    ],
    ['an unclosed placeholder', 'drift', 'of {{organization', 'has {{ without }} on the same line'],
    [
      'values that may all be empty',
      'drift',
      ' {{url}} {{details}}',
      expect.stringContaining('can result in an empty text'),
    ],
  ])('with %s are refused', (_what, code, text, problem) => {
    const problems = problemsOf(template(code, text));
    expect(problems).toEqual([expect.stringMatching(`^7:${code.length + 7}: notifications.templates.${code}: `)]);
    expect(problems[0]?.replace(/^.*?: .*?: /, '')).toEqual(problem);
  });
});

describe('secrets', () => {
  const text = `channels:
  a: { webhook: { url: "https://hooks.example/in/canary-a", secret: ${SECRET} } }
  b: { slack: { token: canary-b, channel: C012 } }
  c: { slackWebhook: { url: "https://hooks.slack.com/services/canary-c" } }
  d: { teams: { url: "https://prod.example/workflows?sig=canary-d" } }
  e: { mail: { server: "smtps://mail.example", user: "\${env:MAIL_USER}", password: canary-e, from: a@acme.example, to: [b@acme.example] } }
  f: { pagerduty: { routingKey: canary-f } }`;
  const routes = 'routes:\n  - channels: [a, b, c, d, e, f]';

  test('of every channel are known, so that no output contains them', () => {
    const { secrets } = load(`${text}\n${routes}`, START, { MAIL_USER: 'octavo@acme.example' });
    expect([...secrets].filter((secret) => secret !== 't0ken-value').toSorted()).toEqual([
      '/in/canary-a',
      '/services/canary-c',
      '/workflows?sig=canary-d',
      'canary-b',
      'canary-e',
      'canary-f',
      'https://hooks.example/in/canary-a',
      'https://hooks.slack.com/services/canary-c',
      'https://prod.example/workflows?sig=canary-d',
      SECRET,
    ]);
  });

  test('leave the names of files readable: a path of words is not one', () => {
    const { secrets } = load(
      `channels:\n  a: { webhook: { url: "https://hooks.example/octavo", secret: ${SECRET} } }\nroutes:\n  - channels: [a]`,
      START,
      {},
    );
    expect([...secrets]).toContain('https://hooks.example/octavo');
    expect(createRedactor(secrets)('/var/lib/octavo/octavo.db')).toBe('/var/lib/octavo/octavo.db');
  });

  test('are not part of problems', () => {
    const wrong = text
      .replaceAll('https://', 'ftp://')
      .replaceAll('C012', '[]')
      .replace('canary-f }', '"canary f", x: y }');
    const problems = problemsOf(`${wrong}\n${routes}`);
    expect(problems.length).toBeGreaterThan(4);
    expect(problems.join('\n')).not.toContain('canary');
  });
});
