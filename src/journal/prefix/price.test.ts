import test from 'ava'
import { bookOf, NOVEMBER_MS, usageOf } from '../../../test/support/price-usage.ts'
import { priceOfLoss } from './price.ts'

/** Nano-dollars a token of Sonnet: input 3,000, written for five minutes 3,750 and for an hour 6,000, read 300. */
const TARGET = { provider: 'anthropic', model: 'claude-sonnet-4-5' }

const LOSSES: readonly (readonly [name: string, usage: Parameters<typeof usageOf>[0], tokens: number, nano: number])[] =
  [
    ['plain input', { inputTokens: 1000 }, 400, 400 * 2700],
    ['written for five minutes', written({ ephemeral5m: 1000, ephemeral1h: 0 }), 400, 400 * 3450],
    ['written for an hour', written({ ephemeral5m: 0, ephemeral1h: 1000 }), 400, 400 * 5700],
    [
      'the hour before the five minutes',
      written({ ephemeral5m: 1000, ephemeral1h: 300 }),
      400,
      300 * 5700 + 100 * 3450,
    ],
    [
      'written before plain',
      { ...written({ ephemeral5m: 100, ephemeral1h: 0 }), inputTokens: 1000 },
      400,
      100 * 3450 + 300 * 2700,
    ],
    ['nothing', { inputTokens: 1000 }, 0, 0],
  ]
for (const [name, usage, tokens, nano] of LOSSES)
  test(`price of a loss: ${name}`, (t) => {
    const priced = { target: TARGET, usage: usageOf(usage), tokens, atMs: NOVEMBER_MS }
    t.is(priceOfLoss(bookOf(), priced), nano)
  })

function written(cacheCreation: { ephemeral5m: number; ephemeral1h: number }) {
  return { cacheCreation, cacheCreationInputTokens: cacheCreation.ephemeral5m + cacheCreation.ephemeral1h }
}
