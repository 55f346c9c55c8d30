import { ConfigError } from './config-error.ts'

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

/**
 * Replaces `${NAME}` by the environment's value in every string of a configuration file, so that the file can be shared
 * without its secrets. Throws `ConfigError` that names the variable and the option when the variable is unset.
 */
export function withVariables(value: unknown, env: NodeJS.ProcessEnv, path: readonly string[] = []): unknown {
  if (typeof value === 'string') return value.replace(VARIABLE, (_, name: string) => readVariable(name, env, path))
  if (Array.isArray(value)) return value.map((item, index) => withVariables(item, env, [...path, String(index)]))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [key, withVariables(child, env, [...path, key])]),
  )
}

/** Returns the names of all `${NAME}` in the strings of a configuration file. */
export function variablesNamedIn(value: unknown): string[] {
  if (typeof value === 'string') return [...value.matchAll(VARIABLE)].map(([, name = '']) => name)
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(variablesNamedIn)
}

function readVariable(name: string, env: NodeJS.ProcessEnv, path: readonly string[]): string {
  const value = env[name]
  if (value !== undefined && value !== '') return value
  const place = path.map((key) => key || '""').join('.')
  throw new ConfigError(`\`${place}\`: the environment variable ${name} is not set.`)
}
