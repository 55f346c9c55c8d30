/**
 * `npm run drill:newcomer [-- <screenshot.png>]`: the README's path on a machine that has nothing of ours, timed. It clones this
 * checkout's last commit, runs the README's own first two examples with an empty home (so npm has no cache) and the
 * system's PATH, and watches the dashboard's Live page in a browser. Then it asks for a real model, first without a key, and
 * at last with a stand-in for the provider behind the gateway. Only the port differs from the README, so that
 * a gateway that runs here already is not in the way. Not a part of `npm test`: it downloads all packages.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { startBrowser } from '../support/browser.ts'
import { readExamples } from '../support/documents.ts'
import { eventually } from '../support/eventually.ts'
import { startProvider } from '../support/stand-in-provider.ts'

const ROOT = path.resolve(import.meta.dirname, '../..')
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const BAR_SECONDS = 180
const LONGEST_WAIT_MS = 600_000
const LONGEST_STOP_MS = 40_000
const USUAL_ADDRESS = 'http://127.0.0.1:3099'
const ADDRESS = /turnpike {2}(http:\S+)/
const run = promisify(execFile)

const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-newcomer-'))
const clone = path.join(folder, 'turnpike')
const environment = { HOME: path.join(folder, 'home'), PATH: SYSTEM_PATH, PORT: '0' }
mkdirSync(environment.HOME)
const [install, firstRequest] = readExamples('sh').filter(({ place }) => place.startsWith('README.md'))
assert.ok(install && firstRequest)
console.log(`${availableParallelism()} cores, load ${loadavg()[0]?.toFixed(1)}, Node ${process.version} for this drill`)

let lastMs = performance.now()
let missed = false
const browser = await startBrowser()
try {
  passed('browser ready (not counted)')
  const countedMs = performance.now()
  await run('git', ['clone', '--quiet', ROOT, clone], { env: environment })
  passed('git clone')
  const readme = launch(install.code, environment)
  try {
    await readme.told(/bin\/turnpike\.mjs start/)
    passed('npm ci')
    const url = await readme.told(ADDRESS)
    passed('npm start')
    await using live = await browser.open(`${url}/#/live`)
    await live.page.getByText('connected').waitFor()
    passed('Live is open')
    const reply = await shell(firstRequest.code.replaceAll(USUAL_ADDRESS, url))
    assert.match(reply, /"type":"message"/)
    passed('first reply')
    await live.page.getByRole('cell', { name: /echo/ }).first().waitFor()
    passed('seen in Live')
    const [, , screenshot] = process.argv
    if (screenshot !== undefined) await live.page.screenshot({ path: screenshot })
    assert.deepEqual(live.faults, [])
    const seconds = (performance.now() - countedMs) / 1000
    const load = loadavg()[0]?.toFixed(1)
    console.log(`${seconds.toFixed(1).padStart(7)} s  clone to first reply in Live; load ${load}; bar ${BAR_SECONDS} s`)
    if (seconds > BAR_SECONDS) missed = true
    console.log(`without a key, claude-sonnet-4-5 is answered: ${await shell(asking('claude-sonnet-4-5', url))}`)
  } finally {
    await readme.stop()
  }
  await askProvider()
  console.log(missed ? '0 passed, 1 failed: it took too long' : '1 passed, 0 failed')
  if (missed) process.exitCode = 1
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

/** The same with a key, and with a provider that answers it. */
async function askProvider(): Promise<void> {
  await using provider = await startProvider({ apiKey: 'sk-ant-mine' })
  lastMs = performance.now()
  const variables = { ...environment, ANTHROPIC_API_KEY: 'sk-ant-mine', ANTHROPIC_BASE_URL: provider.url }
  const gateway = launch('npm start', variables)
  try {
    const url = await gateway.told(ADDRESS)
    passed('npm start, with a key')
    assert.match(await shell(asking('claude-sonnet-4-5', url)), /"type":"message"/)
    passed('reply of a provider')
    assert.equal(provider.seen.length, 1)
  } finally {
    await gateway.stop()
  }
}

/** The README's first request, of another model. */
function asking(model: string, url: string): string {
  return (firstRequest?.code ?? '').replace('demo/echo', model).replaceAll(USUAL_ADDRESS, url)
}

function passed(step: string): void {
  const nowMs = performance.now()
  console.log(`${((nowMs - lastMs) / 1000).toFixed(1).padStart(7)} s  ${step}`)
  lastMs = nowMs
}

async function shell(command: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', command], { cwd: clone, env: environment })
  return stdout
}

/** Runs a command that goes on; `told` resolves with what it has said, or the first group of that. */
function launch(command: string, env: Readonly<Record<string, string>>) {
  const child = spawn('sh', ['-c', `exec 2>&1; ${command}`], {
    cwd: clone,
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  let hasEnded = false
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  child.once('close', () => {
    hasEnded = true
  })
  const told = async (what: RegExp) => {
    await eventually(() => what.test(said) || hasEnded, `${what} from \`${command}\``, LONGEST_WAIT_MS)
    const found = what.exec(said)
    if (found === null) throw new Error(`\`${command}\` has ended:\n${said}`)
    return found[1] ?? found[0]
  }
  return { told, stop: () => stop(child) }
}

/** Ends the command and what it has started, as Ctrl-C does. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const ended = new Promise((resolve) => child.once('close', resolve))
  const group = -child.pid
  process.kill(group, 'SIGINT')
  const timer = setTimeout(() => process.kill(group, 'SIGKILL'), LONGEST_STOP_MS)
  await ended
  clearTimeout(timer)
}
