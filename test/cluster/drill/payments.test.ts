import test, { type ExecutionContext } from 'ava'
import { AGENT, agentFixtureEnvironment, credential, readChallenge, receiptOf } from '../../payments/agent-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { ask, type Reply, type SendOptions, send } from '../../support/http-client.ts'
import { valueAt } from '../../support/json.ts'
import { booksOf, grantToken, machinePayments } from '../../support/stripe/machine-payments.ts'
import { type StripeStandIn, startStripe } from '../../support/stripe/stand-in.ts'
import { type Cluster, clusterTest, openCluster } from '../cluster.ts'

const SESSIONS = '/v1/agent/sessions'
const ROUNDS = 5
const SUBMITS = 40

let opened: Promise<{ cluster: Cluster; stripe: StripeStandIn }> | undefined
const open = () => {
  opened ??= openTollCluster()
  return opened
}

test.after.always(async () => (await opened)?.stripe.close())

async function openTollCluster() {
  const stripe = await startStripe({ departments: [machinePayments] })
  // Tests share an address.
  const config = { mpp: { challenges_per_minute: { per_address: 0, overall: 0 } } }
  // Over http a gateway calls Stripe on its own host only.
  return { stripe, cluster: await openCluster({ env: agentFixtureEnvironment(stripe), config, isHere: true }) }
}

/** Through the balancer: each request reaches the next gateway. */
const call = ({ url }: Cluster, options: SendOptions) =>
  send(url, { path: AGENT, ...options, headers: { authorization: undefined, ...options.headers } })

clusterTest(
  'payments: a credential that all gateways are sent at once is served, charged and asked once',
  async (t) => {
    t.timeout(300_000)
    const { cluster, stripe } = await open()
    for (let round = 0; round < ROUNDS; round++) {
      const body = ask(`what is toll ${round}`, { ...(round % 2 && { stream: true }) })
      const challenge = readChallenge(await call(cluster, { body }))
      const authorization = credential(challenge, grantToken(stripe.world, { maxCents: 100_000 }))
      const replies = await Promise.all(
        Array.from({ length: SUBMITS }, () => call(cluster, { body, headers: { authorization } })),
      )
      assertOnce(t, replies)
      t.like(booksOf(stripe.world, challenge.id), { intents: 1, capturedCents: 50, heldCents: 0 })
      t.is(cluster.provider.seen.filter(({ raw }) => raw.includes(`what is toll ${round}`)).length, 1)
    }
  },
)

clusterTest(
  'payments: a session that is used at all gateways at once pays for as many calls as were bought',
  async (t) => {
    t.timeout(300_000)
    const { cluster, stripe } = await open()
    for (let round = 0; round < ROUNDS; round++) {
      const challenge = readChallenge(await call(cluster, { path: SESSIONS }))
      const authorization = credential(challenge, grantToken(stripe.world, { maxCents: 100_000 }))
      const bought = await Promise.all(
        Array.from({ length: SUBMITS }, () => call(cluster, { path: SESSIONS, headers: { authorization } })),
      )
      const sessions = bought.filter(({ status }) => status === 201)
      t.is(sessions.length, 1)
      const use = { authorization: String(valueAt(sessions[0]?.json, 'authorization')) }
      // Each has its own question: a cached answer uses no call.
      const replies = await Promise.all(
        Array.from({ length: SUBMITS }, (_, nth) => call(cluster, { body: ask(`toll ${nth}`), headers: use })),
      )
      t.is(replies.filter(({ status }) => status === 200).length, 10)
      t.is(replies.filter(({ status }) => status === 402).length, SUBMITS - 10)
      t.like(booksOf(stripe.world, challenge.id), { intents: 1, capturedCents: 50, heldCents: 0 })
      for (const { url } of cluster.gateways) {
        const left = await send(url, { method: 'GET', path: SESSIONS, headers: use })
        t.is(valueAt(left.json, 'calls_remaining'), 0)
      }
    }
  },
)

clusterTest('payments: every gateway lists the settlements of all', async (t) => {
  const { cluster } = await open()
  const lists = () =>
    Promise.all(cluster.gateways.map(({ url }) => send(url, { method: 'GET', path: '/v1/agent/ledger' })))
  const areEqual = async () => new Set((await lists()).map(({ text }) => text)).size === 1
  await eventually(areEqual, 'all list the same')
  t.regex((await lists())[0]?.text ?? '', /amount/)
})

function assertOnce(t: ExecutionContext, replies: readonly Reply[]): void {
  const byStatus = Map.groupBy(replies, ({ status }) => status)
  t.deepEqual([...byStatus.keys()].sort(), [200, 402])
  t.is(byStatus.get(200)?.length, 1)
  t.is(replies.filter((reply) => receiptOf(reply) !== undefined).length, 1)
}
