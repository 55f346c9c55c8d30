import { type Command, InvalidArgumentError, Option } from 'commander'
import { loadConfig } from '../../config/load.ts'
import { errorCodeOf, messageOf } from '../../core/errors.ts'
import { urlHere } from '../../core/system/listen-address.ts'
import { CommandError } from '../exit-codes.ts'
import { visible } from '../terminal/visible.ts'

const LONGEST_MESSAGE = 1000

/** The options of commands that ask a running gateway. */
export interface GatewayOptions {
  readonly url?: string
  readonly token?: string
}

/** A running gateway, as a command asks it. */
export interface RemoteGateway {
  /** Without a slash at its end. */
  readonly url: string
  /** What the dashboard's routes want of who looks. */
  readonly headers: Readonly<Record<string, string>>
}

/** Adds `--url` and `--token` to a command. */
export function addGatewayOptions(command: Command): Command {
  return command
    .option(
      '--url <url>',
      'the gateway’s address (default: where the configuration has it listen, on this machine)',
      parseUrl,
    )
    .addOption(
      new Option(
        '--token <token>',
        'session token, in cloud mode: requests of your own keys, or of all for operators',
      ).env('SVC_SESSION_TOKEN'),
    )
}

function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '')
  throw new InvalidArgumentError('expected an address as http://127.0.0.1:3099')
}

/** Where the gateway is and how it is asked. Throws `ConfigError`. */
export function findGateway({ url, token }: GatewayOptions): RemoteGateway {
  return { url: url ?? localUrl(), headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }
}

function localUrl(): string {
  const { host = '127.0.0.1', port } = loadConfig(process.env).config.server
  return urlHere(host, port)
}

/** Asks the gateway. Throws `CommandError`: nobody answers (69), or it refuses (1; 404: 66). */
export async function ask(gateway: RemoteGateway, path: string, init: RequestInit = {}): Promise<Response> {
  const reply = await send(gateway, path, { headers: gateway.headers, ...init })
  if (reply.ok) return reply
  throw new CommandError(reply.status === 404 ? 66 : 1, await refusalOf(reply))
}

/** Sends to the gateway, whatever it answers. A redirect is not followed: it would carry credentials elsewhere. */
export async function send({ url }: RemoteGateway, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url + path, { ...init, redirect: 'error' })
  } catch (error) {
    init.signal?.throwIfAborted()
    const cause = (error as Error).cause ?? error // safe: fetch throws errors
    const why = errorCodeOf(cause) ?? messageOf(cause)
    throw new CommandError(
      69,
      `No gateway answers at ${url} (${visible(why)}). Start one with \`turnpike start\`, or give its address: --url.`,
      { cause: error },
    )
  }
}

async function refusalOf(reply: Response): Promise<string> {
  const text = await reply.text()
  const says = visible(messageIn(text).slice(0, LONGEST_MESSAGE))
  if (reply.status === 401)
    return `${says}\nGive a session token in SVC_SESSION_TOKEN or --token; in development: turnpike session-token --user <id>`
  if (reply.status === 404)
    return text.includes('no such request')
      ? says
      : 'The gateway shows no requests: SVC_DASHBOARD=off, or `telemetry.enabled: false`, takes them away.'
  return `The gateway refuses (${reply.status}): ${says}`
}

/** The message of an error's body, or the body. */
export function messageIn(text: string): string {
  try {
    // Safe: each member is looked at as if it were not there.
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message : text
  } catch {
    return text
  }
}
