/** Expands the templates of `templates.json` to text with labelled private values. */
import { isAlphabet } from './dice.ts';
import { MAKERS, type Names, type Voice } from './makers.ts';
import { assemble, type Fragment, join, type Mark, PRIVATE_TYPES, type PrivateType } from './marked-text.ts';
import templates from './templates.json' with { type: 'json' };

export type TechnicalKind = keyof typeof templates.technical;
/** Templates by the name of what they give. */
export const VALUES: Readonly<Record<string, readonly string[]>> = { ...templates.values, ...templates.technical };
/** Templates of texts with a private value: sentences and labelled values, and records of programs. */
export const BODIES: Partial<Record<PrivateType, readonly string[]>> = templates.bodies;
export const RECORDS: Partial<Record<PrivateType, readonly string[]>> = templates.records;

const PIECES = new RegExp(`(<<(?:${[...PRIVATE_TYPES, 'neutral'].join('|')}):[\\s\\S]+?>>|«.*?»)`);
const COUNTED = /^(?:(\w+) )?(-?\d+)(?:\.\.(-?\d+))?$/;

/**
 * Expands a template. `«phone»` is a value of `names`, of a maker, or one of a list of templates; `«Word»` and `«WORD»`
 * change its case, and `«the host»` is the same each time. `«label.phone»` is a phrase of the language, `«a|b»` one of
 * two texts, `«1..9»` a number, `«hex 7»` characters, and `«row 2..5»` lines. `<<phone:…>>` labels a private value.
 */
export function expand(voice: Voice, template: string, names: Names = new Map()): Fragment {
  return template.split(PIECES).map((piece) => {
    const [, label, content] = /^<<([a-z-]+):([\s\S]+)>>$/.exec(piece) ?? [];
    if (content !== undefined) {
      return { label: label as Mark['type'], text: assemble(expand(voice, content, names)).text };
    }
    const [, term] = /^«(.*)»$/.exec(piece) ?? [];
    return term === undefined ? piece : termOf(voice, term, names);
  });
}

/** Expands one of the templates. */
export function expandOne(voice: Voice, choices: readonly string[] = [], names?: Names): Fragment {
  return expand(voice, voice.dice.pick(choices), names);
}

/** The text of a template without private values. */
export function textOf(voice: Voice, template: string): string {
  return assemble(expand(voice, template)).text;
}

function termOf(voice: Voice, term: string, names: Names): Fragment {
  const { dice } = voice;
  if (term === '' || term.includes('|')) {
    return dice.pick(term.split('|'));
  }
  const [, name, min, max = min] = COUNTED.exec(term) ?? [];
  if (min === undefined) {
    return named(voice, term, names);
  }
  const count = min === max ? Number(min) : dice.int(Number(min), Number(max));
  if (name === undefined) {
    return String(count);
  }
  return isAlphabet(name)
    ? dice.chars(name, count)
    : join(
        dice.times(count, count, () => named(voice, name, names)),
        '\n',
      );
}

function named(voice: Voice, term: string, names: Names): Fragment {
  const [, name = term] = /^the (.+)$/.exec(term) ?? [];
  const known = names.get(name);
  if (known !== undefined) {
    return known;
  }
  const value = valueNamed(voice, name, names);
  if (name !== term) {
    names.set(name, value);
  }
  return value;
}

function valueNamed(voice: Voice, name: string, names: Names): Fragment {
  const write = (template: string, own: Names = new Map()) => expand(voice, template, own);
  const phrases = /^label\.(\w+)$/.exec(name)?.[1];
  if (phrases !== undefined) {
    return voice.dice.pick(voice.language[phrases as keyof Voice['language']]);
  }
  const choices = VALUES[name];
  if (choices !== undefined) {
    return expandOne(voice, choices, names);
  }
  const maker = MAKERS[name];
  if (maker !== undefined) {
    return maker(voice, write);
  }
  const lower = name === name.toUpperCase() ? name.toLowerCase() : name.charAt(0).toLowerCase() + name.slice(1);
  if (lower === name) {
    throw new RangeError(`no value ${name}`);
  }
  const text = assemble(named(voice, lower, names)).text;
  return name === name.toUpperCase() ? text.toUpperCase() : text.charAt(0).toUpperCase() + text.slice(1);
}
