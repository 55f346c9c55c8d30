import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Current session: the reply of `/dashboard/api/session`. */
export interface SessionFacts {
  readonly mode: 'local' | 'cloud'
  readonly version: string
  /** Pipeline of requests that name none. */
  readonly pipeline: string
  readonly plugins: readonly string[]
  /** False while no provider but the demo has a credential. */
  readonly hasProvider: boolean
  /** Availability of agent payments. */
  readonly agents: 'off' | 'unpayable' | 'on' | 'sandbox'
  readonly has: {
    readonly telemetry: boolean
    readonly receipts: boolean
    readonly capture: boolean
    readonly sessions: boolean
  }
  readonly userId: string | null
  /** `null` for a user without one. */
  readonly userName: string | null
  readonly isOperator: boolean
  readonly role: 'viewer' | 'member' | 'lead' | 'operator'
  /** Ids of the teams that the user leads. */
  readonly teamIds: readonly string[]
  readonly mayChange: boolean
}

/** Context of the session, for every page. */
export const SessionContext = createContext<SessionFacts | undefined>(undefined)

/** Returns the session; pages are rendered only with one. */
export function useSession(): SessionFacts {
  const facts = useContext(SessionContext)
  if (facts === undefined) throw new Error('A page was drawn without its session.')
  return facts
}
