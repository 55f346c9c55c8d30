import { type CostSplitter, NO_COST, type Prices } from '../../core/money/prices.ts'

const NOTHING = { costNanoUsd: 0, source: 'catalogue', matched: 'demo' } as const
const NO_RATES = {
  inputNanoUsd: 0,
  cacheReadNanoUsd: 0,
  cacheWrite5mNanoUsd: 0,
  cacheWrite1hNanoUsd: 0,
  outputNanoUsd: 0,
  webSearchNanoUsd: 0,
  webFetchNanoUsd: 0,
  callNanoUsd: 0,
}

/** Makes the demo provider free: it calls no model. */
export function withFreeDemo(prices: Prices & CostSplitter): Prices & CostSplitter {
  return {
    price: (target, usage, atMs) => (target.provider === 'demo' ? NOTHING : prices.price(target, usage, atMs)),
    split: (target, usage, atMs) => (target.provider === 'demo' ? NO_COST : prices.split(target, usage, atMs)),
    rates: (target, call, atMs) => (target.provider === 'demo' ? NO_RATES : prices.rates(target, call, atMs)),
  }
}
