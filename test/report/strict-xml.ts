/** A parsed element. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly XmlElement[];
  readonly text: string;
}

const NAME = '[A-Za-z_][\\w.-]*';
const ENTITY = /&(amp|lt|gt|quot|apos);/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/**
 * Parses the subset of XML 1.0 that reports use, and throws at anything else: invalid characters, unknown entities,
 * duplicate attributes, tags that do not match, text after the end.
 */
export function readXml(text: string): XmlElement {
  const forbidden = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.exec(text);
  if (forbidden !== null) {
    throw new Error(`a character that XML does not allow at ${forbidden.index}`);
  }
  const reader = new XmlReader(text);
  reader.take(/<\?xml version="1\.0" encoding="UTF-8"\?>\s*/y);
  const root = reader.element();
  reader.take(/\s*$/y);
  return root;
}

class XmlReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  take(pattern: RegExp): RegExpExecArray {
    const found = this.#look(pattern);
    if (found === null) {
      throw new Error(`no ${pattern.source} at ${this.#at}: ${this.#text.slice(this.#at, this.#at + 60)}`);
    }
    this.#at += found[0].length;
    return found;
  }

  element(): XmlElement {
    const [, name = ''] = this.take(new RegExp(`<(${NAME})`, 'y'));
    const attributes: Record<string, string> = {};
    while (this.#look(/\s+[^\s/>]/y) !== null) {
      const [, key = '', value = ''] = this.take(new RegExp(`\\s+(${NAME})="([^"<]*)"`, 'y'));
      if (Object.hasOwn(attributes, key)) {
        throw new Error(`the attribute ${key} comes twice`);
      }
      attributes[key] = decoded(value);
    }
    const children: XmlElement[] = [];
    let text = '';
    if (this.#look(/\s*\/>/y) !== null) {
      this.take(/\s*\/>/y);
      return { name, attributes, children, text };
    }
    this.take(/\s*>/y);
    while (this.#look(/<\//y) === null) {
      const [words] = this.take(/[^<]*/y);
      if (words.includes(']]>')) {
        throw new Error(']]> in text');
      }
      text += decoded(words);
      if (this.#look(/<(?!\/)/y) !== null) {
        children.push(this.element());
      }
    }
    this.take(new RegExp(`</${name}\\s*>`, 'y'));
    return { name, attributes, children, text };
  }

  #look(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    return pattern.exec(this.#text);
  }
}

function decoded(text: string): string {
  if (text.replace(ENTITY, '').includes('&')) {
    throw new Error(`an entity that is not known: ${text}`);
  }
  return text.replace(ENTITY, (_whole, name: string) => ENTITIES[name] ?? '');
}
