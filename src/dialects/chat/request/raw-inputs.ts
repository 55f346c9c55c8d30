import { utf8Of } from '../../../core/json/raw-json.ts'
import { type Child, children } from '../../../core/json/scan.ts'
import type { RequestDocument } from '../../../core/request/request.ts'

/** Finds the exact text of tool inputs in the bytes of a Messages request. */
export class RawInputs {
  readonly #request: RequestDocument
  #text: string | undefined

  constructor(request: RequestDocument) {
    this.#request = request
  }

  /** Returns the JSON text of each block's `input` in the message at `index`, by the block's index; `undefined` where it has none. */
  of(index: number): readonly (string | undefined)[] {
    this.#text ??= this.#request.bytes.toString('latin1')
    const text = this.#text
    const message = this.#request.shape.messages[index]
    const content = message && memberOf(text, message, 'content')
    if (content === undefined) return []
    return children(text, content.start).map((block) => {
      const input = memberOf(text, block, 'input')
      return input && utf8Of(text.slice(input.start, input.end))
    })
  }
}

/** Finds the member of this decoded name: a key may be escaped, so the text is not searched for it. */
function memberOf(text: string, { start }: { start: number }, name: string): Child | undefined {
  return children(text, start).find(({ key }) => key === name)
}
