import { createHook } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

/** Resources that keep a process running while they are referenced (`async_hooks`, Type). */
const KEEPING =
  /^(?:Timeout|Immediate|WORKER|MESSAGEPORT|PROCESSWRAP|FSEVENTWRAP|STATWATCHER|(?:TCP|PIPE|UDP|TTY)\w*WRAP)$/
const POLL_MS = 20

/** A resource as `async_hooks` gives it. */
interface Handle {
  readonly hasRef?: () => boolean | undefined
}

/** Collects what a piece of work opens, among other work of the thread. */
export interface HeldResources {
  /** Resolves with the types of those that would still keep a process running, after at most `waitMs`. */
  left(waitMs: number): Promise<string[]>
}

/** Begins to collect the resources that are opened where `isOwn` holds. */
export function collectHeldResources(isOwn: () => boolean): HeldResources {
  const opened = new Map<number, { readonly type: string; readonly handle: Handle }>()
  const hook = createHook({
    init(id, type, _trigger, handle) {
      if (KEEPING.test(type) && isOwn()) opened.set(id, { type, handle })
    },
    destroy: (id) => void opened.delete(id),
  }).enable()
  const held = () => [...opened.values()].filter(({ handle }) => handle.hasRef?.() === true).map(({ type }) => type)
  return {
    async left(waitMs) {
      const deadlineMs = performance.now() + waitMs
      while (held().length > 0 && performance.now() < deadlineMs) await sleep(POLL_MS)
      hook.disable()
      return held().sort()
    },
  }
}
