import { type AskOptions, type Fixture, startFixture } from './cache-fixture.ts'
import { assertOwn, isGiven, MARKED, nextCaller } from './second-caller.ts'

/**
 * Starts a fixture on which a second caller repeats each request that the cache answers, and where `called` finds a
 * call that others may join. The second caller's requests do not count and follow no script, but their replies are stored.
 */
export async function startSharedFixture(options?: Parameters<typeof startFixture>[0]): Promise<Fixture> {
  const fixture = await startFixture(options)
  const askedLast = new Map<string, AskOptions>()
  const askAsSecond = async (prompt: string) => {
    const { stream = false, pipe = 'exact-cache', extra, headers = {} } = askedLast.get(prompt) ?? {}
    if (pipe.includes('scope=shared')) return
    const asking = { stream, pipe, headers, as: nextCaller(), extra: { ...extra, ...MARKED } }
    assertOwn(prompt, await fixture.ask(prompt, asking))
  }
  return {
    ...fixture,
    async ask(prompt, options = {}) {
      askedLast.set(prompt, options)
      const reply = await fixture.ask(prompt, options)
      if (isGiven(reply)) await askAsSecond(prompt)
      return reply
    },
    askUnread(prompt, options = {}) {
      askedLast.set(prompt, { ...options, stream: true })
      return fixture.askUnread(prompt, options)
    },
    async called(prompt, nth) {
      await fixture.called(prompt, nth)
      await askAsSecond(prompt)
    },
  }
}
