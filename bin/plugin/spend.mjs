import { importEntry } from '../entry.mjs'

export const { costOf, estimate, mostOutputTokens, targetsWithNamed, tokensFor } = await importEntry('plugin/spend')
