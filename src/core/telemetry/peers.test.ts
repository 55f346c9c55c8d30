import test from 'ava'
import type { Channel } from '../ports/channel.ts'
import { type AskPeers, connectPeers } from './peers.ts'

/** Connects processes by a channel; they answer with their own numbers. */
function processes(count: number, { isDown = false } = {}): AskPeers[] {
  const listeners = new Map<string, ((text: string) => void)[]>()
  const channel: Channel = {
    async publish(topic, text) {
      if (isDown) throw new Error('away')
      const all = listeners.get(topic) ?? []
      for (const listener of all) listener(text)
      return all.length
    },
    subscribe: (topic, listener) => void listeners.set(topic, [...(listeners.get(topic) ?? []), listener]),
    close: async () => {},
  }
  return Array.from({ length: count }, (_, i) =>
    connectPeers({ channel, topic: 'sums', answer: async (question) => `${question}:${i}` }),
  )
}

test('peers: all other processes answer, and the querying one does not', async (t) => {
  const [ask] = processes(3)
  t.deepEqual((await ask?.('sum'))?.toSorted(), ['sum:1', 'sum:2'])
})

test('peers: one answer may be enough', async (t) => {
  const [ask] = processes(3)
  t.true((await ask?.('sum', (answer) => answer === 'sum:1'))?.includes('sum:1'))
})

test('peers: without other processes, or without a channel, there are no answers', async (t) => {
  t.deepEqual(await processes(1)[0]?.('sum'), [])
  t.deepEqual(await processes(2, { isDown: true })[0]?.('sum'), [])
})
