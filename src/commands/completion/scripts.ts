/** Completion scripts for shells; each passes the typed line to `octavo complete` and offers its output. */

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
