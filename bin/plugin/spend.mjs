import { importEntry } from '../entry.mjs'

export const {
  answererOf,
  costOf,
  estimate,
  estimateBySize,
  mostOutputTokens,
  targetsWithNamed,
  toNanoUsd,
  toUsd,
  tokensFor,
} = await importEntry('plugin/spend')
