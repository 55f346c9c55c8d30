import { type ExpressionBuilder, type Kysely, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { BUDGET_NAMES, budgetWindow, readBudgetWindow } from '../../../core/money/budget-windows.ts'
import type { BudgetInUse, BudgetRaise } from '../../../core/ports/budgets.ts'
import type { Scopes } from '../../../core/telemetry/telemetry.ts'
import { appendAudit } from '../accounts/audit.ts'
import type { Command } from '../engine/command.ts'
import type { Database } from '../schema.ts'
import type { SpendWindowTable } from './schema.ts'

/** A million dollars; a larger sum could not be counted. */
const MOST_RAISED = 1e15
/** Most budgets in a list: those of a conversation, and of the agents of its run. */
const MOST_LISTED = 200
/** Scope of a window of an account's key; its id follows. */
const KEY_SCOPE = 'key:key:'
/** Account in the audit log of local mode, which has none. */
const NO_ACCOUNT = 'local'

type Is = ExpressionBuilder<Database, 'spend_window'>

/** Returns the condition that a budget belongs to keys of these scopes. */
function ofScopes(is: Is, scopes: Scopes) {
  const list = typeof scopes === 'string' ? [scopes] : scopes
  if ('everybody' in list) return is.lit(true)
  // An empty list is no SQL for PostgreSQL.
  return is('scope', 'in', list.length === 0 ? [''] : list.map((scope) => `key:${scope}`))
}

/** A raise, and the id of its audit entry. */
type RaiseOrder = BudgetRaise & { readonly auditId: string }

/** Raises a budget, with its audit entry; never lowers it. */
export const raiseBudget: Command<RaiseOrder, BudgetInUse | undefined> = async (db, order, now) => {
  const window = windowOf(order)
  const row = await db
    .updateTable('spend_window')
    .set({ raised_nano_usd: raised(order) })
    .where((is) => is.and([is('window_id', '=', window), is('used_day', 'is not', null), ofScopes(is, order.scopes)]))
    .returningAll()
    .executeTakeFirst()
  if (row === undefined) return undefined
  const { name, conversation, agent, by, to, actor, auditId: id } = order
  const accountId = await accountOf(db, row.scope)
  const details = { budget: name, agent, by, to }
  await appendAudit(db, { id, accountId, actor, action: 'budget.raised', subject: conversation, details }, now)
  return toBudget(row)
}

function windowOf({ name, conversation, agent }: Pick<BudgetRaise, 'name' | 'conversation' | 'agent'>): string {
  return budgetWindow(name, { id: conversation, rootId: conversation, agent })
}

function raised({ by = 0, to = 0 }: BudgetRaise): RawBuilder<number> {
  const wanted = to > 0 ? sql`${to} - limit_nano_usd` : sql`raised_nano_usd + ${by}`
  return sql`case
    when ${wanted} > ${MOST_RAISED} then ${MOST_RAISED}
    when ${wanted} > raised_nano_usd then ${wanted}
    else raised_nano_usd end`
}

async function accountOf(db: Kysely<Database>, scope: string): Promise<string> {
  if (!scope.startsWith(KEY_SCOPE)) return NO_ACCOUNT
  const key = await db
    .selectFrom('api_key')
    .select('account_id')
    .where('id', '=', scope.slice(KEY_SCOPE.length))
    .executeTakeFirst()
  return key?.account_id ?? NO_ACCOUNT
}

/** Lists the budgets of a conversation and of its run, at most 200. */
export const listBudgets: Command<{ scopes: Scopes; conversation: string }, BudgetInUse[]> = async (
  db,
  { scopes, conversation },
) => {
  const own = BUDGET_NAMES.filter((name) => name !== 'per_agent').map((name) =>
    windowOf({ name, conversation, agent: undefined }),
  )
  const agents = windowOf({ name: 'per_agent', conversation, agent: '' })
  const isAgents = sql<SqlBool>`substr(window_id, 1, ${agents.length}) = ${agents}`
  const rows = await db
    .selectFrom('spend_window')
    .selectAll()
    .where((is) =>
      is.and([is('used_day', 'is not', null), ofScopes(is, scopes), is.or([is('window_id', 'in', own), isAgents])]),
    )
    .orderBy('window_id')
    .limit(MOST_LISTED)
    .execute()
  return rows.map(toBudget)
}

function toBudget(row: Selectable<SpendWindowTable>): BudgetInUse {
  const named = readBudgetWindow(row.window_id) ?? { name: 'per_conversation', conversation: '', agent: undefined }
  return {
    ...named,
    limit: row.limit_nano_usd,
    raised: row.raised_nano_usd,
    spent: row.settled_nano_usd,
    held: row.held_nano_usd,
    begunAtMs: row.begun_at_ms,
  }
}
