/** Reads the redaction corpus and measures precision and recall. */
import { readdirSync, readFileSync } from 'node:fs';
import {
  type Person,
  REDACTION_TYPES,
  type RedactionType,
  type Ticket,
} from '../../../src/conversations/model/ticket.ts';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';

/** A text of the corpus, with the values to redact. */
export interface Example {
  readonly id: string;
  readonly text: string;
  readonly marks: readonly { readonly type: RedactionType; readonly start: number; readonly end: number }[];
  readonly people: readonly Person[];
  readonly options: NonNullable<Parameters<typeof createConversationRedactor>[0]>;
}

const FOLDER = new URL('corpus/', import.meta.url);
const MARK = new RegExp(`<<(${REDACTION_TYPES.join('|')}):([\\s\\S]+?)>>`, 'g');

/**
 * The corpus: one example per line, each value marked as `<<type:value>>`. Values that look like secrets are generated
 * here, from `{{alnum:36}}` and the example's own seed, so that the repository contains nothing that looks like one.
 */
export function readCorpus(): readonly Example[] {
  return readdirSync(FOLDER)
    .sort()
    .flatMap((file) => readExamples(`corpus/${file}`));
}

/** The examples of a file, one per line. `file`: relative to this folder, or the URL of another one. */
export function readExamples(file: string | URL): readonly Example[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => exampleOf(JSON.parse(line)));
}

function exampleOf(record: { id?: string; text: string; people?: Person[] } & Example['options']): Example {
  const { text: template, id = template, people = [], ...options } = record;
  const marked = fillIn(template, randomOf(id));
  const marks: { type: RedactionType; start: number; end: number }[] = [];
  let text = '';
  let from = 0;
  for (const match of marked.matchAll(MARK)) {
    const [whole, type, value] = match as unknown as [string, RedactionType, string];
    text += marked.slice(from, match.index);
    marks.push({ type, start: text.length, end: text.length + value.length });
    text += value;
    from = match.index + whole.length;
  }
  return { id, text: text + marked.slice(from), marks, people, options };
}

/** The same numbers for the same seed (mulberry32). */
function randomOf(seed: string): () => number {
  let state = [...seed].reduce((sum, character) => (sum * 31 + character.charCodeAt(0)) | 0, 7);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const ALPHABETS: Readonly<Record<string, string>> = {
  digit: '0123456789',
  hex: '0123456789abcdef',
  upper: `${LOWER.toUpperCase()}234567`,
  alnum: `${LOWER}${LOWER.toUpperCase()}0123456789`,
  base64: `${LOWER}${LOWER.toUpperCase()}0123456789+/`,
};

function fillIn(template: string, random: () => number): string {
  const draw = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join('');
  const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return (
    template
      .replaceAll(/\{\{(digit|hex|upper|alnum|base64):(\d+)\}\}/g, (_, alphabet, length) => {
        const drawn = draw(ALPHABETS[alphabet] ?? '', Number(length));
        // A key of any length has a digit and letters of both cases: values without them are drawn again.
        return Number(length) > 20 && alphabet !== 'digit'
          ? `${drawn.slice(0, -2)}${alphabet === 'hex' ? 'a7' : 'Q7'}`
          : drawn;
      })
      .replaceAll('{{basic}}', () => Buffer.from(`ana:${draw(ALPHABETS.alnum ?? '', 12)}`).toString('base64'))
      .replaceAll(
        '{{jwt}}',
        () =>
          `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub: draw(LOWER, 12) })}.${draw(ALPHABETS.alnum ?? '', 43)}`,
      )
      .replaceAll(/\{\{pem:([A-Z ]+)\}\}/g, (_, label) => {
        const lines = Array.from({ length: 6 }, () => draw(ALPHABETS.base64 ?? '', 64));
        return ['BEGIN', ...lines, 'END']
          .map((line) => (line.length < 6 ? `-----${line} ${label}-----` : line))
          .join('\n');
      })
      // Area numbers from 734 on were not assigned until 2011.
      .replaceAll(/\{\{ssn:(.?)\}\}/g, (_, by) =>
        [`8${draw('123456789', 2)}`, draw('123456789', 2), draw('123456789', 4)].join(by),
      )
  );
}

export function ticketOf(parts: readonly string[], people: readonly Person[] = []): Ticket {
  return {
    key: 'test/1',
    subject: '',
    createdAt: null,
    settledAt: null,
    url: null,
    attributes: {},
    parts: parts.map((body) => ({ role: 'user', body })),
    people,
    completeness: null,
  };
}

export interface Figures {
  readonly type: RedactionType;
  readonly marked: number;
  readonly found: number;
  readonly missed: readonly string[];
  readonly wrong: readonly string[];
  readonly precision: number;
  readonly recall: number;
}

/**
 * Precision and recall per type. A value is detected if one span of its type covers it completely; a removal that
 * touches no value of its type is wrong, and counts against the type of the removal.
 */
export function figuresOf(corpus: readonly Example[]): readonly Figures[] {
  const tally = new Map<
    RedactionType,
    { marked: number; right: number; taken: number; missed: string[]; wrong: string[] }
  >();
  const of = (type: RedactionType) => {
    const known = tally.get(type) ?? { marked: 0, right: 0, taken: 0, missed: [], wrong: [] };
    tally.set(type, known);
    return known;
  };
  for (const { id, text, marks, people, options } of corpus) {
    const [explained] = createConversationRedactor(options)
      .explain(ticketOf([text], people))
      .filter(({ place }) => place === 'parts[0]');
    const spans = explained?.spans ?? [];
    for (const mark of marks) {
      const row = of(mark.type);
      row.marked += 1;
      const same = spans.filter((span) => span.type === mark.type && span.start < mark.end && mark.start < span.end);
      if (same.some((span) => span.start <= mark.start && mark.end <= span.end)) {
        row.right += 1;
      } else {
        row.missed.push(id);
      }
    }
    for (const span of spans) {
      const row = of(span.type);
      row.taken += 1;
      if (!marks.some((mark) => mark.type === span.type && mark.start < span.end && span.start < mark.end)) {
        row.wrong.push(id);
      }
    }
  }
  return [...tally].map(([type, { marked, right, taken, missed, wrong }]) => ({
    type,
    marked,
    found: right,
    missed,
    wrong,
    precision: taken === 0 ? 1 : (taken - wrong.length) / taken,
    recall: marked === 0 ? 1 : right / marked,
  }));
}
