import { stateOf } from '../../support/cache-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { openCaller } from '../caller.ts'
import { clusterTest } from '../cluster.ts'

clusterTest('exact-cache: 200 questions, each asked by all gateways at once, cost 200 calls', async (t) => {
  const { cluster, post, calls } = await openCaller(t)
  for (let nth = 0; nth < 200; nth++) {
    const text = `question ${nth} of many`
    const replies = await Promise.all(cluster.gateways.flatMap(({ url }) => [url, url]).map((at) => post(text, { at })))
    t.true(replies.every(({ status }) => status === 200))
    t.is(calls(text), 1, text)
  }
})

clusterTest('semantic-cache: what one gateway has learnt, every other one answers', async (t) => {
  const { cluster, post } = await openCaller(t)
  const headers = { 'x-svc-pipe': 'semantic-cache' }
  const text = 'How do I reverse a list in Python?'
  t.is((await post(text, { headers })).status, 200)
  for (const { url } of cluster.gateways)
    await eventually(async () => stateOf(await post(text, { headers, at: url })) === 'hit', `a hit at ${url}`)
  const same = 'how do I reverse a list in python'
  for (const { url } of cluster.gateways) t.is(stateOf(await post(same, { headers, at: url })), 'semantic', url)
})
