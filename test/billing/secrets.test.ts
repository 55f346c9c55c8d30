import test from 'ava'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { send } from '../support/http-client.ts'
import { openShop, patchRecharge, post } from './shop.ts'

const KEY = 'sk_test_CANARYkey0123456789'
const SECRET = 'whsec_CANARYsecret0123456789'
const CANARY = /CANARY/

test('billing: key and webhook secret are in no answer, log or output, whatever goes wrong', async (t) => {
  const shop = await openShop(t, {
    key: KEY,
    secret: SECRET,
    env: { LOG_LEVEL: 'debug', SVC_RECHARGE_INTERVAL: '100ms' },
  })
  const { stripe, url } = shop
  const answers: string[] = []
  const hear = async (reply: Promise<{ text: string; rawHeaders: readonly string[] }>) => {
    const { text, rawHeaders } = await reply
    answers.push(text, rawHeaders.join())
  }
  await shop.buy('ann', 'pro', { card: 'declined' })
  await shop.deliver(t)
  await patchRecharge(url, 'ann', { autoRechargeEnabled: true, autoRechargeThreshold: 600_000 })
  await shop.until('ann', ({ autoRechargeEnabled }) => autoRechargeEnabled === false, 'the card is declined')
  const [event] = stripe.world.events
  for (const status of [400, 401, 403, 404, 409, 429, 500]) {
    const mend = stripe.fail(({ path }) => (path === '/v1/customers' ? undefined : { kind: 'status', status }))
    // At once: Stripe's package tries each again after a pause.
    await Promise.all([
      hear(post(url, 'checkout', 'bob', { tier: 'pro' })),
      hear(post(url, 'portal', 'ann', {})),
      event && hear(stripe.deliver({ ...event, id: `evt_${status}` }, url)),
    ])
    mend()
  }
  if (event !== undefined) await hear(stripe.deliver(event, url, { secret: `${SECRET}x` }))
  // Secrets in every place where a client can put them.
  await hear(post(url, 'checkout', KEY, { tier: 'x', successUrl: 'x' }))
  await hear(send(url, { path: '/v1/billing/webhook', body: '{', headers: { 'stripe-signature': 't=1,v1=2' } }))
  const env = { STRIPE_SECRET_KEY: KEY, STRIPE_WEBHOOK_SECRET: SECRET }
  const { stdout, stderr } = await runCommandInThread(['config'], { env })
  await shop.gateways[0]?.stop()
  t.true(answers.length > 40)
  t.notRegex(answers.join('\n'), CANARY)
  t.notRegex(shop.gateways[0]?.log() ?? 'CANARY', CANARY)
  t.notRegex(stdout + stderr, CANARY)
  t.regex(shop.gateways[0]?.log() ?? '', /StripeAuthenticationError/, 'errors of Stripe were logged at all')
})
