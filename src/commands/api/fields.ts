/** Reads the fields of `-f` and `-F`, such as `scope[mode]=default`, and merges them into a request body. */
import { ConfigError } from '../../core/errors.ts';
import { isObject } from '../../core/json.ts';
import { quote } from '../../core/text/suggest.ts';

/** A `-f` or `-F` argument. */
export interface FieldArgument {
  /** `key=value`; `key[]` alone is an empty list. */
  readonly text: string;
  /** True for `-F`: `true`, `3`, `null` and `@file` are converted. */
  readonly isTyped: boolean;
}

/** A parsed field. */
export interface InputField {
  /** The parsed key: `a[b][]` is `a`, `b` and null. */
  readonly path: readonly (string | null)[];
  readonly value: unknown;
  /** True for values of `-f`, which are strings even where they look like a number or a boolean. */
  readonly isText: boolean;
}

/** Reads the file of an `@name` value; `-` is standard input. */
export type ReadInput = (name: string) => Promise<string>;

/** Parses `-f` and `-F` arguments. Throws ConfigError. */
export async function readFields(typed: readonly FieldArgument[], read: ReadInput): Promise<readonly InputField[]> {
  const fields: InputField[] = [];
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

/** The value of `key[]` without `=`. */
const EMPTY_LIST = Object.freeze([]);

const KEY = /^[^[\]=]+(\[[^[\]]*\])*$/;

function readKey(key: string, flag: string): InputField['path'] {
  if (!KEY.test(key)) {
    throw new ConfigError(`${flag} ${quote(key)}: expected a field name such as title, scope[mode] or members[]`);
  }
  const [name = '', ...rest] = key.split('[');
  return [name, ...rest.map((part) => (part === ']' ? null : part.slice(0, -1)))];
}

async function typedValue(text: string, read: ReadInput): Promise<unknown> {
  return text.startsWith('@') ? read(text.slice(1)) : parseLiteral(text);
}

/** Parses a boolean, a number or null; returns any other text unchanged. */
export function parseLiteral(text: string): unknown {
  if (text === 'true' || text === 'false') {
    return text === 'true';
  }
  if (text === 'null') {
    return null;
  }
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Merges fields into a copy of an object, in order. Throws ConfigError when two fields conflict. */
export function mergeFields(
  over: Readonly<Record<string, unknown>>,
  fields: readonly InputField[],
): Record<string, unknown> {
  const root: Record<string, unknown> = structuredClone(over);
  for (const field of fields) {
    setField(root, field);
  }
  return root;
}

function setField(root: Record<string, unknown>, { path, value }: InputField): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    set(root, name ?? '', value);
    return;
  }
  let slot = new Slot(root, name ?? '', fieldName(path));
  for (const [index, step] of rest.entries()) {
    const isLast = index === rest.length - 1;
    if (step !== null) {
      slot = new Slot(slot.object(), step, fieldName(path));
    } else {
      const list = slot.list();
      if (value === EMPTY_LIST && isLast) {
        return;
      }
      slot = new Slot(list, isLast ? list.length : itemFor(list, rest[index + 1] ?? null), fieldName(path));
    }
  }
  slot.put(value);
}

/** Index of the object that a member belongs to; as in `gh api`, a repeated member starts the next object. */
function itemFor(list: readonly unknown[], member: string | null): number {
  const last = list.at(-1);
  return isObject(last) && member !== null && !Object.hasOwn(last, member) ? list.length - 1 : list.length;
}

/** A member of an object or an item of a list; it may not exist yet. */
class Slot {
  readonly #container: Record<string, unknown> | unknown[];
  readonly #key: string | number;
  readonly #field: string;

  constructor(container: Record<string, unknown> | unknown[], key: string | number, field: string) {
    this.#container = container;
    this.#key = key;
    this.#field = field;
  }

  put(value: unknown): void {
    set(this.#container, this.#key, value);
  }

  object(): Record<string, unknown> {
    const existing = get(this.#container, this.#key) ?? this.#create({});
    if (!isObject(existing)) {
      throw this.#conflict();
    }
    return existing;
  }

  list(): unknown[] {
    const existing = get(this.#container, this.#key) ?? this.#create([]);
    if (!Array.isArray(existing)) {
      throw this.#conflict();
    }
    return existing;
  }

  #create<T>(value: T): T {
    this.put(value);
    return value;
  }

  #conflict(): ConfigError {
    return new ConfigError(
      `the field ${this.#field} conflicts with another field: its parent cannot be both a list and a value`,
    );
  }
}

function get(container: Record<string, unknown> | unknown[], key: string | number): unknown {
  return Object.hasOwn(container, key) ? (container as Record<string, unknown>)[key] : undefined;
}

/** Defines an own member, also for a name such as `__proto__`. */
function set(container: Record<string, unknown> | unknown[], key: string | number, value: unknown): void {
  Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Formats a path as a key, such as `a[b][]`. */
export function fieldName(path: readonly (string | number | null)[]): string {
  return path
    .map((part, index) => (index === 0 ? String(part) : typeof part === 'string' ? `[${part}]` : '[]'))
    .join('');
}
