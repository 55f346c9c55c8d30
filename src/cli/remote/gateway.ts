import { type Command, InvalidArgumentError, Option } from 'commander'
import { loadConfig } from '../../config/load.ts'
import { errorCodeOf, messageOf } from '../../core/errors.ts'
import { urlHere } from '../../core/system/listen-address.ts'
import { CommandError } from '../exit-codes.ts'
import { visible } from '../terminal/visible.ts'
import { savedSession } from './saved-sessions.ts'

const LONGEST_MESSAGE = 1000

/** Options of commands that call a running gateway. */
export interface GatewayOptions {
  readonly url?: string
  readonly token?: string
}

/** Running gateway that a command calls. */
export interface RemoteGateway {
  /** Address without a trailing slash. */
  readonly url: string
  /** Headers that the dashboard's routes require. */
  readonly headers: Readonly<Record<string, string>>
}

/** Adds `--url` and `--token` to a command. */
export function addGatewayOptions(command: Command): Command {
  return command
    .option('--url <url>', 'the gateway’s address (default: the configured one on this machine)', parseUrl)
    .addOption(
      new Option(
        '--token <token>',
        'session token, in cloud mode: shows requests of your own keys, or of all keys for operators',
      ).env('SVC_SESSION_TOKEN'),
    )
}

/** Parses an address without its trailing slashes. Throws `InvalidArgumentError`. */
export function parseUrl(text: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text.replace(/\/+$/, '')
  throw new InvalidArgumentError('expected an address such as http://127.0.0.1:3099')
}

/** Returns the address and headers of the gateway, with the session saved for it by `turnpike login`. Throws `ConfigError`, `CommandError`. */
export function findGateway({ url = localUrl(), token = savedSession(url)?.token }: GatewayOptions): RemoteGateway {
  return { url, headers: token === undefined ? {} : { authorization: `Bearer ${token}` } }
}

function localUrl(): string {
  const { host = '127.0.0.1', port } = loadConfig(process.env).config.server
  return urlHere(host, port)
}

/** Calls the gateway. Throws `CommandError` for no reply (69) or a refusal (1; 404: 66). */
export async function ask(gateway: RemoteGateway, path: string, init: RequestInit = {}): Promise<Response> {
  const reply = await send(gateway, path, { headers: gateway.headers, ...init })
  if (reply.ok) return reply
  throw new CommandError(reply.status === 404 ? 66 : 1, await refusalOf(reply))
}

/** Sends to the gateway and returns any reply. A redirect is not followed: it would carry credentials elsewhere. */
export async function send({ url }: RemoteGateway, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url + path, { ...init, redirect: 'error' })
  } catch (error) {
    init.signal?.throwIfAborted()
    const cause = (error as Error).cause ?? error // safe: fetch throws errors
    const why = errorCodeOf(cause) ?? messageOf(cause)
    throw new CommandError(
      69,
      `No gateway replies at ${url} (${visible(why)}). Start one with \`turnpike start\`, or give its address: --url.`,
      { cause: error },
    )
  }
}

async function refusalOf(reply: Response): Promise<string> {
  const text = await reply.text()
  const message = visible(messageIn(text).slice(0, LONGEST_MESSAGE))
  if (reply.status === 401)
    return `${message}\nSign in with turnpike login <url>, or give a session token in SVC_SESSION_TOKEN or --token; in development: turnpike session-token --user <id>`
  if (reply.status === 404)
    return /no such (?:request|budget|conversation)/.test(text)
      ? message
      : 'The gateway shows no requests: SVC_DASHBOARD=off, or `telemetry.enabled: false`, disables them.'
  return `The gateway refuses (${reply.status}): ${message}`
}

/** Returns the message of an error's body, or the body. */
export function messageIn(text: string): string {
  try {
    // Safe: each member is checked before use.
    const { error } = JSON.parse(text) as { error?: { message?: unknown } }
    return typeof error?.message === 'string' ? error.message : text
  } catch {
    return text
  }
}
