import { useEffect, useState } from 'preact/hooks'
import type { RequestRow } from '../../parts/request-columns.tsx'

/** Time in which the row of a turn is stored; the feed is earlier. */
const STORED_MS = 1000

/** Counts turns of a run that have ended since `round` began. */
export function useNewTurns(rootId: string | undefined, round: number): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    setTurns(0)
    if (rootId === undefined) return
    const timers = new Set<ReturnType<typeof setTimeout>>()
    const source = new EventSource('/dashboard/api/live')
    source.onmessage = ({ data }) => {
      // Safe: the feed's own shape.
      const { conversation } = JSON.parse(data) as RequestRow
      if (conversation?.rootId === rootId) timers.add(setTimeout(() => setTurns((old) => old + 1), STORED_MS))
    }
    return () => {
      source.close()
      for (const timer of timers) clearTimeout(timer)
    }
  }, [rootId, round])
  return turns
}
