import { CommanderError } from 'commander'
import { ConfigError } from '../config/config-error.ts'
import { GatewayError } from '../core/errors.ts'
import { PluginError } from '../pipeline/load.ts'
import { PriceFileError } from '../spend/prices/overrides.ts'

/** How a command ends, for scripts. What is above 64 are the numbers of BSD’s sysexits.h. */
export const EXIT_CODES = {
  0: 'done',
  1: 'failed, or found a fault',
  2: 'asked for what cannot be: a command, an option or a value',
  66: 'what was named is not there, or was not kept',
  69: 'no gateway answers',
  70: 'ended by an exception that nothing caught',
  78: 'the configuration cannot be used',
} as const

/** One of them. */
export type ExitCode = keyof typeof EXIT_CODES

/** A command that cannot go on, and the code that says so. */
export class CommandError extends Error {
  readonly exitCode: ExitCode

  constructor(exitCode: ExitCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'CommandError'
    this.exitCode = exitCode
  }
}

/** The code for what a command has thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (error instanceof ConfigError || error instanceof PriceFileError) return 78
  if (error instanceof PluginError && error.isConfiguration) return 78
  if (!(error instanceof GatewayError)) return 1
  if (error.code === 'not_found') return 66
  return error.code === 'invalid_request' ? 2 : 1
}
