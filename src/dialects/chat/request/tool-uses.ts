import { BodyFault } from '../../../core/json/body-fault.ts'
import type { JsonPrinter } from '../../../core/json/json-printer.ts'
import { isObject, type JsonObject } from '../../../core/json/json-value.ts'
import { ScanError } from '../../../core/json/scan.ts'
import { skipSpace, skipValue, type Tally } from '../../../core/json/scan-value.ts'
import type { DroppedFields } from '../../../core/request/dropped-fields.ts'
import { ChatFault, listAt, objectAt, textAt } from './chat-fault.ts'
import { dropLeftovers, wordOf } from './json-value.ts'
import { toToolId } from './tool-id.ts'

/** Shared state of one translation. */
export interface Target {
  readonly droppedFields: DroppedFields
  readonly printer: JsonPrinter
  /** Counts the values in call arguments, which become values of the request. */
  readonly tally: Tally
}

const CALL_MEMBERS = new Set(['id', 'type', 'function', 'index'])
const FUNCTION_MEMBERS = new Set(['name', 'arguments'])
/** Levels around an input in the translated request. */
const DEPTH_OF_INPUT = 5

/** Returns `tool_use` blocks of an assistant message's `tool_calls`. */
export function toToolUses(message: JsonObject, path: string, target: Target): JsonObject[] {
  const blocks: JsonObject[] = []
  for (const [index, value] of listAt(message.tool_calls, `${path}.tool_calls`).entries()) {
    const at = `${path}.tool_calls[${index}]`
    const call = objectAt(value, at)
    if ((call.type ?? 'function') !== 'function')
      target.droppedFields.refuse(at, `the Messages shape has no equivalent of a call of type ${wordOf(call.type)}`)
    else blocks.push(toToolUse(call, at, target))
  }
  return blocks
}

function toToolUse(call: JsonObject, path: string, target: Target): JsonObject {
  dropLeftovers(call, { known: CALL_MEMBERS, place: 'messages.tool_calls' }, target.droppedFields)
  const id = toToolId(textAt(call.id, `${path}.id`))
  return { type: 'tool_use', id, ...toNamedInput(call.function, `${path}.function`, target) }
}

/** Returns name and input of a called function, `{name, arguments}`. */
export function toNamedInput(called: unknown, path: string, { droppedFields, printer, tally }: Target): JsonObject {
  const { name, arguments: text } = objectAt(called, path)
  dropLeftovers(
    objectAt(called, path),
    { known: FUNCTION_MEMBERS, place: 'messages.tool_calls.function' },
    droppedFields,
  )
  const json = textAt(text, `${path}.arguments`)
  return { name: textAt(name, `${path}.name`), input: toInput(json, `${path}.arguments`, { printer, tally }) }
}

/**
 * Returns the input of a call's arguments at `path`, their text unchanged: models that call a function without parameters
 * often leave its arguments empty. Arguments that are no JSON object, which a reply that was cut inside a call leaves in every
 * later turn, become its only member. Throws `ChatFault` when they exceed a limit.
 */
export function toInput(json: string, path: string, { printer, tally }: Pick<Target, 'printer' | 'tally'>): object {
  if (json.trim() === '') return {}
  return isJsonObject(json, path, tally) ? printer.raw(json) : { arguments: json }
}

function isJsonObject(json: string, path: string, tally: Tally): boolean {
  try {
    // JSON.parse has no limits of depth and number, but the scan of the request does.
    skipValue(json, skipSpace(json, 0), DEPTH_OF_INPUT, tally)
    return isObject(JSON.parse(json))
  } catch (error) {
    if (error instanceof BodyFault) throw new ChatFault(path, error.reason.replace(/^expected /, ''))
    if (error instanceof SyntaxError || error instanceof ScanError) return false
    throw error
  }
}
