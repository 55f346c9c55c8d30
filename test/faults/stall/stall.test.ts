import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { runCommand } from '../../support/command-line.ts'
import { isDrill } from '../../support/drill.ts'
import { eventually } from '../../support/eventually.ts'
import { startGatewayProcess } from '../../support/gateway-process.ts'
import { ask, type Reply, send } from '../../support/http-client.ts'
import { valueAt } from '../../support/json.ts'
import { startProvider } from '../../support/stand-in-provider.ts'
import { createFrozenDisk, createLockedDisk, type Disk } from './disks.ts'

/*
 * The disk stalls for ten seconds under requests without a cap: all are answered before it continues, and then each has
 * its receipt and its row. `npm test` stalls it for as long as its requests take. Requests under a cap, plan or quota are
 * refused meanwhile, which the fault matrix checks (disk × hangs).
 */

const STALL_MS = isDrill ? 10_000 : 0
const FEWEST_REQUESTS = 60
const EVERY_MS = 10
/** Beyond the stall: a request that waits for the disk rejects. */
const PATIENCE_MS = 60_000
const STORED_WITHIN_MS = 120_000
const PAGE = 500
const QUESTION = 'Where does the toll road begin?'

const kinds = [
  () => ask(`question ${randomUUID()}`),
  () => ask(`question ${randomUUID()}`, { stream: true }),
  () => ask(QUESTION),
]

/** Sends requests of all kinds in turn while the disk stalls; resolves with the replies, all from before its end. */
async function sendWhileStalled(url: string, disk: Disk): Promise<Reply[]> {
  const resume = await disk.stall()
  try {
    const sent: Promise<Reply>[] = []
    const endsAtMs = performance.now() + STALL_MS
    while (performance.now() < endsAtMs || sent.length < FEWEST_REQUESTS) {
      const body = kinds[sent.length % kinds.length]?.()
      sent.push(send(url, { body: body ?? {}, timeoutMs: STALL_MS + PATIENCE_MS }))
      await sleep(EVERY_MS)
    }
    return await Promise.all(sent)
  } finally {
    await resume()
  }
}

async function idsOfRows(url: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (let after = ''; ; ) {
    const query = `limit=${PAGE}${after === '' ? '' : `&after=${after}`}`
    const { json } = await send(url, { method: 'GET', path: `/dashboard/api/requests?${query}` })
    const rows = (valueAt(json, 'data') ?? []) as readonly { readonly id: string }[] // safe: documented so
    for (const { id } of rows) ids.add(id)
    after = rows.at(-1)?.id ?? ''
    if (rows.length < PAGE) return ids
  }
}

async function checkStall(t: ExecutionContext, disk: Disk): Promise<void> {
  t.timeout(isDrill ? 10 * 60_000 : 300_000)
  const provider = await startProvider()
  t.teardown(provider.close)
  const env = { ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'sk-ant-operator', SVC_DATA_DIR: disk.folder }
  const gateway = await startGatewayProcess(env)
  t.teardown(() => gateway.stop())
  for (const kind of kinds) t.is((await send(gateway.url, { body: kind() })).status, 200)
  const replies = await sendWhileStalled(gateway.url, disk)
  const failed = replies.filter(({ status, endedCleanly }) => status !== 200 || !endedCleanly)
  t.deepEqual(
    failed.map(({ status, text }) => `${status} ${text}`),
    [],
    'no request is refused',
  )
  const ids = replies.map(({ headers }) => String(headers['x-svc-receipt']))
  t.is(new Set(ids).size, ids.length)
  for (const id of ids) {
    const path = `/v1/receipts/${id}`
    const isStored = async () => (await send(gateway.url, { method: 'GET', path })).status === 200
    await eventually(isStored, `receipt ${id}`, STORED_WITHIN_MS)
  }
  const missing = async () => {
    const rows = await idsOfRows(gateway.url)
    return ids.filter((id) => !rows.has(id))
  }
  await eventually(async () => (await missing()).length === 0, 'each request has its row', STORED_WITHIN_MS)
  t.deepEqual(await gateway.stop(), { code: 0, signal: null })
  const verified = await runCommand(['ledger', 'verify'], { env })
  t.is(verified.code, 0, verified.stdout + verified.stderr)
  t.notRegex(gateway.log(), /"dropped":[1-9]/, 'the queues stay within their bounds')
  t.log(`${replies.length} requests during the stall; ${verified.stdout.trim()}`)
}

test.serial('stall: while the databases are locked nothing waits or is refused, and nothing is lost', (t) =>
  checkStall(t, createLockedDisk(t)),
)

if (isDrill)
  test.serial('stall: while the disk is frozen nothing waits or is refused, and nothing is lost', async (t) => {
    const disk = createFrozenDisk(t)
    if (disk === undefined) return t.pass('a file system cannot be mounted here: not checked')
    await checkStall(t, disk)
  })
