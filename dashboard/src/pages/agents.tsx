import { ColumnHeads } from '../parts/column-heads.tsx'
import './agents.css'
import '../parts/snippet.css'
import { useMemo, useState } from 'preact/hooks'
import type { ListedPayment } from '../../../src/core/ports/payment-books.ts'
import { count, moment, NOTHING, visible } from '../format.ts'
import { Choice, SearchField } from '../parts/fields.tsx'
import { BOOKS, BookBadge, cents, PaymentTotals } from '../parts/payments.tsx'
import { Busy, Empty, Failure } from '../parts/states.tsx'
import { Windowed } from '../parts/windowed.tsx'
import { type Route, useNavigation, useQueryInAddress } from '../route.ts'
import { useSession } from '../session.tsx'
import { useList } from '../use-list.ts'
import { useSettled } from '../use-settled.ts'
import { PaymentPage } from './payment.tsx'

const ROW_HEIGHT = 36
const SWITCHING_ON = `SVC_MPP=on
SVC_MPP_SECRET=$(openssl rand -base64 48)
SVC_MPP_REALM=gateway.example.com
SVC_MPP_NETWORK_ID=profile_…
STRIPE_SECRET_KEY=sk_…`

type Payment = Omit<ListedPayment, 'scopes'>

/** Page of payments by agents without an account. */
export function AgentsPage({ route }: { route: Route }) {
  return route.id === '' ? <Ledger route={route} /> : <PaymentPage id={route.id} />
}

function Ledger({ route }: { route: Route }) {
  const [filter, setFilter] = useState(() => filterOf(route.query))
  const settled = useSettled(filter)
  const query = useMemo(() => searchOf(settled), [settled])
  const list = useList<Payment>({ path: '/dashboard/api/payments', query })
  useNavigation('agents', (given) => setFilter(filterOf(given)))
  useQueryInAddress('agents', settled)
  const isNothing = list.rows.length === 0 && !list.isBusy && !list.error
  return (
    <>
      <div class="page-head">
        <h1>Agent ledger</h1>
        <span class="muted" role="status">
          {list.rows.length > 0 && `${count(list.rows.length)}${list.hasMore ? ' and more' : ''}`}
        </span>
        {list.rows.length > 0 && (
          <a class="button" href={`/dashboard/api/payments.csv?${query}`} download>
            Download CSV
          </a>
        )}
      </div>
      <Readiness />
      {isNothing && query === '' ? (
        <Nothing />
      ) : (
        <>
          <PaymentTotals />
          <div class="filters">
            <SearchField
              value={filter.text}
              placeholder="model, payment, challenge, route …"
              onText={(text) => setFilter((old) => ({ ...old, text }))}
            />
            <Choice
              label="Outcome"
              value={filter.book}
              options={{ '': 'anything', ...BOOKS }}
              onChange={(book) => setFilter((old) => ({ ...old, book }))}
            />
          </div>
          {list.error && <Failure error={list.error} onRetry={list.more} />}
          {list.rows.length === 0 && list.isBusy && <Busy what="payments" />}
          {isNothing && <Empty title="No matching payments" />}
          {list.rows.length > 0 && (
            <Windowed
              className="payments tall"
              label="Payments, newest first"
              rows={list.rows}
              rowHeight={ROW_HEIGHT}
              head={<ColumnHeads columns={COLUMNS} />}
              cells={(payment) => <Cells {...payment} />}
              onEnd={list.more}
            />
          )}
        </>
      )}
    </>
  )
}

/** Notes an agent route that is on, but without a payment method. */
function Readiness() {
  const { agents } = useSession()
  if (agents === 'sandbox')
    return (
      <p class="notice" role="note">
        <strong>Sandbox: no money moves.</strong> These payments are in books of their own, and in no report of real
        ones.
        <code>turnpike mpp try</code> pays for a call.
      </p>
    )
  if (agents !== 'unpayable') return null
  return (
    <p class="notice">
      The agent route is on, but nothing can be paid: it needs a key of Stripe and a network id.{' '}
      <code>turnpike mpp doctor</code> lists what is missing.
    </p>
  )
}

function Nothing() {
  const { agents } = useSession()
  if (agents !== 'off')
    return (
      <Empty title="No payments yet">
        <p>
          An agent that calls <code>POST /v1/agent/messages</code> gets a payment challenge; its payments are listed
          here. <code>/.well-known/mpp</code> describes payment to agents.
        </p>
      </Empty>
    )
  return (
    <Empty title="The agent route is off">
      <p>
        Agents without an account can pay for each call over HTTP 402. Set these in the environment of the gateway, and
        start it again; then <code>turnpike mpp doctor</code> tries a payment.
      </p>
      <div class="snippet">
        <pre>{SWITCHING_ON}</pre>
      </div>
    </Empty>
  )
}

const COLUMNS = [
  ['time', 'When'],
  ['amount', 'Amount'],
  ['book', 'Outcome'],
  ['what', 'Paid for'],
  ['model', 'Model'],
  ['left', 'Calls left'],
  ['reference', 'Payment'],
] as const

function Cells(payment: Payment) {
  const { challengeId, atMs, amountCents, book, session, model, reference } = payment
  return (
    <>
      <span class="cell time" role="cell">
        <a href={`#/agents/${encodeURIComponent(challengeId)}`}>{moment(atMs)}</a>
      </span>
      <span class="cell amount" role="cell">
        {cents(amountCents)}
      </span>
      <span class="cell book" role="cell">
        <BookBadge book={book} />
      </span>
      <span class="cell what" role="cell">
        {whatFor(payment)}
      </span>
      <span class="cell model" role="cell" title={visible(model)}>
        {session === null ? visible(model) : NOTHING}
      </span>
      <span class="cell left" role="cell">
        {session === null ? NOTHING : `${count(session.callsLeft)} of ${count(session.callsTotal)}`}
      </span>
      <span class="cell reference" role="cell">
        <code>{reference ?? NOTHING}</code>
      </span>
    </>
  )
}

function whatFor({ session, route }: Payment): string {
  if (session !== null) return `${count(session.callsTotal)} calls`
  return route === '/v1/agent/messages' ? 'a call' : visible(route)
}

function filterOf(query: URLSearchParams) {
  return { text: query.get('text') ?? '', book: query.get('book') ?? '' }
}

function searchOf({ text, book }: { text: string; book: string }): string {
  return new URLSearchParams(Object.entries({ text: text.trim(), book }).filter(([, value]) => value !== '')).toString()
}
