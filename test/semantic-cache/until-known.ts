import { eventually, stateOf } from '../support/cache-fixture.ts'
import type { Reply } from '../support/http-client.ts'

/** A fixture whose gateway has the semantic cache. */
interface Instance {
  ask(prompt: string, options: { pipe: string }): Promise<Reply>
}

const PIPE = 'semantic-cache'
const MOST_PROBES = 60
let probes = 0

/**
 * Waits until a gateway has read what another has written: entries are read in the order in which they were written, so a
 * gateway has all of them once it serves a question that the other was asked last. A question that comes too early is
 * stored by the reader itself and proves nothing, so each try has a new one.
 */
export async function untilKnown(writer: Instance, reader: Instance): Promise<void> {
  for (let tried = 0; tried < MOST_PROBES; tried++) {
    const probe = `Is item ${++probes} of the list in stock?`
    await eventually(
      () => writer.ask(probe, { pipe: PIPE }),
      (reply) => stateOf(reply) === 'hit',
    )
    if (stateOf(await reader.ask(probe, { pipe: PIPE })) === 'hit') return
  }
  throw new Error(`After ${MOST_PROBES} questions the other gateway has read none of them.`)
}
