import { untilKnown } from '../../semantic-cache/until-known.ts'
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
  const instances = cluster.gateways.map(({ url }) => ({
    url,
    ask: (text: string, { pipe }: { pipe: string }) => post(text, { headers: { 'x-svc-pipe': pipe }, at: url }),
  }))
  const [writer, ...readers] = instances as [(typeof instances)[number], ...typeof instances] // safe: there are several
  const options = { pipe: 'semantic-cache' }
  await eventually(async () => stateOf(await writer.ask('How do I wash a rug?', options)) === 'hit', 'it is stored')
  for (const reader of readers) {
    await untilKnown(writer, reader)
    t.is(stateOf(await reader.ask('How can I wash a rug?', options)), 'semantic', reader.url)
  }
})
