import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import test from 'ava'
import { openTelemetryStore } from '../../src/stores/sql/telemetry/telemetry.ts'
import { seriousFaults, startBrowser } from '../support/browser.ts'
import { isDrill } from '../support/drill.ts'
import { startGateway } from '../support/gateway.ts'
import { createRecordingLog } from '../support/recording-log.ts'
import { sampleRequest } from '../support/telemetry.ts'

/** Half of `server.drain_timeout`. */
const LONG_GRACE_MS = 15_000
const MANY = isDrill ? 10_000 : 2000
const FRAMES = 120
/** One for the frame, and one for a read of the layout in between. */
const MOST_LAYOUTS_PER_FRAME = 2

const browser = await startBrowser()
test.after.always('close the browser', () => browser.close())

test('pages show why they are empty, what they wait for, and when the gateway is gone', async (t) => {
  await using gateway = await startGateway()
  await using open = await browser.open(`${gateway.url}/`)
  const { page, faults } = open
  await page.getByText('No requests in this period').waitFor()
  t.deepEqual(await seriousFaults(page), [])
  await page.goto(`${gateway.url}/#/live`)
  await page.getByText('Waiting for requests').waitFor()
  t.regex((await page.locator('.snippet pre').textContent()) ?? '', /^curl http:\/\/127/)

  let answer = () => {}
  const held = new Promise<void>((resolve) => {
    answer = resolve
  })
  await page.route('**/dashboard/api/requests?*', async (route) => {
    await held
    await route.continue()
  })
  await page.goto(`${gateway.url}/#/requests`)
  await page.getByText('Loading requests…').waitFor()
  t.deepEqual(await seriousFaults(page), [])
  answer()
  await page.getByText('No requests yet').waitFor()

  await page.goto(`${gateway.url}/#/live`)
  await page.getByText('connected', { exact: true }).waitFor()
  t.deepEqual(await gateway.stop(LONG_GRACE_MS), { code: 0, signal: null }, 'an open feed does not hold up the stop')
  await page.getByText('connecting again').waitFor()
  await page.getByRole('link', { name: 'Plugins' }).click()
  await page.getByRole('alert').getByText('No response from the gateway.').waitFor()
  t.deepEqual(await seriousFaults(page), [])
  t.deepEqual(
    faults.filter((fault) => !fault.includes('ERR_')),
    [],
  )
})

test(`requests: a list of ${MANY} stays smooth, and holds no more rows than are seen`, async (t) => {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'turnpike-many-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true }))
  await fill(dataDir)
  await using gateway = await startGateway({ SVC_DATA_DIR: dataDir })
  await using open = await browser.open(`${gateway.url}/#/requests`)
  const { page, faults } = open
  const list = page.getByRole('table', { name: 'Requests, newest first' })
  await list.waitFor()
  for (let rows = Number(await list.getAttribute('aria-rowcount')); rows <= MANY; ) {
    await list.evaluate((element) => element.scrollTo(0, element.scrollHeight))
    await page.locator(`[role=table]:not([aria-rowcount="${rows}"])`).waitFor()
    rows = Number(await list.getAttribute('aria-rowcount'))
  }
  t.is(Number(await list.getAttribute('aria-rowcount')), MANY + 1)
  t.true((await list.getByRole('row').count()) < 100)
  const metrics = await page.context().newCDPSession(page)
  await metrics.send('Performance.enable')
  const layouts = async () =>
    (await metrics.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'LayoutCount')?.value ??
    Number.NaN
  const before = await layouts()
  const mostRows = await page.evaluate<number>(SCROLL_THROUGH)
  const layoutsPerFrame = ((await layouts()) - before) / FRAMES
  t.log(`a frame of scrolling takes ${layoutsPerFrame.toFixed(2)} layouts, of ${mostRows} rows at most`)
  t.true(layoutsPerFrame > 0 && layoutsPerFrame <= MOST_LAYOUTS_PER_FRAME)
  t.true(mostRows > 10 && mostRows < 100)
  t.deepEqual(faults, [])
})

/** Scrolls from one end to the other and back, a hundred and sixty rows a frame; resolves with the most rows of a frame. */
const SCROLL_THROUGH = `new Promise((resolve) => {
  const list = document.querySelector('[role=table]')
  const room = list.scrollHeight - list.clientHeight
  let frame = 0
  let mostRows = 0
  const step = () => {
    mostRows = Math.max(mostRows, list.querySelectorAll('[role=row]').length)
    list.scrollTop = Math.abs(frame / ${FRAMES / 2} - 1) * room
    if (++frame < ${FRAMES}) requestAnimationFrame(step)
    else resolve(mostRows)
  }
  requestAnimationFrame(step)
})`

async function fill(dataDir: string): Promise<void> {
  const log = createRecordingLog()
  // Only PostgreSQL shares the store of accounts.
  const accounts = undefined as never
  const telemetry = openTelemetryStore({ databaseUrl: undefined, dataDir, accounts, log, clock: { nowMs: Date.now } })
  const startedAtMs = Date.now() - MANY
  for (let i = 0; i < MANY; i++) telemetry.record(sampleRequest({ startedAtMs: startedAtMs + i }))
  await telemetry.close(20_000)
  if (log.lines.length > 0) throw new Error(JSON.stringify(log.lines[0]))
}
