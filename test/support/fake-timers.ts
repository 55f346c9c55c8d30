import { mock } from 'node:test'
import type { ExecutionContext } from 'ava'

interface FakeTimer {
  dueAtMs: number
  refresh(): void
}

/** Replaces timers until the test's end, since Node's mock timers cannot be refreshed; returns a function that passes time. */
export function fakeTimers(t: ExecutionContext): (ms: number) => void {
  let nowMs = 0
  const due = new Map<FakeTimer, () => void>()
  const set = (work: () => void, ms: number): FakeTimer => {
    const timer: FakeTimer = {
      dueAtMs: 0,
      refresh() {
        timer.dueAtMs = nowMs + ms
        due.set(timer, work)
      },
    }
    timer.refresh()
    return timer
  }
  const mocks = [
    mock.method(globalThis, 'setTimeout', set as unknown as typeof setTimeout), // safe: they are only refreshed and cleared
    mock.method(globalThis, 'clearTimeout', (timer: unknown) => void due.delete(timer as FakeTimer)),
  ]
  t.teardown(() => {
    for (const { mock } of mocks) mock.restore()
  })
  return (ms) => {
    const untilMs = nowMs + ms
    for (;;) {
      const next = [...due]
        .filter(([{ dueAtMs }]) => dueAtMs <= untilMs)
        .toSorted(([a], [b]) => a.dueAtMs - b.dueAtMs)[0]
      if (next === undefined) break
      const [timer, work] = next
      nowMs = timer.dueAtMs
      due.delete(timer)
      work()
    }
    nowMs = untilMs
  }
}
