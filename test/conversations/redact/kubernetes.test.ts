/* The values of Kubernetes secrets are removed in every form of YAML and JSON, and nothing else of the manifest. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Document, type Scalar, stringify, visit } from 'yaml';
import { findSecrets } from '../../../src/conversations/redact/credentials/secrets.ts';
import { readingOf } from '../../../src/conversations/redact/model/reading.ts';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { countCases, SEED } from '../../support/campaign.ts';
import { workOf } from './pattern-work.ts';

const redactor = createConversationRedactor();

const word = fc.stringMatching(/^[a-z]{3,9}$/);
const key = fc.tuple(word, fc.constantFrom('', '.crt', '_x', '-1')).map((parts) => parts.join(''));
/** Values that no other rule recognizes. */
const encoded = fc.stringMatching(/^[a-z]{6,12}$/).map((plain) => Buffer.from(`mellow-${plain}`).toString('base64'));
const plain = fc.tuple(word, word, word).map((words) => `mellow ${words.join(' ')}`);
const lines = fc.array(plain, { minLength: 2, maxLength: 4 }).map((all) => `${all.join('\n')}\n`);
const map = (value: fc.Arbitrary<string>) =>
  fc.dictionary(key, value, { minKeys: 1, maxKeys: 4, noNullPrototype: true });

const secret = fc
  .record({
    data: map(encoded),
    stringData: map(fc.oneof(plain, lines)),
    name: word,
    order: fc.integer({ min: 0, max: 3 }),
  })
  .map(({ data, stringData, name, order }) => {
    const members = [
      ['apiVersion', 'v1'],
      ['kind', 'Secret'],
      ['metadata', { name }],
      ['data', data],
      ['stringData', stringData],
      ['type', 'Opaque'],
    ] as const;
    const turned = [...members.slice(order), ...members.slice(0, order)];
    return { manifest: Object.fromEntries(turned), values: [...Object.values(data), ...Object.values(stringData)] };
  });

/** Writes the values of the data in one style of YAML. */
function styled(manifest: object, type: Scalar.Type): string {
  const document = new Document(manifest);
  visit(document, {
    Pair(_, { key: name, value }) {
      if (/data/i.test(String(name))) {
        visit(value as Document, { Scalar: (at, scalar) => void (at === 'value' && Object.assign(scalar, { type })) });
      }
    },
  });
  return document.toString({ lineWidth: 40 });
}

const FORMS: Readonly<Record<string, (manifest: object) => string>> = {
  block: (manifest) => stringify(manifest),
  literal: (manifest) => styled(manifest, 'BLOCK_LITERAL'),
  folded: (manifest) => styled(manifest, 'BLOCK_FOLDED'),
  'double quotes': (manifest) => styled(manifest, 'QUOTE_DOUBLE'),
  'single quotes': (manifest) => styled(manifest, 'QUOTE_SINGLE'),
  flow: (manifest) =>
    Object.entries(manifest)
      .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}\n`)
      .join(''),
  JSON: (manifest) => JSON.stringify(manifest),
  'indented JSON': (manifest) => JSON.stringify(manifest, null, 4),
  'JSON in JSON': (manifest) => JSON.stringify({ applied: JSON.stringify(manifest) }),
  'a list': (manifest) =>
    stringify({
      apiVersion: 'v1',
      kind: 'List',
      items: [manifest, { kind: 'ConfigMap', data: { a: 'kept-as-it-is' } }],
    }),
  'a list in JSON': (manifest) =>
    JSON.stringify({ kind: 'List', items: [{ kind: 'ConfigMap', data: { a: 'kept-as-it-is' } }, manifest] }, null, 2),
  'several documents': (manifest) => `kind: ConfigMap\ndata:\n  a: kept-as-it-is\n---\n${stringify(manifest)}---\n`,
};

const PLACES: Readonly<Record<string, (text: string) => string>> = {
  alone: (text) => text,
  'in prose': (text) => `Hello,\nkubectl get secret -o yaml says:\n${text}\nWhat is wrong with it?\n`,
  'in a fence': (text) => `Hello, see\n\n\`\`\`yaml\n${text}\n\`\`\`\n\nThanks`,
  'in a quoted mail': (text) => `On Monday Kim wrote:\n${text.replaceAll(/^/gm, '> ')}\n\nThanks`,
  indented: (text) => `See\n\n${text.replaceAll(/^/gm, '    ')}\n\nThanks`,
};

it.each(Object.keys(FORMS))('every value of a secret is removed from %s', (form) => {
  fc.assert(
    fc.property(secret, fc.constantFrom(...Object.keys(PLACES)), ({ manifest, values }, place) => {
      const text = PLACES[place]?.(FORMS[form]?.(manifest) ?? '') ?? '';
      const redacted = redactor.text(text);
      for (const value of values.flatMap((each) => each.split('\n').filter((line) => line !== ''))) {
        expect(redacted, text).not.toContain(value);
      }
      expect(redacted).toContain('Secret');
      expect(redacted.includes('kept-as-it-is')).toBe(text.includes('kept-as-it-is'));
      expect(redactor.text(redacted)).toBe(redacted);
    }),
    { numRuns: countCases({ sample: 15, ci: 60, full: 600 }), seed: SEED },
  );
});

it('removes values from a manifest that is not valid YAML', () => {
  const text = 'kind: Secret\ndata:\n  one: "mellow-apple\n  two: [mellow-pear\n   : :\n  three: mellow-plum\n';
  const redacted = redactor.text(text);
  expect(redacted).not.toContain('mellow');
  expect(redacted).toContain('three: [SECRET_');
});

it('keeps templates, other kinds, and what only mentions a secret', () => {
  for (const text of [
    'kind: Secret\ndata:\n  one: {{ .Values.one }}\n  two: %TWO%\n  three: <redacted>\n',
    'kind: ConfigMap\ndata:\n  one: mellow-apple\n',
    'Is kind: Secret right?\n\ndata:\n  one: mellow-apple\n',
    'kind: Secret\nmetadata:\n  name: mellow\n  labels: { app: docs }\n',
  ]) {
    expect(redactor.text(text)).toBe(text);
  }
});

it.each([
  'kind: Secret\n',
  'kind: Secret\ndata:\n  a: b\n',
  '{"kind":"Secret",',
  '"kind":"Secret","data":{"',
  'data: {kind: Secret\n',
])('takes linear time for repetitions of %j', (piece) => {
  const of = (count: number) => workOf(() => findSecrets(readingOf(piece.repeat(count)))).characters;
  expect(of(4000)).toBeLessThan(4.5 * of(1000) + 400_000);
});
