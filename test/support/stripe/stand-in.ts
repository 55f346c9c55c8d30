import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { send } from '../http-client.ts'
import { loadDescription } from './description.ts'
import { type Form, parseForm } from './form.ts'
import { checkParameters } from './parameters.ts'
import { Refusal } from './refusal.ts'
import { answer } from './routes.ts'
import { type StripeEvent, World } from './world.ts'

/*
 * DESIGN. Stripe, as far as the gateway uses it: a real HTTP server on loopback with a world of customers, cards and
 * subscriptions behind it.
 *
 *   request ─▶ key ─▶ form ─▶ own strict rules ─▶ published description ─▶ idempotency ─▶ the world ─▶ answer, or its loss
 *
 * The published description is checked with `ajv`, operation by operation; parameters that are newer than it are listed in
 * one place. A validating proxy would refuse paths that the description lacks, such as meters.
 *
 * The world raises events; tests deliver them, signed, when and as often as they like.
 */

const LOOPBACK = '127.0.0.1'

/** A request as received. */
export interface StripeRequest {
  readonly method: string
  readonly path: string
  readonly form: Form
  readonly idempotencyKey: string | undefined
  /** Its `Stripe-Version`. */
  readonly version: string
}

/** A part of Stripe besides the stand-in's own; `undefined`: the request is not for it. Throws `Refusal`. */
export type Department = (world: World, request: StripeRequest) => unknown

/** Fault of a request: its connection breaks before or after its effect, or it or its answer is delayed, or it waits. */
export type Fault =
  | { readonly kind: 'lose-before' | 'lose-after' }
  | { readonly kind: 'wait'; readonly until: Promise<unknown> }
  | { readonly kind: 'delay' | 'delay-answer'; readonly ms: number }
  | { readonly kind: 'status'; readonly status: number }

/** Chooses the fault of a request. */
type FaultChooser = (request: StripeRequest) => Fault | undefined

/** A running stand-in for Stripe. */
export interface StripeStandIn extends AsyncDisposable {
  readonly url: string
  readonly key: string
  readonly secret: string
  readonly world: World
  /** All requests with a valid body, oldest first. */
  readonly seen: readonly StripeRequest[]
  /** One line that shows whether requests are checked against Stripe's published description. */
  readonly checkedBy: string
  /** Sets the chooser of faults, until the returned function is called. */
  fail(choose: FaultChooser): () => void
  /** Removes all faults. */
  mend(): void
  /** Signs an event and delivers it to a gateway. */
  deliver(event: StripeEvent, gatewayUrl: string, options?: SignOptions): ReturnType<typeof send>
  /** Forgets the stored answers of idempotency keys, as Stripe does after a day. */
  forgetKeys(): void
  close(): Promise<void>
}

/** Options of a signed delivery. */
export interface SignOptions {
  readonly secret?: string
  /** Seconds since 1970; default now. */
  readonly atS?: number
  /** Bytes to send instead of the signed ones. */
  readonly sent?: string
}

interface Kept {
  readonly request: string
  answered?: { status: number; body: unknown }
}

const KEY = 'sk_test_standin'
const SECRET = 'whsec_standin'

/** Starts Stripe on a free loopback port. */
export async function startStripe({
  key = KEY,
  secret = SECRET,
  departments = [],
}: {
  key?: string
  secret?: string
  departments?: readonly Department[]
} = {}): Promise<StripeStandIn> {
  const world = new World()
  const seen: StripeRequest[] = []
  const kept = new Map<string, Kept>()
  const describe = loadDescription()
  const choosers = new Set<FaultChooser>()

  const perform = async (request: StripeRequest): Promise<{ status: number; body: unknown }> => {
    const { method, path: pathname, form } = request
    try {
      for (const department of departments) {
        const body = department(world, request)
        if (body !== undefined) return { status: 200, body: structuredClone(body) }
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { status: error.status, body: error.toBody() }
    }
    checkParameters(method, pathname, form)
    describe?.(method, pathname, form)
    try {
      return { status: 200, body: structuredClone(answer(world, { method, pathname, form })) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      return { status: error.status, body: error.toBody() }
    }
  }
  /** Stores answers by idempotency key, as Stripe does, declines too, but not refusals before the request began. */
  const once = async (request: StripeRequest, work: () => Promise<{ status: number; body: unknown }>) => {
    const { idempotencyKey, method, path, form } = request
    if (idempotencyKey === undefined || method === 'GET') return { ...(await work()), replayed: false }
    const same = JSON.stringify([path, form])
    const known = kept.get(idempotencyKey)
    if (known !== undefined && known.request !== same)
      throw new Refusal(400, 'Keys for idempotent requests can only be used with the same parameters.', {
        type: 'idempotency_error',
      })
    if (known?.answered !== undefined) return { ...known.answered, replayed: true }
    if (known !== undefined)
      throw new Refusal(409, 'There is a request in progress with this key.', {
        type: 'idempotency_error',
        code: 'idempotency_key_in_use',
      })
    const entry: Kept = { request: same }
    kept.set(idempotencyKey, entry)
    try {
      entry.answered = await work()
      return { ...entry.answered, replayed: false }
    } catch (error) {
      kept.delete(idempotencyKey)
      throw error
    }
  }
  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(incoming.url ?? '/', 'http://stripe')
    const body = await textOf(incoming)
    const method = incoming.method ?? 'GET'
    const form = parseForm(method === 'GET' ? url.search.slice(1) : body)
    const given = incoming.headers['idempotency-key']
    const request = {
      method,
      path: url.pathname,
      form,
      idempotencyKey: typeof given === 'string' ? given : undefined,
      version: String(incoming.headers['stripe-version']),
    }
    // Stripe takes a key in either form. A refusal shows the key in full, so that tests find any leak of it.
    const basic = `Basic ${Buffer.from(`${key}:`).toString('base64')}`
    if (incoming.headers.authorization !== `Bearer ${key}` && incoming.headers.authorization !== basic)
      throw new Refusal(401, `Invalid API Key provided: ${incoming.headers.authorization}`)
    if (incoming.headers['stripe-version'] === undefined) throw new Refusal(400, 'Expected a Stripe-Version.')
    seen.push(request)
    const fault = [...choosers].map((choose) => choose(request)).find((chosen) => chosen !== undefined)
    if (fault?.kind === 'lose-before') return void incoming.socket.destroy()
    if (fault?.kind === 'status')
      throw new Refusal(fault.status, `Trouble at Stripe, with ${incoming.headers.authorization}.`)
    const answered = await once(request, async () => {
      if (fault?.kind === 'delay') await sleep(fault.ms)
      if (fault?.kind === 'wait') await fault.until
      return perform(request)
    })
    // The answer is the one of the moment before the delay.
    if (fault?.kind === 'delay-answer') await sleep(fault.ms)
    if (fault?.kind === 'lose-after') return void incoming.socket.destroy()
    write(response, answered)
  }
  const server = createServer((incoming, response) => {
    serve(incoming, response).catch((error: unknown) => {
      const refusal = error instanceof Refusal ? error : new Refusal(500, `The stand-in failed: ${error}`)
      write(response, { status: refusal.status, body: refusal.toBody(), replayed: false })
    })
  })
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve))
  const { port } = server.address() as AddressInfo // safe: it listens on TCP

  const deliver: StripeStandIn['deliver'] = (
    event,
    gatewayUrl,
    { secret: used = secret, atS = world.nowS(), sent } = {},
  ) => {
    const payload = JSON.stringify(event)
    return send(gatewayUrl, {
      path: '/v1/billing/webhook',
      headers: {
        'stripe-signature': signatureOf(payload, { secret: used, atS }),
        'content-type': 'application/json; charset=utf-8',
      },
      body: sent ?? payload,
    })
  }
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return {
    url: `http://${LOOPBACK}:${port}`,
    key,
    secret,
    world,
    seen,
    checkedBy:
      describe === undefined
        ? 'Stripe’s published description is absent: requests are checked by the stand-in’s own rules only'
        : 'requests are checked by the stand-in’s own rules and by Stripe’s published description',
    fail: (choose) => {
      choosers.add(choose)
      return () => void choosers.delete(choose)
    },
    mend: () => choosers.clear(),
    deliver,
    forgetKeys: () => kept.clear(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Returns the header that Stripe would send with a payload. */
export function signatureOf(
  payload: string,
  { secret, atS = Math.floor(Date.now() / 1000) }: { secret: string; atS?: number },
): string {
  return `t=${atS},v1=${createHmac('sha256', secret).update(`${atS}.${payload}`).digest('hex')}`
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const piece of incoming.setEncoding('utf8')) text += piece
  return text
}

function write(
  response: ServerResponse,
  { status, body, replayed }: { status: number; body: unknown; replayed: boolean },
): void {
  const retry = status === 409 || status >= 500 ? 'true' : 'false'
  response.writeHead(status, {
    'content-type': 'application/json',
    'request-id': 'req_standin',
    'stripe-should-retry': retry,
    ...(replayed && { 'idempotent-replayed': 'true' }),
  })
  response.end(JSON.stringify(body))
}
