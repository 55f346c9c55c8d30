import axe, { type AxeResults } from 'axe-core'
import {
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
  type LaunchOptions,
  type Page,
} from 'playwright-core'
import { findChromium } from '../../scripts/find-chromium.ts'
import { isDrill, sampled } from './drill.ts'
import { HERE } from './here.ts'
import { PATIENCE_MS } from './patience.ts'

/** A page in a browser profile of its own, and its faults. */
export interface OpenPage extends AsyncDisposable {
  readonly page: Page
  /** Errors of scripts, refusals by the policy, calls to other places. */
  readonly faults: readonly string[]
}

/** A headless Chromium: that of the run, or one for the tests of a file. */
export interface TestBrowser {
  open(url: string, options?: BrowserContextOptions): Promise<OpenPage>
  close(): Promise<void>
}

/** Address of the browser of the whole run, which `npm test` starts. */
const SHARED = process.env.TURNPIKE_TEST_CHROMIUM

/** Limit of open pages: tests of a file run at once, and pages rendered at the same time are slow. */
const MOST_OPEN = 3

/** Console errors that are no faults: the browser reports refusals of the policy as errors, too. */
const HARMLESS = /Failed to load resource: the server responded with a status/

/** Starts the Chromium that `npm run services` has found or installed, for `startBrowser` of other processes. */
export function startBrowserServer(): Promise<BrowserServer> {
  // A signal ends the run, which ends the browser.
  const signals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false }
  return chromium.launchServer({ ...launchOptions(), ...signals, host: HERE })
}

/** Connects to the browser of the run, whose pages are apart by profile, or starts one. */
export async function startBrowser(): Promise<TestBrowser> {
  const browser = await (SHARED === undefined ? chromium.launch(launchOptions()) : chromium.connect(SHARED))
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
      const viewport = { width: 1280, height: 900 }
      const context = await browser
        .newContext({ reducedMotion: 'reduce', viewport, ...options })
        .catch((error: unknown) => {
          leave()
          throw error
        })
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE_MS)
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

function launchOptions(): LaunchOptions {
  const found = findChromium()
  if (found === undefined) throw new Error('There is no Chromium: run `npm run services`.')
  return {
    executablePath: found.program,
    env: { ...process.env, ...found.env } as Record<string, string>, // safe: it has no undefined members
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  }
}

/**
 * Lists the page's serious axe findings in words. The page's policy forbids scripts, so axe runs outside of it; no rule that
 * applies needs style sheets or media a second time.
 */
export async function seriousFaults(page: Page): Promise<string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(axe.source)
  const { violations } = await page.evaluate<AxeResults>(
    'axe.run(document, { resultTypes: ["violations"], preload: false })',
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`)
}

/** Names of pages that `isFirstLook` was asked for. */
const looked = new Set<string>()

/** True once for each page of the dashboard in a file: axe takes longer than all else. In a drill true always. */
export function isFirstLook(page: Page): boolean {
  const [, name = '', section = ''] = new URL(page.url()).hash.split(/[?/]/)
  const place = name === 'people' ? section : name
  const isFirst = !looked.has(place)
  looked.add(place)
  return isDrill || isFirst
}

/** Looks of a filled page: wide in the light theme, narrow in the dark one. */
const LOOKS = [
  [1440, 'light'],
  [390, 'dark'],
] as const

/** Lists the serious axe findings of both looks (in `npm test` of the narrow one), and overflow; leaves the page in the first. */
export async function faultsOfLooks(page: Page): Promise<string[]> {
  const found: string[] = []
  for (const [width, colorScheme] of LOOKS.toReversed()) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    const over = -Number(await page.evaluate('innerWidth - document.documentElement.scrollWidth'))
    const overflow = over > 0 ? [`the page is ${over} px wider than its window`] : []
    const faults = sampled(LOOKS, LOOKS.length - 1).some(([other]) => other === width) ? await seriousFaults(page) : []
    found.push(...[...overflow, ...faults].map((fault) => `${width} px, ${colorScheme}: ${fault}`))
  }
  return found
}

/** A row that has just appeared may still be narrow. */
const LAID_OUT_WITHIN_MS = 5000

/** Returns the texts of those cells that are cut, hidden, or outside of the window, once the page is laid out. */
export async function cutCells(page: Page, cells: string): Promise<readonly (string | null)[]> {
  await page.locator(cells).nth(1).waitFor()
  const deadlineMs = performance.now() + LAID_OUT_WITHIN_MS
  for (;;) {
    const cut = await page.locator(cells).evaluateAll((found) =>
      found
        .filter(({ clientWidth, scrollWidth }) => clientWidth === 0 || scrollWidth > clientWidth)
        .concat(found.filter((cell) => cell.getBoundingClientRect().right > innerWidth))
        .map(({ textContent }) => textContent),
    )
    if (cut.length === 0 || performance.now() > deadlineMs) return cut
    await page.waitForTimeout(100)
  }
}
