import { challengeId } from '../../src/commerce/agent-payments/codecs/challenge.ts'
import { type Fixture, openFixtureWith, type Scenario } from '../support/fixture.ts'
import { type Environment, type Gateway, type Start, startGateway } from '../support/gateway.ts'
import type { Reply, SendOptions } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import type { Script } from '../support/provider/script.ts'
import type { Chooser } from '../support/provider/scripted.ts'
import { type Books, booksOf, type Grant, grantToken, machinePayments } from '../support/stripe/machine-payments.ts'
import { type Fault, type StripeRequest, type StripeStandIn, startStripe } from '../support/stripe/stand-in.ts'

/** The path of paid calls. */
export const AGENT = '/v1/agent/messages'

/** Secret that signs the challenges of tests. */
const MPP_SECRET = 'the-secret-of-challenges-of-tests-and-nothing-else'

/** A challenge as a client reads it. */
export type ReadChallenge = Record<
  'id' | 'realm' | 'method' | 'intent' | 'request' | 'expires' | 'digest' | 'opaque',
  string
>

/** A gateway that takes payments, with Stripe and a provider behind it. */
export interface AgentFixture<Started extends Gateway = Gateway> extends AsyncDisposable {
  readonly fixture: Fixture<Started>
  readonly stripe: StripeStandIn
  readonly url: string
  /** Opens one agent's part, with an answer of its own. */
  agent(script?: Script | Chooser<Script>): Agent
  close(): Promise<void>
}

/** One agent. */
export interface Agent {
  readonly scenario: Scenario
  /** Returns how often the provider was called for it. */
  calls(): number
  grant(grant?: Grant): string
  /** Sends a request as it is. */
  send(options?: SendOptions): Promise<Reply>
  /** Requests without paying, and reads the challenge. */
  ask(body: JsonObject | string): Promise<ReadChallenge>
  /** Sends a request with a credential. */
  pay(body: JsonObject | string, challenge: ReadChallenge, token: string, options?: SendOptions): Promise<Reply>
  books(challenge: ReadChallenge): Books
  /** Sets the faults of Stripe for requests about this challenge, from now on. */
  trouble(challenge: ReadChallenge, choose: (request: StripeRequest, nth: number) => Fault | undefined): void
}

/** The environment of a gateway that takes payments. */
export function agentFixtureEnvironment(stripe: StripeStandIn): Record<string, string> {
  return {
    SVC_MPP: 'on',
    SVC_MPP_SECRET: MPP_SECRET,
    SVC_MPP_REALM: 'gw.test',
    SVC_MPP_NETWORK_ID: 'profile_test_1',
    STRIPE_SECRET_KEY: stripe.key,
    STRIPE_API_BASE: stripe.url,
  }
}

/** Tests of a file share an address. */
const UNLIMITED = { challenges_per_minute: { per_address: 0, overall: 0 } }

/** Opens an agent fixture; `mpp` is laid over that section of its configuration, `sections` beside it. */
export function openAgentFixture(
  env: Environment = {},
  mpp: JsonObject = {},
  sections: JsonObject = {},
): Promise<AgentFixture> {
  return openAgentFixtureWith(startGateway, { env, mpp, sections })
}

/** Overrides of an agent fixture's defaults. */
interface AgentFixtureOptions {
  readonly env?: Environment
  readonly mpp?: JsonObject
  readonly sections?: JsonObject
}

/** Opens an agent fixture whose gateway `start` starts. */
export async function openAgentFixtureWith<Started extends Gateway>(
  start: Start<Started>,
  { env = {}, mpp = {}, sections = {} }: AgentFixtureOptions = {},
): Promise<AgentFixture<Started>> {
  const stripe = await startStripe({ departments: [machinePayments] })
  const config = { ...sections, mpp: { ...UNLIMITED, ...mpp } }
  const fixture = await openFixtureWith(start, {
    env: { ...agentFixtureEnvironment(stripe), SVC_PIPELINE: PIPELINE, ...env },
    config,
  })
  const close = async () => {
    await fixture.close()
    await stripe.close()
  }
  return {
    fixture,
    stripe,
    url: fixture.gateway.url,
    agent: (script) => createAgent(fixture.scenario(script), stripe),
    close,
    [Symbol.asyncDispose]: close,
  }
}

function createAgent(scenario: Scenario, stripe: StripeStandIn): Agent {
  const send = (options: SendOptions = {}) =>
    scenario.send({ path: AGENT, ...options, headers: { authorization: undefined, ...options.headers } })
  return {
    scenario,
    calls: () => scenario.seen().length,
    grant: (grant) => grantToken(stripe.world, grant),
    send,
    ask: async (body) => readChallenge(await send({ body })),
    pay: (body, challenge, token, options = {}) =>
      send({ ...options, body, headers: { authorization: credential(challenge, token), ...options.headers } }),
    books: ({ id }) => booksOf(stripe.world, id),
    trouble({ id }, choose) {
      let nth = 0
      const isAbout = ({ idempotencyKey, path }: StripeRequest) =>
        idempotencyKey?.endsWith(id) === true || isIntentOf(stripe, path, id)
      stripe.fail((request) => (isAbout(request) ? choose(request, ++nth) : undefined))
    },
  }
}

function isIntentOf({ world }: StripeStandIn, path: string, challengeId: string): boolean {
  return world.objects
    .all('payment_intent')
    .some(
      ({ id, metadata }) =>
        path.endsWith(`/${id}`) && (metadata as Record<string, string>).mpp_challenge_id === challengeId,
    )
}

/** Reads the challenge of a reply. Throws when there is none. */
export function readChallenge({ headers, status, text }: Reply): ReadChallenge {
  const field = String(headers['www-authenticate'])
  if (status !== 402 || !field.startsWith('Payment ')) throw new Error(`Expected a challenge, got ${status} ${text}`)
  return Object.fromEntries(
    [...field.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  ) as ReadChallenge
}

/** Issues the same challenge with another end. */
export function endingAt(challenge: ReadChallenge, endMs: number): ReadChallenge {
  const { id: _, ...unsigned } = { ...challenge, expires: new Date(endMs).toISOString() }
  return { ...unsigned, id: challengeId(unsigned, MPP_SECRET) }
}

/** Builds a credential that pays a challenge with a token. */
export function credential(challenge: object, token: string): string {
  return `Payment ${Buffer.from(JSON.stringify({ challenge, payload: { spt: token } })).toString('base64url')}`
}

/** Reads a reply's receipt; `undefined` without one. */
export function receiptOf({ headers }: Reply): JsonObject | undefined {
  const field = headers['payment-receipt']
  return typeof field === 'string' ? JSON.parse(Buffer.from(field, 'base64url').toString()) : undefined
}
