import { useMemo } from 'preact/hooks'
import type { PaymentBook, PaymentSum } from '../../../src/core/ports/payments.ts'
import { count, usd } from '../format.ts'
import { useData } from '../use-data.ts'
import { Chart } from './chart.tsx'
import { Card } from './facts.tsx'
import { Failure } from './states.tsx'

const NANO_USD_PER_CENT = 1e7
const DAY_MS = 86_400_000

/** What became of a payment, in a word or two. */
export const BOOKS: Readonly<Record<PaymentBook, string>> = {
  delivered: 'delivered',
  owed: 'owed',
  open: 'open',
  'written-off': 'released',
  none: 'not paid',
}

/** The same, in a sentence. */
export const EXPLAINED: Readonly<Record<PaymentBook, string>> = {
  delivered: 'The money is taken, and the answer was given. There are no refunds.',
  owed: 'The money is taken, and its answer is owed: the same credential has it at any time.',
  open: 'Somebody works on it, or may come back for it; nothing is taken yet.',
  'written-off': 'The money was held, and let go without an answer.',
  none: 'Nothing was held or taken: the payment was refused, or given up.',
}

const KINDS: Readonly<Record<PaymentBook, string>> = {
  delivered: 'fine',
  owed: 'warm',
  open: 'cache-hit',
  'written-off': '',
  none: '',
}

/** What became of a payment: a word, and a colour that says the same. */
export function BookBadge({ book }: { book: PaymentBook }) {
  return <span class={`badge ${KINDS[book]}`}>{BOOKS[book]}</span>
}

/** Cents as dollars. */
export function cents(amount: number): string {
  return usd(amount * NANO_USD_PER_CENT)
}

interface Days {
  readonly sinceMs: number
  readonly days: number
  readonly data: readonly PaymentSum[]
}

/** What the last thirty days brought, together and by day. */
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
      title="Taken by day"
      kind="stack"
      times={times}
      series={series}
      print={usd}
      summary={`${cents(taken.reduce((sum, { cents }) => sum + cents, 0))} taken in ${days} days`}
    />
  )
}
