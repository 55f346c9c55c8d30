import type { Command } from 'commander'
import { loadConfig } from '../config/load.ts'
import type { PaymentBook, PaymentSum } from '../core/ports/payments.ts'
import { createPaymentStore } from '../stores/sql/payments/payment-store.ts'
import { addHelp } from './help.ts'
import { wholeNumber } from './whole-number.ts'
import { withSandboxStore, withStore } from './with-store.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const USUAL_DAYS = 30
const MOST_DAYS = 3660
const CENTS = 100

/** Statuses of payments in the order of the report, with their descriptions. */
const BOOKS: Readonly<Record<PaymentBook, string>> = {
  open: 'held or requested, and not settled yet; by the expected day',
  delivered: 'captured, and answered',
  owed: 'captured without a delivered reply: the payer can still fetch it',
  'written-off': 'held and released: no reply, or Stripe refused the capture',
  none: 'never held: declined or abandoned (kept for a day)',
}

/** Adds `turnpike mpp report`: sums up payments by agents. */
export function addReportCommand(mpp: Command): void {
  const command = mpp
    .command('report')
    .description('Sum up holds, captures and write-offs of payments by agents, by day (UTC).')
    .option('-d, --days <days>', 'number of days back, today included', wholeNumber(MOST_DAYS), USUAL_DAYS)
    .option('--json', 'print JSON; amounts in cents')
    .action(report)
  addHelp(command, {
    examples: ['turnpike mpp report', 'turnpike mpp report --days 7 --json'],
    notes: [
      Object.entries(BOOKS)
        .map(([book, description]) => `  ${book.padEnd(11)}  ${description}`)
        .join('\n'),
    ],
  })
}

async function report({ days, json }: { days: number; json?: boolean }): Promise<void> {
  const todayMs = Math.floor(Date.now() / DAY_MS) * DAY_MS
  const sinceMs = todayMs - (days - 1) * DAY_MS
  const isSandbox = loadConfig(process.env).config.mpp.enabled === 'sandbox'
  const open = isSandbox ? withSandboxStore : withStore
  const sums = await open((store) => createPaymentStore(store).report({ sinceMs }))
  const books = { ...(isSandbox && { sandbox: true }), ...shown(sums, sinceMs) }
  const label = isSandbox ? 'SANDBOX: no money has moved\n' : ''
  process.stdout.write(json ? `${JSON.stringify(books, undefined, 2)}\n` : label + render(sums))
}

type Total = Pick<PaymentSum, 'payments' | 'cents'>

/** Sums up each book, also one without payments. */
function totalsOf(sums: readonly PaymentSum[]): Record<PaymentBook, Total> {
  const total = (book: PaymentBook): Total =>
    sums
      .filter((sum) => sum.book === book)
      .reduce((all, { payments, cents }) => ({ payments: all.payments + payments, cents: all.cents + cents }), {
        payments: 0,
        cents: 0,
      })
  return {
    open: total('open'),
    delivered: total('delivered'),
    owed: total('owed'),
    'written-off': total('written-off'),
    none: total('none'),
  }
}

function shown(sums: readonly PaymentSum[], sinceMs: number) {
  const totals = totalsOf(sums)
  return {
    since: dayOf(sinceMs),
    currency: 'usd',
    days: sums.map(({ dayMs, ...sum }) => ({ day: dayOf(dayMs), ...sum })),
    totals,
    captured_cents: totals.delivered.cents + totals.owed.cents,
  }
}

function render(sums: readonly PaymentSum[]): string {
  if (sums.length === 0) return 'No payments.\n'
  const totals = Object.entries(totalsOf(sums)).map(([book, total]) => line('total', book, total))
  const days = sums.map(({ dayMs, book, ...sum }) => line(dayOf(dayMs), book, sum))
  return [...days, ...totals].join('')
}

function line(day: string, book: string, { payments, cents }: Total): string {
  const usd = `${Math.floor(cents / CENTS)}.${String(cents % CENTS).padStart(2, '0')}`
  return `${day.padEnd(10)}  ${book.padEnd(11)}  ${String(payments).padStart(8)}  ${usd.padStart(12)} USD\n`
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}
