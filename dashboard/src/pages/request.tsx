import './request.css'
import type { Names } from '../../../src/core/ports/names.ts'
import type { ReceiptProof } from '../../../src/core/telemetry/receipt.ts'
import type { FinishedRequest } from '../../../src/core/telemetry/telemetry.ts'
import { tokensIn } from '../../../src/core/telemetry/tokens-in.ts'
import { count, duration, moment, NOTHING, usd, visible } from '../format.ts'
import { errorIn, replyParts } from '../message-text.ts'
import { CacheBadge, StatusBadge } from '../parts/badges.tsx'
import { ConversationLink } from '../parts/conversation-link.tsx'
import { Copy } from '../parts/copy.tsx'
import { Edits } from '../parts/edits.tsx'
import { Fact } from '../parts/facts.tsx'
import { MessageText } from '../parts/message-text.tsx'
import { NamedValue } from '../parts/named-value.tsx'
import { Cost, savedOf } from '../parts/request-columns.tsx'
import { Busy, Failure } from '../parts/states.tsx'
import { BodyText } from '../parts/text.tsx'
import { Waterfall } from '../parts/waterfall.tsx'
import type { RequestDetail } from '../request-detail.ts'
import type { Route } from '../route.ts'
import { useData } from '../use-data.ts'

const BASES: Readonly<Record<FinishedRequest['counterfactualBasis'], string>> = {
  same: 'measured: request unchanged',
  'cached-reply': 'measured: price of the stored reply',
  estimate: 'estimated: request changed',
}

/** Page of one request: latency, plugin steps, receipt. */
export function RequestPage({ route }: { route: Route }) {
  const { data, error, isBusy, reload } = useData<RequestDetail>(
    `/dashboard/api/requests/${encodeURIComponent(route.id)}`,
  )
  return (
    <>
      <p class="crumb">
        <a href="#/requests">← Requests</a>
      </p>
      {error && <Failure error={error} onRetry={reload} />}
      {data === undefined && isBusy && <Busy what="the request" />}
      {data !== undefined && !error && <Detail key={data.request.id} {...data} />}
    </>
  )
}

function Detail(detail: RequestDetail) {
  const { request, capture } = detail
  return (
    <>
      <div class="page-head">
        <h1 class="wrap">{visible(request.modelServed ?? request.modelAsked) || 'Refused request'}</h1>
        <StatusBadge {...request} />
        {request.cache !== 'none' && <CacheBadge {...request} />}
        {capture !== null && (
          <a class="button" href={`#/playground?from=${request.id}`}>
            Open in the playground
          </a>
        )}
      </div>
      <FailureReason {...detail} />
      <Facts {...request} names={detail.names} atMostUsd={detail.receipt?.receipt.counterfactual.usd_at_most} />
      <section aria-labelledby="trace">
        <h2 id="trace">Timeline</h2>
        <Waterfall {...request} steps={request.trace.steps} />
        {request.trace.isCut && <p class="muted">The trace was too long: notes of plugins were dropped.</p>}
        <Calls {...request} />
      </section>
      {request.outcome !== 'refused' && <Edits {...detail} />}
      <Bodies {...detail} />
      <ReceiptPart {...detail} />
    </>
  )
}

const UNFINISHED: Readonly<Record<string, string>> = {
  incomplete: 'The reply broke off before its end.',
  cancelled: 'The client disconnected before the end of the reply.',
  error: 'The request failed without a reason in its row.',
}

/** Reason of a request that did not end well, with the error of the reply where its body is kept. */
function FailureReason({ request, capture }: RequestDetail) {
  const { outcome, reason } = request
  if (outcome === 'complete' && reason === null) return null
  const error = capture === null ? undefined : errorIn(capture.reply.text)
  const words = reason ?? UNFINISHED[outcome] ?? `This request ended as ${outcome}.`
  return (
    <div class="notice failure reason">
      <h2>{outcome === 'refused' ? 'Why it was refused' : 'Why it failed'}</h2>
      <p class="wrap">{visible(words)}</p>
      {error !== undefined && !words.includes(error) && <p class="wrap">The client received: {visible(error)}</p>}
    </div>
  )
}

/** Converts a receipt's amount, which has nine decimal places, to nano-dollars. */
function nanoOf(amountUsd: string): number {
  return Number(amountUsd.replace('.', ''))
}

function Facts({ atMostUsd, names, ...request }: FinishedRequest & { atMostUsd: string | undefined; names: Names }) {
  const { tokens } = request
  const saved = savedOf(request)
  return (
    <dl class="facts">
      <Fact name="When">{moment(request.startedAtMs)}</Fact>
      <Fact name="Took">{duration(request.totalMs)}</Fact>
      <Fact name="Gateway overhead">{duration(request.gatewayMs)}</Fact>
      <Fact name="Cost">
        <Cost {...request} />
        {request.priceSource === 'ceiling' && request.costNanoUsd !== 0 && (
          <small> price unknown: the ceiling price</small>
        )}
      </Fact>
      <Fact name="Without the gateway">
        {usd(request.counterfactualNanoUsd)}
        {atMostUsd !== undefined && ` to ${usd(nanoOf(atMostUsd))}`} <small>{BASES[request.counterfactualBasis]}</small>
      </Fact>
      <Fact name="Saved">
        {usd(saved)}
        {atMostUsd !== undefined && ` to ${usd(nanoOf(atMostUsd) - (request.costNanoUsd ?? 0))}`}
      </Fact>
      <Fact name="Tokens in">
        {tokens === null ? NOTHING : count(tokensIn(tokens))}
        {tokens !== null && tokens.cacheRead + tokens.cacheWrite > 0 && (
          <small>
            {' '}
            {count(tokens.input)} fresh, {count(tokens.cacheRead)} from the provider’s cache, {count(tokens.cacheWrite)}{' '}
            into it
          </small>
        )}
      </Fact>
      <Fact name="Tokens out">{tokens === null ? NOTHING : count(tokens.output)}</Fact>
      <Fact name="Requested">{visible(request.modelAsked) || NOTHING}</Fact>
      <Fact name="Provider">{request.provider ?? 'No response'}</Fact>
      <Fact name="Form">
        {request.route}
        {request.isStream ? ', streamed' : ''}
      </Fact>
      <Fact name="Key">
        {request.keyId === null ? NOTHING : <NamedValue of="key" id={request.keyId} names={names} />}
      </Fact>
      {request.userId !== null && (
        <Fact name="Person">
          <NamedValue of="person" id={request.userId} names={names} />
        </Fact>
      )}
      {request.teamId !== null && (
        <Fact name="Team">
          <NamedValue of="team" id={request.teamId} names={names} />
        </Fact>
      )}
      <Fact name="Conversation">
        <ConversationLink {...request} />
        {request.conversation?.client && <small>{visible(request.conversation.client)}</small>}
      </Fact>
      {request.lost !== null && (
        <Fact name="Lost prompt cache" isWide>
          {usd(request.lost.nanoUsd)}{' '}
          <small>
            {count(request.lost.tokens)} tokens were not read: {visible(request.lost.detail)}
          </small>
        </Fact>
      )}
      <Fact name="Pipeline" isWide>
        <code>{visible(request.pipeline)}</code>
      </Fact>
      <Fact name="Request id" isWide>
        <code>{request.requestId}</code> <Copy text={request.requestId} />
      </Fact>
    </dl>
  )
}

function Calls({ trace: { calls } }: FinishedRequest) {
  if (calls.length < 2 && calls.every(({ outcome }) => outcome === 'answered')) return null
  return (
    <>
      <h3>Provider calls</h3>
      <ol class="calls">
        {calls.map(({ provider, model, outcome, status }, index) => (
          <li key={index}>
            {provider}/{visible(model)}: {outcome} {status ?? ''}
          </li>
        ))}
      </ol>
    </>
  )
}

function Bodies({ capture }: RequestDetail) {
  if (capture === null) return null
  return (
    <section aria-labelledby="bodies">
      <h2 id="bodies">Bodies</h2>
      <div class="two">
        <BodyText title="Request, as sent by the client" body={capture.request} />
        <MessageText
          title="Reply, as received by the client"
          parts={replyParts(capture.reply.text)}
          body={capture.reply}
        />
      </div>
    </section>
  )
}

const GENUINE = { 1: 'Genuine: it is as this gateway signed it.', 2: 'Genuine: it is in the signed ledger, unchanged.' }

/** Shows a receipt's place in the ledger. */
function Proof({ leaf_index: index, hashes, checkpoint }: ReceiptProof) {
  const [origin = '', size] = checkpoint.split('\n')
  return (
    <details>
      <summary>Inclusion proof and signed tree head</summary>
      <dl class="facts">
        <Fact name="Leaf">{count(index)}</Fact>
        <Fact name="Tree size">{count(Number(size))}</Fact>
        <Fact name="Ledger" isWide>
          <code>{visible(origin)}</code>
        </Fact>
      </dl>
      <div class="body-text">
        <div class="bar">
          <h3>Signed tree head</h3>
          <Copy text={checkpoint} />
        </div>
        <pre class="scroll">{visible(checkpoint)}</pre>
      </div>
      <p class="muted">
        {hashes.length === 0 ? 'The proof needs no hashes: the leaf is the tree.' : 'Hashes from the leaf up:'}
      </p>
      {hashes.length > 0 && <pre class="scroll">{hashes.join('\n')}</pre>}
    </details>
  )
}

function ReceiptPart({ request, receipt: found }: RequestDetail) {
  if (found === null)
    return (
      <section aria-labelledby="receipt">
        <h2 id="receipt">Receipt</h2>
        <p class="muted">
          {request.outcome === 'refused'
            ? 'This request was refused before its pipeline: it has no receipt.'
            : request.hasReceipt
              ? 'Its receipt is not stored yet, cannot be read now, or has expired. Reload the page later.'
              : 'This request has none.'}
        </p>
      </section>
    )
  const { receipt, isValid, checks } = found
  const text = JSON.stringify(receipt, undefined, 2)
  return (
    <section aria-labelledby="receipt">
      <h2 id="receipt">Receipt</h2>
      <p class={`verdict ${isValid ? 'fine' : 'failed'}`}>
        {isValid ? GENUINE[receipt.v] : 'Not genuine: do not rely on it.'}
      </p>
      <ul class="checks">
        {checks.map(({ name, ok, says }) => (
          <li key={name}>
            <span class={`badge ${ok ? 'fine' : 'failed'}`}>{ok ? 'ok' : 'failed'}</span> {says}
          </li>
        ))}
      </ul>
      <p class="muted">
        {receipt.counterfactual.explained} To check it elsewhere: <code>turnpike receipt verify receipt.json</code>
      </p>
      {receipt.proof && <Proof {...receipt.proof} />}
      <details>
        <summary>The receipt itself</summary>
        <div class="body-text">
          <div class="bar">
            <h3>{receipt.id}</h3>
            <Copy text={text} />
          </div>
          <pre class="scroll">{visible(text)}</pre>
        </div>
      </details>
    </section>
  )
}
