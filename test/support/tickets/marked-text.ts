/** Text fragments with labelled private values, and their assembly into one text with marks. */
import type { CountryCode } from 'libphonenumber-js';
import type { Person } from '../../../src/conversations/model/ticket.ts';

/** Categories of private data, as a human reviewer would name them; redaction may use other types for them. */
export const PRIVATE_TYPES = [
  'email',
  'phone',
  'person',
  'address',
  'birthdate',
  'ip',
  'mac',
  'card',
  'iban',
  'ssn',
  'password',
  'token',
  'vendor-key',
  'url-credential',
  'attachment',
  'file-name',
] as const;
export type PrivateType = (typeof PRIVATE_TYPES)[number];

/** `neutral` text is context that a redactor may remove or keep, such as the host of an attachment link. */
interface Labelled {
  readonly label: PrivateType | 'neutral';
  readonly text: string;
  readonly disguised?: boolean;
}
export type Fragment = string | Labelled | readonly Fragment[];

/** A generated ticket: its text, its people, and the regions that its organization has configured. */
export interface GeneratedTicket {
  readonly fragment: Fragment;
  readonly people: readonly Person[];
  readonly region: CountryCode;
  /** True if the organization has sixteen regions; otherwise it has the region alone. */
  readonly manyRegions: boolean;
}

export interface Mark {
  readonly type: PrivateType | 'neutral';
  readonly start: number;
  readonly end: number;
  /** True if it is written so that a simple pattern does not match it. */
  readonly disguised: boolean;
}

export interface MarkedText {
  readonly text: string;
  /** In order of position, without overlaps. */
  readonly marks: readonly Mark[];
}

/** Labels a value as private. */
export function mark(label: PrivateType, text: string): Fragment {
  return { label, text };
}

/** Labels text as context that may be removed or kept. */
export function neutral(text: string): Fragment {
  return { label: 'neutral', text };
}

/** Template tag that builds a fragment: t`Call me at ${phone}.` */
export function t(strings: TemplateStringsArray, ...values: readonly Fragment[]): Fragment {
  return strings.flatMap((text, index) => [text, values[index] ?? '']);
}

/** Replaces each `{}` of a phrase with the fragment. */
export function fill(phrase: string, value: Fragment): Fragment {
  return phrase.split('{}').flatMap((text, index) => (index === 0 ? [text] : [value, text]));
}

export function join(fragments: readonly Fragment[], separator: string): Fragment {
  return fragments.flatMap((fragment, index) => (index === 0 ? [fragment] : [separator, fragment]));
}

/** Rewrites every piece of text, keeping the labels: for escaping and for disguises. */
export function mapText(fragment: Fragment, rewrite: (text: string, label: Mark['type'] | null) => string): Fragment {
  if (typeof fragment === 'string') {
    return rewrite(fragment, null);
  }
  return 'label' in fragment
    ? { ...fragment, text: rewrite(fragment.text, fragment.label) }
    : fragment.map((part) => mapText(part, rewrite));
}

/** Marks every label of a fragment as disguised. */
export function disguised(fragment: Fragment): Fragment {
  if (typeof fragment === 'string') {
    return fragment;
  }
  return 'label' in fragment ? { ...fragment, disguised: true } : fragment.map(disguised);
}

export function assemble(fragment: Fragment): MarkedText {
  const marks: Mark[] = [];
  let text = '';
  const visit = (part: Fragment): void => {
    if (typeof part === 'string') {
      text += part;
    } else if ('label' in part) {
      const { label: type, disguised = false } = part;
      marks.push({ type, start: text.length, end: text.length + part.text.length, disguised });
      text += part.text;
    } else {
      part.forEach(visit);
    }
  };
  visit(fragment);
  return { text, marks };
}
