import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readMarker } from '../../src/clusters/change-request.ts';
import { type ClusterIssue, type IssueCluster, oneLine } from '../../src/clusters/cluster.ts';
import { buildDescription, buildSupersededDescription } from '../../src/clusters/description.ts';
import type { RelatedPage } from '../../src/clusters/route.ts';
import { TEMPLATE_NAMES } from '../../src/config/clusters.ts';
import { toDocument } from '../../src/platform/rich-text/from-markdown.ts';
import { type RichDocument, textOf } from '../../src/platform/rich-text/node.ts';
import { toMarkdown } from '../../src/platform/rich-text/to-markdown.ts';
import { codePoint } from '../support/code-points.ts';
import { violationsOf } from '../support/rich-document-check.ts';
import { NOW, someCluster, someIssue, someRequest } from './samples.ts';

interface Given {
  readonly cluster?: Partial<IssueCluster>;
  readonly issues?: readonly ClusterIssue[];
  readonly pages?: readonly RelatedPage[];
  readonly template?: string | null;
  readonly most?: number;
}

function describeCluster({ cluster, issues = [], pages = [], template = null, most = 10 }: Given): RichDocument {
  return buildDescription({ cluster: someCluster(cluster), issues, pages, template, most, claim: null });
}

/** Output of a template as Markdown, without the ownership marker at the end. */
function made(given: Given): string {
  const { nodes } = describeCluster(given);
  return toMarkdown({ nodes: nodes.slice(0, -2) }).trim();
}

/** All text that a reader sees, block by block. */
function visible(document: RichDocument): string {
  return document.nodes.map(textOf).join('\n');
}

/** Id of the cluster in the marker of a description. */
function clusterIn(description: unknown): string | null {
  return readMarker(description)?.cluster ?? null;
}

const PAGE: RelatedPage = { id: 'p_1', title: 'Single sign-on', url: 'https://docs.example/sso', space: 'Guides' };

test('the built-in description shows the cluster, its issues and related pages', () => {
  const issues = [
    someIssue(),
    someIssue({ id: 'i_2', title: 'Metadata is refused', impact: 'low', createdAt: null, conversation: null }),
    someIssue({
      id: 'i_3',
      impact: null,
      title: '',
      conversation: { id: 'v_3', subject: '', url: null, source: null },
    }),
  ];
  const document = describeCluster({
    cluster: { summary: 'Readers *cannot* sign in.', createdAt: NOW, url: 'https://app.example/c_1' },
    issues,
    pages: [PAGE, { id: 'p_2', title: 'x', url: null, space: '' }],
    most: 3,
  });
  expect(violationsOf(document)).toEqual([]);
  expect(toMarkdown(document)).toBe(`**Login with SSO fails**

Readers _cannot_ sign in.

**Impact: high** (fully or nearly blocking, a severe regression, or a risk of losing data)

Trend: rising: 4 this week, 2 last week, ▁▁▁▁▁▁▁▁▁▁▃▅█

Issues: 7; conversations: 6; since 2026-11-21; from email (5), integration:intercom:main (2)

## Issues

- Login loops (high, 2026-11-20), in [Cannot sign in](https://help.example/1)
- Metadata is refused (low)
- i_3 (2026-11-20), in conversation v_3

and 4 more

## Related pages

- [Single sign-on](https://docs.example/sso) in Guides
- x

<https://app.example/c_1>

---

Opened by Octavo for issue cluster \`c_1\`
`);
});

test('names unknown values, and omits empty sections', () => {
  const text = made({
    cluster: { impact: null, createdAt: null, sources: {}, weeklyPulse: [], summary: { nodes: 'odd' } },
  });
  expect(text).toContain('**Impact: unknown** (meaning not documented)\n\nTrend: unknown\n\n');
  expect(text).toContain('since unknown; from unknown sources');
  expect(text).toMatch(/## Issues\n\nNo issues listed.\n\n## Related pages\n\nNo related pages found.$/);
});

describe('a description template', () => {
  test.each<[string, Given, string]>([
    ['{{label}} ({{ id }})', {}, 'Login with SSO fails (c_1)'],
    ['**{{impact}}**: {{impactMeaning}}', { cluster: { impact: 'low' } }, '**low**: minor friction'],
    ['{{issues}} {{conversations}} {{since}}', {}, '7 6 2026-11-11'],
    ['{{sources}}', { cluster: { sources: { b: 1, a: 1, c: 2 } } }, 'c (2), a (1), b (1)'],
    ['[it]({{url}})', { cluster: { url: 'https://a.example' } }, '[it](https://a.example)'],
    ['[it]({{url}})', {}, 'it'],
    ['a {{url}} b', { cluster: { url: 'https://a.example' } }, 'a <https://a.example> b'],
    ['a {{url}} b', {}, 'a  b'],
    ['`{{url}}`', { cluster: { url: 'https://a.example' } }, '`https://a.example`'],
    ['[q](https://a.example/?q={{label}})', { cluster: { label: 'a b&c)' } }, '[q](https://a.example/?q=a%20b%26c\\))'],
    ['[x]({{label}})', { cluster: { label: 'javascript:alert(1)' } }, 'x (javascript:alert(1))'],
    [
      '[x][1] <https://b.example/{{id}}>\n\n[1]: {{url}}',
      { cluster: { url: 'https://a.example' } },
      '[x](https://a.example) <https://b.example/c_1>',
    ],
    ['octavoname0z {{id}} octavonamex', {}, 'octavoname0z c_1 octavonamex'],
    ['| a |\n|-|\n| {{label}} |', {}, '- a: Login with SSO fails'],
    ['```{{id}}\n{{label}}\n```', { cluster: { label: '```' } }, '````c_1\n```\n````'],
    ['> {{summary}}', { cluster: { summary: 'a\n\nb' } }, '> a\n>\n> b'],
    ['- {{summary}}\n- x', {}, '- x'],
    ['In short: {{summary}}', { cluster: { summary: '# a\n\n- b\n- c' } }, 'In short: a b c'],
    ['## {{summary}}', { cluster: { summary: 'a\n\nb' } }, '## a b'],
    ['{{pageList}}', { pages: [PAGE] }, '- [Single sign-on](https://docs.example/sso) in Guides'],
    ['{{issueList}}', { issues: [someIssue()], cluster: { issues: 1 }, most: 0 }, 'No issues listed.'],
    ['{{label}}', { cluster: { label: '{{id}} \uF8F00\uF8F1' } }, '{{id}} \uF8F00\uF8F1'],
    ['\uF8F00\uF8F1 {{id}}', {}, '\uF8F00\uF8F1 c_1'],
  ])('renders %j with %j', (template, given, text) => {
    expect(made({ ...given, template })).toBe(text);
    expect(violationsOf(describeCluster({ ...given, template }))).toEqual([]);
  });
});

test.each<[string, unknown, string]>([
  ['Markdown text', 'a **b**', 'a **b**'],
  ['a document node', toDocument('# a\n\n1. b\n   - c\n\n```js\nd\n```'), '# a\n\n1. b\n   - c\n\n```js\nd\n```'],
  ['emoji and text from right to left', '👩‍👩‍👧 שלום **عالم**', '👩‍👩‍👧 שלום **عالم**'],
  [
    'unknown nodes',
    {
      nodes: [
        {
          object: 'block',
          type: 'poll',
          nodes: [
            { object: 'text', leaves: [{ object: 'leaf', text: 'x', marks: [{ object: 'mark', type: 'glow' }] }] },
          ],
        },
      ],
    },
    'x',
  ],
  [
    'what would move a cursor or turn a line around',
    'a\u001b[2J\u202eb **\u0007c**\n\n-\u0001d',
    'a \\[2J b  **c**\n\n\\- d',
  ],
  ['a number', 5, ''],
])('renders a summary as content: %s', (_, summary, text) => {
  expect(made({ cluster: { summary }, template: '{{summary}}' })).toBe(text);
  expect(violationsOf(describeCluster({ cluster: { summary } }))).toEqual([]);
});

/** Fragments with a meaning in Markdown, HTML, templates or this code. */
const FRAGMENTS = [
  ...'<script> </p> <!-- --> &amp; &#42; ** __ ` ``` ~~ # | --- \\ [^1] {{ }} {{id}} $& \uF8F0 0 \uF8F1 `c_evil` c_evil'.split(
    ' ',
  ),
  ...['> ', '- ', '1. ', '[a](javascript:b)', '![i](https://x.example)', '<https://x.example>', 'https://x.example'],
  ...['Opened by Octavo for issue cluster ', '\n', '\n\n', '\r', '\u2028', '\u0000', '  ', '\t', '\ud800', 'שלום'],
  ...['\u202e', '👩‍👩‍👧', 'x'],
];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ maxLength: 5, unit: codePoint })), { maxLength: 12 })
  .map((pieces) => pieces.join(''));

const template = fc.constantFrom(
  null,
  '{{label}}',
  '`{{label}}`',
  '# {{label}} *{{label}}*',
  '- {{label}}\n- [{{label}}](https://x.example/{{label}})\n\n| {{label}} |\n|-|\n| {{label}} |',
  'Opened by Octavo for issue cluster {{label}}',
  '{{issueList}}\n\n{{summary}}\n\n{{pageList}}\n\n```\n{{label}}\n```',
);

describe('arbitrary text from the platform', () => {
  test('stays text in a valid document with a readable marker', () => {
    const id = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
    fc.assert(
      fc.property(hostile, hostile, id, template, (label, other, cluster, chosen) => {
        const conversation = { id: 'v', subject: other, url: 'https://help.example/1', source: other };
        const document = buildDescription({
          cluster: someCluster({ id: cluster, label, summary: other, impact: other, sources: { [other]: 1 } }),
          issues: [someIssue({ title: other, impact: label, conversation })],
          pages: [{ ...PAGE, title: oneLine(other), space: oneLine(label) }],
          template: chosen,
          most: 3,
          claim: null,
        });
        expect(violationsOf(document)).toEqual([]);
        expect(clusterIn(document)).toBe(cluster);
        expect(clusterIn(JSON.parse(JSON.stringify(document)))).toBe(cluster);
        expect(visible(document)).toContain(oneLine(label) || cluster);
        expect(visible(document)).not.toMatch(/(?![\n\t])[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: 500 },
    );
  });

  test('cannot forge a marker in a label or title', () => {
    fc.assert(
      fc.property(hostile, template, (label, chosen) => {
        const document = describeCluster({
          cluster: { label: `Opened by Octavo for issue cluster ${label}` },
          issues: [someIssue({ title: `Opened by Octavo for issue cluster ${label}`, conversation: null })],
          template: chosen,
        });
        expect(readMarker({ ...document, nodes: document.nodes.slice(0, -2) })).toBe(null);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a marker', () => {
  test('is found above text that people added, and ignored in invalid documents', () => {
    const document = describeCluster({});
    expect(clusterIn({ ...document, nodes: [...document.nodes, ...toDocument('- more\n\ntext').nodes] })).toBe('c_1');
    expect([null, 'text', {}, { nodes: [null, 5] }].map(clusterIn)).toEqual([null, null, null, null]);
  });

  test('of a superseded change request links the one that superseded it', () => {
    const to = someRequest({ subject: 'Docs *gap*', url: 'https://app.example/cr_1' });
    const document = buildSupersededDescription('c_1', 'the cluster has a draft', to);
    expect(violationsOf(document)).toEqual([]);
    expect(readMarker(document)).toMatchObject({ cluster: 'c_1', superseded: true });
    expect(toMarkdown(document)).toBe(
      'Not needed: the cluster has a draft. [Docs \\*gap\\*](https://app.example/cr_1)\n\n---\n\nGiven up by Octavo for issue cluster `c_1`\n',
    );
    expect(visible(buildSupersededDescription('c_1', 'why', { ...to, url: null }))).toContain('why. Docs *gap*');
    expect(violationsOf(buildSupersededDescription('c_1', 'limit reached', null))).toEqual([]);
  });
});

test('every template variable has a value', () => {
  for (const name of TEMPLATE_NAMES) {
    const given = { cluster: { summary: 'x', url: 'https://x.example' }, issues: [someIssue()], pages: [PAGE] };
    expect(made({ ...given, template: `{{${name}}}` })).not.toBe('');
  }
});
