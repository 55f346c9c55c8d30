import type { Middleware } from 'koa'
import { z } from 'zod'
import { GatewayError } from '../../core/errors.ts'
import { BUDGET_NAMES, BUDGETS, type BudgetName } from '../../core/money/budget-windows.ts'
import { toNanoUsd, toUsd } from '../../core/money/usd.ts'
import type { BudgetInUse, Budgets } from '../../core/ports/budgets.ts'
import type { Clock } from '../../core/ports/clock.ts'
import { parseFields } from '../../core/request/parse-fields.ts'
import type { BodyIntake } from '../body-intake.ts'
import { readControlBody } from '../control-body.ts'
import type { RequestState } from '../request-context.ts'
import type { ReadViewer } from './viewer.ts'

/** Dependencies of the routes of budgets. */
export interface BudgetRouteOptions {
  readonly viewer: ReadViewer
  readonly budgets: Budgets
  readonly intake: BodyIntake
  readonly clock: Clock
}

const MOST = { usd: 1_000_000, turns: 1_000_000, tokens: 1_000_000_000_000, ms: 365 * 24 * 60 * 60 } as const
const LONGEST_AGENT = 64
const SECOND_MS = 1000
const amount = z
  .number({ error: 'expected a number above 0' })
  .positive({ error: 'expected a number above 0' })
  .optional()

const raise = z.strictObject({
  budget: z.enum(BUDGET_NAMES).default('per_conversation'),
  agent: z.string().max(LONGEST_AGENT).optional(),
  by: amount,
  to: amount,
})

/** `GET /dashboard/api/conversations/:id/budgets`: lists the budgets of a conversation and of the run that it began. */
export function budgetsRoute({ viewer, budgets, clock }: Omit<BudgetRouteOptions, 'intake'>): Middleware<RequestState> {
  return async function listBudgets(ctx) {
    const { scopes } = await viewer(ctx)
    const found = await budgets.list(scopes, idIn(ctx.path))
    ctx.body = { data: found.map((budget) => shown(budget, clock.nowMs())) }
  }
}

/** `POST /dashboard/api/conversations/:id/budgets` with `{ "budget": "per_run", "by": 5 }`: raises one from the next request on. */
export function raiseBudgetRoute({ viewer, budgets, intake, clock }: BudgetRouteOptions): Middleware<RequestState> {
  return async function raiseBudget(ctx) {
    const { scopes, userId } = await viewer(ctx)
    const actor = userId === undefined ? 'operator' : `user:${userId}`
    const body = parseFields(raise, await readControlBody(ctx.req, { intake, sender: userId ?? 'operator' }))
    const { budget: name, agent } = body
    if ((body.by === undefined) === (body.to === undefined))
      throw new GatewayError(
        'invalid_request',
        'by: expected either `by`, the amount of the raise, or `to`, the new limit.',
      )
    const [by, to] = [toUnit(name, body.by), toUnit(name, body.to)]
    const conversation = idIn(ctx.path)
    const raised = await budgets.raise({ name, conversation, agent, by, to, scopes, actor })
    if (raised === undefined)
      throw new GatewayError(
        'not_found',
        `There is no such budget of yours: \`${name}\` of this conversation. It begins with the first request under it.`,
      )
    ctx.body = shown(raised, clock.nowMs())
  }
}

function idIn(path: string): string {
  return path.slice('/dashboard/api/conversations/'.length, -'/budgets'.length)
}

/** Converts USD and seconds to the unit of a budget. Throws `invalid_request` for a fraction of a turn, or too much. */
function toUnit(name: BudgetName, value: number | undefined): number | undefined {
  if (value === undefined) return undefined
  const { unit } = BUDGETS[name]
  if (value > MOST[unit]) throw new GatewayError('invalid_request', `${name}: expected at most ${MOST[unit]}.`)
  if (unit === 'usd') return toNanoUsd(value)
  if (!Number.isInteger(value)) throw new GatewayError('invalid_request', `${name}: expected a whole number.`)
  return unit === 'ms' ? value * SECOND_MS : value
}

function fromUnit(name: BudgetName, value: number): number {
  const { unit } = BUDGETS[name]
  if (unit === 'usd') return toUsd(value)
  return unit === 'ms' ? Math.round(value / SECOND_MS) : value
}

/** Returns a budget with its amounts in USD, turns, tokens or seconds; the limit includes the raise. */
function shown({ name, conversation, agent, limit, raised, spent, held, begunAtMs }: BudgetInUse, nowMs: number) {
  const isTime = BUDGETS[name].unit === 'ms'
  return {
    budget: name,
    conversation,
    agent: agent ?? null,
    unit: isTime ? 'seconds' : BUDGETS[name].unit,
    limit: fromUnit(name, limit + raised),
    raised: fromUnit(name, raised),
    spent: fromUnit(name, isTime ? Math.max(0, nowMs - begunAtMs) : spent),
    held: isTime ? 0 : fromUnit(name, held),
    begunAtMs,
  }
}
