import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { mergeUsage, readUsage, type Usage } from '../../src/core/reply/usage.ts'
import { eventually } from '../support/eventually.ts'
import { openFixture } from '../support/fixture.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { guardedBy } from '../support/pipelines.ts'
import { bookOf } from '../support/price-usage.ts'
import { loadRecordings, type Recording, toScript } from '../support/recordings.ts'
import { readBooks, tokenOf } from './cost-fixture.ts'

/** Returns the counts of a recorded reply, without the gateway's readers of replies. */
function usageOf({ bytes, isStream }: Recording['response']): Usage | undefined {
  const text = bytes.toString()
  if (!isStream) return readUsage(valueAt(parseJson(text), 'usage'))
  const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => parseJson(data))
  const usages = events.map((event) => readUsage(valueAt(event, 'message.usage') ?? valueAt(event, 'usage')))
  return usages.reduce<Usage | undefined>((sum, usage) => (usage ? mergeUsage(sum, usage) : sum), undefined)
}

test('settlement: every recorded reply costs the price of the provider’s own counts', async (t) => {
  const { items, absent } = loadRecordings()
  if (absent !== undefined) {
    t.log(absent)
    return t.pass()
  }
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-cost-'))
  const fixture = await openFixture({
    provider: { acceptAnything: true },
    env: { SVC_DATA_DIR: dataDir, SVC_PIPELINE: guardedBy('per_day=1000') },
    // Some have pictures by their address, which redaction refuses unless it is set to pass them.
    config: { plugins: { redact: { unread: 'pass' } } },
  })
  t.teardown(async () => {
    await fixture.close()
    await rm(dataDir, { recursive: true, force: true })
  })
  const book = bookOf()
  const messages = items.filter(
    ({ request, response }) => request.path.startsWith('/v1/messages') && response.status === 200,
  )
  const asked = messages.filter(({ request }) => !request.path.includes('count_tokens'))
  const settled = await Promise.all(
    asked.map(async ({ name, request, response }) => {
      const headers = { 'anthropic-beta': request.headers['anthropic-beta'], authorization: `Bearer ${tokenOf(name)}` }
      const reply = await fixture.scenario(toScript(response)).send({ path: request.path, headers, body: request.body })
      t.is(reply.status, 200, `${name}: ${reply.text.slice(0, 200)}`)
      await eventually(() => readBooks(dataDir, name).heldNanoUsd === 0, `${name} is settled`)
      const [hold] = readBooks(dataDir, name).holds
      const usage = usageOf(response)
      const target = { provider: 'anthropic', model: String(valueAt(parseJson(request.body.toString()), 'model')) }
      if (usage !== undefined && isWhole(response))
        t.is(hold?.costNanoUsd, book.price(target, usage, Date.now()).costNanoUsd, name)
      return { name, ...hold }
    }),
  )
  const short = settled.filter(({ costNanoUsd = 0, amountNanoUsd = 0 }) => costNanoUsd > amountNanoUsd)
  t.log(`${settled.length} replies; more than was held cost: ${short.map(({ name }) => name)}`)
  t.true(settled.length > 20)
})

function isWhole({ bytes, isStream }: Recording['response']): boolean {
  return !isStream || bytes.includes('message_stop')
}
