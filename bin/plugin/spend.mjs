import { importEntry } from '../entry.mjs'

export const {
  BUDGET_NAMES,
  BUDGETS,
  answererOf,
  budgetWindow,
  costOf,
  estimate,
  estimateBySize,
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
