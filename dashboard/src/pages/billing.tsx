import { useState } from 'preact/hooks'
import { CREDITS_PER_USD } from '../../../src/core/ports/billing.ts'
import { call } from '../api.ts'
import { day, credits as printCredits, usd } from '../format.ts'
import { CapturePart } from '../parts/capture-part.tsx'
import { CreditsPart } from '../parts/credits.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { useSession } from '../session.tsx'
import { useAttempt } from '../use-attempt.ts'
import { useData } from '../use-data.ts'

const NANO = 1e9

interface Balance {
  readonly tier: string
  readonly credits: number
  readonly currentPeriodEnd: string | null
  readonly autoRechargeEnabled: boolean
  readonly autoRechargeThreshold?: number
  readonly autoRechargeAmount?: number
  readonly autoRechargeMonthlyLimit?: number
  readonly autoRechargeDisabledReason?: string | null
}

/** Page of plan, credits and recharge; in local mode a note that all is free. */
export function BillingPage() {
  const { mode, has } = useSession()
  return (
    <>
      <div class="page-head">
        <h1>Billing</h1>
      </div>
      {mode === 'cloud' ? (
        <CloudBilling />
      ) : (
        <Empty title="Local mode is free">
          <p>
            There is no plan and no balance. The providers’ charges are on the <a href="#/">overview</a>; caps on it are
            in <a href="#/settings">the settings</a> under <code>costs</code>.
          </p>
        </Empty>
      )}
      {mode === 'cloud' && <CreditsPart />}
      {mode === 'cloud' && has.capture && <CapturePart />}
    </>
  )
}

function CloudBilling() {
  const { data, error, isBusy, reload } = useData<Balance>('/v1/billing/balance')
  const [failure, setFailure] = useState<Error>()
  const leaveFor = async (path: string, body: object) => {
    try {
      const { url } = await call<{ url: string }>(path, { method: 'POST', body })
      location.assign(url)
    } catch (thrown) {
      // Safe: `call` throws errors.
      setFailure(thrown as Error)
    }
  }
  if (data === undefined)
    return isBusy ? <Busy what="the balance" /> : error ? <Failure error={error} onRetry={reload} /> : null
  const { tier, credits, currentPeriodEnd } = data
  const isFree = tier === 'free'
  return (
    <>
      {error && <Failure error={error} onRetry={reload} />}
      {failure && <Failure error={failure} />}
      <section class="cards" aria-label="Balance">
        <div class="card">
          <h2>Plan</h2>
          <p class="value">{tier}</p>
          <p class="note">{currentPeriodEnd === null ? 'no period' : `until ${day(Date.parse(currentPeriodEnd))}`}</p>
        </div>
        <div class="card">
          <h2>Credits left</h2>
          <p class="value">{printCredits(credits)}</p>
          <p class="note">{usd((credits / CREDITS_PER_USD) * NANO)}</p>
        </div>
        <div class="card">
          <h2>Recharge</h2>
          <p class="value">{data.autoRechargeEnabled ? 'on' : 'off'}</p>
          <p class="note">
            {data.autoRechargeDisabledReason ?? (isFree ? 'included in a plan' : 'when credits are low')}
          </p>
        </div>
      </section>
      <div class="bar">
        {isFree ? (
          <>
            <button type="button" class="primary" onClick={() => leaveFor('/v1/billing/checkout', { tier: 'pro' })}>
              Choose Pro
            </button>
            <button type="button" onClick={() => leaveFor('/v1/billing/checkout', { tier: 'team' })}>
              Choose Team
            </button>
          </>
        ) : (
          <button type="button" onClick={() => leaveFor('/v1/billing/portal', {})}>
            Card, plan and invoices
          </button>
        )}
      </div>
      {!isFree && <AutoRecharge balance={data} onChanged={reload} />}
    </>
  )
}

function AutoRecharge({ balance, onChanged }: { balance: Balance; onChanged: () => void }) {
  const [draft, setDraft] = useState({
    autoRechargeEnabled: balance.autoRechargeEnabled,
    autoRechargeThreshold: balance.autoRechargeThreshold ?? 0,
    autoRechargeAmount: balance.autoRechargeAmount ?? 0,
    autoRechargeMonthlyLimit: balance.autoRechargeMonthlyLimit ?? 0,
  })
  const { attempt, error } = useAttempt()
  const save = (event: Event) => {
    event.preventDefault()
    void attempt(async () => {
      await call('/v1/billing/auto-recharge', { method: 'PATCH', body: draft })
      onChanged()
    })
  }
  const amounts = [
    ['autoRechargeThreshold', 'Threshold (credits)'],
    ['autoRechargeAmount', 'Buy'],
    ['autoRechargeMonthlyLimit', 'Monthly limit'],
  ] as const
  return (
    <section class="sheet" aria-labelledby="recharge">
      <h2 id="recharge">Auto-recharge</h2>
      <form onSubmit={save}>
        <label class="check">
          <input
            type="checkbox"
            checked={draft.autoRechargeEnabled}
            onChange={({ currentTarget }) => setDraft({ ...draft, autoRechargeEnabled: currentTarget.checked })}
          />
          <span>Buy credits below the threshold</span>
        </label>
        <div class="numbers">
          {amounts.map(([name, title]) => (
            <label key={name}>
              <span>{title}, in credits</span>
              <input
                type="number"
                min={0}
                value={draft[name]}
                onInput={({ currentTarget }) => setDraft({ ...draft, [name]: currentTarget.valueAsNumber || 0 })}
              />
            </label>
          ))}
        </div>
        {error && <Failure error={error} />}
        <button type="submit" class="primary">
          Save
        </button>
      </form>
    </section>
  )
}
