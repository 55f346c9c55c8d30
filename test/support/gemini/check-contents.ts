import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import { type GeminiRejection, invalid } from './rejection.ts'
import { isKnownSignature } from './script.ts'

interface Turn {
  readonly role: string
  readonly parts: readonly JsonObject[]
  readonly calls: readonly JsonObject[]
  readonly responses: readonly JsonObject[]
}

const DATA = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse']

/** Returns the first rule that `contents` break: roles, parts, the pairing of calls with responses, signatures. */
export function checkContents(contents: unknown, generation: number): GeminiRejection | undefined {
  if (!Array.isArray(contents) || contents.length === 0) {
    return invalid('* GenerateContentRequest.contents: contents is not specified')
  }
  const turns = contents.map(toTurn)
  return (
    turns.map(checkTurn).find((refused) => refused !== undefined) ??
    (turns[0]?.role === 'user'
      ? undefined
      : invalid('Please ensure that multiturn requests start with a user turn.')) ??
    turns.map((turn, index) => checkPairs(turn, turns[index - 1])).find((refused) => refused !== undefined) ??
    (generation >= 3 ? checkSignatures(turns) : undefined)
  )
}

function toTurn(content: unknown): Turn {
  const parts = (valueAt(content, 'parts') ?? []) as JsonObject[] // safe: checked as a list of messages before
  const role = String(valueAt(content, 'role') ?? 'user')
  const calls = parts.filter((part) => part.functionCall !== undefined)
  return { role, parts, calls, responses: parts.filter((part) => part.functionResponse !== undefined) }
}

function checkTurn({ role, parts, calls, responses }: Turn, index: number): GeminiRejection | undefined {
  const at = `* GenerateContentRequest.contents[${index}]`
  if (role !== 'user' && role !== 'model') return invalid('Please use a valid role: user, model.')
  if (parts.length === 0) return invalid(`${at}.parts: contents.parts must not be empty.`)
  if (calls.length > 0 && role !== 'model') return invalid(`${at}: function call parts need the role model`)
  if (responses.length > 0 && role !== 'user') return invalid(`${at}: function response parts need the role user`)
  for (const [position, part] of parts.entries()) {
    const refused = checkPart(part, `${at}.parts[${position}]`)
    if (refused) return refused
  }
  return undefined
}

function checkPart(part: JsonObject, at: string): GeminiRejection | undefined {
  const count = DATA.filter((name) => part[name] !== undefined).length
  if (count !== 1 || (part.text === '' && part.thoughtSignature === undefined)) {
    return invalid(`${at}.data: required oneof field 'data' must have one initialized field`)
  }
  for (const name of ['functionCall', 'functionResponse']) {
    if (part[name] !== undefined && !valueAt(part, `${name}.name`)) return invalid(`${at}: Name cannot be empty.`)
  }
  if (part.functionResponse !== undefined && !isJsonObject(valueAt(part, 'functionResponse.response'))) {
    return invalid(`${at}.function_response.response: required field is not set`)
  }
  for (const name of ['inlineData', 'fileData']) {
    if (part[name] !== undefined && !/^\w+\/[\w.+-]+$/.test(String(valueAt(part, `${name}.mimeType`)))) {
      return invalid(`${at}.${name}.mime_type: Unsupported MIME type`)
    }
  }
  if (part.thoughtSignature !== undefined && !isKnownSignature(part.thoughtSignature)) {
    return invalid('Corrupted thought signature.')
  }
  return undefined
}

function checkPairs(turn: Turn, before: Turn | undefined): GeminiRejection | undefined {
  const pending = before?.calls ?? []
  if (turn.calls.length > 0 && before?.role !== 'user') {
    return invalid(
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    )
  }
  if (turn.responses.length > 0 && pending.length === 0) {
    return invalid('Please ensure that function response turn comes immediately after a function call turn.')
  }
  if (turn.responses.length !== pending.length) {
    return invalid(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
  }
  const stray = turn.responses.find((response) => !pending.some((call) => isAnswered(call, response)))
  return stray && invalid(`No function call matches the function response ${valueAt(stray, 'functionResponse.name')}.`)
}

function isAnswered(call: JsonObject, response: JsonObject): boolean {
  const id = valueAt(response, 'functionResponse.id')
  const isSameName = valueAt(call, 'functionCall.name') === valueAt(response, 'functionResponse.name')
  return isSameName && (id === undefined || valueAt(call, 'functionCall.id') === id)
}

/** Requires a signature of the first call of each step since the last user turn that is no response. */
function checkSignatures(turns: readonly Turn[]): GeminiRejection | undefined {
  const start = turns.findLastIndex(({ role, responses }) => role === 'user' && responses.length === 0)
  for (const [index, { calls }] of turns.entries()) {
    if (index < start || calls[0] === undefined || calls[0].thoughtSignature !== undefined) continue
    const name = valueAt(calls[0], 'functionCall.name')
    return invalid(
      `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${name}\` , position ${index + 1}.`,
    )
  }
  return undefined
}
