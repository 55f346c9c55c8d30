import type { Command } from 'commander'
import { GatewayError } from '../../core/errors.ts'

/** Limits as typed. */
export interface LimitOptions {
  readonly perDay?: string
  readonly perMonth?: string
  readonly perMinute?: string
  readonly models?: string
  readonly modules?: string
  /** False with `--no-limits`. */
  readonly limits: boolean
}

/** Adds the options that set limits. */
export function addLimitOptions(command: Command): Command {
  return command
    .option('--per-day <usd>', 'most USD in a day')
    .option('--per-month <usd>', 'most USD in a month')
    .option('--per-minute <count>', 'most requests in a minute')
    .option('--models <names>', 'the only models, separated by commas; a * at the end matches any rest')
    .option('--modules <names>', 'the only modules that requests may name')
    .option('--no-limits', 'remove all limits that are not given here')
}

/** Returns the limits after the options; `undefined` without any. Throws `invalid_request` for no number. */
export function limitsAfter(current: object | null | undefined, options: LimitOptions): object | null | undefined {
  const given = {
    ...numberOf('costPerDay', options.perDay),
    ...numberOf('costPerMonth', options.perMonth),
    ...numberOf('requestsPerMinute', options.perMinute),
    ...(options.models !== undefined && { models: namesIn(options.models) }),
    ...(options.modules !== undefined && { modules: namesIn(options.modules) }),
  }
  if (!options.limits) return Object.keys(given).length === 0 ? null : given
  return Object.keys(given).length === 0 ? undefined : { ...current, ...given }
}

function numberOf(name: string, text: string | undefined): Readonly<Record<string, number>> {
  if (text === undefined) return {}
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value))
    throw new GatewayError('invalid_request', `${name}: expected a number, got \`${text}\`.`)
  return { [name]: value }
}

/** Splits names at commas. */
export function namesIn(text: string): string[] {
  return text.split(',').flatMap((name) => name.trim() || [])
}
