import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { bearer, CLOUD, type CreatedKey, sendAs } from '../support/accounts.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import { type JsonObject, valueAt } from '../support/json.ts'
import { PIPELINE } from '../support/pipelines.ts'
import { holdEvent, type Script } from '../support/provider/script.ts'
import { sumsOfWindows, untilHeld } from '../support/spend-windows.ts'
import { rowOf } from '../support/telemetry.ts'

/*
 * What an operator changes while a reply streams: the money that was reserved at its admission is settled where it was
 * reserved, and the next request finds the change.
 */
const BOSS = 'boss'
const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-mid-reply-'))
const fixture = await openFixture({
  env: { ...CLOUD, SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}`, SVC_DATA_DIR: dataDir, SVC_PIPELINE: PIPELINE },
})
test.after.always(async () => {
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** A request's worst case is above the first of these, in USD, and below the second. */
const [TOO_LITTLE, ENOUGH] = [0.000_001, 5]
const CAPPED = { limits: { costPerDay: ENOUGH } }
/** Most tags of a request, those of its key included. */
const MOST_TAGS = 8

const sumsOf = (scope: string) => sumsOfWindows(dataDir, scope)

/** Sends a request as the operator, which is expected to succeed, and returns its reply's body. */
async function admin<Body = JsonObject>(call: string, body?: JsonObject): Promise<Body> {
  const [method = 'GET', rest = ''] = call.split(' ')
  const reply = await sendAs(BOSS, fixture.gateway.url, {
    method,
    path: `/v1/admin/${rest}`,
    ...(body && { body }),
  })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
  return reply.json as Body
}

let made = 0

/** Creates a key with caps on it, on its person, on its team and on each of its tags. */
async function openCapped({ tags, script }: { tags: readonly string[]; script?: Script }) {
  const person = `p${++made}`
  const tagged = tags.map((tag) => `${tag}-${person}`)
  await admin('POST people', { id: person })
  await admin(`PATCH people/${person}`, CAPPED)
  const { id: team } = await admin<{ id: string }>('POST teams', { name: `team of ${person}`, ...CAPPED })
  await admin(`PUT teams/${team}/members/${person}`, { role: 'member' })
  for (const tag of tagged) await admin(`PUT tags/${tag}`, CAPPED)
  const key = await admin<CreatedKey>('POST keys', { personId: person, teamId: team, ...CAPPED })
  const scenario = fixture.scenario(script)
  return {
    person,
    team,
    key,
    tags: tagged,
    scopes: [`key:key:${key.id}`, `user:${person}`, `team:${team}`, ...tagged.map((tag) => `tag:${tag}`)],
    send: (text: string, extra: JsonObject = {}) =>
      scenario.send({
        body: ask(`${text} of ${person}`, extra),
        headers: { ...bearer(key.key), 'x-svc-tag': tagged.join(',') },
      }),
  }
}

type Capped = Awaited<ReturnType<typeof openCapped>>

const changes: [name: string, change: (capped: Capped) => Promise<unknown>, next: { status: number; words: RegExp }][] =
  [
    [
      'its person is suspended',
      ({ person }) => admin(`POST people/${person}/suspend`, {}),
      { status: 403, words: /account is suspended/ },
    ],
    [
      'its key is rotated without an overlap',
      ({ key }) => admin(`POST keys/${key.id}/rotate`, { overlapSeconds: 0 }),
      { status: 401, words: /was rotated/ },
    ],
    [
      'its key is suspended',
      ({ key }) => admin(`POST keys/${key.id}/suspend`, {}),
      { status: 403, words: /API key is suspended/ },
    ],
    ['its key is revoked', ({ key }) => admin(`DELETE keys/${key.id}`), { status: 401, words: /revoked/ }],
    [
      'its team is archived',
      ({ team }) => admin(`PATCH teams/${team}`, { archived: true }),
      { status: 200, words: /"type":"message"/ },
    ],
    [
      'its person leaves the team',
      ({ team, person }) => admin(`DELETE teams/${team}/members/${person}`),
      { status: 403, words: /API key is suspended/ },
    ],
    [
      'the caps of its person, team, key and tags are removed',
      async ({ team, person, key, tags }) => {
        for (const owner of [`people/${person}`, `teams/${team}`, `keys/${key.id}`])
          await admin(`PATCH ${owner}`, { limits: null })
        for (const tag of tags) await admin(`PUT tags/${tag}`, { limits: null })
      },
      { status: 200, words: /"type":"message"/ },
    ],
  ]

for (const [name, change, { status, words }] of changes)
  test(`changes: a reply is whole and settled as admitted when ${name} in the middle of it`, async (t) => {
    const gate = Promise.withResolvers<void>()
    const held: Script = { kind: 'answer', text: 'to the last word', writes: holdEvent(2, gate.promise) }
    const capped = await openCapped({ tags: ['shop', 'web'], script: held })
    const { person, team, key, tags, scopes } = capped
    const sending = capped.send('held', { stream: true })
    await untilHeld(dataDir, scopes, 'everywhere')
    await change(capped)
    gate.resolve()
    const reply = await sending
    t.is(reply.status, 200)
    t.regex(reply.text, /" last"[\s\S]*" word"[\s\S]*message_stop/)
    const row = await rowOf(dataDir, reply.headers['x-svc-receipt'])
    t.like(row, { outcome: 'complete', key_id: key.id, user_id: person, team_id: team, tags: JSON.stringify(tags) })
    const cost = Number(row.cost_nano_usd)
    t.true(cost > 0)
    await untilHeld(dataDir, scopes, 'nowhere')
    for (const scope of scopes)
      t.deepEqual(await sumsOf(scope), { windows: 1, settledNanoUsd: cost, heldNanoUsd: 0 }, scope)
    const next = await capped.send('next', { stream: true })
    t.is(next.status, status, next.text)
    t.regex(next.text, words)
    await untilHeld(dataDir, scopes, 'nowhere')
  })

test('tags: as many as a request may have are each counted exactly, and the tightest refuses by its name', async (t) => {
  const capped = await openCapped({ tags: Array.from({ length: MOST_TAGS }, (_, i) => `t${i}`) })
  const { tags, scopes } = capped
  const replies = await Promise.all(Array.from({ length: 6 }, (_, i) => capped.send(`${i}`)))
  let cost = 0
  for (const reply of replies) {
    t.is(reply.status, 200, reply.text)
    cost += Number((await rowOf(dataDir, reply.headers['x-svc-receipt'])).cost_nano_usd)
  }
  t.true(cost > 0)
  const settled = { windows: 1, settledNanoUsd: cost, heldNanoUsd: 0 }
  await untilHeld(dataDir, scopes, 'nowhere')
  for (const scope of scopes) t.deepEqual(await sumsOf(scope), settled, scope)
  for (const tag of tags) {
    await admin(`PUT tags/${tag}`, { limits: { costPerDay: TOO_LITTLE } })
    const refused = await capped.send(`refused by ${tag}`)
    t.is(refused.status, 429)
    t.like(valueAt(refused.json, 'error') as object, { cap: 'tag', tag, limit: TOO_LITTLE })
    await admin(`PUT tags/${tag}`, CAPPED)
    for (const scope of scopes) t.deepEqual(await sumsOf(scope), settled, `${scope} after a refusal by ${tag}`)
  }
  t.is((await capped.send('accepted again')).status, 200)
})
