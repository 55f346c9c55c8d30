import test from 'ava'
import fc from 'fast-check'
import { checkBody } from '../../../test/support/gemini/check-request.ts'
import { conversations } from '../../../test/support/gemini/conversations.ts'
import type { JsonObject } from '../../../test/support/json.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { toCountTokensRequest, toGeminiRequest } from './request.ts'

const MODELS = ['gemini-2.5-flash', 'gemini-2.5-pro', 'gemini-2.0-flash', 'gemini-3-pro-preview', 'gemini-3.5-flash']

function translate(fields: JsonObject | string, model = 'gemini-2.5-flash', assumed: readonly string[] = []) {
  const text =
    typeof fields === 'string'
      ? fields
      : JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields })
  const { bytes, droppedFields } = toGeminiRequest(new RequestDocument(Buffer.from(text)), { model, assumed })
  return { text: bytes.toString(), body: JSON.parse(bytes.toString()), droppedFields }
}

test('gemini request: conversations of every kind become valid bodies', (t) => {
  const property = fc.property(conversations, fc.constantFrom(...MODELS), (request, model) => {
    const { body, droppedFields } = translate(JSON.stringify(request), model)
    t.deepEqual(droppedFields.refused, [])
    const refused = checkBody(body, { kind: 'generate', model })
    if (refused) throw new Error(`${refused.message} ${JSON.stringify(body)}`)
    const roles = body.contents.map(({ role }: JsonObject) => role)
    if (roles.some((role: unknown, index: number) => role === roles[index - 1])) throw new Error('roles repeat')
  })
  t.notThrows(() => fc.assert(property, { numRuns: 500 }))
})

test('gemini request: a token count becomes a valid body', (t) => {
  const property = fc.property(conversations, fc.constantFrom(...MODELS), ({ max_tokens: _, ...request }, model) => {
    const { bytes } = toCountTokensRequest(new RequestDocument(Buffer.from(JSON.stringify(request))), { model })
    const refused = checkBody(JSON.parse(bytes.toString()), { kind: 'count-tokens', model })
    if (refused) throw new Error(refused.message)
  })
  t.notThrows(() => fc.assert(property, { numRuns: 200 }))
})

test('gemini request: settings go into generationConfig', (t) => {
  const { body, droppedFields } = translate({
    temperature: 1,
    top_p: 0.5,
    top_k: 3,
    stop_sequences: ['a'],
    stream: true,
  })
  t.deepEqual(body, {
    contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
    generationConfig: { maxOutputTokens: 9, temperature: 1, topP: 0.5, topK: 3, stopSequences: ['a'] },
  })
  t.deepEqual(droppedFields.dropped, [])
})

test('gemini request: an assumed max_tokens is not sent', (t) => {
  t.is(translate({}, 'gemini-2.5-flash', ['max_tokens']).body.generationConfig, undefined)
})

test('gemini request: null means an absent field', (t) => {
  const absent = { temperature: null, stop_sequences: null, thinking: null, output_config: null, mcp_servers: null }
  const { body, droppedFields } = translate({ ...absent, tools: null, tool_choice: null, system: null, foo: null })
  t.deepEqual(Object.keys(body), ['contents', 'generationConfig'])
  t.deepEqual(droppedFields.dropped, [])
})

test('gemini request: fields that do not affect the answer are dropped by name', (t) => {
  const { droppedFields } = translate({ metadata: {}, service_tier: 'auto', context_management: {}, 'odd\r\nname': 1 })
  t.deepEqual(droppedFields.dropped, ['metadata', 'service_tier', 'context_management', '(other)'])
})

test('gemini request: a field that would change the meaning is refused', (t) => {
  const { droppedFields } = translate({
    mcp_servers: [{ url: 'x' }],
    container: 'c',
    stop_sequences: ['1', '2', '3', '4', '5', '6'],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    output_config: { format: { type: 'grammar' } },
  })
  t.deepEqual(
    droppedFields.refused.map((line) => line.split(':')[0]),
    ['mcp_servers', 'container', 'tools[0]', 'stop_sequences', 'output_config.format'],
  )
})

test('gemini request: empty mcp_servers and containers count as absent', (t) => {
  t.deepEqual(translate({ mcp_servers: [], container: null }).droppedFields.refused, [])
})

test('gemini request: an output schema keeps its exact text', (t) => {
  const schema = '{"type":"object","properties":{"b":{"minimum":1.0},"10":{},"2":{}}}'
  const { text, body } = translate(
    `{"messages":[],"output_config":{"format":{"type":"json_schema","schema":${schema}}}}`,
  )
  t.true(text.includes(`"responseJsonSchema":${schema}`))
  t.is(body.generationConfig.responseMimeType, 'application/json')
})

test('gemini request: tools become declarations with their exact schemas', (t) => {
  const schema = '{ "type": "object", "properties": {"z": {"maximum": 9007199254740993}, "a": {}} }'
  const { text, droppedFields } = translate(
    `{"messages":[],"tools":[{"type":"custom","name":"f","description":"d","input_schema":${schema},"strict":true,"cache_control":{}}]}`,
  )
  t.true(
    text.includes(
      `"tools":[{"functionDeclarations":[{"name":"f","description":"d","parametersJsonSchema":${schema}}]}]`,
    ),
  )
  t.deepEqual(droppedFields.dropped, ['tools.strict', 'tools.cache_control'])
})

test('gemini request: a choice of tools becomes a mode', (t) => {
  const tools = [{ name: 'f', input_schema: {} }]
  const modeOf = (tool_choice: JsonObject) => translate({ tools, tool_choice }).body.toolConfig.functionCallingConfig
  t.deepEqual(modeOf({ type: 'auto' }), { mode: 'AUTO' })
  t.deepEqual(modeOf({ type: 'any' }), { mode: 'ANY' })
  t.deepEqual(modeOf({ type: 'none' }), { mode: 'NONE' })
  t.deepEqual(modeOf({ type: 'tool', name: 'f' }), { mode: 'ANY', allowedFunctionNames: ['f'] })
})

test('gemini request: disable_parallel_tool_use is dropped by name', (t) => {
  const tool_choice = { type: 'auto', disable_parallel_tool_use: true }
  const { droppedFields } = translate({ tools: [{ name: 'f', input_schema: {} }], tool_choice })
  t.deepEqual(droppedFields.dropped, ['tool_choice.disable_parallel_tool_use'])
})

test('gemini request: a choice without tools is dropped, because the provider refuses it', (t) => {
  const { body, droppedFields } = translate({ tool_choice: { type: 'auto' } })
  t.is(body.toolConfig, undefined)
  t.deepEqual(droppedFields.dropped, ['tool_choice'])
})
