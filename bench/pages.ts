// `node bench/pages.ts [--engine postgres] [--requests 300000] [--pictures <folder>] [--data <folder>]`: the time of each page of the
// dashboard from the change of the address to its first figures or rows, for thirty people in six teams with 200 keys.
//
//   rows of 30 days ──► SQLite, or PostgreSQL ──► gateway process ──► Chromium: each page three times
//
// Shown are least times, since other work of the machine only adds to them, the slowest reply of the gateway on that page,
// and the CPU of the gateway and of PostgreSQL. A folder of `--data` keeps the rows of SQLite for the next run. It fails when a page needs more than 0.6 s.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Page, Request } from 'playwright-core'
import { sendAs, sessionToken, startCloudProcess } from '../test/support/accounts.ts'
import { startBrowser } from '../test/support/browser.ts'
import { createDatabase, query } from '../test/support/postgres.ts'
import { type Filled, fillGateway, OPERATOR } from './filled-gateway.ts'
import { cpuMicrosecondsWithEnded, pidsOf, processTree } from './process-accounting.ts'

const MOST_MS = 600
const ROUNDS = 3
const LONGEST_MS = 15_000
/** Longest pause between the requests of a page. */
const SETTLED_MS = 300
const DEFAULT_REQUESTS = 300_000

const { values } = parseArgs({
  options: {
    engine: { type: 'string', default: 'sqlite' },
    requests: { type: 'string', default: String(DEFAULT_REQUESTS) },
    pictures: { type: 'string' },
    data: { type: 'string' },
  },
})

/** A page: its address after `#/`, and a selector of its first figures or rows. */
type Shown = readonly [address: string, content: string]

interface Reply {
  readonly path: string
  readonly ms: number
}

interface Round {
  readonly ms: number
  readonly cpuMs: number
  readonly slowest: Reply | undefined
}

const LIST = '[role=row] a[href^="#/request/"]'
const GROUP = 'main tbody th[scope=row]'
const HEADING = 'main h1'

function pagesOf({ request, conversation, teamId, personId, keyId }: Filled): readonly Shown[] {
  const groups = ['person', 'team', 'key', 'tag', 'client', 'provider', 'module', 'conversation', 'reason']
  return [
    ['', GROUP],
    ['?range=30d', GROUP],
    ...groups.map((by): Shown => [`?range=30d&by=${by}`, GROUP]),
    [`?range=30d&by=model&person=${personId}`, GROUP],
    ['live', '.connection.is-open'],
    ['requests', LIST],
    ['requests?range=30d', `${LIST}`],
    ['requests?text=opus', LIST],
    ['requests?text=nothing-has-this', '.empty'],
    ['requests?ended=refused', LIST],
    [`requests?key=${keyId}`, LIST],
    [`requests?team=${teamId}`, LIST],
    [`requests?tag=ci&range=30d`, LIST],
    [`request/${request}`, 'main h2'],
    ['conversations', '[role=row] a[href^="#/conversation/"]'],
    [`conversation/${conversation}`, '[role=row]'],
    ['playground', HEADING],
    ['plugins', 'main summary'],
    ['keys', HEADING],
    ['people', 'main summary .meter, main summary strong'],
    ['people/teams', 'main summary strong'],
    ['people/keys', 'main summary strong'],
    ['people/tags', 'main summary strong'],
    ['billing', HEADING],
    ['agents', HEADING],
    ['alerts', HEADING],
    ['settings', 'main table'],
    ['start', HEADING],
    ['sessions', HEADING],
    ['device', HEADING],
  ]
}

await using owned = new AsyncDisposableStack()
const folder = values.data ?? mkdtempSync(path.join(tmpdir(), 'turnpike-pages-'))
if (values.data === undefined) owned.defer(() => rmSync(folder, { recursive: true, force: true }))
else mkdirSync(folder, { recursive: true })
const databaseUrl = values.engine === 'postgres' ? await createDatabase() : undefined
const gateway = owned.use(
  await startCloudProcess({
    SVC_SESSION_OPERATOR_CLAIM: `sub=${OPERATOR}`,
    SVC_DATA_DIR: folder,
    LOG_LEVEL: 'warn',
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  }),
)
const admin = async (method: string, to: string, body?: object) => {
  const reply = await sendAs(OPERATOR, gateway.url, {
    method,
    path: `/v1/admin/${to}`,
    ...(body && { body: { ...body } }),
  })
  if (reply.status >= 300) throw new Error(`${method} ${to}: ${reply.status} ${reply.text}`)
  return (reply.json ?? {}) as Record<string, string> // safe: objects with ids, or nothing
}
const startedMs = performance.now()
const stored = path.join(folder, 'filled.json')
// Safe: this program wrote it.
const filled = existsSync(stored)
  ? (JSON.parse(readFileSync(stored, 'utf8')) as Filled)
  : await fillGateway({ admin, databaseUrl, folder, requests: Number(values.requests) })
writeFileSync(stored, JSON.stringify(filled))
if (databaseUrl !== undefined) await query(databaseUrl, 'analyze')
console.log(`${values.engine}: ${values.requests} requests stored in ${seconds(performance.now() - startedMs)} s`)

const browser = await startBrowser()
owned.defer(() => browser.close())
let slow = 0
for (const [user, pages] of [
  [OPERATOR, pagesOf(filled)],
  [
    filled.leadId,
    pagesOf(filled).filter(
      ([address]) => /^(\?|requests|conversations|people|$)/.test(address) && address !== 'people/tags',
    ),
  ],
] as const) {
  await using open = await browser.open(gateway.url, { viewport: { width: 1440, height: 900 } })
  const { page } = open
  await page.getByLabel('Session token').fill(await sessionToken(user))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('link', { name: 'Requests', exact: true }).waitFor()
  console.log(
    `\n| page, as ${user === OPERATOR ? 'operator' : 'lead of a team'} | content ms | slowest reply ms | its path | CPU ms |`,
  )
  console.log('| --- | ---: | ---: | --- | ---: |')
  for (const shown of pages) {
    const ms = await measure(page, shown).catch((error: unknown) => {
      console.log(`| \`#/${shown[0]}\` | failed: ${String(error).split('\n', 1)[0]} | | | |`)
      return Number.POSITIVE_INFINITY
    })
    slow += Number(ms > MOST_MS)
  }
}
console.log(slow === 0 ? `\nall within ${MOST_MS} ms` : `\n${slow} pages above ${MOST_MS} ms`)
process.exitCode = slow === 0 ? 0 : 1

/** Measures a page, prints its row, and returns the least time of its first content. */
async function measure(page: Page, [address, content]: Shown): Promise<number> {
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await page.evaluate("location.hash = '#/nothing-here'")
    await page.getByText('Page not found').waitFor()
    const replies: Reply[] = []
    const onFinished = (request: Request) => {
      const { pathname, search } = new URL(request.url())
      const { requestStart, responseEnd } = request.timing()
      if (/\/(api|v1)\//.test(pathname)) replies.push({ path: pathname + search, ms: responseEnd - requestStart })
    }
    page.on('requestfinished', onFinished)
    const cpu = cpuNow()
    const begin = performance.now()
    await page.evaluate((hash) => {
      location.hash = hash
    }, `#/${address}`)
    // At each frame: a locator would look again after 100 ms, and then after 500 ms.
    const isThere = await page
      .waitForFunction((selector) => document.querySelector(selector)?.checkVisibility(), content, {
        timeout: LONGEST_MS,
      })
      .then(
        () => true,
        () => false,
      )
    const ms = isThere ? performance.now() - begin : Number.POSITIVE_INFINITY
    await page.locator('.busy').first().waitFor({ state: 'detached' })
    await page.waitForTimeout(SETTLED_MS)
    page.off('requestfinished', onFinished)
    rounds.push({
      ms,
      cpuMs: (cpuNow() - cpu) / 1000,
      slowest: replies.toSorted((a, b) => b.ms - a.ms)[0],
    })
  }
  const ms = Math.min(...rounds.map((round) => round.ms))
  const cpuMs = Math.min(...rounds.map((round) => round.cpuMs))
  const [fastest] = rounds.toSorted((a, b) => (a.slowest?.ms ?? 0) - (b.slowest?.ms ?? 0))
  const [replyMs, to] = [fastest?.slowest?.ms ?? 0, fastest?.slowest?.path ?? '–']
  console.log(
    `| \`#/${address}\` | ${ms.toFixed(0)} | ${replyMs.toFixed(0)} | ${to.replace(/^\/dashboard\/api/, '…')} | ${cpuMs.toFixed(0)} |`,
  )
  if (values.pictures !== undefined)
    await page.screenshot({ path: path.join(values.pictures, `${address.replaceAll(/\W+/g, '-') || 'overview'}.png`) })
  return ms
}

/** CPU microseconds of the gateway, and of PostgreSQL where this process has started it. */
function cpuNow(): number {
  return cpuMicrosecondsWithEnded([gateway.pid]) + cpuOfPostgres()
}

/** Counts again when one of PostgreSQL’s processes ends meanwhile: its parent has its time then. */
function cpuOfPostgres(): number {
  for (;;) {
    try {
      return cpuMicrosecondsWithEnded(pidsOf('postgres', processTree(process.pid)))
    } catch (error) {
      if (!hasEnded(error)) throw error
    }
  }
}

/** Linux answers a read of an entry in /proc so, before or after it is opened. */
function hasEnded(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH')
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(0)
}
