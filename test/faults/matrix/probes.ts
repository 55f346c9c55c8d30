import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { credential, readChallenge } from '../../payments/agent-fixture.ts'
import { bearer, createKey, sendAs } from '../../support/accounts.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { ask, type Reply, type SendOptions, send } from '../../support/http-client.ts'
import { type JsonObject, valueAt } from '../../support/json.ts'
import { grantToken } from '../../support/stripe/machine-payments.ts'
import type { Probe } from './cells.ts'
import { CAPPED, type Plant, type Purchase } from './plant.ts'

/** The path of paid calls. */
const AGENT = '/v1/agent/messages'
/** An account of each request that buys, so that nothing is sold twice. */
const KEEPER = 'keeper'

/** Result of one request. */
export interface Asked {
  readonly probe: Probe
  /** `works`, the kind of failure, or an unexpected result, in words. */
  readonly outcome: string
  readonly tookMs: number
  readonly reply: Reply | undefined
}

/** Options of one request. */
export interface SendingOptions {
  readonly timeoutMs?: number
  /** The purchase to pay for; default: a new one. */
  readonly purchase?: Purchase
  /** Address of another gateway. */
  readonly at?: string
}

/** A sender; the results are in the plant’s tally. */
export interface Prober {
  /** Buys nothing yet: gets a challenge, to be paid later. */
  prepare(body?: JsonObject): Promise<Purchase>
  /** Sends one request, and waits for its end, for so long. */
  send(probe: Exclude<Probe, 'running'>, options?: SendingOptions): Promise<Asked>
  /** Begins a stream, and resolves when its first event is there: with what gives its end. */
  begin(): Promise<() => Promise<Asked>>
}

const DEFAULT_TIMEOUT_MS = 20_000
/** Probes of the gateway under test, with receipts in its books. */
const OF_MODELS = new Set<Probe>(['call', 'stream', 'hit', 'capped', 'paid', 'running'])
/** After these nothing is owed. */
const ENDS_PAYMENT = new Set(['works', '402', '429'])
const QUESTION = 'Where does the toll road begin?'

/** Opens an account with a key on a gateway, and sends from it. `local`: where requests of local mode go. */
export async function openProber(
  plant: Plant,
  { cloud, local }: { cloud: () => GatewayProcess; local: () => GatewayProcess | undefined },
): Promise<Prober> {
  const { key } = await createKey(cloud(), KEEPER)
  const { replies, answered, owed } = plant.tally
  const ofKey = (pipe: string, body: JsonObject): SendOptions => ({
    body,
    headers: { ...bearer(key), 'x-svc-pipe': pipe },
  })
  const fresh = (more: JsonObject = {}) => ask(`question ${randomUUID()}`, more)
  const prepare = async (body = fresh()): Promise<Purchase> => {
    const reply = await send(cloud().url, { path: AGENT, body, headers: { authorization: undefined } })
    return { body, challenge: readChallenge(reply), token: grantToken(plant.stripe.world) }
  }
  const pay = (
    { body, challenge, token }: Purchase,
    { at = cloud().url, timeoutMs = DEFAULT_TIMEOUT_MS }: SendingOptions,
  ) => send(at, { path: AGENT, body, headers: { authorization: credential(challenge, token) }, timeoutMs })

  const payOnce = async (options: SendingOptions): Promise<Reply> => {
    const purchase = options.purchase ?? (await prepare())
    owed.add(purchase)
    const reply = await pay(purchase, options)
    const outcome = outcomeOf(reply)
    if (ENDS_PAYMENT.has(outcome)) owed.delete(purchase)
    if (outcome === 'works') answered.push(purchase)
    return reply
  }

  const dispatch = async (probe: Exclude<Probe, 'running'>, options: SendingOptions): Promise<Reply> => {
    const { url } = cloud()
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = options
    switch (probe) {
      case 'health':
        return send(url, { method: 'GET', path: '/health', timeoutMs })
      case 'call':
        return send(url, { ...ofKey('none', fresh()), timeoutMs })
      case 'stream':
        return send(url, { ...ofKey('none', fresh({ stream: true })), timeoutMs })
      case 'hit':
        return send(url, { ...ofKey('exact-cache', ask(QUESTION)), timeoutMs })
      case 'capped':
        return send(url, { ...ofKey(CAPPED, fresh()), timeoutMs })
      case 'keys':
        return sendAs(KEEPER, url, { method: 'GET', path: '/v1/keys', timeoutMs })
      case 'checkout':
        return sendAs(`buyer-${randomUUID()}`, url, { path: '/v1/billing/checkout', body: { tier: 'pro' }, timeoutMs })
      case 'paid':
        return payOnce(options)
      case 'local':
        return sendLocal('none', fresh(), timeoutMs)
      case 'localCapped':
        return sendLocal(CAPPED, fresh(), timeoutMs)
    }
  }
  const sendLocal = (pipe: string, body: JsonObject, timeoutMs: number) => {
    const gateway = local()
    if (gateway === undefined) throw new Error('There is no local gateway.')
    return send(gateway.url, { body, headers: { 'x-svc-pipe': pipe }, timeoutMs })
  }
  const note = (asked: Asked): Asked => {
    if (asked.outcome === 'works' && asked.reply !== undefined && OF_MODELS.has(asked.probe)) replies.push(asked.reply)
    return asked
  }
  return {
    prepare,
    async send(probe, options = {}) {
      const startedAtMs = performance.now()
      const ended = await dispatch(probe, options).catch((error: Error) => error)
      const tookMs = performance.now() - startedAtMs
      if (ended instanceof Error) return { probe, outcome: ended.message, tookMs, reply: undefined }
      return note({ probe, outcome: outcomeOf(ended), tookMs, reply: ended })
    },
    async begin() {
      const name = randomUUID()
      const begun = Promise.withResolvers<void>()
      const ending = send(cloud().url, {
        ...ofKey('none', ask(`hold ${name}`, { stream: true })),
        timeoutMs: 120_000,
        onChunk: () => begun.resolve(),
      })
      await Promise.race([begun.promise, ending])
      return async () => {
        const startedAtMs = performance.now()
        plant.release(name)
        const reply = await ending
        return note({ probe: 'running', outcome: outcomeOf(reply), tookMs: performance.now() - startedAtMs, reply })
      }
    },
  }
}

/** Returns whether a repeated request did not find its stored reply. */
export function isMiss({ probe, reply }: Asked): boolean {
  return probe === 'hit' && reply !== undefined && reply.headers['x-svc-cache'] !== 'hit'
}

/** Keeps hits only: a repeated request that reached the provider again does not show that the cache works. */
function hitOnly(asked: Asked): Asked {
  return asked.outcome === 'works' && isMiss(asked) ? { ...asked, outcome: 'works, but finds nothing' } : asked
}

/**
 * Sends until all of these work at once; after `waitMs` all are sent once more. Returns the last ones. Those that have
 * worked wait for the others: an outage of seconds costs no thousand requests.
 */
export async function untilAllWork(
  prober: Prober,
  probes: readonly Exclude<Probe, 'running'>[],
  waitMs: number,
): Promise<Asked[]> {
  const deadlineMs = performance.now() + waitMs
  for (let awaited = probes; ; ) {
    const asked = (await Promise.all(awaited.map((probe) => prober.send(probe)))).map(hitOnly)
    const failing = awaited.filter((_, index) => asked[index]?.outcome !== 'works')
    const isLate = performance.now() > deadlineMs
    if (awaited === probes && (failing.length === 0 || isLate)) return asked
    if (failing.length > 0) await sleep(100)
    awaited = failing.length > 0 && !isLate ? failing : probes
  }
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  429: 'rate_limit_error',
  502: 'upstream_error',
  503: 'service_unavailable',
}

/** Returns a word for the reply; a sentence for one that must not be sent. */
export function outcomeOf({ status, text, headers, endedCleanly, json, error }: Reply): string {
  if (status === 0) return `no answer: ${error?.code ?? 'the connection ended'}`
  if (!endedCleanly) return `cut after ${text.length} bytes`
  if (status === 200 || status === 201) return wholeness(text, String(headers['content-type']))
  if (status === 402 && String(headers['www-authenticate']).startsWith('Payment ')) return '402'
  const type = valueAt(json, 'error.type')
  const mayRetry = status !== 503 || headers['retry-after'] !== undefined
  return type !== undefined && type === TYPES[status] && mayRetry ? String(status) : `unexpected ${status}: ${text}`
}

function wholeness(text: string, type: string): string {
  if (!type.startsWith('text/event-stream')) return 'works'
  if (text.includes('event: error')) return 'error event'
  return text.includes('event: message_stop') ? 'works' : 'a stream that ends in the middle'
}
