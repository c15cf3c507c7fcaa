import { RootCommand } from '@bomb.sh/tab';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** What a shell runs to complete a command line of Octavo. */
export function printScript(shell: Shell, out: (text: string) => void): void {
  if (shell === 'bash') {
    out(BASH);
    return;
  }
  // The library prints by itself.
  new RootCommand().setup('octavo', 'octavo', shell);
}

/**
 * For bash without more, 3.2 included: the library's needs bash-completion, which not every machine has. Nothing that
 * was typed is evaluated.
 */
const BASH = `# bash completion for octavo
_octavo() {
  local line=\${COMP_LINE:0:COMP_POINT}
  local -a words
  # Bash parts words at = and : too; here they are whole.
  read -ra words <<< "$line"
  case $line in *[[:space:]]) words+=('') ;; esac
  local word=\${words[\${#words[@]}-1]}
  local held=\${word%"\${word##*[=:]}"}
  local reply directive=0 one
  reply=$("$1" complete -- "\${words[@]:1}" 2>/dev/null) || return
  COMPREPLY=()
  while IFS= read -r one; do
    case $one in
      :*) directive=\${one#:} ;;
      ?*) one=\${one%%$'\\t'*}; COMPREPLY+=("\${one#"$held"}") ;;
    esac
  done <<< "$reply"
  if (( directive & 2 )); then compopt -o nospace 2>/dev/null; fi
  if (( !(directive & 4) )); then COMPREPLY+=($(compgen -f -- "\${word##*[=:@]}")); compopt -o filenames 2>/dev/null; fi
}
complete -F _octavo octavo
`;
