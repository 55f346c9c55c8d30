import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { bearer, CLOUD, createKey, sendAs, sessionToken } from '../support/accounts.ts'
import { sampled } from '../support/drill.ts'
import { openFixture } from '../support/fixture.ts'
import { ask } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { copyRequest, rowOf } from '../support/telemetry.ts'

/*
 * A file of many rows takes as long as its client likes. Its viewer may see them until a role, a scope or the session ends.
 */
const BOSS = 'boss'
/** Owner of all rows. */
const MEMBER = 'ada'
/** More than the buffers of both ends hold, in rows of more than a kilobyte. */
const ROWS = 8000
/** Bytes after which a client waits, and for how long. */
const [FIRST_BYTES, PAUSE_MS] = [100_000, 300]
const FILES = ['requests.csv', 'requests.jsonl', 'conversations/:conversation/turns.jsonl']

const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-files-'))
const fixture = await openFixture({
  env: { ...CLOUD, SVC_RATE_LIMIT: '30', SVC_SESSION_OPERATOR_CLAIM: `sub=${BOSS}`, SVC_DATA_DIR: dataDir },
})
const { url } = fixture.gateway
test.after.always(async () => {
  await fixture.close()
  await rm(dataDir, { recursive: true, force: true })
})

/** Changes a person as another operator, which is expected to succeed. */
async function admin(call: string, body: JsonObject): Promise<void> {
  const [method = '', rest = ''] = call.split(' ')
  const reply = await sendAs(BOSS, url, { method, path: `/v1/admin/${rest}`, body })
  if (reply.status >= 300) throw new Error(`${call}: ${reply.status} ${reply.text}`)
}

/** Creates a person with this role. */
async function personOf(id: string, role: 'operator' | 'viewer' | 'member'): Promise<string> {
  await admin('POST people', { id })
  if (role !== 'member') await admin(`PATCH people/${id}`, { role })
  return id
}

let people = 0
let conversation = ''

test.before('a request, many times', async () => {
  await personOf(MEMBER, 'member')
  const { key } = await createKey(fixture.gateway, MEMBER)
  const { headers } = await fixture.scenario().send({ body: ask('hi'), headers: bearer(key) })
  const { id, conversation_id } = await rowOf(dataDir, headers['x-svc-receipt'])
  conversation = String(conversation_id)
  await copyRequest(dataDir, { id, times: ROWS - 1, modelAsked: `'${'0'.repeat(1000)}' || nth` })
})

/** Begins the download of a file by a client that takes some rows, and then waits until `rest` is called. */
async function download(userId: string, file: string) {
  const address = `${url}/dashboard/api/${file.replace(':conversation', conversation)}`
  const request = get(address, { agent: false, headers: bearer(await sessionToken(userId)) })
  const [reply] = (await once(request, 'response')) as [IncomingMessage]
  if (reply.statusCode !== 200) throw new Error(`${file}: ${reply.statusCode}`)
  const [waits, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let [bytes, lines] = [0, 0]
  reply.on('data', (piece: Buffer) => {
    lines += piece.toString('latin1').split('\n').length - 1
    if (bytes < FIRST_BYTES && bytes + piece.length >= FIRST_BYTES) {
      reply.pause()
      waits.resolve()
    }
    bytes += piece.length
  })
  // A cut is a result: `complete` is false.
  reply.on('error', () => {})
  reply.once('close', () => {
    waits.resolve()
    closed.resolve()
  })
  await waits.promise
  return {
    async rest() {
      reply.resume()
      await closed.promise
      return { bytes, lines, isWhole: reply.complete }
    },
  }
}

const changes: [
  name: string,
  role: 'operator' | 'viewer' | 'member',
  call: (id: string) => string,
  body: JsonObject,
][] = [
  ['an operator who becomes a member', 'operator', (id) => `PATCH people/${id}`, { role: 'member' }],
  ['a viewer who becomes a member', 'viewer', (id) => `PATCH people/${id}`, { role: 'member' }],
  ['a suspended operator', 'operator', (id) => `POST people/${id}/suspend`, {}],
]

for (const [index, file] of FILES.entries())
  for (const [name, role, call, body] of sampled(changes, index))
    test(`files: ${file} is cut for ${name} while it is downloaded`, async (t) => {
      const id = await personOf(`p${++people}`, role)
      const { rest } = await download(id, file)
      await pause(PAUSE_MS)
      await admin(call(id), body)
      const { bytes, lines, isWhole } = await rest()
      t.log(`${bytes} bytes, ${lines} lines`)
      t.false(isWhole)
      t.true(bytes >= FIRST_BYTES && lines < ROWS, `${bytes} bytes, ${lines} lines`)
    })

for (const [index, file] of FILES.entries())
  test(`files: ${file} is whole for a slow client whose rights stay, or grow`, async (t) => {
    for (const id of sampled([BOSS, MEMBER], index % 2)) {
      const { rest } = await download(id, file)
      await pause(PAUSE_MS)
      if (id === MEMBER) await createKey(fixture.gateway, MEMBER)
      const { lines, isWhole } = await rest()
      t.true(isWhole, `${id}: ${lines} lines\n${fixture.gateway.log()}`)
      t.is(lines, file.endsWith('csv') ? ROWS + 1 : ROWS)
    }
  })
