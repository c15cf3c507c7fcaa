import { ConfigError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { quote } from '../../core/text/suggest.ts';

/** A field as it was typed. */
export interface TypedField {
  /** `key=value`; `key[]` alone is an empty list. */
  readonly text: string;
  /** Whether `true`, `3` and `null` are more than texts (`-F`). */
  readonly isTyped: boolean;
}

/** A field with its value. */
export interface Field {
  /** `a[b][]` as `a`, `b` and null. */
  readonly path: readonly (string | null)[];
  readonly value: unknown;
  /** Whether its value is a text because `-f` says so, and might have been meant as something else. */
  readonly isText: boolean;
}

/** Reads a file that `@name` names; `-` is what is piped in. */
export type ReadNamed = (name: string) => Promise<string>;

/** What was typed with `-f` and `-F`, read. Throws ConfigError. */
export async function readFields(typed: readonly TypedField[], read: ReadNamed): Promise<readonly Field[]> {
  const fields: Field[] = [];
  for (const { text, isTyped } of typed) {
    const flag = isTyped ? '-F' : '-f';
    const equals = text.indexOf('=');
    const key = equals < 0 ? text : text.slice(0, equals);
    const path = readKey(key, flag);
    if (equals < 0 && !key.endsWith('[]')) {
      throw new ConfigError(`${flag} ${quote(text)}: expected key=value`);
    }
    const value = text.slice(equals + 1);
    fields.push(
      equals < 0
        ? { path, value: EMPTY_LIST, isText: false }
        : { path, value: isTyped ? await typedValue(value, read) : value, isText: !isTyped },
    );
  }
  return fields;
}

/** What `key[]` without a value stands for. */
const EMPTY_LIST = Object.freeze([]);

const KEY = /^[^[\]=]+(\[[^[\]]*\])*$/;

function readKey(key: string, flag: string): Field['path'] {
  if (!KEY.test(key)) {
    throw new ConfigError(`${flag} ${quote(key)}: expected a field name such as title, scope[mode] or members[]`);
  }
  const [name = '', ...rest] = key.split('[');
  return [name, ...rest.map((part) => (part === ']' ? null : part.slice(0, -1)))];
}

async function typedValue(text: string, read: ReadNamed): Promise<unknown> {
  return text.startsWith('@') ? read(text.slice(1)) : literalOf(text);
}

/** The boolean, number or null that a text is written like, else the text itself. */
export function literalOf(text: string): unknown {
  if (text === 'true' || text === 'false') {
    return text === 'true';
  }
  if (text === 'null') {
    return null;
  }
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Lays fields over an object, in order. Throws ConfigError where two of them contradict. */
export function layFields(over: Readonly<Record<string, unknown>>, fields: readonly Field[]): Record<string, unknown> {
  const root: Record<string, unknown> = structuredClone(over);
  for (const field of fields) {
    lay(root, field);
  }
  return root;
}

function lay(root: Record<string, unknown>, { path, value }: Field): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    set(root, name ?? '', value);
    return;
  }
  let place = new Place(root, name ?? '', nameOf(path));
  for (const [index, step] of rest.entries()) {
    const isLast = index === rest.length - 1;
    if (step !== null) {
      place = new Place(place.object(), step, nameOf(path));
    } else {
      const list = place.list();
      if (value === EMPTY_LIST && isLast) {
        return;
      }
      place = new Place(list, isLast ? list.length : itemFor(list, rest[index + 1] ?? null), nameOf(path));
    }
  }
  place.put(value);
}

/** As gh has it: a member that the last object of a list has already begins the next object. */
function itemFor(list: readonly unknown[], member: string | null): number {
  const last = list.at(-1);
  return isObject(last) && member !== null && !Object.hasOwn(last, member) ? list.length - 1 : list.length;
}

/** A place in a list or an object that may be empty yet. */
class Place {
  readonly #holder: Record<string, unknown> | unknown[];
  readonly #key: string | number;
  readonly #field: string;

  constructor(holder: Record<string, unknown> | unknown[], key: string | number, field: string) {
    this.#holder = holder;
    this.#key = key;
    this.#field = field;
  }

  put(value: unknown): void {
    set(this.#holder, this.#key, value);
  }

  object(): Record<string, unknown> {
    const there = get(this.#holder, this.#key) ?? this.#begin({});
    if (!isObject(there)) {
      throw this.#contradiction();
    }
    return there;
  }

  list(): unknown[] {
    const there = get(this.#holder, this.#key) ?? this.#begin([]);
    if (!Array.isArray(there)) {
      throw this.#contradiction();
    }
    return there;
  }

  #begin<T>(value: T): T {
    this.put(value);
    return value;
  }

  #contradiction(): ConfigError {
    return new ConfigError(
      `the field ${this.#field} conflicts with another field: its parent cannot be both a list and a value`,
    );
  }
}

function get(holder: Record<string, unknown> | unknown[], key: string | number): unknown {
  return Object.hasOwn(holder, key) ? (holder as Record<string, unknown>)[key] : undefined;
}

/** Own members only, also for a name such as `__proto__`. */
function set(holder: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** A key as it is typed. */
export function nameOf(path: readonly (string | number | null)[]): string {
  return path
    .map((part, index) => (index === 0 ? String(part) : typeof part === 'string' ? `[${part}]` : '[]'))
    .join('');
}
