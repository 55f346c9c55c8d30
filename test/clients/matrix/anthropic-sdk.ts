import Anthropic from '@anthropic-ai/sdk'
import {
  type Answer,
  type Client,
  type ConversationOptions,
  errorClassOf,
  type Part,
  type Result,
  strange,
  type ToolSpec,
} from './client.ts'

const MAX_TOKENS = 4096
const BUDGET_TOKENS = 2048

/** Anthropic's own SDK; streams are put together by its `MessageStream`. */
export const anthropicSdk: Client = {
  name: 'anthropic-sdk',
  dialect: 'messages',
  errorOf: errorClassOf,
  converse(options) {
    const client = new Anthropic({
      apiKey: 'any-string',
      baseURL: options.url,
      maxRetries: 0,
      defaultHeaders: options.headers,
    })
    let { model } = options
    const messages: Anthropic.MessageParam[] = []
    const ask = async (content: Anthropic.ContentBlockParam[]) => {
      messages.push({ role: 'user', content })
      const { message, pieces } = await send(client, { ...toFields(options), model, messages }, options)
      messages.push({ role: 'assistant', content: message.content })
      return toAnswer(message, pieces)
    }
    return {
      say: (...parts) => ask(parts.map(toBlock)),
      giveResults: (results) => ask(results.map(toResult)),
      turnTo(next) {
        model = next
      },
    }
  },
  readFailure(error) {
    if (!(error instanceof Anthropic.APIError)) return strange(error)
    const retryAfter = error.headers?.get('retry-after') ?? undefined
    return { kind: error.constructor.name, status: error.status, message: error.message, retryAfter }
  },
  isAbort: (error) => error instanceof Anthropic.APIUserAbortError,
}

type Body = Anthropic.MessageCreateParamsNonStreaming

async function send(client: Anthropic, body: Body, { mode, signal, onText }: ConversationOptions) {
  if (mode === 'whole') return { message: await client.messages.create(body, { signal }), pieces: 0 }
  let pieces = 0
  const stream = client.messages.stream(body, { signal }).on('text', (piece) => {
    pieces++
    onText?.(piece)
  })
  return { message: await stream.finalMessage(), pieces }
}

function toFields(options: ConversationOptions): Omit<Body, 'model' | 'messages'> {
  const { system, tools = [], reasons, asksOwn, maxTokens = MAX_TOKENS, answerSchema: schema } = options
  const list: Anthropic.ToolUnion[] = tools.map(toTool)
  if (asksOwn) list.push({ type: 'web_search_20250305', name: 'web_search' })
  return {
    max_tokens: maxTokens,
    ...(system !== undefined && { system }),
    ...(list.length > 0 && { tools: list }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema } } }),
    ...(reasons && { thinking: { type: 'enabled', budget_tokens: BUDGET_TOKENS } }),
  }
}

function toTool({ name, description, schema }: ToolSpec): Anthropic.Tool {
  return { name, description, input_schema: schema }
}

function toResult({ call, text, png }: Result): Anthropic.ToolResultBlockParam {
  if (png === undefined) return { type: 'tool_result', tool_use_id: call.id, content: text }
  const source = { type: 'base64', media_type: 'image/png', data: png } as const
  const content = [{ type: 'text', text } as const, { type: 'image', source } as const]
  return { type: 'tool_result', tool_use_id: call.id, content }
}

function toBlock(part: Part): Anthropic.ContentBlockParam {
  switch (part.kind) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'image':
      return { type: 'image', source: { type: 'base64', media_type: part.mediaType, data: part.base64 } }
    case 'image-url':
      return { type: 'image', source: { type: 'url', url: part.url } }
    case 'pdf': {
      const source = { type: 'base64', media_type: 'application/pdf', data: part.base64 } as const
      return { type: 'document', source, title: part.name }
    }
    default:
      return part satisfies never
  }
}

function toAnswer({ content, stop_reason, usage }: Anthropic.Message, pieces: number): Answer {
  const cached = usage.cache_read_input_tokens ?? 0
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    reasoning: content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : [])).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
    ),
    stopReason: stop_reason,
    usage: { input: usage.input_tokens + cached, cached, output: usage.output_tokens },
    pieces,
  }
}
