import { deserialize, serialize } from 'node:v8'
import type { CapturedRequest, CaptureStore } from '../../core/ports/capture.ts'
import type { Channel } from '../../core/ports/channel.ts'
import { connectPeers } from '../../core/telemetry/peers.ts'

/** Largest message; a larger capture is sent without the versions after each plugin. */
const LARGEST_BYTES = 8 * 1024 ** 2
const NOT_HERE = ''

/** Creates a store that also finds the captures of other processes. */
export function createPeerCaptures(own: CaptureStore, channel: Channel): CaptureStore {
  const ask = connectPeers({
    channel,
    topic: 'captures',
    async answer(id) {
      const found = await own.get(id)
      return found === undefined ? NOT_HERE : pack(found)
    },
  })
  const isFound = (answer: string) => answer !== NOT_HERE
  const find = async (id: string) => {
    const found = (await ask(id, isFound)).find(isFound)
    return found === undefined ? undefined : unpack(found)
  }
  return { put: (captured) => own.put(captured), get: async (id) => (await own.get(id)) ?? (await find(id)) }
}

function pack(captured: CapturedRequest): string {
  const bytes = serialize(captured)
  const sent = bytes.length <= LARGEST_BYTES ? bytes : serialize({ ...captured, canonical: undefined, versions: [] })
  return sent.toString('base64')
}

/** Parses a capture. Safe: other processes run the same code. */
function unpack(text: string): CapturedRequest {
  return deserialize(Buffer.from(text, 'base64')) as CapturedRequest
}
