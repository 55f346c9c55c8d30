import { useEffect, useState } from 'preact/hooks'
import type { RequestRow } from '../../parts/request-columns.tsx'

/** Counts turns of a run that have ended since `round` began. */
export function useNewTurns(rootId: string | undefined, round: number): number {
  const [turns, setTurns] = useState(0)
  useEffect(() => {
    setTurns(0)
    if (rootId === undefined) return
    const source = new EventSource('/dashboard/api/live')
    source.onmessage = ({ data }) => {
      // Safe: the feed's own shape.
      const { conversation } = JSON.parse(data) as RequestRow
      if (conversation?.rootId === rootId) setTurns((old) => old + 1)
    }
    return () => source.close()
  }, [rootId, round])
  return turns
}
