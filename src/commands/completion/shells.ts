/** Reads and writes words as bash, zsh and fish do, with the completion script of each. */

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Works with bash 3.2 and later, without bash-completion. Does not evaluate the typed line. */
const BASH = `# bash completion for octavo
_octavo() {
  local reply directive=0 one word=\${COMP_WORDS[COMP_CWORD]}
  reply=$("$1" complete --shell bash --breaks "$COMP_WORDBREAKS" -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null) || return
  COMPREPLY=()
  while IFS= read -r one; do
    case $one in
      :*) directive=\${one#:} ;;
      ?*) COMPREPLY+=("\${one%%$'\\t'*}") ;;
    esac
  done <<< "$reply"
  if (( directive & 2 )); then compopt -o nospace 2>/dev/null; fi
  if (( !(directive & 4) )); then
    compopt -o default 2>/dev/null || while IFS= read -r one; do COMPREPLY+=("$one"); done < <(compgen -f -- "$word")
  fi
}
complete -F _octavo octavo
`;

const ZSH = `#compdef octavo
# zsh completion for octavo
_octavo() {
  local line="\${(j: :)words[1,CURRENT-1]} \${QIPREFIX}\${PREFIX}" run=\${(Q)words[1]} directive=0 reply one value
  local -a pairs rest
  whence -- "$run" >/dev/null || run=octavo
  reply=$("$run" complete --shell zsh -- "$line" 2>/dev/null) || return 1
  for one in "\${(@f)reply}"; do
    case $one in
      (:*) directive=\${one#:} ;;
      (?*)
        value=\${one%%$'\\t'*}
        # A colon ends what is inserted.
        value=\${value//\\\\/\\\\\\\\}
        pairs+=("\${value//:/\\\\:}:\${one#*$'\\t'}") ;;
    esac
  done
  if (( directive & 2 )); then rest=(-S ''); fi
  if (( \${#pairs} )); then
    _describe octavo pairs -Q "\${rest[@]}"
  elif (( !(directive & 4) )); then
    _files
  fi
}
if [ "\${funcstack[1]}" = _octavo ]; then
  _octavo "$@"
else
  compdef _octavo octavo
fi
`;

const FISH = `# fish completion for octavo
function __octavo_complete
    set -l reply (octavo complete --shell fish -- (commandline -cp | string collect) 2>/dev/null)
    or return
    set -l directive (string sub --start 2 -- $reply[-1])
    string match --invert --regex '^:\\d+$' -- $reply
    if test (math "floor($directive / 4) % 2") = 0
        __fish_complete_path (commandline -ct)
    end
end
complete --command octavo --erase
complete --command octavo --no-files --arguments '(__octavo_complete)'
`;

/** Completion script by shell. */
export const SCRIPTS: Readonly<Record<Shell, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

/** A command line up to the cursor. */
interface TypedLine {
  /** The unquoted words after the command name; the last one is incomplete and may be empty. */
  readonly words: readonly string[];
  /**
   * Quotes a completion of the last word for the shell: the typed part is kept, and the rest is quoted the same way. Null
   * if that is not possible.
   */
  insert(value: string): string | null;
}

type Quote = "'" | '"' | null;

/** A word; `raw` is its typed form. The shell replaces the part after `from`. */
interface Word {
  text: string;
  raw: string;
  from: number;
  isOpen: boolean;
}

/** Parses a line. `breaks`: characters that separate words only in completion (`COMP_WORDBREAKS` of bash). */
export function readLine(line: string, shell: Shell, breaks = ''): TypedLine {
  const words: Word[] = [];
  let word: Word = emptyWord();
  let quote: Quote = null;
  const end = () => {
    if (word.isOpen) {
      words.push(word);
    }
    word = emptyWord();
  };
  for (let at = 0; at < line.length; at += 1) {
    const character = line[at] ?? '';
    if (quote === null && /\s/.test(character)) {
      end();
      continue;
    }
    word.isOpen = true;
    word.raw += character;
    if (quote === null ? character === "'" || character === '"' : character === quote) {
      quote = quote === null ? (character as Quote) : null;
      word.from = word.raw.length;
    } else if (character === '\\' && isEscape(quote, line[at + 1], shell)) {
      at += 1;
      word.raw += line[at] ?? '';
      word.text += line[at] ?? '';
    } else {
      word.text += character;
      word.from = quote === null && breaks.includes(character) ? word.raw.length : word.from;
    }
  }
  const texts = [...words, word].map(({ text }) => text);
  const command = texts.findIndex((text) => !/^\w+=/.test(text));
  return { words: texts.slice(command + 1), insert: (value) => insertion(value, word, quote, shell) };
}

function emptyWord(): Word {
  return { text: '', raw: '', from: 0, isOpen: false };
}

/** Returns true if a backslash escapes the next character. */
function isEscape(quote: Quote, next: string | undefined, shell: Shell): boolean {
  if (next === undefined || quote === null) {
    return next !== undefined;
  }
  return quote === '"' ? '"\\$`'.includes(next) : shell === 'fish' && "'\\".includes(next);
}

function insertion(value: string, { text, raw, from }: Word, quote: Quote, shell: Shell): string | null {
  if (shell === 'fish') {
    // fish compares and inserts unquoted values.
    return value;
  }
  const added = value.slice(text.length);
  if (!value.startsWith(text) || (quote === "'" && added.includes("'"))) {
    return null;
  }
  const special = quote === '"' ? /["\\$`]/g : shell === 'zsh' ? /[^\w\-.,/:=@%+{}]/g : /[\s'"\\$`&|;<>()*?!#~^]/g;
  return raw.slice(from) + (quote === "'" ? added : added.replaceAll(special, '\\$&'));
}
