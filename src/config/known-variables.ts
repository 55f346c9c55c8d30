import { suggest } from '../core/nearest.ts'
import { listOptions } from './options.ts'
import { configSchema } from './schema.ts'
import { variablesNamedIn } from './variables.ts'

const OWN_PREFIX = /^svc_/i
/**
 * Variables that are no options: the path of the configuration file, and credentials that commands send to a running
 * gateway.
 */
const BESIDE_OPTIONS = ['SVC_CONFIG', 'SVC_SESSION_TOKEN', 'SVC_API_KEY']

/**
 * Returns a fault for each set variable that begins with `SVC_` and has no effect, with the nearest known name. A
 * variable that the configuration file references as `${NAME}` has an effect. An empty variable counts as unset.
 */
export function unknownVariables(env: NodeJS.ProcessEnv, file: unknown): string[] {
  const options = listOptions(configSchema).flatMap(({ env: name }) => (name?.startsWith('SVC_') ? [name] : []))
  const known = [...options, ...BESIDE_OPTIONS]
  const read = new Set([...known, ...options.map((name) => name.toLowerCase()), ...variablesNamedIn(file)])
  return Object.keys(env)
    .filter((name) => OWN_PREFIX.test(name) && env[name] !== '' && !read.has(name))
    .map((name) => `unknown environment variable \`${name}\`.${suggest(name, known)}`)
}
