import type { ListedPayment } from '../../../src/core/ports/payment-books.ts'
import type { ListedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { count, duration, moment, NOTHING, usd, visible } from '../format.ts'
import { StatusBadge } from '../parts/badges.tsx'
import { Copy } from '../parts/copy.tsx'
import { Fact } from '../parts/facts.tsx'
import { BookBadge, cents, EXPLAINED } from '../parts/payments.tsx'
import { Busy, Failure } from '../parts/states.tsx'
import { Table } from '../parts/table.tsx'
import { useData } from '../use-data.ts'

interface Found {
  readonly payment: Omit<ListedPayment, 'scopes'>
  readonly requests: readonly ListedRequest[]
}

/** Page of one payment: the state of its money, and the replies that it has paid for. */
export function PaymentPage({ id }: { id: string }) {
  const { data, error, isBusy, reload } = useData<Found>(`/dashboard/api/payments/${encodeURIComponent(id)}`)
  return (
    <>
      <p class="crumb">
        <a href="#/agents">← Agent ledger</a>
      </p>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="the payment" />}
      {data !== undefined && !error && <Detail {...data} />}
    </>
  )
}

function Detail({ payment, requests }: Found) {
  const { amountCents, book, state, session, atMs } = payment
  return (
    <>
      <div class="page-head">
        <h1>{cents(amountCents)}</h1>
        <BookBadge book={book} />
      </div>
      <p class="muted">{EXPLAINED[book]}</p>
      <dl class="facts">
        <Fact name={book === 'open' ? 'Expires unless captured' : 'When'}>{moment(atMs)}</Fact>
        <Fact name="State">{state}</Fact>
        <Fact name="Captured">{payment.settlement === 'manual' ? 'held first, then captured' : 'charged at once'}</Fact>
        <Fact name="Route">{visible(payment.route)}</Fact>
        {session === null ? (
          <Fact name="Model">{visible(payment.model)}</Fact>
        ) : (
          <>
            <Fact name="Calls left">
              {count(session.callsLeft)} of {count(session.callsTotal)}
            </Fact>
            <Fact name="Session ends">{moment(session.expiresAtMs)}</Fact>
          </>
        )}
        <Fact name="Payment at Stripe" isWide>
          {payment.reference === null ? (
            NOTHING
          ) : (
            <>
              <code>{payment.reference}</code> <Copy text={payment.reference} />
            </>
          )}
        </Fact>
        <Fact name="Challenge" isWide>
          <code>{payment.challengeId}</code>
        </Fact>
      </dl>
      <Requests requests={requests} />
    </>
  )
}

function Requests({ requests }: Pick<Found, 'requests'>) {
  return (
    <section aria-labelledby="requests">
      <h2 id="requests">Requests with its token</h2>
      {requests.length === 0 ? (
        <p class="muted">None that are still listed.</p>
      ) : (
        <Table labelledBy="requests" heads={['Request and receipt', 'Status', 'Cost at the provider', 'Took']}>
          {requests.map((request) => (
            <tr key={request.id}>
              <th scope="row">
                <a href={`#/request/${request.id}`}>
                  {moment(request.startedAtMs)} {visible(request.modelServed ?? request.modelAsked)}
                </a>
              </th>
              <td>
                <StatusBadge {...request} />
              </td>
              <td>{usd(request.costNanoUsd)}</td>
              <td>{duration(request.totalMs)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  )
}
