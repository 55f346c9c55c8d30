import { quote } from './quote.ts'
import type { CompletionNode, Values } from './tree.ts'

/** The completion script for bash 3.2, which macOS has, and newer. */
export function bashScript(nodes: readonly CompletionNode[], modules: readonly string[]): string {
  const routes = nodes.filter(({ route }) => route !== '').map(({ route }) => quote(route))
  return `# Completion of \`turnpike\` for bash. Load it: source <(turnpike completion bash)
_turnpike_words() { COMPREPLY=($(compgen -W "$1" -- "$2")); }
_turnpike_files() { COMPREPLY=($(compgen -f -- "$1")); compopt -o filenames 2>/dev/null; }
_turnpike_pipeline() {
  local before=''
  case "$1" in *,*) before="\${1%,*}," ;; esac
  COMPREPLY=($(compgen -P "$before" -W ${quote(modules.join(' '))} -- "\${1##*,}"))
  compopt -o nospace 2>/dev/null
}
_turnpike() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" route='' i
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$route \${COMP_WORDS[i]}" in
      ${routes.join('|')}) route="$route \${COMP_WORDS[i]}" ;;
    esac
  done
  case "$route $prev" in
${nodes.flatMap(optionCases).join('\n')}
  esac
  case "$route" in
${nodes.map(nodeCase).join('\n')}
  esac
}
complete -F _turnpike turnpike
`
}

function optionCases({ route, valuesOf }: CompletionNode): string[] {
  return [...valuesOf].map(([flag, values]) => `    ${quote(`${route} ${flag}`)}) ${offer(values)}; return ;;`)
}

function nodeCase({ route, commands, options, argument }: CompletionNode): string {
  const flags = `-*) _turnpike_words ${quote(wordsOf(options))} "$cur" ;;`
  const rest =
    commands.length > 0 ? `_turnpike_words ${quote(wordsOf(commands))} "$cur"` : offer(argument ?? { kind: 'free' })
  return `    ${quote(route)}) case "$cur" in ${flags} *) ${rest} ;; esac ;;`
}

function wordsOf(suggestions: readonly { word: string }[]): string {
  return suggestions.map(({ word }) => word).join(' ')
}

function offer(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `_turnpike_words ${quote(values.words.join(' '))} "$cur"`
    case 'file':
      return '_turnpike_files "$cur"'
    case 'pipeline':
      return '_turnpike_pipeline "$cur"'
    case 'free':
      return ':'
    default:
      return values satisfies never
  }
}
