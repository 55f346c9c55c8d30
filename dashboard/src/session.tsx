import { createContext } from 'preact'
import { useContext } from 'preact/hooks'

/** Who looks, and what there is: the answer of `/dashboard/api/session`. */
export interface SessionFacts {
  readonly mode: 'local' | 'cloud'
  readonly version: string
  /** The pipeline of requests that name none. */
  readonly pipeline: string
  readonly plugins: readonly string[]
  /** Whether agents can pay here. */
  readonly agents: 'off' | 'unpayable' | 'on'
  readonly has: { readonly telemetry: boolean; readonly receipts: boolean; readonly capture: boolean }
  readonly userId: string | null
  readonly isOperator: boolean
}

/** The session, for every page. */
export const SessionContext = createContext<SessionFacts | undefined>(undefined)

/** The session of a page, which is drawn only when there is one. */
export function useSession(): SessionFacts {
  const facts = useContext(SessionContext)
  if (facts === undefined) throw new Error('A page was drawn without its session.')
  return facts
}
