import test, { type ExecutionContext } from 'ava'
import { isDrill } from '../../support/drill.ts'
import {
  openProviderFixture,
  PROVIDERS,
  type ProviderFixture,
  type ProviderName,
  type ProviderScenario,
  type ScenarioScripts,
} from '../../support/provider-fixture.ts'
import { aiSdkAnthropic, aiSdkOpenai, aiSdkResponses } from './ai-sdk.ts'
import { anthropicSdk } from './anthropic-sdk.ts'
import type { Client, Conversation, ConversationOptions } from './client.ts'
import { type Heard, hear } from './heard.ts'
import { openaiResponses } from './openai-responses.ts'
import { openaiSdk } from './openai-sdk.ts'

/*
 * DESIGN. Every SDK that users point at the gateway, in front of every shape of provider: a case is written once, in the
 * terms of `Client`, `Said` and `Heard`, and runs in each cell of the table.
 *
 *            SDK ─▶ its own HTTP ─▶ gateway ─▶ stand-in of the provider, as strict as it
 *   Client ──┘ and the answer it gives          └── Said, its model's reply; Heard, its requests
 *
 * Limits: each SDK in the version that is installed, and in its most used way of calling. `npm run drill:clients` runs all
 * of them in every cell. `npm test` leaves some SDKs out, and runs a claim in every second cell, as on a chessboard; the next
 * claim has the other cells. So each claim has each SDK and each provider, and each cell half of the claims.
 */

/** One cell: an SDK in front of a provider. */
export interface Cell {
  client: Client
  provider: ProviderName
  /** True if the SDK uses the provider's own dialect, so that nothing is translated. */
  isNative: boolean
}

/** The part of the fixture that belongs to one cell's test. */
export interface CellScenario extends ProviderScenario {
  converse(options: Omit<ConversationOptions, 'url' | 'headers'>): Conversation
  /** Returns the nth request, from 0, to the cell's provider, or to another; -1 is the last. */
  heard(nth?: number, by?: ProviderName): Heard
}

/** The fixture of a file, with the cells on it. */
export interface CellFixture {
  fixture: ProviderFixture
  open(cell: Cell, scripts: ScenarioScripts): CellScenario
}

const EVERY_TIME = [anthropicSdk, openaiSdk, openaiResponses, aiSdkAnthropic, aiSdkOpenai]
/** SDKs whose requests are like those of another one, and those that `npm run drill:clients` installs. */
const IN_DRILLS = isDrill
  ? [aiSdkResponses, (await import('../../witnesses/open-responses.ts')).aiSdkOpenResponses]
  : []
/** Dialects of the providers that speak one of the clients'. */
const DIALECTS: Partial<Record<ProviderName, Client['dialect']>> = {
  anthropic: 'messages',
  openai: 'chat',
  house: 'chat',
  responder: 'responses',
}

const CELLS: readonly Cell[] = [...EVERY_TIME, ...IN_DRILLS].flatMap((client) =>
  [...PROVIDERS, 'responder' as const].map((provider) => ({
    client,
    provider,
    isNative: client.dialect === DIALECTS[provider],
  })),
)

/** Opens a fixture for the tests of a file and closes it after them; then nothing may be left of their calls. */
export async function openCells(pipeline = 'none'): Promise<CellFixture> {
  const fixture = await openProviderFixture({ env: { SVC_PIPELINE: pipeline } })
  test.after.always(() => fixture.close())
  test.after('matrix: nothing is left of all calls', async (t) => {
    for (const server of Object.values(fixture.servers)) {
      await server.until(() => server.pending() === 0)
      t.is(server.pending(), 0)
    }
    t.notRegex(fixture.gateway.log(), /unhandled|uncaught/i)
  })
  return {
    fixture,
    open({ client, provider }, scripts) {
      const scenario = fixture.scenario(scripts)
      return {
        ...scenario,
        converse: (options) => client.converse({ ...options, url: fixture.gateway.url, headers: scenario.headers }),
        heard: (nth = 0, by = provider) => hear(by, scenario.seen(by).at(nth)),
      }
    },
  }
}

let claims = 0

/** Declares a test for each cell of this run, or those `among` them: `anthropic-sdk → gemini: <claim>`. */
export function eachCell(
  claim: string | ((cell: Cell) => string),
  run: (t: ExecutionContext, cell: Cell) => Promise<void>,
  among: (cell: Cell) => boolean = () => true,
): void {
  const colour = claims++ % 2
  const own = CELLS.filter((_, index) => isDrill || index % 2 === colour)
  for (const cell of own.filter(among)) {
    const text = typeof claim === 'string' ? claim : claim(cell)
    test(`${cell.client.name} → ${cell.provider}: ${text}`, (t) => run(t, cell))
  }
}
