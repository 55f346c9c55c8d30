import { isJsonObject, type JsonObject, valueAt } from '../../support/json.ts'
import type { SeenRequest } from '../../support/provider/journal.ts'
import type { ProviderName } from '../../support/provider-fixture.ts'

/** A request that has reached a provider, in any dialect. */
export interface Heard {
  system: string
  /** Texts of users, in order. */
  texts: readonly string[]
  /** Data or addresses of images and documents, in order. */
  media: readonly { mediaType?: unknown; base64?: unknown; url?: unknown }[]
  /** The model's calls as they come back to it. */
  calls: readonly { name: unknown; input: unknown }[]
  /** Results by the names of the calls they belong to. */
  results: readonly { name: unknown; text: string }[]
  /** Names of the tools. */
  tools: readonly unknown[]
  /** The model's earlier thoughts as they come back: signatures, or the text where there are none. */
  thoughts: readonly unknown[]
  maxTokens: unknown
  /** The schema that the answer is to follow. */
  answerSchema: unknown
  /** The fields that request reasoning. */
  reasoning: unknown
}

/** Reads a request to a provider of this name. */
export function hear(provider: ProviderName, request: SeenRequest | undefined): Heard {
  const body = request?.json ?? {}
  if (provider === 'anthropic') return hearMessages(body)
  if (provider === 'responder') return hearResponses(body)
  return provider === 'gemini' ? hearGemini(body) : hearChat(body)
}

function hearMessages({ system, messages, tools, thinking, max_tokens, output_config }: JsonObject): Heard {
  const blocks = listOf(messages).flatMap(({ content }) => blocksOf(content))
  const inside = blocks.flatMap((block) => [block, ...listOf(block.content)])
  const said = listOf(messages).flatMap(({ role, content }) => (role === 'user' ? blocksOf(content) : []))
  const uses = ofType(blocks, 'tool_use')
  return {
    system: textOf(system),
    texts: ofType(said, 'text').map(({ text }) => String(text)),
    media: inside
      .filter(({ type }) => type === 'image' || type === 'document')
      .map(({ source }) => ({
        ...optional('mediaType', valueAt(source, 'media_type')),
        ...optional('base64', valueAt(source, 'data')),
        ...optional('url', valueAt(source, 'url')),
      })),
    calls: uses.map(({ name, input }) => ({ name, input })),
    results: ofType(blocks, 'tool_result').map(({ tool_use_id, content }) => ({
      name: uses.find(({ id }) => id === tool_use_id)?.name,
      text: textOf(content),
    })),
    tools: listOf(tools).map(({ name }) => name),
    thoughts: ofType(blocks, 'thinking').map(({ signature }) => signature),
    maxTokens: max_tokens,
    answerSchema: valueAt(output_config, 'format.schema'),
    reasoning: thinking,
  }
}

function hearChat(body: JsonObject): Heard {
  const { messages, tools, reasoning_effort, response_format } = body
  const list = listOf(messages)
  const calls = list.flatMap(({ tool_calls }) => listOf(tool_calls))
  const ofRole = (...roles: unknown[]) => list.filter(({ role }) => roles.includes(role))
  const parts = ofRole('user').flatMap(({ content }) => blocksOf(content))
  return {
    system: ofRole('system', 'developer')
      .map(({ content }) => textOf(content))
      .join(''),
    texts: ofType(parts, 'text').map(({ text }) => String(text)),
    media: parts
      .map((part) => valueAt(part, 'image_url.url') ?? valueAt(part, 'file.file_data'))
      .flatMap((url) => (typeof url === 'string' ? [readUrl(url)] : [])),
    calls: calls.map((call) => ({
      name: valueAt(call, 'function.name'),
      input: JSON.parse(String(valueAt(call, 'function.arguments'))),
    })),
    results: ofRole('tool').map(({ tool_call_id, content }) => ({
      name: valueAt(
        calls.find(({ id }) => id === tool_call_id),
        'function.name',
      ),
      text: textOf(content),
    })),
    tools: listOf(tools).map((tool) => valueAt(tool, 'function.name')),
    thoughts: list.flatMap(({ reasoning_content: text }) => (text ? [text] : [])),
    maxTokens: body.max_completion_tokens ?? body.max_tokens,
    answerSchema: valueAt(response_format, 'json_schema.schema'),
    reasoning: reasoning_effort,
  }
}

function hearResponses({ instructions, input, tools, reasoning, max_output_tokens, text }: JsonObject): Heard {
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)
  const parts = items.filter(({ role }) => role === 'user').flatMap(({ content }) => blocksOf(content))
  const outputs = ofType(items, 'function_call_output')
  const calls = ofType(items, 'function_call')
  return {
    system: [instructions, ...items.filter(({ role }) => role === 'system').map(({ content }) => textOf(content))].join(
      '',
    ),
    texts: parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : [])),
    media: [...parts, ...outputs.flatMap(({ output }) => listOf(output))]
      .map(({ image_url, file_data }) => image_url ?? file_data)
      .flatMap((url) => (typeof url === 'string' ? [readUrl(url)] : [])),
    calls: calls.map(({ name, arguments: json }) => ({ name, input: JSON.parse(String(json)) })),
    results: outputs.map(({ call_id, output }) => ({
      name: calls.find((call) => call.call_id === call_id)?.name,
      text: textOf(output),
    })),
    tools: listOf(tools).map(({ name }) => name),
    thoughts: ofType(items, 'reasoning').flatMap(({ encrypted_content: sealed }) => sealed ?? []),
    maxTokens: max_output_tokens,
    answerSchema: valueAt(text, 'format.schema'),
    reasoning,
  }
}

function hearGemini({ systemInstruction, contents, tools, generationConfig }: JsonObject): Heard {
  const turns = listOf(contents)
  const parts = turns.flatMap(({ parts }) => listOf(parts))
  const members = (name: string) => parts.flatMap((part) => (isJsonObject(part[name]) ? [part[name]] : []))
  return {
    system: listOf(valueAt(systemInstruction, 'parts'))
      .map(({ text }) => text)
      .join(''),
    texts: turns
      .filter(({ role }) => role === 'user')
      .flatMap(({ parts }) => listOf(parts))
      .flatMap(({ text }) => (typeof text === 'string' ? [text] : [])),
    media: [
      ...members('inlineData').map(({ mimeType, data }) => ({ mediaType: mimeType, base64: data })),
      ...members('fileData').map(({ fileUri }) => ({ url: fileUri })),
    ],
    calls: members('functionCall').map(({ name, args }) => ({ name, input: args })),
    results: members('functionResponse').map(({ name, response }) => ({
      name,
      text: String(valueAt(response, 'result')),
    })),
    tools: listOf(tools)
      .flatMap(({ functionDeclarations }) => listOf(functionDeclarations))
      .map(({ name }) => name),
    thoughts: parts.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
    maxTokens: valueAt(generationConfig, 'maxOutputTokens'),
    answerSchema: valueAt(generationConfig, 'responseJsonSchema'),
    reasoning: valueAt(generationConfig, 'thinkingConfig'),
  }
}

/** Returns the objects in a list; none when it is no list. */
export function listOf(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : []
}

function blocksOf(content: unknown): JsonObject[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
}

function ofType(blocks: readonly JsonObject[], type: string): JsonObject[] {
  return blocks.filter((block) => block.type === type)
}

function textOf(content: unknown): string {
  return blocksOf(content)
    .map(({ text }) => text ?? '')
    .join('')
}

function readUrl(url: string) {
  const [, mediaType, base64] = /^data:(.+);base64,(.+)$/.exec(url) ?? []
  return base64 === undefined ? { url } : { mediaType, base64 }
}

function optional(name: string, value: unknown): JsonObject {
  return value === undefined ? {} : { [name]: value }
}
