import { useState } from 'preact/hooks'
import { call } from '../api.ts'
import { moment, visible } from '../format.ts'
import { TextField } from '../parts/fields.tsx'
import { Empty, Failure } from '../parts/states.tsx'
import type { Route } from '../route.ts'
import { useSession } from '../session.tsx'

interface Pending {
  readonly client: string
  readonly address: string
  readonly createdAt: string
}

type Step =
  | { readonly kind: 'code'; readonly error?: Error }
  | { readonly kind: 'ask'; readonly pending: Pending }
  | { readonly kind: 'done'; readonly isApproved: boolean }

/** Page on which a user approves the sign-in of a command line; a note where the gateway opens no sessions. */
export function DevicePage({ route }: { route: Route }) {
  const { has, isOperator } = useSession()
  return (
    <>
      <div class="page-head">
        <h1>Sign in a command line</h1>
      </div>
      {has.sessions ? (
        <Approval route={route} />
      ) : (
        <Empty title="Sign-in is not set up">
          <p>
            Command lines cannot sign in here.{' '}
            {isOperator ? (
              <>
                Set <code>sign_in.issuer</code> to your identity provider.
              </>
            ) : (
              'Ask the operator of this gateway.'
            )}
          </p>
        </Empty>
      )}
    </>
  )
}

/** Asks for the code that the command shows, then for the decision. */
function Approval({ route }: { route: Route }) {
  const [code, setCode] = useState(route.id)
  const [step, setStep] = useState<Step>({ kind: 'code' })
  const fail = (thrown: unknown) => setStep({ kind: 'code', error: thrown as Error }) // safe: `call` throws errors
  const find = (event: Event) => {
    event.preventDefault()
    const body = { code }
    call<Pending>('/dashboard/api/device/find', { method: 'POST', body }).then(
      (pending) => setStep({ kind: 'ask', pending }),
      fail,
    )
  }
  const decide = (isApproved: boolean) => {
    const body = { code, approve: isApproved }
    call('/dashboard/api/device', { method: 'POST', body }).then(() => setStep({ kind: 'done', isApproved }), fail)
  }
  return (
    <>
      {step.kind === 'code' && (
        <form onSubmit={find}>
          <div class="filters">
            <TextField
              class="search"
              label="Code that the command shows"
              value={code}
              required
              maxLength={20}
              spellcheck={false}
              autocomplete="off"
              placeholder="BCDF-GHJK"
              onText={setCode}
            />
            <button type="submit" class="primary">
              Continue
            </button>
          </div>
          {step.error && <Failure error={step.error} />}
        </form>
      )}
      {step.kind === 'ask' && <Question code={code} pending={step.pending} onDecide={decide} />}
      {step.kind === 'done' && (
        <p role="status">
          {step.isApproved
            ? 'Approved. The command goes on in a few seconds; you can close this page.'
            : 'Denied. The command gets no session.'}
        </p>
      )}
    </>
  )
}

function Question({
  code,
  pending,
  onDecide,
}: {
  code: string
  pending: Pending
  onDecide: (isApproved: boolean) => void
}) {
  const { userId, userName } = useSession()
  return (
    <section aria-labelledby="device-question">
      <h2 id="device-question">Sign in {visible(pending.client)}?</h2>
      <p>
        It asked at {moment(Date.parse(pending.createdAt))} from {visible(pending.address)}, shows the code{' '}
        <code>{visible(code)}</code>, and will act as{' '}
        <strong title={userId ?? undefined}>{visible(userName ?? userId ?? '')}</strong>. The name is what it calls
        itself: approve only a command that you have started just now.
      </p>
      <p class="filters">
        <button type="button" class="primary" onClick={() => onDecide(true)}>
          Approve
        </button>
        <button type="button" class="quiet" onClick={() => onDecide(false)}>
          Deny
        </button>
      </p>
    </section>
  )
}
