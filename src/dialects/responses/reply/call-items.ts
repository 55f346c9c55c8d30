import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json-value.ts'
import type { NamedTool } from '../tool-names.ts'
import { freeTextOf } from './free-text.ts'
import { type ItemEnd, OutputItem, type Place } from './output-item.ts'

/** A call as it begins. */
export interface CallStart {
  readonly callId: string
  readonly tool: NamedTool
  /** The input that came with the start, as JSON; it counts if no other piece comes. */
  readonly input: string
}

/** An item whose content is the input of a call. */
export abstract class CallItem extends OutputItem {
  protected readonly start: CallStart
  #written = ''

  constructor(place: Place, start: CallStart) {
    super(place)
    this.start = start
  }

  /** Returns the events of a piece of the input's JSON, which is not empty. */
  write(piece: string): string {
    this.#written += piece
    return this.delta(piece)
  }

  protected abstract delta(piece: string): string

  /** The input's JSON so far. */
  protected get input(): string {
    return this.#written
  }

  /** The members of every call. */
  protected get called(): JsonObject {
    const { callId, tool } = this.start
    return { call_id: callId, name: tool.name, ...(tool.namespace !== undefined && { namespace: tool.namespace }) }
  }
}

/** A call of a function: its arguments are the text of the model. */
export class FunctionItem extends CallItem {
  protected get started(): JsonObject {
    return this.#itemOf('in_progress', '')
  }

  itemAt(end: ItemEnd): JsonObject {
    return this.#itemOf(end, this.input)
  }

  protected delta(piece: string): string {
    return this.print('function_call_arguments.delta', `"delta":${JSON.stringify(piece)}`)
  }

  protected endContent(): string {
    const whole = this.input === '' ? this.write(this.start.input) : ''
    const name = JSON.stringify(this.start.tool.name)
    return (
      whole + this.print('function_call_arguments.done', `"arguments":${JSON.stringify(this.input)},"name":${name}`)
    )
  }

  #itemOf(status: string, args: string): JsonObject {
    return { id: this.id, type: 'function_call', status, ...this.called, arguments: args }
  }
}

/** A call of a custom tool: its free text is in a parameter, so it is known only at the end. */
export class CustomItem extends CallItem {
  protected get started(): JsonObject {
    return this.#itemOf('in_progress', '')
  }

  itemAt(end: ItemEnd): JsonObject {
    return this.#itemOf(end, this.#text)
  }

  protected delta(): string {
    return ''
  }

  protected endContent(): string {
    const text = JSON.stringify(this.#text)
    const delta = text === '""' ? '' : this.print('custom_tool_call_input.delta', `"delta":${text}`)
    return delta + this.print('custom_tool_call_input.done', `"input":${text}`)
  }

  /** The parameter's value, as far as it was written; the whole input where the model has not kept to the schema. */
  get #text(): string {
    const json = this.input === '' ? this.start.input : this.input
    return freeTextOf(json) ?? json
  }

  #itemOf(status: string, input: string): JsonObject {
    return { id: this.id, type: 'custom_tool_call', status, ...this.called, input }
  }
}

/** A search of the web by the provider itself. */
export class SearchItem extends CallItem {
  protected get started(): JsonObject {
    return { id: this.id, type: 'web_search_call', status: 'in_progress', action: { type: 'search', query: '' } }
  }

  itemAt(end: ItemEnd): JsonObject {
    const value = tryParseJson(this.input === '' ? this.start.input : this.input)
    const query = isObject(value) && typeof value.query === 'string' ? value.query : ''
    return {
      id: this.id,
      type: 'web_search_call',
      status: end === 'completed' ? end : 'failed',
      action: { type: 'search', query },
    }
  }

  override open(): string {
    return super.open() + this.print('web_search_call.in_progress', '') + this.print('web_search_call.searching', '')
  }

  protected delta(): string {
    return ''
  }

  protected endContent(): string {
    return this.print('web_search_call.completed', '')
  }
}
