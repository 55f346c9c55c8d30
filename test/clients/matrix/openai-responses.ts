import OpenAI from 'openai'
import type { Responses } from 'openai/resources/responses/responses'
import { type Answer, type Client, type ConversationOptions, errorClassOf, type Part, type ToolSpec } from './client.ts'
import { openaiSdk } from './openai-sdk.ts'

/** OpenAI's own SDK with its Responses; streams are put together by its `ResponseStream`. */
export const openaiResponses: Client = {
  name: 'openai-responses',
  dialect: 'responses',
  errorOf: errorClassOf,
  converse(options) {
    const client = new OpenAI({
      apiKey: 'any-string',
      baseURL: `${options.url}/v1`,
      maxRetries: 0,
      defaultHeaders: options.headers,
    })
    let { model } = options
    const input: Responses.ResponseInputItem[] = []
    const ask = async (added: readonly Responses.ResponseInputItem[]) => {
      input.push(...added)
      const { answer, kept } = await send(client, { ...toFields(options), model, input }, options)
      input.push(...kept)
      return answer
    }
    return {
      say: (...parts) => ask([{ role: 'user', content: parts.map(toPart) }]),
      giveResults: (results) =>
        ask(
          results.map(({ call, text, png }) => ({
            type: 'function_call_output',
            call_id: call.id,
            output: png === undefined ? text : [{ type: 'input_text', text }, toImage(`data:image/png;base64,${png}`)],
          })),
        ),
      turnTo(next) {
        model = next
      },
    }
  },
  readFailure: openaiSdk.readFailure,
  isAbort: openaiSdk.isAbort,
}

type Body = Responses.ResponseCreateParamsNonStreaming

async function send(client: OpenAI, body: Body, { mode, signal, onText }: ConversationOptions) {
  if (mode === 'whole') return read(await client.responses.create(body, { signal }), 0)
  const stream = client.responses.stream({ ...body, stream: true }, { signal })
  let pieces = 0
  stream.on('response.output_text.delta', ({ delta }) => {
    pieces++
    onText?.(delta)
  })
  return read(await stream.finalResponse(), pieces)
}

function read({ output, output_text: text, usage, incomplete_details: cut }: Responses.Response, pieces: number) {
  const calls = output.filter((item) => item.type === 'function_call')
  const reasoning = output.flatMap((item) => (item.type === 'reasoning' ? item.summary.map(({ text }) => text) : []))
  const answer: Answer = {
    text,
    reasoning: reasoning.join(''),
    calls: calls.map(({ call_id: id, name, arguments: json }) => ({ id, name, input: JSON.parse(json) })),
    // A response has no reason for its end but the one why it is incomplete.
    stopReason: cut?.reason ?? (calls.length > 0 ? 'tool_calls' : 'stop'),
    usage: {
      input: usage?.input_tokens ?? 0,
      cached: usage?.input_tokens_details.cached_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
    },
    pieces,
  }
  return { answer, kept: output.map(withoutParsed) }
}

/** Removes the members that the helper of streams adds, which servers refuse. */
export function withoutParsed(item: Responses.ResponseOutputItem): Responses.ResponseInputItem {
  const json = JSON.stringify(item, (name, value) => (/^parsed(_arguments)?$/.test(name) ? undefined : value))
  // Safe: a model's items are among those that a request takes.
  return JSON.parse(json) as Responses.ResponseInputItem
}

function toFields(options: ConversationOptions): Omit<Body, 'model' | 'input'> {
  const { system, tools = [], reasons, asksOwn, maxTokens, answerSchema: schema } = options
  return {
    store: false,
    ...(system !== undefined && { instructions: system }),
    ...(tools.length > 0 && { tools: tools.map(toTool) }),
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'reply', schema, strict: true } } }),
    ...(reasons && { reasoning: { effort: 'medium', summary: 'auto' }, include: ['reasoning.encrypted_content'] }),
    ...(asksOwn && { top_logprobs: 2 }),
  }
}

function toTool({ name, description, schema }: ToolSpec): Responses.FunctionTool {
  return { type: 'function', name, description, parameters: schema, strict: false }
}

function toPart(part: Part): Responses.ResponseInputContent {
  switch (part.kind) {
    case 'text':
      return { type: 'input_text', text: part.text }
    case 'image':
      return toImage(`data:${part.mediaType};base64,${part.base64}`)
    case 'image-url':
      return toImage(part.url)
    case 'pdf':
      return { type: 'input_file', filename: part.name, file_data: `data:application/pdf;base64,${part.base64}` }
    default:
      return part satisfies never
  }
}

function toImage(url: string): Responses.ResponseInputImage {
  return { type: 'input_image', image_url: url, detail: 'auto' }
}
