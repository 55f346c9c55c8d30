import { CommanderError } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { GatewayError } from '../core/errors.ts'
import { PluginError } from '../pipeline/load.ts'
import { PriceFileError } from '../spend/prices/overrides.ts'

/** Exit codes, for scripts. Those above 64 are the numbers of BSD’s sysexits.h. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed, or found a fault',
  2: 'usage error: a command, an option or a value',
  66: 'not found, or not kept',
  69: 'no gateway replies',
  70: 'ended by an uncaught exception',
  78: 'the configuration is invalid',
} as const

export type ExitCode = keyof typeof EXIT_CODES

/** Failure of a command, with its exit code. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** Returns the exit code for an error that a command has thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ConfigError || error instanceof PriceFileError) return 78
  if (error instanceof PluginError && error.isConfiguration) return 78
  if (!(error instanceof GatewayError)) return 1
  if (error.code === 'not_found') return 66
  return error.code === 'invalid_request' ? 2 : 1
}
