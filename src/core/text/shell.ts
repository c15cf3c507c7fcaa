/** Formats commands for a POSIX shell. */

/** Formats one word of a command line, quoted if necessary. The result has one line. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-]+$/.test(text)) {
    return text;
  }
  // Control, bidirectional and invisible characters would be lost when copied.
  return /[\p{C}\p{Z}]/u.test(text.replaceAll(' ', '')) ? printed(text) : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Formats text as a call of `printf` with octal escapes. A line feed at the very end is lost. */
function printed(text: string): string {
  const bytes = [...Buffer.from(text, 'utf8')].map((byte) =>
    /[\w@+:,./]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"$(printf '${bytes.join('')}')"`;
}

/** Formats a command line that passes every word to the program unchanged. */
export function shellCommand(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** Returns a path that no command takes for an option. */
export function pathArgument(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
