import { setTimeout as sleep } from 'node:timers/promises'
import { AGENT, credential, readChallenge } from '../../payments/agent-fixture.ts'
import { bearer } from '../../support/accounts.ts'
import type { GatewayProcess } from '../../support/gateway-process.ts'
import { ask, type Reply, send } from '../../support/http-client.ts'
import { grantToken } from '../../support/stripe/machine-payments.ts'
import type { Plant, Purchase } from '../matrix/plant.ts'
import { outcomeOf } from '../matrix/probes.ts'

/*
 * DESIGN. Clients that send all kinds of requests, one after another, to gateways that are killed under them. Each answer
 * is recorded with its request, target and time, which the audit compares the books with.
 */

/** Kinds of requests, by the pipeline they run. */
const KINDS = {
  plain: 'none',
  cached: 'exact-cache',
  capped: 'cost-guard',
  full: 'exact-cache,semantic-cache,cost-guard',
} as const

type Kind = keyof typeof KINDS

/** A request, and its reply. */
export interface Sent {
  readonly kind: Kind
  /** Id of the account: one is on a plan that takes credits for each call. */
  readonly account: string
  /** Id of the gateway's process. */
  readonly pid: number
  readonly text: string
  readonly tags: readonly string[]
  readonly reply: Reply
  /** `works`, or how it failed. */
  readonly outcome: string
  readonly endedAtMs: number
}

/** A paid call with what became of each try. */
export interface Paid extends Purchase {
  /** So that a delivered answer can be had again. */
  readonly idempotencyKey: string | undefined
  readonly outcomes: string[]
}

/** A sender of requests. */
export interface Client {
  readonly account: string
  readonly keyId: string
  readonly key: string
}

/** Requests of a load, and their senders. */
export interface LoadOptions {
  readonly plant: Plant
  readonly clients: readonly Client[]
  /** One that is up, if any. */
  readonly gateway: () => GatewayProcess | undefined
  readonly random: () => number
}

/** A running load. */
export interface Load {
  readonly sent: readonly Sent[]
  readonly paid: readonly Paid[]
  /** Stops sending; resolves when the last answer is there. */
  stop(): Promise<void>
}

/** So few that the same question comes again soon. */
const QUESTIONS = 40
/** Tags of requests; `free` has no cap. */
const TAG_LISTS = [[], ['web'], ['shop', 'web'], ['free', 'shop']]
const SHARE_OF_PAID = 0.15
const SHARE_OF_KEYED = 0.5
const TIMEOUT_MS = 60_000
const MOST_TRIES = 4

/** Starts a load: each client sends one request after another. */
export function startLoad(options: LoadOptions): Load {
  const { plant, clients, gateway, random } = options
  const sent: Sent[] = []
  const paid: Paid[] = []
  let isOver = false
  let nth = 0

  const sendByKey = async ({ account, key }: Client, { url, pid }: GatewayProcess) => {
    const kind = pick(Object.keys(KINDS) as Kind[], random)
    const isRepeated = kind === 'cached' || kind === 'full'
    const text = `tell ${isRepeated ? `${kind} ${Math.floor(random() * QUESTIONS)}` : `once ${++nth}`}`
    const body = ask(text, random() < 0.5 ? { stream: true } : {})
    const tags = pick(TAG_LISTS, random)
    const headers = {
      ...bearer(key),
      'x-svc-pipe': KINDS[kind],
      ...(tags.length > 0 && { 'x-svc-tag': tags.join() }),
    }
    const reply = await send(url, { body, headers, timeoutMs: TIMEOUT_MS })
    sent.push({ kind, account, pid, text, tags, reply, outcome: outcomeOf(reply), endedAtMs: performance.now() })
  }
  const buy = async ({ url }: GatewayProcess) => {
    const body = ask(`tell paid ${++nth}`, random() < 0.5 ? { stream: true } : {})
    const asked = await send(url, { path: AGENT, body, headers: { authorization: undefined }, timeoutMs: TIMEOUT_MS })
    if (asked.status !== 402) return
    const purchase: Paid = {
      body,
      challenge: readChallenge(asked),
      token: grantToken(plant.stripe.world),
      idempotencyKey: random() < SHARE_OF_KEYED ? `order-${nth}` : undefined,
      outcomes: [],
    }
    paid.push(purchase)
    await payOnce(purchase, url)
  }
  const run = async (client: Client) => {
    while (!isOver) {
      const now = gateway()
      if (now === undefined) await sleep(20)
      else if (random() < SHARE_OF_PAID) await buy(now)
      else await sendByKey(client, now)
    }
  }
  const running = clients.map(run)
  return {
    sent,
    paid,
    async stop() {
      isOver = true
      await Promise.all(running)
    },
  }
}

/** Sends a credential once, and records the result. */
async function payOnce(purchase: Paid, url: string): Promise<string> {
  const { body, challenge, token, idempotencyKey, outcomes } = purchase
  const headers = {
    authorization: credential(challenge, token),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  }
  const outcome = outcomeOf(await send(url, { path: AGENT, body, headers, timeoutMs: TIMEOUT_MS }))
  outcomes.push(outcome)
  return outcome
}

/** Repeats a payment without a reply, as the documentation advises payers, until its result is known. */
export async function payToTheEnd(purchase: Paid, url: string): Promise<void> {
  for (let tried = 0; tried < MOST_TRIES && !isDecided(purchase); tried++) await payOnce(purchase, url)
}

/** Returns whether the payer knows the state of the money. */
function isDecided({ outcomes }: Paid): boolean {
  return outcomes.includes('works') || outcomes.at(-1) === '402'
}

function pick<Item>(items: readonly Item[], random: () => number): Item {
  return items[Math.floor(random() * items.length)] as Item // safe: below the length
}
