import { importEntry } from '../entry.mjs'

export const { answererOf, costOf, estimate, mostOutputTokens, targetsWithNamed, toNanoUsd, toUsd, tokensFor } =
  await importEntry('plugin/spend')
