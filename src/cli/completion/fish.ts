import { quoteFish } from './quote.ts'
import type { CompletionNode, Values } from './tree.ts'

/** The completion script for fish. */
export function fishScript(nodes: readonly CompletionNode[], modules: readonly string[]): string {
  const routes = nodes.filter(({ route }) => route !== '').map(({ route }) => quoteFish(route))
  return `# Completion of \`turnpike\` for fish. Load it: turnpike completion fish | source
function __turnpike_at
  set -l route ''
  for word in (commandline -opc)[2..]
    contains -- "$route $word" ${routes.join(' ')}; and set route "$route $word"
  end
  test "$route" = "$argv[1]"
end
function __turnpike_pipeline
  set -l before (commandline -ct | string replace -r '[^,]*$' '')
  for module in ${modules.map(quoteFish).join(' ')}
    echo $before$module
  end
end
complete -c turnpike -f
${nodes.flatMap(linesOf).join('\n')}
`
}

function linesOf({ route, commands, options, valuesOf, argument }: CompletionNode): string[] {
  const at = `complete -c turnpike -n ${quoteFish(`__turnpike_at ${quoteFish(route)}`)}`
  return [
    ...commands.map(({ word, summary }) => `${at} -a ${quoteFish(word)} -d ${quoteFish(summary)}`),
    ...options.map(({ word, summary }) => {
      const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`
      const values = valuesOf.get(word)
      return `${at} ${flag}${values === undefined ? '' : ` -x${offer(values)}`} -d ${quoteFish(summary)}`
    }),
    ...(argument === undefined || offer(argument) === '' ? [] : [`${at}${offer(argument)}`]),
  ]
}

function offer(values: Values): string {
  switch (values.kind) {
    case 'words':
      return ` -a ${quoteFish(values.words.join(' '))}`
    case 'file':
      return " -a '(__fish_complete_path)'"
    case 'pipeline':
      return " -a '(__turnpike_pipeline)'"
    case 'free':
      return ''
    default:
      return values satisfies never
  }
}
