import test from 'ava'
import { assertMessageStream } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import { openFixtureWith } from '../support/fixture.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { ask, send } from '../support/http-client.ts'
import { createPluginDirectory, pluginSource } from '../support/plugin-folders.ts'
import { holdEvent } from '../support/provider/script.ts'
import { connectRaw } from '../support/raw-client.ts'

const AT_ONCE = 20

/** Throws, or rejects, in a timer when a request asks for it; the request itself goes on. */
const STRAY = pluginSource('stray', {
  run: `
    const text = exchange.original.toString()
    if (text.includes('throw now')) setTimeout(() => { throw new Error('a stray exception') }, 0)
    if (text.includes('throw later')) process.once('SIGTERM', () => setTimeout(() => { throw new Error('a stray exception') }, 0))
    if (text.includes('reject now')) void Promise.reject(new Error('a stray rejection'))
    await next()
  `,
})

test('plugin: an exception outside of a request drains: streams end whole, new connections are refused, exit code 70', async (t) => {
  const plugins = createPluginDirectory(t, { 'stray/index.mjs': STRAY })
  await using fixture = await openFixtureWith(startGatewayProcess, { env: { SVC_PLUGINS_DIR: plugins.path } })
  const gate = Promise.withResolvers<void>()
  const scenario = fixture.scenario({ kind: 'answer', writes: holdEvent(3, gate.promise) })
  let begun = 0
  const streams = Array.from({ length: AT_ONCE }, async () => {
    let isFirst = true
    const onChunk = () => {
      if (isFirst) begun++
      isFirst = false
    }
    return scenario.send({ body: ask('hello there', { stream: true }), onChunk })
  })
  await eventually(() => begun === AT_ONCE, 'all streams are in flight')
  const body = ask('throw now', { stream: true })
  const thrower = scenario.send({ body, headers: { 'x-svc-pipe': 'stray' } })
  const isRefused = () =>
    connectRaw(fixture.gateway.port).then(
      (client) => {
        client.destroy()
        return false
      },
      () => true,
    )
  await eventually(isRefused, 'new connections are refused')
  gate.resolve()
  for (const reply of [...(await Promise.all(streams)), await thrower]) {
    t.true(reply.endedCleanly)
    assertMessageStream(reply.body)
  }
  t.deepEqual(await fixture.gateway.exited, { code: 70, signal: null })
  t.regex(fixture.gateway.log(), /process\.uncaught-exception/)
  t.regex(fixture.gateway.log(), /a stray exception/)
})

test('plugin: an exception while the gateway drains after SIGTERM changes nothing but the exit code', async (t) => {
  const plugins = createPluginDirectory(t, { 'stray/index.mjs': STRAY })
  await using fixture = await openFixtureWith(startGatewayProcess, { env: { SVC_PLUGINS_DIR: plugins.path } })
  const gate = Promise.withResolvers<void>()
  const scenario = fixture.scenario({ kind: 'answer', writes: holdEvent(3, gate.promise) })
  const body = ask('throw later', { stream: true })
  const streaming = scenario.send({ body, headers: { 'x-svc-pipe': 'stray' } })
  await fixture.provider.until(() => scenario.seen().length === 1)
  process.kill(fixture.gateway.pid, 'SIGTERM')
  await eventually(() => fixture.gateway.log().includes('a stray exception'), 'it is thrown')
  t.true(fixture.gateway.log().indexOf('gateway.draining') < fixture.gateway.log().indexOf('a stray exception'))
  gate.resolve()
  assertMessageStream((await streaming).body)
  t.deepEqual(await fixture.gateway.exited, { code: 70, signal: null })
})

test('plugin: a rejection outside of a request is logged, and the gateway goes on', async (t) => {
  const plugins = createPluginDirectory(t, { 'stray/index.mjs': STRAY })
  await using fixture = await openFixtureWith(startGatewayProcess, { env: { SVC_PLUGINS_DIR: plugins.path } })
  const reply = await fixture
    .scenario({ kind: 'answer' })
    .send({ body: ask('reject now'), headers: { 'x-svc-pipe': 'stray' } })
  t.is(reply.status, 200)
  await eventually(() => fixture.gateway.log().includes('a stray rejection'), 'it is logged')
  t.is((await send(fixture.gateway.url, { method: 'GET', path: '/health' })).status, 200)
})
