import path from 'node:path'
import test from 'ava'
import { openAgentFixture } from '../payments/agent-fixture.ts'
import { booksOf } from '../support/stripe/machine-payments.ts'
import { walkThrough } from '../support/walkthrough.ts'

/** Programs and commands, one after the other, on a machine that does much else. */
const LONGEST_WALK_MS = 180_000

test('docs: the page for agents works as written, and each thing is paid once', async (t) => {
  t.timeout(LONGEST_WALK_MS)
  await using agentFixture = await openAgentFixture()
  let failures = 0
  agentFixture.fixture.provider.reply(({ raw }) =>
    raw.includes('ferry') && ++failures <= 3 ? { kind: 'error', status: 500 } : { kind: 'answer' },
  )
  const { done } = await walkThrough(t, 'docs/agents.md', {
    includes: ({ heading }) => !heading.includes('sandbox'),
    url: agentFixture.url,
    packages: path.join(import.meta.dirname, 'node_modules'),
    env: { STRIPE_SECRET_KEY: agentFixture.stripe.key, STRIPE_API_BASE: agentFixture.stripe.url },
  })
  t.deepEqual(done, { written: 4, started: 0, run: 7, compared: 7 })
  t.deepEqual(booksOf(agentFixture.stripe.world), {
    intents: 3,
    capturedCents: 150,
    heldCents: 0,
    statuses: ['succeeded', 'succeeded', 'succeeded'],
  })
})
