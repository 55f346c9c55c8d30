import type { ReplyDialect } from 'turnpike/plugin/bytes'

/** Returns the model's text in a canonical event: the text of a delta, or the whole start of a block. */
export function textOf(data: string): string {
  try {
    const { delta, content_block: block } = JSON.parse(data)
    if (delta === undefined) return JSON.stringify(block ?? '')
    const text = [delta.text, delta.partial_json, delta.thinking].find((member) => typeof member === 'string')
    return text ?? JSON.stringify(delta)
  } catch {
    return data
  }
}

const EVENT_END = /\r\n\r\n|\n\n|\r\r/
const NAME = /^event: ?(.*)$/m
const DATA = /^data: ?(.*)$/m

/** Tests whole events, in the stream's own dialect, for the end of the model's output. */
export function hasFinished(portions: readonly Buffer[], dialect: ReplyDialect): boolean {
  const events = Buffer.concat(portions).toString().split(EVENT_END)
  return events.some((event) => {
    const sign = dialect.readEvent(NAME.exec(event)?.[1] ?? 'message', DATA.exec(event)?.[1] ?? '')
    return sign?.kind === 'finish' || sign?.kind === 'stop'
  })
}
