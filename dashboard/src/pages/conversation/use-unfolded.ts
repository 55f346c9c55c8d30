import { useCallback, useState } from 'preact/hooks'
import type { ConversationTurn } from '../../../../src/core/telemetry/conversations.ts'
import { call } from '../../api.ts'
import type { ConversationReply } from '../../conversation.ts'

/** Turns of an unfolded sub-agent that are shown; its own page shows all. */
const MOST_TURNS = 100

/** Unfolded sub-agents. */
export interface Unfolded {
  /** First turns by sub-agent id; an empty list while loading. */
  readonly unfolded: ReadonlyMap<string, readonly ConversationTurn[]>
  readonly errors: ReadonlyMap<string, Error>
  /** Shows a sub-agent's turns, or hides them. */
  fold(id: string): void
}

/** Keeps the unfolded sub-agents of a page, and loads their first turns. */
export function useUnfolded(): Unfolded {
  const [unfolded, setUnfolded] = useState<Unfolded['unfolded']>(new Map())
  const [errors, setErrors] = useState<Unfolded['errors']>(new Map())
  const fold = useCallback(
    (id: string) => {
      setErrors((old) => without(old, id))
      if (unfolded.has(id)) return setUnfolded((old) => without(old, id))
      setUnfolded((old) => new Map(old).set(id, []))
      call<ConversationReply>(`/dashboard/api/conversations/${encodeURIComponent(id)}?limit=${MOST_TURNS}`)
        .then(({ turns }) => setUnfolded((old) => (old.has(id) ? new Map(old).set(id, turns.data) : old)))
        .catch((error: Error) => {
          setUnfolded((old) => without(old, id))
          setErrors((old) => new Map(old).set(id, error))
        })
    },
    [unfolded],
  )
  return { unfolded, errors, fold }
}

function without<Value>(map: ReadonlyMap<string, Value>, id: string): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([one]) => one !== id))
}
