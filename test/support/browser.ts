import axe, { type AxeResults } from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { findChromium } from '../../scripts/find-chromium.ts'

/** A page of a browser of its own profile, and what went wrong on it. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Errors of scripts, refusals by the policy, calls to other places. */
  readonly faults: readonly string[]
}

/** A headless Chromium for the tests of a file. */
export interface TestBrowser {
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>
  close(): Promise<void>
}

/** A busy machine is slow to draw; nothing is timed by it. */
const LONGEST_WAIT_MS = 40_000

/** Tests of a file run at once: pages that are all drawn at the same time are drawn too late. */
const MOST_OPEN = 3

/** Reads the console for refusals of the policy: the browser tells them as errors. */
const HARMLESS = /Failed to load resource: the server responded with a status/

/** Starts the Chromium that `npm run services` has found or installed. */
export async function startBrowser(): Promise<TestBrowser> {
  const found = findChromium()
  if (found === undefined) throw new Error('There is no Chromium: run `npm run services`.')
  const browser: Browser = await chromium.launch({
    executablePath: found.program,
    env: { ...process.env, ...found.env } as Record<string, string>,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  })
  const waiting: (() => void)[] = []
  let open = 0
  const leave = () => {
    open--
    waiting.shift()?.()
  }
  return {
    async open(url, options = {}) {
      if (open >= MOST_OPEN) await new Promise<void>((resolve) => waiting.push(resolve))
      open++
      const context = await browser.newContext({
        reducedMotion: 'reduce',
        viewport: { width: 1280, height: 900 },
        ...options,
      })
      const page = await context.newPage()
      page.setDefaultTimeout(LONGEST_WAIT_MS)
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(`error: ${error.message}`))
      page.on('console', (message) => {
        if (message.type() === 'error' && !HARMLESS.test(message.text())) faults.push(message.text())
      })
      page.on('request', (request) => {
        const asked = new URL(request.url())
        if (asked.protocol.startsWith('http') && asked.origin !== new URL(url).origin) faults.push(`asked ${asked}`)
      })
      const close = () => context.close().finally(leave)
      await page.goto(url).catch((error: unknown) => close().then(() => Promise.reject(error)))
      return { page, faults, [Symbol.asyncDispose]: close }
    },
    close: () => browser.close(),
  }
}

/** What axe finds on a page that is serious or worse, in words. The page's policy lets in no script: it is run beside it. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>('axe.run(document, { resultTypes: ["violations"] })')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}
