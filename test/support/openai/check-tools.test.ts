import test from 'ava'
import { chat, chatTools, chatWithTools } from '../chat-bodies.ts'
import type { JsonObject } from '../json.ts'
import { assertRefused, type RefusedBody } from './refused.ts'

const withTool = (tool: JsonObject) => chat('hi', { tools: [tool] })
const withFunction = (declared: JsonObject) => withTool({ type: 'function', function: declared })
const withFormat = (format: JsonObject) =>
  chat('hi', { response_format: { type: 'json_schema', json_schema: { name: 'x', ...format } } })
const withSchema = (schema: JsonObject) =>
  withFormat({ schema: { type: 'object', additionalProperties: false, ...schema }, strict: true })

const bodies: RefusedBody[] = [
  ['an empty list of tools', chat('hi', { tools: [] }), "Invalid 'tools': empty array"],
  ['129 tools', chat('hi', { tools: Array(129).fill(chatTools[1]) }), 'maximum length 128'],
  [
    "a tool of Anthropic's shape",
    withTool({ name: 'x', input_schema: {} }),
    "Missing required parameter: 'tools[0].type'",
  ],
  ['an unknown member of a tool', withTool({ ...chatTools[1], cache_control: {} }), "'tools[0].cache_control'"],
  [
    'a function name over 64 characters',
    withFunction({ name: 'x'.repeat(65) }),
    'does not match pattern',
    'tools[0].function.name',
  ],
  [
    'parameters that are no object schema',
    withFunction({ name: 'x', parameters: { type: 'array' } }),
    'got \'type: "array"\'',
    'invalid_function_parameters',
  ],
  [
    'a strict function with an open schema',
    withFunction({ name: 'x', strict: true, parameters: { type: 'object' } }),
    "In context=(), 'additionalProperties' is required",
  ],
  [
    'a choice of a tool that is not there',
    chatWithTools({ tool_choice: { type: 'function', function: { name: 'b' } } }),
    "Tool choice 'b' not found",
  ],
  [
    'a choice without tools',
    chat('hi', { tool_choice: 'auto' }),
    "'tool_choice' is only allowed when 'tools' are specified",
  ],
  [
    'parallel_tool_calls without tools',
    chat('hi', { parallel_tool_calls: true }),
    "only allowed when 'tools' are specified",
    'parallel_tool_calls',
  ],
  [
    "a choice of Anthropic's shape",
    chatWithTools({ tool_choice: { type: 'tool', name: 'get_time' } }),
    "Invalid value: 'tool'",
  ],
  ['a format name with spaces', withFormat({ name: 'a b' }), 'does not match pattern'],
  [
    'a strict schema whose inner object is open',
    withSchema({ properties: { a: { type: 'object' } }, required: ['a'] }),
    "In context=('properties', 'a'), 'additionalProperties'",
    'response_format',
  ],
  ['a strict schema with an optional property', withSchema({ properties: { a: {} } }), "Missing 'a'"],
  [
    'a strict schema whose items are open',
    withSchema({ properties: { a: { type: 'array', items: { type: 'object' } } }, required: ['a'] }),
    "In context=('properties', 'a', 'items'), 'additionalProperties'",
  ],
  ['a strict schema with an untyped property', withSchema({ properties: { a: {} }, required: ['a'] }), "a 'type' key"],
  ['a strict schema with oneOf', withSchema({ oneOf: [] }), "'oneOf' is not permitted"],
  [
    'json_object without the word',
    chat('hi', { response_format: { type: 'json_object' } }),
    "must contain the word 'json'",
  ],
]

for (const body of bodies) {
  test(`chat stand-in: rejects ${body[0]}`, (t) => assertRefused(t, body))
}
