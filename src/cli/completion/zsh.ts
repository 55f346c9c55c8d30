import { quote } from './quote.ts'
import type { CompletionNode, Suggestion, Values } from './tree.ts'

/** The completion script for zsh. */
export function zshScript(nodes: readonly CompletionNode[], modules: readonly string[]): string {
  const routes = nodes.filter(({ route }) => route !== '').map(({ route }) => quote(route))
  return `#compdef turnpike
# Completion of \`turnpike\` for zsh. Load it: source <(turnpike completion zsh)
_turnpike_pipeline() {
  compset -P '*,'
  compadd -S '' -- ${modules.map(quote).join(' ')}
}
_turnpike() {
  local route='' prev="\${words[CURRENT-1]}"
  local -a offered
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    case "$route \${words[i]}" in
      (${routes.join('|')}) route="$route \${words[i]}" ;;
    esac
  done
  case "$route $prev" in
${nodes.flatMap(optionCases).join('\n')}
  esac
  case "$route" in
${nodes.map(nodeCase).join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _turnpike turnpike
`
}

function optionCases({ route, valuesOf }: CompletionNode): string[] {
  return [...valuesOf].map(([flag, values]) => `    (${quote(`${route} ${flag}`)}) ${offer(values)}; return ;;`)
}

function nodeCase({ route, commands, options, argument }: CompletionNode): string {
  const rest = commands.length > 0 ? describe('command', commands) : offer(argument ?? { kind: 'free' })
  const body = `if [[ "$PREFIX" == -* ]]; then ${describe('option', options)}; else ${rest}; fi`
  return `    (${quote(route)}) ${body} ;;`
}

function describe(what: string, suggestions: readonly Suggestion[]): string {
  const words = suggestions.map(({ word, summary }) => quote(`${word}:${summary}`))
  return `offered=(${words.join(' ')}); _describe -o ${what} offered`.replace(
    '_describe -o command',
    '_describe command',
  )
}

function offer(values: Values): string {
  switch (values.kind) {
    case 'words':
      return `compadd -- ${values.words.map(quote).join(' ')}`
    case 'file':
      return '_files'
    case 'pipeline':
      return '_turnpike_pipeline'
    case 'free':
      return ':'
    default:
      return values satisfies never
  }
}
