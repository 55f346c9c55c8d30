import { isJsonObject, type JsonObject } from '../json.ts'
import { isReasoningModel, refusesStop } from './model.ts'
import {
  type ChatRejection,
  emptyArray,
  invalid,
  longArray,
  missingParameter,
  unknownParameter,
  unsupportedChoice,
  unsupportedParameter,
  wrongType,
} from './rejection.ts'

/** The JSON types that a parameter accepts, `?` for null; all of OpenAI's reference of chat completions. */
const parameters: Readonly<Record<string, string>> = {
  audio: 'object?',
  frequency_penalty: 'number?',
  function_call: 'string|object',
  functions: 'array',
  logit_bias: 'object?',
  logprobs: 'boolean?',
  max_completion_tokens: 'number?',
  max_tokens: 'number?',
  messages: 'array',
  metadata: 'object?',
  modalities: 'array?',
  model: 'string',
  moderation: 'object?',
  n: 'number?',
  parallel_tool_calls: 'boolean',
  prediction: 'object?',
  presence_penalty: 'number?',
  prompt_cache_key: 'string?',
  prompt_cache_options: 'object',
  prompt_cache_retention: 'string?',
  reasoning_effort: 'string?',
  response_format: 'object',
  safety_identifier: 'string?',
  seed: 'number?',
  service_tier: 'string?',
  stop: 'string|array?',
  store: 'boolean?',
  stream: 'boolean?',
  stream_options: 'object?',
  temperature: 'number?',
  tool_choice: 'string|object',
  tools: 'array',
  top_logprobs: 'number?',
  top_p: 'number?',
  user: 'string',
  verbosity: 'string?',
  web_search_options: 'object',
}

const ranges: Readonly<Record<string, readonly [least: number, most: number]>> = {
  temperature: [0, 2],
  top_p: [0, 1],
  presence_penalty: [-2, 2],
  frequency_penalty: [-2, 2],
  max_tokens: [1, Infinity],
  max_completion_tokens: [1, Infinity],
  n: [1, 128],
  top_logprobs: [0, 20],
}

const integers = new Set(['max_tokens', 'max_completion_tokens', 'n', 'top_logprobs'])
const words: Readonly<Record<string, readonly string[]>> = {
  reasoning_effort: ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
  service_tier: ['auto', 'default', 'flex', 'scale', 'priority', 'fast'],
  verbosity: ['low', 'medium', 'high'],
}
const streamOptions = new Set(['include_usage', 'include_obfuscation'])
const MOST_STOPS = 4

/** Finds the first required parameter that is missing. */
export function checkRequired({ model, messages }: JsonObject): ChatRejection | undefined {
  if (model === undefined || model === '') return invalid('you must provide a model parameter')
  if (messages === undefined) return missingParameter('messages')
  if (!Array.isArray(messages)) return wrongType('messages', 'an array of objects', messages)
  return messages.length === 0 ? emptyArray('messages') : undefined
}

/** Finds the first parameter that is unknown, of a wrong type, or at odds with another: for every model of OpenAI. */
export function checkParameters(body: JsonObject): ChatRejection | undefined {
  for (const [name, value] of Object.entries(body)) {
    const refused = checkParameter(name, value, body)
    if (refused) return refused
  }
  if (isSet(body.max_tokens) && isSet(body.max_completion_tokens)) {
    return invalid("Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
  }
  if (isSet(body.metadata) && body.store !== true) {
    return invalid("The 'metadata' parameter is only allowed when 'store' is enabled.", { param: 'metadata' })
  }
  const { stop, stream_options: options } = body
  if (Array.isArray(stop) && stop.length > MOST_STOPS) return longArray('stop', MOST_STOPS, stop.length)
  const unknown = Object.keys(isJsonObject(options) ? options : {}).find((name) => !streamOptions.has(name))
  return unknown === undefined ? undefined : unknownParameter(`stream_options.${unknown}`)
}

/** Finds the first number out of its range, and `stream_options` without a stream. */
export function checkRanges(body: JsonObject): ChatRejection | undefined {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = body[name]
    if (typeof value !== 'number') continue
    if (integers.has(name) && !Number.isInteger(value)) return wrongType(name, 'an integer', value)
    if (value < least || value > most) return outOfRange(name, value, value < least ? `>= ${least}` : `<= ${most}`)
  }
  if (isSet(body.stream_options) && body.stream !== true) {
    const message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
    return invalid(message, { param: 'stream_options' })
  }
  return undefined
}

/** Finds the first parameter that this model of OpenAI does not accept. */
export function checkModelLimits(body: JsonObject): ChatRejection | undefined {
  if (isSet(body.web_search_options) && !String(body.model).includes('search')) {
    return invalid('Web search options not supported with this model.', { param: 'web_search_options' })
  }
  if (!isReasoningModel(body.model)) return isSet(body.reasoning_effort) ? unrecognized('reasoning_effort') : undefined
  if (isSet(body.max_tokens)) return unsupportedParameter('max_tokens', " Use 'max_completion_tokens' instead.")
  if (isSet(body.temperature) && body.temperature !== 1) {
    const message = `Unsupported value: 'temperature' does not support ${body.temperature} with this model. Only the default (1) value is supported.`
    return invalid(message, { param: 'temperature', code: 'unsupported_value' })
  }
  const isOSeries = /^o\d/.test(String(body.model))
  const refused = [
    isSet(body.top_p) && body.top_p !== 1 && 'top_p',
    isSet(body.presence_penalty) && body.presence_penalty !== 0 && 'presence_penalty',
    isSet(body.frequency_penalty) && body.frequency_penalty !== 0 && 'frequency_penalty',
    body.logprobs === true && 'logprobs',
    isSet(body.logit_bias) && 'logit_bias',
    isSet(body.stop) && refusesStop(body.model) && 'stop',
    isSet(body.parallel_tool_calls) && isOSeries && 'parallel_tool_calls',
  ].find((name) => name !== false)
  return refused === undefined ? undefined : unsupportedParameter(refused)
}

function checkParameter(name: string, value: unknown, { model }: JsonObject): ChatRejection | undefined {
  const types = Object.hasOwn(parameters, name) ? parameters[name] : undefined
  // The two generations of OpenAI's models word this differently.
  if (types === undefined) return isReasoningModel(model) ? unknownParameter(name) : unrecognized(name)
  if (value === null) return types.endsWith('?') ? undefined : wrongType(name, `a value of type ${types}`, value)
  const type = Array.isArray(value) ? 'array' : typeof value
  if (!types.replace('?', '').split('|').includes(type)) return wrongType(name, `a value of type ${types}`, value)
  const supported = words[name]
  return supported && !supported.includes(String(value)) ? unsupportedChoice(name, value, supported) : undefined
}

function unrecognized(name: string): ChatRejection {
  return invalid(`Unrecognized request argument supplied: ${name}`)
}

function outOfRange(name: string, value: number, expected: string): ChatRejection {
  const type = integers.has(name) ? 'integer' : 'decimal'
  const [side, code] = expected.startsWith('>') ? ['below minimum', 'below_min'] : ['above maximum', 'above_max']
  const message = `Invalid '${name}': ${type} ${side} value. Expected a value ${expected}, but got ${value} instead.`
  return invalid(message, { param: name, code: `${type}_${code}_value` })
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}
