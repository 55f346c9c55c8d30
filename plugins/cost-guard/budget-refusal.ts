import { GatewayError } from 'turnpike/plugin'
import { BUDGETS, type BudgetName, toUsd } from 'turnpike/plugin/spend'
import type { ConversationWindow } from './windows.ts'

type ErrorCode = GatewayError['code']

/** Amounts of a refusal, in the unit of the budget; the limit includes a raise. */
export interface RefusedBudget {
  readonly limit: number
  readonly spent: number
  readonly estimated: number
}

const CODES: Readonly<Record<BudgetName, ErrorCode>> = {
  per_conversation: 'cost_limit_per_conversation',
  per_agent: 'cost_limit_per_agent',
  per_run: 'cost_limit_per_run',
  turns_per_conversation: 'turn_limit_per_conversation',
  tokens_per_conversation: 'token_limit_per_conversation',
  time_per_conversation: 'time_limit_per_conversation',
}

/** Codes of refusals by a budget. */
export const BUDGET_CODES: ReadonlySet<ErrorCode> = new Set(Object.values(CODES))

const OWNERS: Readonly<Record<BudgetName, string>> = {
  per_conversation: 'this conversation',
  per_agent: 'this agent in its run',
  per_run: 'this run, the conversation with those of its sub-agents',
  turns_per_conversation: 'this conversation',
  tokens_per_conversation: 'this conversation',
  time_per_conversation: 'this conversation',
}

/** Returns the error of a request that does not fit a budget: an agent can read it, and its owner can raise the limit. */
export function budgetRefusal({ budget }: ConversationWindow, amounts: RefusedBudget): GatewayError {
  const { name, conversation, agent } = budget
  const limit = inUnit(name, amounts.limit)
  const spent = inUnit(name, amounts.spent)
  const estimated = inUnit(name, amounts.estimated)
  const command = raiseCommand(budget, inUnit(name, sufficientRaise(name, amounts)))
  const message = `${used(name, { limit, spent, estimated })} It does not reset. Stop here and ask your user: the owner of the key, or the gateway's operator, can raise it with \`${command}\` or on the dashboard, and then the same request goes on.`
  const id = { budget: name, conversation, ...(agent !== undefined && { agent }), raise_with: command }
  return new GatewayError(CODES[name], message, { fields: { limit, spent, estimated, resets_at: null, ...id } })
}

function used(name: BudgetName, { limit, spent, estimated }: RefusedBudget): string {
  const owner = OWNERS[name]
  switch (BUDGETS[name].unit) {
    case 'usd':
      return `Of $${limit} for ${owner}, $${spent} is spent or held for running requests; this request needs $${estimated}.`
    case 'tokens':
      return `Of ${limit} tokens for ${owner}, ${spent} are used or held for running requests; this request needs ${estimated}.`
    case 'turns':
      return `Of ${limit} turns for ${owner}, ${spent} are used or running.`
    case 'ms':
      return `Of ${limit} seconds for ${owner}, ${spent} have passed since its first request.`
  }
}

/** Returns an amount as clients see it: money in USD, time in seconds. */
function inUnit(name: BudgetName, amount: number): number {
  const { unit } = BUDGETS[name]
  if (unit === 'usd') return toUsd(amount)
  return unit === 'ms' ? Math.round(amount / 1000) : amount
}

/** Returns a raise after which the request fits: the limit again, or more where a lowered limit, or a pause, is far behind. */
function sufficientRaise(name: BudgetName, { limit, spent, estimated }: RefusedBudget): number {
  // Time passes until the raise: it ends with the whole limit left.
  const leastMissing = BUDGETS[name].unit === 'ms' ? spent : spent + estimated - limit
  return Math.max(limit, estimated, leastMissing)
}

const PLAIN_WORD = /^\w[\w.-]*$/

function raiseCommand({ name, conversation, agent }: ConversationWindow['budget'], by: number): string {
  const amount = name === 'time_per_conversation' ? `${by}s` : String(by)
  const budget = name === 'per_conversation' ? '' : ` --budget ${name}`
  const of = agent === undefined || agent === '' ? '' : ` --agent${argumentOf(agent)}`
  return `turnpike conversation raise ${conversation} --by ${amount}${budget}${of}`
}

/** Quotes a name for a shell: a client chooses it. With `=` it is no option, whatever it begins with. */
function argumentOf(name: string): string {
  return PLAIN_WORD.test(name) ? ` ${name}` : `='${name.replaceAll("'", "'\\''")}'`
}
