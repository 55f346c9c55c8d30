import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Environment, type Gateway, type Start, startGateway } from './gateway.ts'
import type { GeminiScript } from './gemini/script.ts'
import { type Reply, type SendOptions, send } from './http-client.ts'
import { isJsonObject, type JsonObject } from './json.ts'
import type { ChatScript } from './openai/script.ts'
import type { SeenRequest } from './provider/journal.ts'
import type { Script } from './provider/script.ts'
import { type Gemini, startGemini } from './stand-in-gemini.ts'
import { type OpenAIServer, startOpenAI } from './stand-in-openai.ts'
import { type Provider, startProvider } from './stand-in-provider.ts'
import { type ResponsesServer, startResponses } from './stand-in-responses.ts'

/*
 * DESIGN. One gateway in front of a stand-in for every shape of provider, shared by the tests of a file. As on the other
 * fixture, each test opens a scenario of its own; its name travels in a header that the gateway is configured to forward.
 *
 *   scenario.send() ─ x-claude-code-scenario: 7 ─▶ gateway ─▶ anthropic | openai | gemini | house ─▶ the script of scenario 7
 */

/** The shapes of providers; `house` is an openai-compatible one that the configuration names. */
export const PROVIDERS = ['anthropic', 'openai', 'gemini', 'house'] as const

/** One of them, or `responder`, an openai-compatible one that speaks Responses. */
export type ProviderName = (typeof PROVIDERS)[number] | 'responder'

/** A model of each of them. */
export const MODELS: Readonly<Record<ProviderName, string>> = {
  anthropic: 'anthropic/claude-sonnet-4-5',
  openai: 'openai/gpt-4o',
  gemini: 'gemini/gemini-2.5-flash',
  house: 'house/qwen3-32b',
  responder: 'responder/gpt-5.2',
}

/** The operator's credentials. */
export const KEYS: Readonly<Record<ProviderName, string>> = {
  anthropic: 'sk-ant-operator-key',
  openai: 'sk-operator-key',
  gemini: 'AIza-operator-key',
  house: 'house-operator-key',
  responder: 'responder-operator-key',
}

/** Reply of each provider to the nth valid request of a scenario (from 1); unset: the default reply. */
export interface ScenarioScripts {
  anthropic?: Script | ((nth: number, request: SeenRequest) => Script | undefined)
  openai?: ChatScript | ((nth: number, request: SeenRequest) => ChatScript | undefined)
  gemini?: GeminiScript | ((nth: number, request: SeenRequest) => GeminiScript | undefined)
  house?: ChatScript | ((nth: number, request: SeenRequest) => ChatScript | undefined)
  responder?: ChatScript | ((nth: number, request: SeenRequest) => ChatScript | undefined)
}

/** One test's own part of the fixture. */
export interface ProviderScenario {
  /** Routes a request to this scenario; for clients other than `send`. */
  headers: Readonly<Record<string, string>>
  /** Returns the requests that have reached a provider, oldest first. */
  seen(provider: ProviderName): readonly SeenRequest[]
  send(options?: SendOptions): Promise<Reply>
}

/** The fixture. */
export interface ProviderFixture<Started extends Gateway = Gateway> extends AsyncDisposable {
  gateway: Started
  servers: {
    anthropic: Provider
    openai: OpenAIServer
    gemini: Gemini
    house: OpenAIServer
    responder: ResponsesServer
  }
  scenario(scripts?: ScenarioScripts): ProviderScenario
  close(): Promise<void>
}

/** A header about the client, which gateways do not distinguish requests by. */
const SCENARIO_HEADER = 'x-claude-code-scenario'

/** Overrides of a fixture's defaults. */
export interface ProviderFixtureOptions {
  readonly config?: JsonObject
  readonly env?: Environment
  /** Replies to requests of no scenario. Unset: the default replies. */
  readonly scripts?: ScenarioScripts
}

/** Starts the stand-ins and a gateway that is configured to call them. */
export function openProviderFixture(options: ProviderFixtureOptions = {}): Promise<ProviderFixture> {
  return openProviderFixtureWith(startGateway, options)
}

/** Opens a fixture whose gateway `start` starts. */
export async function openProviderFixtureWith<Started extends Gateway>(
  start: Start<Started>,
  { config = {}, env = {}, scripts }: ProviderFixtureOptions = {},
): Promise<ProviderFixture<Started>> {
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-fixture-'))
  const scenarios = new Map<string, ScenarioScripts>()
  const counts = new Map<string, number>()
  const scriptFor =
    <Name extends ProviderName>(name: Name) =>
    (request: SeenRequest) => {
      const scenario = String(request.headers[SCENARIO_HEADER])
      const script = (scenarios.get(scenario) ?? scripts)?.[name]
      const nth = (counts.get(`${scenario} ${name}`) ?? 0) + 1
      counts.set(`${scenario} ${name}`, nth)
      return typeof script === 'function' ? script(nth, request) : script
    }
  // Safe: the scripts of a name are of its kind, which TypeScript does not see through the index.
  const [anthropic, openai, gemini, house, responder] = await Promise.all([
    startProvider({ script: scriptFor('anthropic') as () => Script | undefined }),
    startOpenAI({ apiKey: KEYS.openai, script: scriptFor('openai') as () => ChatScript | undefined }),
    startGemini({ apiKey: KEYS.gemini, script: scriptFor('gemini') as () => GeminiScript | undefined }),
    startOpenAI({
      flavour: 'compatible',
      apiKey: KEYS.house,
      script: scriptFor('house') as () => ChatScript | undefined,
    }),
    startResponses({ apiKey: KEYS.responder, script: scriptFor('responder') as () => ChatScript | undefined }),
  ])
  const servers = { anthropic, openai, gemini, house, responder }
  const file = path.join(folder, 'turnpike.yaml')
  await writeFile(file, JSON.stringify(withHouse(config, { house: house.url, responder: responder.url }))) // JSON is YAML
  const gateway = await start({
    ANTHROPIC_BASE_URL: anthropic.url,
    ANTHROPIC_API_KEY: KEYS.anthropic,
    OPENAI_BASE_URL: `${openai.url}/v1`,
    OPENAI_API_KEY: KEYS.openai,
    GEMINI_BASE_URL: gemini.url,
    GEMINI_API_KEY: KEYS.gemini,
    SVC_PIPELINE: 'none',
    SVC_CONFIG: file,
    ...env,
  })
  const close = async () => {
    await gateway.stop()
    await rm(folder, { recursive: true, force: true })
    await Promise.all(Object.values(servers).map((server) => server.close()))
  }
  let opened = 0
  return {
    gateway,
    servers,
    scenario(scripts = {}) {
      const name = String(++opened)
      scenarios.set(name, scripts)
      const headers = { [SCENARIO_HEADER]: name }
      return {
        headers,
        seen: (provider) => servers[provider].seen.filter((request) => request.headers[SCENARIO_HEADER] === name),
        send: (options = {}) => send(gateway.url, { ...options, headers: { ...headers, ...options.headers } }),
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Returns the configuration with the house's own service, the scenario's header forwarded, and plugins not watched. */
function withHouse(config: JsonObject, urls: { house: string; responder: string }): JsonObject {
  const own = isJsonObject(config.providers) ? config.providers : {}
  const compatible = isJsonObject(own['openai-compatible']) ? own['openai-compatible'] : {}
  const house = {
    base_url: `${urls.house}/v1`,
    api_key: KEYS.house,
    reasoning_field: 'reasoning_content',
    reasoning_effort: true,
  }
  const responder = {
    base_url: `${urls.responder}/v1`,
    api_key: KEYS.responder,
    api: 'responses',
    reasoning_effort: true,
  }
  return {
    plugins: { watch: false },
    ...config,
    providers: {
      forward_headers: [SCENARIO_HEADER],
      ...own,
      'openai-compatible': { house, responder, ...compatible },
    },
  }
}
