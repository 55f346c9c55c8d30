import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ExecutionContext } from 'ava'
import { eventually } from './eventually.ts'
import { type Gateway, type Start, startGateway } from './gateway.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { type Reply, type SendOptions, send } from './http-client.ts'
import type { JsonObject } from './json.ts'
import { countOpenFiles, hasProcessFacts } from './process-facts.ts'
import type { SeenRequest } from './provider/journal.ts'
import type { Script } from './provider/script.ts'
import type { Chooser } from './provider/scripted.ts'
import { type Provider, type ProviderOptions, startProvider } from './stand-in-provider.ts'

/*
 * DESIGN. One gateway in front of one stand-in, shared by the tests of a file, which may run at the same time: each test
 * opens a scenario of its own. A scenario's requests carry its name in a header that the gateway forwards unread, so that the
 * stand-in selects the scenario's script and the test finds its own requests.
 *
 *   scenario.send() ─ x-claude-code-scenario: 7 ─▶ gateway ─▶ stand-in ─▶ the script of scenario 7
 */

/** The operator's credential, which the stand-in expects. */
export const OPERATOR_KEY = 'sk-ant-operator-key'

/** Options of a fixture. */
export interface FixtureOptions {
  /** Overrides of the defaults: the stand-in's address, the operator's key, an empty pipeline. */
  env?: Readonly<Record<string, string>>
  /** The configuration file. Default: none. */
  config?: JsonObject
  /** Rules of the stand-in. Default: the operator's key. */
  provider?: ProviderOptions
}

/** One test's own part of a fixture. */
export interface Scenario {
  /** Routes a request to this scenario; for clients other than `send`. */
  headers: Readonly<Record<string, string>>
  /** Returns the requests that have reached the provider, oldest first. */
  seen(): readonly SeenRequest[]
  /** Sends a request to the gateway. */
  send(options?: SendOptions): Promise<Reply>
}

/** A gateway in front of a stand-in. */
export interface Fixture<Started extends Gateway = Gateway> extends AsyncDisposable {
  gateway: Started
  provider: Provider
  /** Opens a scenario; a chooser's `nth` counts the scenario's own valid requests. Default: the stand-in's answers. */
  scenario(script?: Script | Chooser<Script>): Scenario
  /** Asserts that a scenario has left no call running and the gateway is healthy. */
  assertSound(t: ExecutionContext, scenario: Scenario): Promise<void>
  /** Asserts that all scenarios have ended: no call, and of a process no socket and no file is left. */
  assertClean(t: ExecutionContext): Promise<void>
  close(): Promise<void>
}

const SCENARIO_HEADER = 'x-claude-code-scenario'
/** Files that a process may open once and keep: a resolver's socket, the database of telemetry and its thread. */
const SPARE_FILES = 18
/** Log lines that are faults. */
const ALARM = /unhandled|uncaught|MaxListenersExceeded/i

/** Starts a stand-in and a gateway that is configured to call it. */
export function openFixture(options: FixtureOptions = {}): Promise<Fixture> {
  return openFixtureWith(startGateway, options)
}

/** Opens a fixture whose gateway `start` starts, for tests that need a process: `openFixtureWith(startGatewayProcess)`. */
export async function openFixtureWith<Started extends Gateway>(
  start: Start<Started>,
  { env, config, provider: rules }: FixtureOptions = {},
): Promise<Fixture<Started>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-fixture-'))
  const scripts = new Map<string, Chooser<Script>>()
  const provider = await startProvider({
    apiKey: OPERATOR_KEY,
    ...rules,
    script: (request, nth) => scripts.get(String(request.headers[SCENARIO_HEADER]))?.(request, nth),
  })
  const file = path.join(folder, 'turnpike.yaml')
  await writeFile(file, JSON.stringify(config ?? {})) // JSON is YAML
  const gateway = await start({
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: OPERATOR_KEY,
    SVC_PIPELINE: 'none',
    SVC_CONFIG: file,
    ...env,
  })
  const filesAtStart = hasProcessFacts && isProcess(gateway) ? countOpenFiles(gateway.pid) : 0
  const close = async () => {
    await gateway.stop()
    await rm(folder, { recursive: true, force: true })
    await provider.close()
  }
  const alarms = () =>
    gateway
      .log()
      .split('\n')
      .filter((line) => ALARM.test(line))
      .slice(0, 2)
      .map((line) => line.slice(0, 500))
  let scenarios = 0

  return {
    gateway,
    provider,
    scenario(script) {
      const name = String(++scenarios)
      const headers = { [SCENARIO_HEADER]: name }
      let nth = 0
      scripts.set(name, (request) => (typeof script === 'function' ? script(request, ++nth) : script))
      return {
        headers,
        seen: () => provider.seen.filter((request) => request.headers[SCENARIO_HEADER] === name),
        send: (options = {}) => send(gateway.url, { ...options, headers: { ...headers, ...options.headers } }),
      }
    },
    async assertSound(t, scenario) {
      await provider.until(() => scenario.seen().every(({ ended }) => ended !== 'open'))
      t.is((await send(gateway.url, { method: 'GET', path: '/health' })).status, 200)
      t.deepEqual(alarms(), [])
    },
    async assertClean(t) {
      await provider.until(() => provider.pending() === 0)
      t.deepEqual(alarms(), [])
      if (!hasProcessFacts) return t.log('no /proc: open files are not counted')
      if (!isProcess(gateway)) return
      const left = () => countOpenFiles(gateway.pid) - provider.connections() - filesAtStart
      await eventually(() => left() <= SPARE_FILES, 'the gateway has no more files open than at its start')
      t.true(left() <= SPARE_FILES)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

function isProcess(gateway: Gateway): gateway is GatewayProcess {
  return 'pid' in gateway
}
