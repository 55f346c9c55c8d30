import OpenAI from 'openai'
import { valueAt } from '../../support/json.ts'
import {
  type Answer,
  type Client,
  type ConversationOptions,
  errorClassOf,
  type Part,
  strange,
  type ToolSpec,
} from './client.ts'

/** OpenAI's own SDK; streams are put together by its `ChatCompletionStream`. */
export const openaiSdk: Client = {
  name: 'openai-sdk',
  dialect: 'chat',
  errorOf: errorClassOf,
  converse(options) {
    const client = new OpenAI({
      apiKey: 'any-string',
      baseURL: `${options.url}/v1`,
      maxRetries: 0,
      defaultHeaders: options.headers,
    })
    const { system } = options
    let { model } = options
    const messages: Message[] = system === undefined ? [] : [{ role: 'system', content: system }]
    const ask = async (added: readonly Message[]) => {
      messages.push(...added)
      const { answer, kept } = await send(client, { ...toFields(options), model, messages }, options)
      messages.push(kept)
      return answer
    }
    return {
      say: (...parts) => ask([{ role: 'user', content: parts.map(toPart) }]),
      giveResults: (results) =>
        ask(results.map(({ call, text }) => ({ role: 'tool', tool_call_id: call.id, content: text }))),
      turnTo(next) {
        model = next
      },
    }
  },
  readFailure(error) {
    if (!(error instanceof OpenAI.APIError)) return strange(error)
    const retryAfter = error.headers?.get('retry-after') ?? undefined
    return { kind: error.constructor.name, status: error.status, message: error.message, retryAfter }
  },
  isAbort: (error) => error instanceof OpenAI.APIUserAbortError,
}

type Message = OpenAI.ChatCompletionMessageParam
type Body = OpenAI.ChatCompletionCreateParamsNonStreaming

async function send(client: OpenAI, body: Body, { mode, signal, onText }: ConversationOptions) {
  if (mode === 'whole') {
    const completion = await client.chat.completions.create(body, { signal })
    return read(completion, { reasoning: reasoningOf(completion.choices[0]?.message), pieces: 0 })
  }
  const options = { stream: true, stream_options: { include_usage: true } } as const
  const stream = client.chat.completions.stream({ ...body, ...options }, { signal })
  let reasoning = ''
  let pieces = 0
  stream.on('content', (piece) => {
    pieces++
    onText?.(piece)
  })
  // The SDK knows no such member, and keeps of its pieces the last one alone.
  stream.on('chunk', ({ choices }) => {
    reasoning += reasoningOf(choices[0]?.delta)
  })
  return read(await stream.finalChatCompletion(), { reasoning, pieces })
}

function reasoningOf(message: unknown): string {
  return String(valueAt(message, 'reasoning_content') ?? '')
}

function read({ choices, usage }: OpenAI.ChatCompletion, seen: Pick<Answer, 'reasoning' | 'pieces'>) {
  const [choice] = choices
  if (choice === undefined) throw new Error('Expected a choice')
  const { content, tool_calls: all } = choice.message
  const calls = (all ?? []).filter((call) => call.type === 'function')
  const answer: Answer = {
    text: content ?? '',
    calls: calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, input: JSON.parse(text) })),
    stopReason: choice.finish_reason,
    usage: {
      input: usage?.prompt_tokens ?? 0,
      cached: usage?.prompt_tokens_details?.cached_tokens ?? 0,
      output: usage?.completion_tokens ?? 0,
    },
    ...seen,
  }
  // The helper of streams adds members of its own, which servers refuse.
  const told = calls.map(({ id, type, function: { name, arguments: text } }) => ({
    id,
    type,
    function: { name, arguments: text },
  }))
  const kept: Message = { role: 'assistant', content, ...(told.length > 0 && { tool_calls: told }) }
  return { answer, kept }
}

function toFields(options: ConversationOptions): Omit<Body, 'model' | 'messages'> {
  const { tools = [], reasons, asksOwn, maxTokens, answerSchema: schema } = options
  return {
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    ...(schema && { response_format: { type: 'json_schema', json_schema: { name: 'reply', schema, strict: true } } }),
    ...(reasons && { reasoning_effort: 'medium' }),
    ...(asksOwn && { logprobs: true }),
  }
}

function toTool({ name, description, schema }: ToolSpec): OpenAI.ChatCompletionTool {
  return { type: 'function', function: { name, description, parameters: schema } }
}

function toPart(part: Part): OpenAI.ChatCompletionContentPart {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image_url', image_url: { url: `data:${part.mediaType};base64,${part.base64}` } }
    case 'image-url':
      return { type: 'image_url', image_url: { url: part.url } }
    case 'pdf':
      return { type: 'file', file: { filename: part.name, file_data: `data:application/pdf;base64,${part.base64}` } }
    default:
      return part satisfies never
  }
}
