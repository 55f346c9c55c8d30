import './credits.css'
import type { CreditEntry } from '../../../src/core/ports/credit-entries.ts'
import { change, credits, moment, visible } from '../format.ts'
import { useList } from '../use-list.ts'
import { Busy, Failure } from './states.tsx'

/** Labels of the kinds of entries. */
const KINDS: Readonly<Record<string, string>> = {
  calls: 'Calls beyond the plan',
  grant: 'Given',
  recharge: 'Recharge',
  reversal: 'Refund or dispute',
}

/** Changes of the account's credits, in cloud mode. */
export function CreditsPart() {
  const list = useList<CreditEntry>({ path: '/dashboard/api/credits', query: '', cursorOf: ({ seq }) => String(seq) })
  return (
    <section aria-labelledby="credits">
      <h2 id="credits">Credit entries</h2>
      {list.rows.length === 0 && list.isBusy && <Busy what="credits" />}
      {list.rows.length === 0 && !list.isBusy && !list.error && (
        <p class="muted">
          Nothing yet. What is bought, recharged, refunded, and what calls beyond the plan take is entered here.
        </p>
      )}
      {list.rows.length > 0 && (
        <div class="scroll entries" tabIndex={0} role="region" aria-labelledby="credits">
          <table>
            <thead>
              <tr>
                <th scope="col">When</th>
                <th scope="col">What</th>
                <th scope="col">Credits</th>
                <th scope="col">Left then</th>
              </tr>
            </thead>
            <tbody>
              {list.rows.map((entry) => (
                <tr key={entry.seq}>
                  <th scope="row">{moment(entry.atMs)}</th>
                  <td>
                    <What {...entry} />
                  </td>
                  <td class={entry.credits > 0 ? 'gain' : undefined}>{change(entry.credits)}</td>
                  <td>{credits(entry.creditsAfter)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {list.error && <Failure error={list.error} onRetry={list.more} />}
      {list.rows.length > 0 && list.hasMore && (
        <button type="button" disabled={list.isBusy} onClick={list.more}>
          {list.isBusy ? 'Loading…' : 'Show earlier entries'}
        </button>
      )}
    </section>
  )
}

const REQUEST = /^hold:(req_\w+)$/
const INVOICE = /^invoice:/

function What({ kind, about }: CreditEntry) {
  const requestId = REQUEST.exec(about)?.[1]
  const word = kind === 'grant' && INVOICE.test(about) ? 'Credits of the plan' : (KINDS[kind] ?? visible(kind))
  return requestId === undefined ? (
    <>
      {word} <code class="muted">{visible(about)}</code>
    </>
  ) : (
    <a href={`#/request/${requestId}`}>{word}</a>
  )
}
