/** Commands as a person can paste them into a POSIX shell. */

/** One word of a command line: as it is where the shell reads it so, quoted otherwise. The result has one line. */
export function shellWord(text: string): string {
  if (/^[\w@%+:,./-]+$/.test(text)) {
    return text;
  }
  // Control characters, and those that turn the reading direction or cannot be seen, would not survive being copied.
  return /[\p{C}\p{Z}]/u.test(text.replaceAll(' ', '')) ? printed(text) : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Written out by `printf`, byte by byte where needed. A line feed at the very end would be lost. */
function printed(text: string): string {
  const bytes = [...Buffer.from(text, 'utf8')].map((byte) =>
    /[\w@+:,./]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"$(printf '${bytes.join('')}')"`;
}

/** A command line whose every word reaches the program as it is here. */
export function shellCommand(words: readonly string[]): string {
  return words.map(shellWord).join(' ');
}

/** A path that no command takes for an option. */
export function pathArgument(path: string): string {
  return path.startsWith('-') ? `./${path}` : path;
}
