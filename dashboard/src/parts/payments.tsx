import { useMemo } from 'preact/hooks'
import type { PaymentBook, PaymentSum } from '../../../src/core/ports/payments.ts'
import { count, usd } from '../format.ts'
import { useData } from '../use-data.ts'
import { Chart } from './chart.tsx'
import { Card } from './facts.tsx'
import { Failure } from './states.tsx'

const NANO_USD_PER_CENT = 1e7
const DAY_MS = 86_400_000

/** Labels of the states of a payment. */
export const BOOKS: Readonly<Record<PaymentBook, string>> = {
  delivered: 'delivered',
  owed: 'owed',
  open: 'open',
  'written-off': 'released',
  none: 'not paid',
}

/** Descriptions of the states. */
export const EXPLAINED: Readonly<Record<PaymentBook, string>> = {
  delivered: 'The payment is captured, and the reply was delivered. There are no refunds.',
  owed: 'The payment is captured, and its reply is owed: the same credential fetches it at any time.',
  open: 'The request is in flight, or its reply may still be fetched; nothing is captured yet.',
  'written-off': 'The hold was released without a reply.',
  none: 'Nothing was held or captured: the payment was declined or abandoned.',
}

const KINDS: Readonly<Record<PaymentBook, string>> = {
  delivered: 'fine',
  owed: 'warm',
  open: 'cache-hit',
  'written-off': '',
  none: '',
}

/** Badge of a payment's state. */
export function BookBadge({ book }: { book: PaymentBook }) {
  return <span class={`badge ${KINDS[book]}`}>{BOOKS[book]}</span>
}

/** Formats cents as dollars. */
export function cents(amount: number): string {
  return usd(amount * NANO_USD_PER_CENT)
}

interface Days {
  readonly sinceMs: number
  readonly days: number
  readonly data: readonly PaymentSum[]
}

/** Totals of payments of the last thirty days, and by day. */
export function PaymentTotals() {
  const { data, error, reload } = useData<Days>('/dashboard/api/payments/days')
  if (data === undefined) return error ? <Failure error={error} onRetry={reload} /> : null
  return (
    <>
      <section class="cards" aria-label={`The last ${data.days} days`}>
        {(['delivered', 'owed', 'open', 'written-off', 'none'] as const).map((book) => {
          const own = data.data.filter((sum) => sum.book === book)
          const payments = own.reduce((sum, { payments }) => sum + payments, 0)
          return (
            <Card
              key={book}
              title={`${BOOKS[book][0]?.toUpperCase()}${BOOKS[book].slice(1)}, ${data.days} days`}
              value={cents(own.reduce((sum, { cents }) => sum + cents, 0))}
              note={`${count(payments)} ${payments === 1 ? 'payment' : 'payments'}`}
            />
          )
        })}
      </section>
      <ByDay {...data} />
    </>
  )
}

function ByDay({ sinceMs, days, data }: Days) {
  const { times, series } = useMemo(() => {
    const times = Array.from({ length: days }, (_, day) => sinceMs + day * DAY_MS)
    const column = (book: PaymentBook) =>
      times.map((atMs) => {
        const found = data.find((sum) => sum.dayMs === atMs && sum.book === book)
        return (found?.cents ?? 0) * NANO_USD_PER_CENT
      })
    return {
      times,
      series: [
        { label: 'Delivered', colour: 'chart-2', values: column('delivered') },
        { label: 'Owed', colour: 'chart-4', values: column('owed') },
      ],
    }
  }, [sinceMs, days, data])
  const taken = data.filter(({ book }) => book === 'delivered' || book === 'owed')
  return (
    <Chart
      title="Captured by day"
      kind="stack"
      times={times}
      series={series}
      print={usd}
      summary={`${cents(taken.reduce((sum, { cents }) => sum + cents, 0))} taken in ${days} days`}
    />
  )
}
