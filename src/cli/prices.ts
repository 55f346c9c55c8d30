import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import type { Target } from '../core/request/exchange.ts'
import { createPriceBook } from '../spend/prices/book.ts'
import { loadPriceOverrides } from '../spend/prices/overrides.ts'
import type { PriceSheet, TokenRates } from '../spend/prices/sheet.ts'
import { addHelp } from './help.ts'
import { table } from './terminal/table.ts'
import { withProviders } from './with-providers.ts'

/** Adds `turnpike prices`: shows a model's current price and its source. */
export function addPricesCommand(program: Command): void {
  const command = program
    .command('prices')
    .description('Show a model’s current price and its source.')
    .argument('<model>', 'a model as clients name it')
    .option('-p, --provider <name>', 'price at this provider, where the model has this name')
    .option('--json', 'print JSON')
    .action(showPrices)
  addHelp(command, {
    examples: ['turnpike prices claude-sonnet-4-5', 'turnpike prices gpt-5 --provider openai --json'],
  })
}

async function showPrices(model: string, { provider, json }: { provider?: string; json?: boolean }): Promise<void> {
  const { config } = loadConfig(process.env)
  const book = createPriceBook({
    overrides: loadPriceOverrides(config.prices.file),
    ceiling: config.prices.ceiling,
  })
  const targets =
    provider === undefined
      ? await withProviders(config, (providers) => providers.targetsOf(model))
      : [{ provider, model }]
  const nowMs = Date.now()
  const shown = targets.map((target) => toShown(target, book.sheet(target, nowMs)))
  process.stdout.write(json ? `${JSON.stringify(shown, undefined, 2)}\n` : shown.map(render).join('\n'))
}

/** Prices in USD per million tokens. */
interface ShownRates {
  readonly input: number
  readonly cache_read: number
  readonly cache_write_5m: number
  readonly cache_write_1h: number
  readonly output: number
}

/** Price sheet in the units of the price file. */
interface Shown {
  readonly provider: string
  readonly model: string
  readonly source: string
  readonly matched: string | null
  readonly prices: readonly ({ readonly above: number } & ShownRates)[]
  readonly web_search: number | null
  readonly web_fetch: number
  readonly call: number
  readonly factors: Readonly<Record<string, number>>
}

function toShown({ provider, model }: Target, sheet: PriceSheet): Shown {
  return {
    provider,
    model,
    source: sheet.source,
    matched: sheet.matched ?? null,
    prices: sheet.steps.map(({ aboveInputTokens, rates }) => ({ above: aboveInputTokens, ...toShownRates(rates) })),
    web_search: sheet.webSearch === undefined ? null : perThousand(sheet.webSearch),
    web_fetch: perThousand(sheet.webFetch),
    call: perThousand(sheet.call),
    factors: Object.fromEntries([...sheet.factors].map(([word, factor]) => [word, Number(factor) / 1e6])),
  }
}

function toShownRates(rates: TokenRates): ShownRates {
  return {
    input: perMillion(rates.input),
    cache_read: perMillion(rates.cacheRead),
    cache_write_5m: perMillion(rates.cacheWrite5m),
    cache_write_1h: perMillion(rates.cacheWrite1h),
    output: perMillion(rates.output),
  }
}

function perMillion(picoUsd: bigint): number {
  return Number(picoUsd) / 1e6
}

function perThousand(picoUsd: bigint): number {
  return Number(picoUsd) / 1e9
}

const SOURCES: Readonly<Record<string, string>> = {
  operator: 'your price file',
  catalogue: 'list price',
  ceiling: 'unknown: the ceiling of the configuration',
}

function render({ provider, model, source, matched, prices, web_search, web_fetch, call, factors }: Shown): string {
  const head = prices.map(({ above }) => (above === 0 ? '' : `above ${above.toLocaleString('en-US')}`))
  const rows = (['input', 'cache_read', 'cache_write_5m', 'cache_write_1h', 'output'] as const).map((name) => [
    name,
    ...prices.map((step) => String(step[name])),
  ])
  const perRequest = Object.entries({ web_search, web_fetch, call })
    .map(([name, usd]) => `${name} ${usd ?? 'not known'}`)
    .join(', ')
  const words = Object.entries(factors).map(([word, factor]) => `${word} ×${factor}`)
  const lines = [
    `${provider}/${model}: ${SOURCES[source]}${matched === null ? '' : ` (${matched})`}`,
    '  USD per million tokens',
    ...table(prices.length > 1 ? [['', ...head], ...rows] : rows, '    '),
    `  USD per thousand requests: ${perRequest}`,
    ...(words.length === 0 ? [] : [`  Tokens by tier, region and speed: ${words.join(', ')}`]),
  ]
  return `${lines.join('\n')}\n`
}
