import type { YAMLError } from 'yaml';

/** Explains a YAML error in plain words, because yaml's own messages use terms of the grammar. */
export function yamlProblem(error: YAMLError): string {
  const words = WORDS[error.code];
  const message = (error.message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
  return words === undefined ? lowerFirst(message) : words(message);
}

const WORDS: Partial<Record<YAMLError['code'], (message: string) => string>> = {
  TAB_AS_INDENT: () => 'tabs are not allowed for indentation; use spaces',
  BAD_INDENT: (message) =>
    message.includes('same column') ? 'the members of a mapping must start in the same column' : lowerFirst(message),
  BAD_ALIAS: (message) => lowerFirst(message.replace('Alias', 'an alias').replace('Anchor', 'an anchor')),
  BAD_DQ_ESCAPE: (message) => `${lowerFirst(message)}; use single quotes, or double the backslash`,
  BAD_SCALAR_START: (message) => `${lowerFirst(message)}; quote the string`,
  BLOCK_AS_IMPLICIT_KEY: (message) =>
    message.startsWith('Nested mappings')
      ? 'a string with ": " must be quoted; a nested mapping starts on its own line'
      : lowerFirst(message),
  MISSING_CHAR: missingCharacter,
  MULTILINE_IMPLICIT_KEY: () => 'expected "key: value"; a ":" or a quote may be missing',
  NON_STRING_KEY: () => 'a key must be a string; quote it',
  RESOURCE_EXHAUSTION: () => 'is nested too deeply',
  TAG_RESOLVE_FAILED: (message) =>
    message.startsWith('Unresolved tag: ')
      ? `the tag ${shortTag(message.slice('Unresolved tag: '.length))} is not supported; remove it`
      : lowerFirst(message),
};

function missingCharacter(message: string): string {
  if (message.startsWith('Implicit map keys need to be followed by map values')) {
    return 'expected "key: value"; a ":" may be missing';
  }
  const quoted = /^Missing closing (.)quote$/.exec(message);
  return quoted === null ? lowerFirst(message) : `a closing ${quoted[1]} is missing`;
}

function shortTag(tag: string): string {
  return tag.replace(/^tag:yaml\.org,2002:/, '!!');
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
