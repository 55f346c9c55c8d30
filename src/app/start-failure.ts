import { ConfigError } from '../config/config-error.ts'
import { errorCodeOf, messageOf } from '../core/errors.ts'
import { PluginError } from '../pipeline/load.ts'

/** Explains a failed start: without a stack if an operator can fix the cause. */
export function explainStartFailure(error: unknown): string {
  return `turnpike cannot start: ${reasonOf(error)}`
}

function reasonOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof PluginError) return error.message
  const code = errorCodeOf(error)
  if (code === 'EADDRINUSE')
    return `${messageOf(error)}\nAnother program listens there. Stop it, or choose another port with PORT.`
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL') return messageOf(error)
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
