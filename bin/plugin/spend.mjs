import { importEntry } from '../entry.mjs'

export const {
  BUDGET_NAMES,
  BUDGETS,
  answererOf,
  budgetWindow,
  claudeVersion,
  costOf,
  estimate,
  estimateBySize,
  leastCachedTokens,
  mostOutputTokens,
  ratesOf,
  readBudgetWindow,
  roomIn,
  targetsWithNamed,
  toNanoUsd,
  toUsd,
  tokensFor,
  withMargin,
} = await importEntry('plugin/spend')
