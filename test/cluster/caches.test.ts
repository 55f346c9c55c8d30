import { stateOf } from '../support/cache-fixture.ts'
import { assertMessageStream } from '../support/events.ts'
import { eventually } from '../support/eventually.ts'
import type { Reply } from '../support/http-client.ts'
import { openCaller, scripts, withPromptRedis } from './caller.ts'
import { clusterTest, SIZE } from './cluster.ts'

clusterTest('exact-cache: what one gateway has stored, every other one gives', async (t) => {
  const { cluster, post, calls } = await openCaller(t)
  await withPromptRedis(t, cluster, async (t, nth) => {
    // Of a size that one process alone digests in its own way.
    const text = `stored once, ${nth} ${'and a long text '.repeat(2000)}`
    t.is(stateOf(await post(text)), 'miss')
    // The reply is out before it is stored.
    await eventually(async () => stateOf(await post(text, { at: cluster.gateways[1]?.url ?? '' })) === 'hit', 'hit')
    for (const { url } of cluster.gateways)
      for (const stream of [false, true]) t.is(stateOf(await post(text, { at: url, stream })), 'hit')
    t.is(calls(text), 1)
  })
})

for (const stream of [false, true]) {
  const kind = stream ? 'streams' : 'JSON replies'
  clusterTest(`exact-cache: 40 equal requests at once over all gateways ask the provider once (${kind})`, async (t) => {
    const { cluster, post, calls } = await openCaller(t)
    await withPromptRedis(t, cluster, async (t, nth) => {
      const text = `asked by forty, ${kind}, ${nth}`
      const replies = await Promise.all(Array.from({ length: 40 }, () => post(text, { stream })))
      t.deepEqual(
        statesOf(replies).toSorted(),
        ['attached', 'hit', 'miss'].filter((state) => statesOf(replies).includes(state)),
      )
      t.is(replies.filter((reply) => stateOf(reply) === 'miss').length, 1)
      for (const reply of replies) {
        t.is(reply.status, 200, reply.text)
        if (stream) t.notThrows(() => assertMessageStream(reply.body))
        else t.deepEqual(reply.body, replies[0]?.body)
      }
      t.is(calls(text), 1)
    })
    t.is(cluster.balancer.sent.size, SIZE)
  })
}

clusterTest('exact-cache: when a call fails, each instance asks for itself, one after another', async (t) => {
  const { post, calls } = await openCaller(t)
  const gate = Promise.withResolvers<void>()
  scripts.push(['this fails', () => ({ kind: 'error', status: 400, before: { until: gate.promise } })])
  const asking = Array.from({ length: 20 }, () => post('this fails'))
  await eventually(() => calls('this fails') === 1, 'the first asks')
  gate.resolve()
  t.true((await Promise.all(asking)).every(({ status }) => status === 400))
  // A caller that comes after a failed call makes a new one, so a slow machine makes more calls; without sharing there are twenty.
  t.true(calls('this fails') < asking.length, `${calls('this fails')}`)
})

clusterTest('exact-cache: when the one that asks is left by its callers, another instance asks', async (t) => {
  const { cluster, post, calls } = await openCaller(t)
  const never = new Promise(() => {})
  const gate = Promise.withResolvers<void>()
  let asked = 0
  scripts.push(['left alone', () => ({ kind: 'answer', before: { until: ++asked === 1 ? never : gate.promise } })])
  const leaving = new AbortController()
  const [one, other] = cluster.gateways
  const left = post('left alone', { at: one?.url ?? '', signal: leaving.signal })
  await cluster.provider.until(() => calls('left alone') === 1)
  const waiting = post('left alone', { at: other?.url ?? '' })
  leaving.abort()
  await left
  gate.resolve()
  t.is((await waiting).status, 200)
  t.is(calls('left alone'), 2)
})

function statesOf(replies: readonly Reply[]): string[] {
  return [...new Set(replies.map((reply) => String(stateOf(reply))))]
}
