import { type AskOptions, type Stage, startStage } from './cache-stage.ts'
import { assertOwn, isGiven, MARKED, nextCaller } from './second-caller.ts'

/**
 * Starts a stage on which a second caller repeats each request that the cache answers, and where `called` finds a
 * call that others may join. The second caller's requests do not count and follow no script, but their replies are stored.
 */
export async function startSharedStage(options?: Parameters<typeof startStage>[0]): Promise<Stage> {
  const stage = await startStage(options)
  const askedLast = new Map<string, AskOptions>()
  const askAsSecond = async (prompt: string) => {
    const { stream = false, pipe = 'exact-cache', extra, headers = {} } = askedLast.get(prompt) ?? {}
    if (pipe.includes('scope=shared')) return
    const asking = { stream, pipe, headers, as: nextCaller(), extra: { ...extra, ...MARKED } }
    assertOwn(prompt, await stage.ask(prompt, asking))
  }
  return {
    ...stage,
    async ask(prompt, options = {}) {
      askedLast.set(prompt, options)
      const reply = await stage.ask(prompt, options)
      if (isGiven(reply)) await askAsSecond(prompt)
      return reply
    },
    askUnread(prompt, options = {}) {
      askedLast.set(prompt, { ...options, stream: true })
      return stage.askUnread(prompt, options)
    },
    async called(prompt, nth) {
      await stage.called(prompt, nth)
      await askAsSecond(prompt)
    },
  }
}
