import { listOptions, type Option } from '../../src/config/options.ts'
import { configSchema } from '../../src/config/schema.ts'
import { describeDefault, describeMembers, describeType } from './describe-option.ts'
import { code, GENERATED, table } from './markdown.ts'

const INTRODUCTION = `# Configuration

Options are read from \`config/turnpike.yaml\`, or from the file that \`SVC_CONFIG\` names. An environment variable overrides the file.
An empty variable counts as unset, and a variable in lower case counts as well (\`https_proxy\`). Unknown options and values out of range prevent start-up;
the message names each of them, with the nearest valid name. \`turnpike config\` shows the effective values and their sources.

Durations are written \`500ms\`, \`30s\`, \`15m\`, \`1h\` or \`7d\`; sizes \`64KB\`, \`32MB\` or \`1GB\`, in powers of 1024.
Options of a plugin are under \`plugins.<name>\`: see [plugins](plugins.md).`

/** Renders the reference page of all options. */
export function configurationPage(): string {
  const options = listOptions(configSchema).filter(({ repeated }) => repeated !== true)
  const sections = Map.groupBy(options, ({ path }) => (path.length === 1 ? '' : (path[0] ?? '')))
  const entries = [...sections].map(([section, members]) => {
    const head = section === '' ? '## General' : `## ${section}`
    return [head, ...members.map(entryOf)].join('\n\n')
  })
  return `${[GENERATED, INTRODUCTION, variablesOf(options), ...entries].join('\n\n')}\n`
}

function entryOf(option: Option): string {
  const { path, schema, description = '', env, secret } = option
  const details = [describeType(schema), `default ${describeDefault(option)}`]
  if (env !== undefined) details.unshift(code(env))
  if (secret === true) details.push('secret: never printed or logged')
  const members = describeMembers(schema).map(([name, text]) => `- ${code(name)}: ${text}`)
  return [
    `### ${path.join('.')}`,
    details.join(' · '),
    description,
    ...(members.length > 0 ? [members.join('\n')] : []),
  ].join('\n\n')
}

function variablesOf(options: readonly Option[]): string {
  const rows = options.flatMap(({ env, path }) => {
    const name = path.join('.')
    return env === undefined ? [] : [[code(env), `[${code(name)}](#${name.replaceAll('.', '')})`]]
  })
  return `## Environment variables\n\n${table(['variable', 'option'], [['`SVC_CONFIG`', 'the configuration file'], ...rows])}`
}
