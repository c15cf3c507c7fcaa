/** Recall and precision of redaction on generated tickets. */
import type { CountryCode } from 'libphonenumber-js';
import { createConversationRedactor } from '../../../src/conversations/redact/redactor.ts';
import { ticketOf } from '../../conversations/redact/corpus.ts';
import type { Sample } from './generate.ts';
import { SIXTEEN_REGIONS } from './locales.ts';
import type { Mark } from './marked-text.ts';

/** A place where redaction differs from the labels; `shown` quotes it with its context. */
export interface Finding {
  readonly id: string;
  readonly type: string;
  readonly shown: string;
}

/** Counts of one type: labels and detected labels, or removals and correct removals. */
export interface Share {
  readonly type: string;
  readonly total: number;
  readonly good: number;
}

export interface Measure {
  /** By type of label, or by kind of disguise. */
  readonly recall: readonly Share[];
  /** By type of the removed text. */
  readonly precision: readonly Share[];
  readonly missed: readonly Finding[];
  readonly wrong: readonly Finding[];
}

type Redactor = ReturnType<typeof createConversationRedactor>;
interface Span {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

const redactors = new Map<string, Redactor>();
function redactorFor(phoneRegions: readonly CountryCode[]): Redactor {
  const key = phoneRegions.join();
  const redactor = redactors.get(key) ?? createConversationRedactor({ regions: phoneRegions });
  redactors.set(key, redactor);
  return redactor;
}

function spansOf({ text, people }: Sample, phoneRegions: readonly CountryCode[]): readonly Span[] {
  return redactorFor(phoneRegions)
    .explain(ticketOf([text], people))
    .filter(({ place }) => place === 'parts[0]')
    .flatMap(({ spans }) => spans);
}

/** Parts of a value that may remain: spaces, invisible characters, and quote or table characters between its lines. */
const IRRELEVANT = /[\s>|\u00AD\u200B-\u200D\u2060\uFEFF]/;
/** Letters and digits outside of every label that a removal may include, such as an honorific. */
const TOLERANCE = 6;

/** Part of a value that must be removed: without padding, and without punctuation that could belong to the sentence. */
function essential(text: string, { type, start, end }: Mark): Pick<Mark, 'start' | 'end'> {
  const value = text.slice(start, end);
  const secret = type === 'password' || type === 'token' || type === 'vendor-key' || type === 'url-credential';
  const trailing = secret ? /[.,;:!?]$|=+$/ : /[^\p{L}\p{N}]+$/u;
  const leading = secret ? /^$/ : /^[^\p{L}\p{N}]+/u;
  return {
    start: start + (leading.exec(value)?.[0].length ?? 0),
    end: end - (trailing.exec(value)?.[0].length ?? 0),
  };
}

function covered(text: string, { start, end }: Pick<Mark, 'start' | 'end'>, spans: readonly Span[]): boolean {
  for (let at = start; at < end; at += 1) {
    if (!IRRELEVANT.test(text.charAt(at)) && !spans.some((span) => span.start <= at && at < span.end)) {
      return false;
    }
  }
  return true;
}

/** Number of letters and digits of a removal that are outside of every label. */
function excess(text: string, { start, end }: Span, marks: readonly Mark[]): number {
  let outside = 0;
  for (let at = start; at < end; at += 1) {
    if (/[\p{L}\p{N}]/u.test(text.charAt(at)) && !marks.some((mark) => mark.start <= at && at < mark.end)) {
      outside += 1;
    }
  }
  return outside;
}

function isWrong(text: string, span: Span, marks: readonly Mark[]): boolean {
  const touches = marks.some((mark) => mark.start < span.end && span.start < mark.end);
  return !touches || excess(text, span, marks) > TOLERANCE;
}

function quote(text: string, start: number, end: number): string {
  const before = text.slice(Math.max(0, start - 40), start);
  return JSON.stringify(`${before}⟦${text.slice(start, end)}⟧${text.slice(end, end + 30)}`);
}

class Tally {
  readonly #rows = new Map<string, { total: number; good: number }>();

  add(type: string, good: boolean): void {
    const row = this.#rows.get(type) ?? { total: 0, good: 0 };
    this.#rows.set(type, { total: row.total + 1, good: row.good + (good ? 1 : 0) });
  }

  shares(): Share[] {
    return [...this.#rows].map(([type, row]) => ({ type, ...row })).sort((a, b) => a.type.localeCompare(b.type));
  }
}

/**
 * Measures redaction: a value is detected if removals of any type cover it, and a removal is wrong if it includes other
 * text.
 */
export function measure(samples: readonly Sample[]): Measure {
  const [recall, precision] = [new Tally(), new Tally()];
  const missed: Finding[] = [];
  const wrong: Finding[] = [];
  for (const sample of samples) {
    const { id, text, marks, disguise } = sample;
    const spans = spansOf(sample, sample.phoneRegions);
    for (const mark of marks.filter(({ type }) => type !== 'neutral')) {
      const type = mark.disguised && disguise !== null ? `~ ${disguise}` : mark.type;
      const found = covered(text, essential(text, mark), spans);
      recall.add(type, found);
      if (!found) {
        missed.push({ id, type, shown: quote(text, mark.start, mark.end) });
      }
    }
    for (const span of spans) {
      const bad = isWrong(text, span, marks);
      precision.add(span.type, !bad);
      if (bad) {
        wrong.push({ id, type: span.type, shown: quote(text, span.start, span.end) });
      }
    }
  }
  return { recall: recall.shares(), precision: precision.shares(), missed, wrong };
}

/** Samples without private data in which something was removed. */
export function touched(
  samples: readonly Sample[],
  regions: 'one' | 'sixteen',
): { share: number; findings: Finding[] } {
  const phoneRegions: readonly CountryCode[] = regions === 'one' ? ['US'] : SIXTEEN_REGIONS;
  const findings: Finding[] = [];
  let count = 0;
  for (const sample of samples) {
    const spans = spansOf(sample, phoneRegions);
    count += spans.length > 0 ? 1 : 0;
    for (const { type, start, end } of spans) {
      findings.push({ id: sample.id, type, shown: quote(sample.text, start, end) });
    }
  }
  return { share: samples.length === 0 ? 0 : count / samples.length, findings };
}
