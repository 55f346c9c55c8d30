import { useEffect, useState } from 'preact/hooks'

const TYPING_MS = 200

/** Debounces a value. */
export function useSettled<T>(value: T): T {
  const [settled, settle] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => settle(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}
