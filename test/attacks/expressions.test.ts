import test from 'ava'
import { ask } from '../support/http-client.ts'
import { openStage } from '../support/stage.ts'

/** An expression that looks to the end of this text for each match: a quarter of a second of CPU, then it is refused. */
const PATTERN = 'a.*z|a'
const TEXT = 'a'.repeat(300_000)

test('expressions: a key whose searches take much CPU is 429 before long, and another searches on', async (t) => {
  await using stage = await openStage()
  const search = (key: string, text: string) =>
    stage.scene().send({
      body: ask(text),
      headers: {
        authorization: `Bearer ${key}`,
        'x-svc-pipe': 'preserve',
        'x-svc-preserve': new URLSearchParams({ pattern: PATTERN }).toString(),
      },
    })
  const statuses: number[] = []
  for (let i = 0; i < 12; i++) statuses.push((await search('greedy', TEXT)).status)
  t.true(statuses.filter((status) => status !== 429).length < 8, statuses.join(' '))
  const refused = await search('greedy', 'short')
  t.is(refused.status, 429)
  t.true(Number(refused.headers['retry-after']) >= 1)
  t.regex(refused.text, /rate_limit_error.*regular expressions/)
  t.is((await search('another', 'short')).status, 200)
  t.is((await stage.scene().send({ body: ask('hi'), headers: { authorization: 'Bearer greedy' } })).status, 200)
})

test('expressions: one that matches more places than can be kept is 400', async (t) => {
  await using stage = await openStage()
  const headers = { 'x-svc-pipe': 'preserve', 'x-svc-preserve': 'pattern=a' }
  const reply = await stage.scene().send({ body: ask('ab'.repeat(20_000)), headers })
  t.is(reply.status, 400)
  t.regex(reply.text, /at most 10000 texts/)
})
