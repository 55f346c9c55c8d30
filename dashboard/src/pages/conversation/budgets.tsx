import { useState } from 'preact/hooks'
import { call } from '../../api.ts'
import { shortId } from '../../conversation.ts'
import { count, span, usd, visible } from '../../format.ts'
import { Failure } from '../../parts/states.tsx'
import { useAttempt } from '../../use-attempt.ts'
import { useData } from '../../use-data.ts'

/** Budget in use, in the unit of its name. */
interface Budget {
  readonly budget: string
  readonly conversation: string
  readonly agent: string | null
  readonly unit: 'usd' | 'turns' | 'tokens' | 'seconds'
  /** Limit with the raise. */
  readonly limit: number
  readonly raised: number
  readonly spent: number
  readonly held: number
}

const NANO = 1e9
const SECOND_MS = 1000
const TITLES: Readonly<Record<string, string>> = {
  per_conversation: 'Money of the conversation',
  per_agent: 'Money of an agent',
  per_run: 'Money of the run, sub-agents included',
  turns_per_conversation: 'Turns of the conversation',
  tokens_per_conversation: 'Tokens of the conversation',
  time_per_conversation: 'Time since the first turn',
}
const UNITS: Readonly<Record<Budget['unit'], string>> = {
  usd: 'USD',
  turns: 'turns',
  tokens: 'tokens',
  seconds: 'seconds',
}

/** Budgets of a conversation: limit against spending, and a form that raises it. */
export function Budgets({ id }: { id: string }) {
  const { data, error, reload } = useData<{ data: readonly Budget[] }>(
    `/dashboard/api/conversations/${encodeURIComponent(id)}/budgets`,
  )
  return (
    <section aria-labelledby="budgets">
      <h2 id="budgets">Budgets</h2>
      {error && <Failure error={error} onRetry={reload} />}
      {data?.data.length === 0 && (
        <p class="muted">
          None. The configuration, a key or a pipeline can set one, for example{' '}
          <code>cost-guard?per_conversation=2</code>.
        </p>
      )}
      {data?.data.map((budget) => (
        <BudgetPart key={`${budget.budget} ${budget.agent}`} budget={budget} onRaised={reload} />
      ))}
    </section>
  )
}

function amount(value: number, unit: Budget['unit']): string {
  if (unit === 'usd') return usd(value * NANO)
  return unit === 'seconds' ? span(value * SECOND_MS) : `${count(value)} ${unit}`
}

function BudgetPart({ budget, onRaised }: { budget: Budget; onRaised: () => void }) {
  const { unit, limit, raised, spent, held } = budget
  const share = limit === 0 ? 1 : Math.min(1, (spent + held) / limit)
  const title = TITLES[budget.budget] ?? budget.budget
  const agent = budget.agent === null ? '' : ` (${visible(budget.agent) || 'main agent'})`
  return (
    <article class="budget" aria-label={title + agent}>
      <div class="bar">
        <h3>
          {title}
          {agent}
        </h3>
        <span>
          <strong>{amount(spent, unit)}</strong> of {amount(limit, unit)}
        </span>
      </div>
      <svg
        class={`meter ${share >= 1 ? 'is-spent' : ''}`}
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        <rect class="track" x="0" y="0" width="100" height="8" />
        <rect class="level" x="0" y="0" width={share * 100} height="8" />
      </svg>
      <p class="muted">
        {[
          share >= 1 && 'Used up: the next turn is refused.',
          held > 0 && `${amount(held, unit)} held for running requests.`,
          raised > 0 && `Raised by ${amount(raised, unit)}.`,
          budget.budget === 'per_run' && `Run ${shortId(budget.conversation)}.`,
        ]
          .filter((note) => note !== false)
          .join(' ')}
      </p>
      <Raise budget={budget} title={title + agent} onRaised={onRaised} />
    </article>
  )
}

function Raise({ budget, title, onRaised }: { budget: Budget; title: string; onRaised: () => void }) {
  const [by, setBy] = useState('')
  const { attempt, error, isBusy } = useAttempt()
  const raise = (event: Event) => {
    event.preventDefault()
    void attempt(async () => {
      await call(`/dashboard/api/conversations/${encodeURIComponent(budget.conversation)}/budgets`, {
        method: 'POST',
        body: { budget: budget.budget, ...(budget.agent !== null && { agent: budget.agent }), by: Number(by) },
      })
      setBy('')
      onRaised()
    })
  }
  const isUsd = budget.unit === 'usd'
  return (
    <form class="raise" onSubmit={raise}>
      {error && <Failure error={error} />}
      <label>
        <span>Raise by, in {UNITS[budget.unit]}</span>
        <input
          type="number"
          min={isUsd ? '0.000001' : '1'}
          step={isUsd ? 'any' : '1'}
          required
          aria-label={`Raise “${title}” by, in ${UNITS[budget.unit]}`}
          value={by}
          onInput={({ currentTarget }) => setBy(currentTarget.value)}
        />
      </label>
      <button type="submit" disabled={isBusy}>
        Raise
      </button>
    </form>
  )
}
