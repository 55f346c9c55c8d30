import test from 'ava'
import { GatewayError, type PluginContext } from 'turnpike/plugin'
import { openExchange } from '../../test/support/exchange.ts'
import { createRecordingLog } from '../../test/support/recording-log.ts'
import preserve from './index.ts'

const BODY = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'a <keep>b</keep> c' }] })

/** Runs the plugin in front of one that edits. */
async function run(given: object, value: string) {
  const log = createRecordingLog()
  const exchange = openExchange({ body: BODY, dialect: 'messages' })
  const headers: Record<string, string> = {}
  // Safe: the plugin uses the exchange and the reply's headers only.
  const ctx = {
    state: { exchange },
    set(name: string, text: string) {
      headers[name] = text
    },
  } as unknown as PluginContext
  const options = preserve.options.parse(given)
  const { middleware } = await preserve.setup(options, { log, clock: { nowMs: () => 0 } })
  await middleware(options)(ctx, async () => {
    exchange.edit({ op: 'replace', path: ['messages', 0, 'content'], value })
  })
  return { exchange, headers, log }
}

test('preserve: an edit that preserves declared texts takes effect', async (t) => {
  const { exchange, headers } = await run({ report: 1 }, '<keep>b</keep>')
  t.is(exchange.request.messages[0]?.content, '<keep>b</keep>')
  t.is(headers['x-svc-preserve'], 'texts=1, kept=1')
})

test('preserve: an edit that does not fails its plugin, or the request', async (t) => {
  await t.throwsAsync(run({ report: 1 }, '<keep>B</keep>'), { instanceOf: Error, message: /did not keep 1 of 1/ })
  const refused = await t.throwsAsync(run({ report: true, violation: 'refuse' }, ''), { instanceOf: GatewayError })
  t.is(refused.status, 503)
})

test('preserve: without a report nothing is checked, and there is no header', async (t) => {
  const { exchange, headers } = await run({}, 'gone')
  t.is(exchange.request.messages[0]?.content, 'gone')
  t.deepEqual(headers, {})
})
