import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import { generationOf } from './check-settings.ts'
import { type GeminiAnswerScript, signatureOf } from './script.ts'

/** The request of a reply, and its number, which makes ids unique and the same on every run. */
export interface GeminiContext {
  body: JsonObject
  model: string
  nth: number
}

const BYTES_PER_TOKEN = 4
const WORDS_A_PIECE = 2
const DEFAULT_MODELS = ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-3-pro-preview']
const DEFAULT_PAGE = 50

/** Builds a whole GenerateContentResponse. */
export function toResponse(context: GeminiContext, script: Omit<GeminiAnswerScript, 'kind'> = {}): JsonObject {
  if (script.blockReason !== undefined) {
    return { promptFeedback: { blockReason: script.blockReason }, ...trailerOf(context, 0, script) }
  }
  const { parts, isCut } = partsOf(context, script)
  const finishReason = script.finishReason ?? (isCut ? 'MAX_TOKENS' : 'STOP')
  const candidate = { content: { parts, role: 'model' }, finishReason, index: 0 }
  return { candidates: [candidate], ...trailerOf(context, tokensOf(parts), script) }
}

/**
 * Builds the chunks of a stream: a few words of text each, thoughts and calls whole. The finish reason is in the last
 * chunk, and so is the signature of a text, in a part of its own without text.
 */
export function toPieces(context: GeminiContext, script: Omit<GeminiAnswerScript, 'kind'> = {}): JsonObject[] {
  if (script.blockReason !== undefined) return [toResponse(context, script)]
  const { parts, isCut } = partsOf(context, script)
  const finishReason = script.finishReason ?? (isCut ? 'MAX_TOKENS' : 'STOP')
  const small = parts.flatMap(cutPart)
  const total = tokensOf(parts)
  return small.map((part, index) => {
    const reason = index === small.length - 1 ? { finishReason } : {}
    const candidate = { content: { parts: [part], role: 'model' }, ...reason, index: 0 }
    return {
      candidates: [candidate],
      ...trailerOf(
        context,
        index === small.length - 1 ? total : Math.min(total, tokensOf(small.slice(0, index + 1))),
        script,
      ),
    }
  })
}

/** Counts the input tokens of a body: a quarter of the bytes of its prompt, at least 1. */
export function countTokens(body: JsonObject): number {
  const { contents, systemInstruction, tools } = isJsonObject(body.generateContentRequest)
    ? body.generateContentRequest
    : body
  return tokensOf([contents ?? '', systemInstruction ?? '', tools ?? ''])
}

/** Builds one model's entry. */
export function toModel(model: string): JsonObject {
  return {
    name: `models/${model}`,
    displayName: model,
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
  }
}

/** Builds a page of the model list; `pageSize` and `pageToken` of the query are honoured. */
export function listModels(url: string, models: readonly string[] = DEFAULT_MODELS): JsonObject {
  const query = new URL(url, 'http://gemini').searchParams
  const first = Number(query.get('pageToken') ?? 0)
  const end = first + Number(query.get('pageSize') ?? DEFAULT_PAGE)
  const next = end < models.length ? { nextPageToken: String(end) } : {}
  return { models: models.slice(first, end).map(toModel), ...next }
}

function partsOf(context: GeminiContext, script: Omit<GeminiAnswerScript, 'kind'>) {
  const words = (script.text ?? echo(context.body)).match(/\s*\S+\s*$|\s*\S+/gu) ?? []
  const fitting = words.slice(0, Number(valueAt(context.body, 'generationConfig.maxOutputTokens') ?? words.length))
  const parts = (script.parts ?? [{ text: fitting.join('') }]).map((part) => ({ ...part }))
  if (generationOf(context.model) >= 3 && !script.isUnsigned) sign(parts, context.nth)
  return { parts, isCut: script.parts === undefined && fitting.length < words.length }
}

/** Signs the first call, or else the last part, unless the script has. */
function sign(parts: JsonObject[], nth: number): void {
  const signed = parts.find((part) => part.functionCall !== undefined) ?? parts.at(-1)
  if (signed !== undefined) signed.thoughtSignature ??= signatureOf(nth)
}

function cutPart(part: JsonObject): JsonObject[] {
  const { text, thoughtSignature } = part
  if (typeof text !== 'string' || part.thought === true) return [part]
  const words = text.match(/\s*\S+\s*$|\s*\S+/gu) ?? []
  const pieces: JsonObject[] = []
  for (let at = 0; at < words.length; at += WORDS_A_PIECE) {
    pieces.push({ text: words.slice(at, at + WORDS_A_PIECE).join('') })
  }
  return thoughtSignature === undefined && pieces.length > 0 ? pieces : [...pieces, { ...part, text: '' }]
}

function trailerOf({ body, model, nth }: GeminiContext, outputTokens: number, { usage }: { usage?: JsonObject }) {
  const promptTokenCount = countTokens(body)
  const totalTokenCount = promptTokenCount + outputTokens
  return {
    usageMetadata: { promptTokenCount, candidatesTokenCount: outputTokens, totalTokenCount, ...usage },
    modelVersion: model,
    responseId: `standIn${String(nth).padStart(15, '0')}`,
  }
}

function echo({ contents }: JsonObject): string {
  const last = Array.isArray(contents) ? contents.findLast((content) => valueAt(content, 'role') === 'user') : undefined
  const parts = (valueAt(last, 'parts') ?? []) as JsonObject[] // safe: checked before an answer is built
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  const media = parts.flatMap(({ inlineData, fileData }) => valueAt(inlineData ?? fileData, 'mimeType') ?? [])
  return [`You said: ${texts.join(' ')}`, ...media.map((mimeType) => `I see: ${mimeType}`)].join(' ')
}

function tokensOf(value: unknown): number {
  return Math.ceil(Buffer.byteLength(JSON.stringify(value)) / BYTES_PER_TOKEN)
}
