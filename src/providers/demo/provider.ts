import { GatewayError } from '../../core/errors.ts'
import { suggest } from '../../core/nearest.ts'
import type { ListedModel, Provider, RelayCall } from '../../core/ports/provider.ts'
import type { ByteSource } from '../../core/reply/byte-source.ts'
import { Flow } from '../../core/reply/flow.ts'
import { BytesReply, jsonReply, type Reply, StreamReply } from '../../core/reply/reply.ts'
import { streamOfMessage } from '../../core/reply/stream-of-message.ts'
import type { Exchange, Target } from '../../core/request/exchange.ts'
import type { RequestDocument } from '../../core/request/request.ts'
import { addDroppedFields } from '../dropped-fields-header.ts'
import { answerOf, DEMO_MODELS, type DemoAnswer, type DemoModel } from './script.ts'

const CHARACTERS_PER_TOKEN = 4
const CREATED_AT_MS = Date.UTC(2026, 0)

/** A provider that needs no credential and calls no model: for the first minute with the gateway, clearly labelled. */
export class DemoProvider implements Provider {
  readonly storesResponses = false
  readonly name = 'demo'
  readonly configured = false
  readonly stepsBack: boolean
  readonly #paceMs: number

  /** `paceMs` is the pause between two events of a stream. */
  constructor({ paceMs = 35, stepsBack = true } = {}) {
    this.#paceMs = paceMs
    this.stepsBack = stepsBack
  }

  claims(): boolean {
    return false
  }

  isUsableBy(): boolean {
    return true
  }

  async complete(exchange: Exchange, target: Target): Promise<Reply> {
    const { request, client } = exchange
    client.droppedFields.assertCarried(this.name)
    const message = messageFor(exchange.id, demoModel(target.model), request)
    const bytes = Buffer.from(JSON.stringify(message))
    const headers = { 'request-id': exchange.id }
    const json = { ...headers, 'content-type': 'application/json' }
    if (!request.stream) return addDroppedFields(new BytesReply(200, json, bytes), client.droppedFields)
    const source = pacedSource(streamOfMessage(bytes), this.#paceMs)
    const stream = { ...headers, 'content-type': 'text/event-stream; charset=utf-8' }
    return addDroppedFields(new StreamReply({ status: 200, headers: stream }, source), client.droppedFields)
  }

  async countTokens({ body }: RelayCall): Promise<Reply> {
    return jsonReply({ input_tokens: tokensIn(body?.length ?? 0) })
  }

  async listModels(): Promise<readonly ListedModel[]> {
    return Object.entries(DEMO_MODELS).map(([id, summary]) => ({
      id,
      displayName: `Demo ${id}: ${summary}`,
      createdAtMs: CREATED_AT_MS,
    }))
  }

  async relay({ path }: RelayCall): Promise<Reply> {
    throw new GatewayError('not_found', `The demo provider has nothing at ${path}.`)
  }

  async close(): Promise<void> {}
}

function demoModel(name: string): DemoModel {
  if (Object.hasOwn(DEMO_MODELS, name)) return name as DemoModel
  const names = Object.keys(DEMO_MODELS)
  throw new GatewayError('not_found', `model: the demo provider has no \`${name}\`.${suggest(name, names)}`)
}

function messageFor(id: string, model: DemoModel, request: RequestDocument): Record<string, unknown> {
  const answer = cut(answerOf(model, request), request.maxTokens)
  return {
    model: `demo/${model}`,
    id: `msg_${id.slice('req_'.length)}`,
    type: 'message',
    role: 'assistant',
    content: answer.content,
    stop_reason: answer.stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: tokensIn(request.bytes.length),
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: tokensIn(JSON.stringify(answer.content).length),
    },
  }
}

/** Truncates a text at `max_tokens`, as a model would. */
function cut(answer: DemoAnswer, maxTokens: number): { content: unknown[]; stopReason: string } {
  const [first] = answer.content
  if (first?.type !== 'text' || typeof first.text !== 'string') return answer
  const longest = maxTokens * CHARACTERS_PER_TOKEN
  if (first.text.length <= longest) return answer
  return { content: [{ type: 'text', text: first.text.slice(0, longest) }], stopReason: 'max_tokens' }
}

function tokensIn(characters: number): number {
  return Math.max(1, Math.ceil(characters / CHARACTERS_PER_TOKEN))
}

/** A source that emits one event after another, at reading pace. */
function pacedSource(stream: Buffer, paceMs: number): ByteSource {
  const events = splitEvents(stream)
  let next = 0
  let timer: NodeJS.Timeout | undefined
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }
  const step = () => {
    const event = events[next++]
    if (event === undefined) return flow.end()
    timer = setTimeout(step, paceMs)
    flow.push(event)
  }
  const flow = new Flow({
    start: step,
    pause: stop,
    resume() {
      if (timer === undefined) step()
    },
    cancel: stop,
  })
  return flow
}

function splitEvents(stream: Buffer): Buffer[] {
  const events: Buffer[] = []
  for (let start = 0; start < stream.length; ) {
    const end = stream.indexOf('\n\n', start) + 2
    events.push(stream.subarray(start, end))
    start = end
  }
  return events
}
