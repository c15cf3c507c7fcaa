import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { formatProblem } from '../../src/core/errors.ts';
import { configOf, problemsIn } from './loading.ts';

const FILE = '/etc/octavo/config.yaml';

/** Loads `clusters` settings, which start at line 6, column 7. */
function load(clusters: string, files: Record<string, string> = {}, env: Record<string, string> = {}) {
  const text = `platform: { baseUrl: https://api.example, token: t0ken-value }
organizations:
  - id: org_1
    source: { directory: /manifests }
    clusters:
${clusters.replace(/^(?=.)/gm, '      ')}
`;
  const { organizations, secrets } = configOf(text, { file: FILE, files, env });
  return { ...(organizations[0] as (typeof organizations)[number]).clusters, secrets };
}

const problemsOf = (clusters: string, files: Record<string, string> = {}) =>
  problemsIn(() => load(clusters, files), `${FILE}:`).map((line) => line.replace('organizations[0].clusters', '…'));

const EVERY_SETTING = `enabled: true
schedule: "0 6 * * 1-5"
select: { impact: [high, medium], minIssues: "5", minConversations: 4, minAge: 3d, risingWeeks: 2, sources: [email], include: [sso], exclude: ["^test"] }
routes:
  - { label: "sso|saml", source: email, space: guides }
  - { source: "integration:intercom:main", space: sp_1 }
search: { enabled: false, spaces: [guides, api] }
defaultSpace: guides
changeRequest:
  subject: "\${env:PREFIX}: {{ label }}"
  description: { file: templates/gap.md }
  templateId: tpl_1
  reviewers: [ada@acme.example, team/writers]
  maxIssues: 3
  maxPages: 0
progressComments: false
afterMerge: { reopenGrowth: 1.5, mute: true }
limits: { maxPerRun: 1, maxOpen: 2, maxOpenPerSpace: 3, maxPerDay: 4 }`;

test('reads every setting', () => {
  const description = '# {{label}}\n\n{{summary}}\n';
  const files = { '/etc/octavo/templates/gap.md': description };
  const { spaceNames, reviewerNames, secrets, ...settings } = load(EVERY_SETTING, files, { PREFIX: 'Gap' });
  const written = parse(EVERY_SETTING) as typeof settings;
  expect(settings).toEqual({
    ...written,
    select: { ...written.select, minIssues: 5, minAge: 3 * 86_400_000 },
    changeRequest: { ...written.changeRequest, subject: 'Gap: {{ label }}', description },
  });
  expect(secrets.has('Gap')).toBe(false);
  expect(
    [...spaceNames, ...reviewerNames].map(({ name, place }) => formatProblem({ ...place, message: name })),
  ).toEqual([
    '/etc/octavo/config.yaml:10:54: organizations[0].clusters.routes[0].space: guides',
    '/etc/octavo/config.yaml:11:57: organizations[0].clusters.routes[1].space: sp_1',
    '/etc/octavo/config.yaml:12:42: organizations[0].clusters.search.spaces[0]: guides',
    '/etc/octavo/config.yaml:12:50: organizations[0].clusters.search.spaces[1]: api',
    '/etc/octavo/config.yaml:13:21: organizations[0].clusters.defaultSpace: guides',
    '/etc/octavo/config.yaml:18:21: organizations[0].clusters.changeRequest.reviewers[0]: ada@acme.example',
    '/etc/octavo/config.yaml:18:39: organizations[0].clusters.changeRequest.reviewers[1]: team/writers',
  ]);
});

test('reads a description from the configuration itself', () => {
  expect(load('changeRequest:\n  description: |\n    # {{label}}').changeRequest.description).toBe('# {{label}}\n');
  expect(load('changeRequest: { description: null }').changeRequest.description).toBe(null);
});

describe('refuses an invalid setting with its position', () => {
  const re2 = 'is not a regular expression that RE2 can run:';
  const supported =
    'RE2 supports characters, classes, groups, alternatives, repeats up to {1000}, ^, $, \\b and \\p{L}; see https://github.com/google/re2/wiki/Syntax';
  test.each<[string, string[]]>([
    ['select: { include: ["a("] }', [`6:27: ….select.include[0]: "a(" ${re2} missing closing ): a(; ${supported}`]],
    [
      'routes: [{ label: "(?=a)", space: x }]',
      [`6:25: ….routes[0].label: "(?=a)" ${re2} lookaround such as (?= is not supported; ${supported}`],
    ],
    [
      'select: { include: ["(?<!a)b", "a{1001}"] }',
      [
        `6:27: ….select.include[0]: "(?<!a)b" ${re2} lookaround such as (?<! is not supported; ${supported}`,
        `6:38: ….select.include[1]: "a{1001}" ${re2} invalid repeat count: {1001}; ${supported}`,
      ],
    ],
    [
      'select: { exclude: ["(a)\\\\1"] }',
      [`6:27: ….select.exclude[0]: "(a)\\\\1" ${re2} backreferences such as \\1 are not supported; ${supported}`],
    ],
    [
      'select: { impact: [hihg], risingWeeks: 7, minIssues: -1, minAge: long }',
      [
        '6:26: ….select.impact[0]: "hihg" is not valid; expected one of low, medium, high; did you mean "high"?',
        '6:46: ….select.risingWeeks: 7 is not valid; expected a whole number from 0 to 6',
        '6:60: ….select.minIssues: -1 is not valid; expected a whole number from 0 to 1000000',
        '6:72: ….select.minAge: "long" is not valid; expected the minimum age of the cluster, such as 3d',
      ],
    ],
    ['routes: [{ space: guides }]', ['6:16: ….routes[0]: this is not valid; expected a label, a source, or both']],
    [
      'routes: [{ label: sso }]',
      ['6:16: ….routes[0].space: is missing; expected the manifest key or the id of a space'],
    ],
    [
      'changeRequest: { subject: "Gap: {{lable}}" }',
      ['6:33: ….changeRequest.subject: uses {{lable}}, which is not a known variable; did you mean "label"?'],
    ],
    [
      'changeRequest: { subject: "{{summary}}" }',
      [
        '6:33: ….changeRequest.subject: uses {{summary}}, which is not a known variable; valid variables: label, id, impact, impactMeaning, trend, issues, conversations, sources, since, url',
      ],
    ],
    ['changeRequest: { subject: "{{label}" }', ['6:33: ….changeRequest.subject: has {{ without }} on the same line']],
    [
      'changeRequest: { description: "{{sumary}}" }',
      ['6:37: ….changeRequest.description: uses {{sumary}}, which is not a known variable; did you mean "summary"?'],
    ],
    [
      'changeRequest: { description: { fil: x } }',
      ['6:37: ….changeRequest.description: this is not valid; expected Markdown, or { file: PATH }'],
    ],
    [
      'changeRequest: { description: { file: gone.md } }',
      [
        '6:45: ….changeRequest.description.file: cannot read the file gone.md (ENOENT: no such file); create it, or write the template here',
      ],
    ],
    [
      'changeRequest: { reviewers: [ada, team/] }',
      [
        '6:36: ….changeRequest.reviewers[0]: "ada" is not valid; expected an email address, or a team as team/KEY',
        '6:41: ….changeRequest.reviewers[1]: "team/" is not valid; expected an email address, or a team as team/KEY',
      ],
    ],
    [
      'afterMerge: { reopenGrowth: 1 }',
      ['6:35: ….afterMerge.reopenGrowth: 1 is not valid; expected a number above 1, such as 2'],
    ],
    [
      'limits: { maxPerRun: 0, maxOpen: 0.5, maxPerDay: many }',
      [
        '6:28: ….limits.maxPerRun: 0 is not valid; expected a whole number from 1 to 1000',
        '6:40: ….limits.maxOpen: 0.5 is not valid; expected a whole number from 1 to 1000',
        '6:56: ….limits.maxPerDay: "many" is not valid; expected a whole number from 1 to 1000',
      ],
    ],
    ['schedule: hourly', ['6:17: ….schedule: "hourly" is not valid; expected a cron expression such as "*/5 * * * *"']],
  ])('refuses %s', (clusters, problems) => {
    expect(problemsOf(clusters)).toEqual(problems);
  });

  test('in a template file, with the position in that file', () => {
    const files = { '/etc/octavo/gap.md': '# {{label}}\n\n{{summary}} {{pages}}\n{{ x\n' };
    const both = 'changeRequest: { description: { file: gap.md }, maxPages: -1 }';
    expect(problemsOf(both, files)).toEqual([
      '6:65: ….changeRequest.maxPages: -1 is not valid; expected a whole number from 0 to 50',
      expect.stringMatching(
        /^\/etc\/octavo\/gap.md:3:13: ….changeRequest.description: uses \{\{pages\}\}, which is not a known variable; valid variables: label, /,
      ),
      '/etc/octavo/gap.md:4:1: ….changeRequest.description: has {{ without }} on the same line',
    ]);
  });
});
