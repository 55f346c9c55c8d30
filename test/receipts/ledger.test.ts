import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { parseCheckpoint } from '../../src/core/ledger/checkpoint.ts'
import { parsePublicKeys } from '../../src/journal/receipts/public-key.ts'
import { readReceiptKey, receiptKeyFile } from '../../src/journal/receipts/signing-key.ts'
import { verifyReceipt } from '../../src/journal/receipts/verify.ts'
import { runCommandInThread } from '../support/command-in-thread.ts'
import { startGateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { valueAt } from '../support/json.ts'
import { once as onlyOnce } from '../support/once.ts'
import { createPluginDirectory } from '../support/plugin-folders.ts'
import { signReceiptV1 } from '../support/receipts.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const provider = await startProvider()
test.after.always(() => provider.close())

const ROOT = path.resolve(import.meta.dirname, '../..')
const get = (url: string, route: string) => send(url, { method: 'GET', path: route })
const environment = (dataDir: string) => ({
  SVC_DATA_DIR: dataDir,
  SVC_PIPELINE: 'none',
  ANTHROPIC_BASE_URL: provider.url,
  ANTHROPIC_API_KEY: 'sk-ant-x',
})
const verifyLedger = (dataDir: string, ...args: string[]) =>
  runCommandInThread(['ledger', 'verify', ...args], { env: environment(dataDir) })

/** Sends requests in rounds, so that the ledger has batches of several and of one. */
async function fill(url: string, rounds: readonly number[]): Promise<string[]> {
  const ids: string[] = []
  for (const [round, count] of rounds.entries()) {
    const replies = await Promise.all(
      Array.from({ length: count }, (_, i) => send(url, { body: ask(`round ${round}, ${i}`) })),
    )
    ids.push(...replies.map(({ headers }) => String(headers['x-svc-receipt'])))
    // A receipt that is fetched is stored first, so that the next round is another batch.
    for (const id of ids.slice(-count)) await get(url, `/v1/receipts/${id}`)
  }
  return ids
}

interface Kept {
  readonly dataDir: string
  readonly head: string
  readonly keys: string
  readonly ids: readonly string[]
}

const folderOfAll = createPluginDirectory({ teardown: test.after.always })

/** Runs a gateway, keeps its keys and a head halfway, and stops it. */
const runGateway = onlyOnce(async () => {
  const dataDir = path.join(folderOfAll.path, 'data')
  const gateway = await startGateway(environment(dataDir))
  try {
    const before = await fill(gateway.url, [20, 1, 1, 12])
    const ledger = (await get(gateway.url, '/.well-known/turnpike-ledger')).json
    const after = await fill(gateway.url, [1, 5])
    const keys = (await get(gateway.url, '/.well-known/turnpike-keys')).text
    return { dataDir, head: String(valueAt(ledger, 'checkpoint')), keys, ids: [...before, ...after] }
  } finally {
    await gateway.stop()
  }
})

/** Returns what was kept of the one gateway, with a copy of its data for a test. */
async function keptOf(t: ExecutionContext): Promise<Kept & { readonly put: (name: string, text: string) => string }> {
  const { dataDir, head, keys, ids } = await runGateway()
  const { path: folder, put } = createPluginDirectory(t)
  const copy = path.join(folder, 'data')
  cpSync(dataDir, copy, { recursive: true })
  return { dataDir: copy, head: put('head.txt', head), keys: put('keys.json', keys), ids, put }
}

/** Copies a data folder, and changes the copy's database as an operator might, whom triggers do not stop. */
function tampered({ dataDir }: Kept, name: string, change: (database: DatabaseSync, folder: string) => void): string {
  const copy = path.join(dataDir, '..', name)
  mkdirSync(copy)
  for (const file of ['turnpike.db', 'receipt-key.pem']) copyFileSync(path.join(dataDir, file), path.join(copy, file))
  const database = new DatabaseSync(path.join(copy, 'turnpike.db'))
  for (const { name } of database.prepare(`select name from sqlite_master where type = 'trigger'`).all())
    database.exec(`drop trigger ${String(name)}`)
  change(database, copy)
  database.close()
  return copy
}

test('ledger: an honest one verifies, a receipt in it by its id, and its head is printed', async (t) => {
  const kept = await keptOf(t)
  const found = await verifyLedger(kept.dataDir, '--from', kept.head, '--key', kept.keys)
  t.is(found.code, 0, found.stdout + found.stderr)
  t.regex(found.stdout, /^Verified: .*: 40 receipts under \d+ heads\n {2}40 stored, 0 deleted .*, 0 older ones/s)
  const env = environment(kept.dataDir)
  const head = await runCommandInThread(['ledger', 'head'], { env })
  t.regex(head.stdout, /^turnpike\/ledger\/[0-9a-f]{20}\n40\n[A-Za-z0-9+/]{43}=\n\n— turnpike\/ledger\/\S+ \S+\n$/)
  const latest = kept.put('latest.txt', head.stdout)
  const json = await verifyLedger(kept.dataDir, '--from', latest, '--from', kept.head, '--json')
  t.like(JSON.parse(json.stdout), { isValid: true, leaves: 40, receipts: 40, faults: [] })
  const receipt = await runCommandInThread(['receipt', 'verify', String(kept.ids[7])], { env })
  t.regex(receipt.stdout, /^Genuine: .*ok +inclusion/s)
  t.is((await runCommandInThread(['receipt', 'verify', OLD_ID], { env })).code, 2)
  const signed = kept.put('signed.json', signReceiptV1({}, readReceiptKey(receiptKeyFile(kept.dataDir))!))
  const alone = await runCommandInThread(['receipt', 'verify', signed], { env })
  t.regex(alone.stdout, /^Genuine: the receipt is as it was signed\. It is not in any ledger\./)
})

/** Changes the stored id and hash of a leaf of the first head. */
function changeLeaf(database: DatabaseSync, index: number, change: (leaf: [string, string]) => void): void {
  const [row] = database.prepare('select leaves from receipt_head where first_leaf = 0').all()
  const leaves = JSON.parse(String(row?.leaves)) as [string, string][]
  change(leaves[index]!)
  database.prepare('update receipt_head set leaves = ? where first_leaf = 0').run(JSON.stringify(leaves))
}

const OLD_ID = `rcpt_${'0'.repeat(26)}`
const NOT_THE_LEAVES = /is not that of the leaves: some were dropped, reordered or rewritten/
const insertCopyAs = (leafIndex: string) =>
  `insert into receipt select '${OLD_ID}', scope, created_at_ms, json, ${leafIndex} from receipt limit 1`

const TRICKS: Readonly<Record<string, { change: (database: DatabaseSync, folder: string) => void; words: RegExp }>> = {
  'a receipt is dropped, and its leaf gets an older id': {
    change(database) {
      database.exec('delete from receipt where leaf_index = 0')
      changeLeaf(database, 0, (leaf) => {
        leaf[0] = OLD_ID
      })
    },
    words: NOT_THE_LEAVES,
  },
  'a receipt is renamed with its leaf': {
    change(database) {
      database.exec(`update receipt set id = '${OLD_ID}' where leaf_index = 0`)
      changeLeaf(database, 0, (leaf) => {
        leaf[0] = OLD_ID
      })
    },
    words: NOT_THE_LEAVES,
  },
  'a receipt moves to another scope': {
    change: (database) => database.exec(`update receipt set scope = 'another' where leaf_index = 7`),
    words: /is stored with another id, scope or time than its own/,
  },
  'a receipt moves in the list of its scope': {
    change: (database) => database.exec('update receipt set created_at_ms = 1 where leaf_index = 7'),
    words: /is stored with another id, scope or time than its own/,
  },
  'a receipt is added beyond the end': {
    change: (database) => database.exec(insertCopyAs('1000')),
    words: /is stored as a leaf that the ledger does not have/,
  },
  'a receipt is added between two': {
    change: (database) => database.exec(insertCopyAs('5.5')),
    words: /is stored as a leaf that the ledger does not have/,
  },
  'a receipt is signed by itself': {
    change(database, folder) {
      const key = readReceiptKey(receiptKeyFile(folder))!
      const json = signReceiptV1({ id: OLD_ID, created_at: '2999-01-01T00:00:00.000Z' }, key)
      database.prepare(`insert into receipt values (?, 'local', 1, ?, null)`).run(OLD_ID, json)
    },
    words: /is in no ledger, and was signed after the ledger began/,
  },
  'the leaves of a head are emptied': {
    change: (database) => database.exec(`update receipt_head set leaves = '[1]' where first_leaf = 0`),
    words: /The leaves of the head after leaf 0 are no leaves/,
  },
  'a receipt is dropped': {
    change: (database) => database.exec('delete from receipt where leaf_index = 22'),
    words: /leaf 22, was deleted before its time/,
  },
  'a receipt is rewritten': {
    change: (database) =>
      database.exec(`update receipt set json = replace(json, 'complete', 'cancelled') where leaf_index = 3`),
    words: /was rewritten: it is not leaf 3/,
  },
  'two receipts change places': {
    change: (database) => database.exec('update receipt set leaf_index = 30 - leaf_index where leaf_index in (10, 20)'),
    words: /is not stored as leaf 10/,
  },
  'a receipt is added': {
    change: (database) =>
      database.exec(`insert into receipt select 'rcpt_0', scope, created_at_ms, json, leaf_index from receipt limit 1`),
    words: /1 stored receipts are not the ones of their leaves/,
  },
  'a receipt leaves the ledger': {
    change: (database) => database.exec('update receipt set leaf_index = null where leaf_index = 5'),
    words: /is in no ledger, and has no valid signature of its own/,
  },
  'a leaf is rewritten with its receipt': {
    change: (database) =>
      changeLeaf(database, 0, (leaf) => {
        leaf[1] = `${'A'.repeat(43)}=`
      }),
    words: NOT_THE_LEAVES,
  },
  'a head is dropped': {
    change: (database) =>
      database.exec(
        'delete from receipt_head where first_leaf = (select min(first_leaf) from receipt_head where first_leaf > 0)',
      ),
    words: /A head was dropped or inserted/,
  },
  'the end is cut off': {
    change: (database) =>
      database.exec('delete from receipt where leaf_index >= 22; delete from receipt_head where first_leaf >= 22'),
    words: /its end was cut off/,
  },
  'a head is rewritten': {
    change: (database) =>
      database.exec(`update receipt_head set checkpoint = replace(checkpoint, char(10) || '40', char(10) || '41')`),
    words: /not that of the leaves|not signed by a given key/,
  },
}

test('ledger: whatever an operator changes in the database is found', async (t) => {
  const kept = await keptOf(t)
  for (const [name, { change, words }] of Object.entries(TRICKS)) {
    const copy = tampered(kept, name, change)
    const found = await verifyLedger(copy, '--from', kept.head, '--key', kept.keys)
    t.is(found.code, 1, `${name}: ${found.stdout}`)
    t.regex(found.stdout, words, name)
  }
})

test('ledger: an end that was cut off and grown again is found by a kept head, in the database and at the gateway', async (t) => {
  const kept = await keptOf(t)
  const copy = tampered(kept, 'cut', (database) =>
    database.exec('delete from receipt where leaf_index >= 22; delete from receipt_head where first_leaf >= 22'),
  )
  await using gateway = await startGateway(environment(copy))
  const remote = (...more: string[]) => verifyLedger(copy, '--from', kept.head, '--url', gateway.url, ...more)
  const short = await remote()
  t.is(short.code, 1)
  t.regex(short.stdout, /^CHANGED: the ledger has fewer receipts than the kept head of 34/)
  await fill(gateway.url, [20])
  t.is((await verifyLedger(copy)).code, 0, 'by itself it looks honest')
  const stored = await verifyLedger(copy, '--from', kept.head)
  t.is(stored.code, 1)
  t.regex(stored.stdout, /The first 34 receipts are not those of the kept head/)
  const grown = await remote()
  t.is(grown.code, 1)
  t.regex(grown.stdout, /^CHANGED: the first 34 receipts are not those of the kept head/)
})

test('ledger: a gateway proves that it continues a kept head, and that it has a receipt', async (t) => {
  const kept = await keptOf(t)
  await using gateway = await startGateway(environment(kept.dataDir))
  const found = await verifyLedger(
    path.join(kept.dataDir, '..', 'elsewhere'),
    '--from',
    kept.head,
    '--url',
    gateway.url,
    '--key',
    kept.keys,
  )
  t.is(found.code, 0, found.stdout + found.stderr)
  t.regex(found.stdout, /^Verified: turnpike\/ledger\/\w+ continues the kept head of 34 receipts\.\n$/)
  const receipt = (await get(gateway.url, `/v1/receipts/${kept.ids[0]}`)).json
  const leaf = Number(valueAt(receipt, 'proof.leaf_index'))
  t.is((await get(gateway.url, `/v1/ledger/inclusion?leaf=${leaf}`)).status, 200)
  t.is((await get(gateway.url, '/v1/ledger/inclusion?leaf=40')).status, 404)
  for (const route of ['inclusion', 'inclusion?leaf=x', 'consistency?from=-1', 'consistency?leaf=1'])
    t.is((await get(gateway.url, `/v1/ledger/${route}`)).status, 400, route)
})

test('ledger: a new key continues it, and a holder of the old key alone accepts it', async (t) => {
  const kept = await keptOf(t)
  const oldPem = path.join(kept.dataDir, 'receipt-key.old.pem')
  renameSync(path.join(kept.dataDir, 'receipt-key.pem'), oldPem)
  await using gateway = await startGateway(environment(kept.dataDir))
  const [id = ''] = await fill(gateway.url, [3])
  const published = (await get(gateway.url, '/.well-known/turnpike-keys')).text
  const [keys, old] = [parsePublicKeys(published), parsePublicKeys(readFileSync(kept.keys, 'utf8'))]
  t.deepEqual([keys.length, keys[1]?.id], [2, old[0]?.id])
  for (const each of [id, String(kept.ids[0])])
    t.true(verifyReceipt((await get(gateway.url, `/v1/receipts/${each}`)).text, keys).isValid)
  t.is((await verifyLedger(kept.dataDir, '--from', kept.head)).code, 0)
  const verify = (...more: string[]) => verifyLedger(kept.dataDir, '--from', kept.head, '--key', kept.keys, ...more)
  t.is((await verify()).code, 0)
  t.regex((await verify('--url', gateway.url)).stdout, /^Verified: /)
  rmSync(oldPem)
  const alone = await verify()
  t.is(alone.code, 1, 'nothing vouches for the new key')
  t.regex(alone.stdout, /The head of 4[123] receipts is not signed by a given key/)
  t.is((await verifyLedger(kept.dataDir, '--from', kept.head, '--key', String(keys[0]?.raw))).code, 1)
})

test('ledger: a head by a key that is not in data_dir is not continued, and the key is not published', async (t) => {
  const kept = await keptOf(t)
  renameSync(path.join(kept.dataDir, 'receipt-key.pem'), path.join(kept.dataDir, 'aside.pem'))
  // The receipt waits until the gateway has stopped.
  const config = path.join(kept.dataDir, 'stops-at-once.yaml')
  writeFileSync(config, 'server:\n  drain_timeout: 0s\n')
  await using gateway = await startGateway({ ...environment(kept.dataDir), SVC_CONFIG: config })
  const { headers } = await send(gateway.url, { body: ask('hello') })
  const receipt = await get(gateway.url, `/v1/receipts/${headers['x-svc-receipt']}`)
  t.is(receipt.status, 503)
  const { json } = await get(gateway.url, '/.well-known/turnpike-ledger')
  t.regex(String(valueAt(json, 'checkpoint')), /^turnpike\/ledger\/\w+\n40\n/)
  t.is(parsePublicKeys((await get(gateway.url, '/.well-known/turnpike-keys')).text).length, 1)
})

test('ledger: a proxy’s reply in place of a proof is no proof, of a change neither', async (t) => {
  const kept = await keptOf(t)
  const head = parseCheckpoint(readFileSync(kept.head, 'utf8'))
  const replies: Record<string, { status: number; body: string }> = {}
  const server = createServer((request, response) => {
    const { status, body } = replies[String(request.url).split('?')[0]!] ?? { status: 404, body: '<h1>Not found</h1>' }
    response.writeHead(status).end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // Safe: it listens on a port.
  const { port } = server.address() as AddressInfo
  const verify = () =>
    verifyLedger(kept.dataDir, '--from', kept.head, '--key', kept.keys, '--url', `http://127.0.0.1:${port}`)
  const proofs = '/v1/ledger/consistency'
  const ledger = '/.well-known/turnpike-ledger'
  const nothing = { code: 69, stdout: '' }
  t.like(await verify(), nothing, 'blocked')
  const checkpoint = readFileSync(kept.head, 'utf8')
  for (const body of ['null', '<html>', '{}', '[]', JSON.stringify({ hashes: [1], checkpoint }), 'x'.repeat(70_000)]) {
    replies[proofs] = { status: 200, body }
    t.like(await verify(), nothing, body.slice(0, 50))
  }
  replies[proofs] = { status: 200, body: JSON.stringify({ hashes: Array(129).fill('A'.repeat(44)), checkpoint }) }
  t.like(await verify(), nothing, 'too many hashes')
  replies[proofs] = { status: 200, body: JSON.stringify({ hashes: [Buffer.alloc(31).toString('base64')], checkpoint }) }
  t.regex((await verify()).stdout, /^CHANGED: the gateway’s proof is malformed/)
  delete replies[proofs]
  replies[ledger] = { status: 200, body: JSON.stringify({ origin: head.origin, checkpoint }) }
  t.like(await verify(), nothing, 'its head is that one, its proofs are blocked')
  replies[ledger] = { status: 200, body: JSON.stringify({ origin: head.origin, checkpoint: null }) }
  t.regex((await verify()).stdout, /^CHANGED: the ledger has fewer receipts/)
})

test('ledger: receipts of a gateway verify in another language', async (t) => {
  const kept = await keptOf(t)
  await using gateway = await startGateway(environment(kept.dataDir))
  const files: string[] = []
  for (const [i, id] of kept.ids.entries())
    files.push(kept.put(`receipt-${i}.json`, (await get(gateway.url, `/v1/receipts/${id}`)).text))
  const program = path.join(ROOT, 'examples/verify-receipt.py')
  t.true(readFileSync(program, 'utf8').split('\n').length <= 61)
  const verify = (names: readonly string[]) => promisify(execFile)('python3', [program, kept.keys, ...names])
  const { stdout } = await verify(files)
  t.is(stdout.match(/: genuine$/gm)?.length, kept.ids.length)
  const text = readFileSync(files[5] ?? '', 'utf8')
  const forgeries = [
    text.replace('"provider_usd":"0.', '"provider_usd":"1.'),
    text.replace(/"leaf_index":(\d+)/, (_, index) => `"leaf_index":${Number(index) + 1}`),
    text.replace(
      /\\n\\n— (\S+) (.{60})/,
      (_, name, value) => `\\n\\n— ${name} ${value.replace(/.$/, (last: string) => (last === 'A' ? 'B' : 'A'))}`,
    ),
    text.replace(/"leaf_index":(\d+)/, (_, index) => `"leaf_index":${Number(index) - 32}`),
    text.replace(/"leaf_index":(\d+)/, '"leaf_index":$1.0'),
    text.replace('"hashes":["', '"hashes":["!'),
    text.replace('"cost":{', '"cost":{"provider_usd":"0.000000000",'),
  ]
  const witnessed = text.replace('\\n\\n— ', '\\n\\n— witness.example 48JFP+JYTw==\\n— ')
  t.not(witnessed, text)
  t.regex((await verify([kept.put('witnessed.json', witnessed)])).stdout, /: genuine$/m)
  for (const [i, forgery] of forgeries.entries()) {
    t.not(forgery, text)
    await t.throwsAsync(verify([kept.put(`forged-${i}.json`, forgery)]), { code: 1 })
  }
})

test('ledger: heads and keys that cannot be used are explained', async (t) => {
  const folder = createPluginDirectory(t)
  const dataDir = path.join(folder.path, 'data')
  writeFileSync(path.join(folder.path, 'bad.txt'), 'no head')
  const bad = await verifyLedger(dataDir, '--from', path.join(folder.path, 'bad.txt'))
  t.like(bad, { code: 2, stderr: `--from ${folder.path}/bad.txt: It is not a signed checkpoint.\n` })
  t.is((await verifyLedger(dataDir, '--key', 'nonsense')).code, 2)
  const empty = await runCommandInThread(['ledger', 'head'], { env: environment(dataDir) })
  t.like(empty, { code: 66, stderr: 'The ledger is empty.\n' })
  t.is((await verifyLedger(dataDir)).code, 0)
})
