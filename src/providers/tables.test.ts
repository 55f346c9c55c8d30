import test from 'ava'
import { openExchange } from '../../test/support/exchange.ts'
import { BytesReply } from '../core/reply/reply.ts'
import { DroppedFields } from '../core/request/dropped-fields.ts'
import { RequestDocument } from '../core/request/request.ts'
import { toMessagesError as bedrockError, exceptionEvent } from './bedrock/errors.ts'
import { usageCheckOf } from './believed-usage.ts'
import { changedFields } from './changed-fields.ts'
import { foreignThinking, refusesSignature } from './claude/foreign-thinking.ts'
import { jsonObjectEdits } from './claude/json-object.ts'
import { providerMessage, readFailedReply, upstreamErrorParts } from './failed-reply.ts'
import { traitsOf } from './gemini/model-traits.ts'
import { toGeminiRequest } from './gemini/request.ts'
import { fromCarrier, toCarrier } from './gemini/signatures.ts'
import { toStopReason } from './gemini/stop-reasons.ts'
import { CHAT_HEADERS, HeaderForwarder, MESSAGES_HEADERS, mergeHeaders, PLAIN_HEADERS } from './headers.ts'
import { pathOfModel, readModel, readModelList } from './model-list.ts'
import { PRESETS } from './openai-compatible/presets.ts'
import { keysOf } from './options.ts'
import { relayedHeaders } from './reply-headers.ts'
import { withoutWebSearch } from './web-search.ts'

const document = (body: object) =>
  new RequestDocument(Buffer.from(JSON.stringify({ model: 'm', messages: [], ...body })))
const words = (text: string) => text.trim().split(/\s+/)

const SECRET = 'sk-ant-0123456789abcdef'

test('headers: what each API receives of a client, with its own credential and with the operator’s', (t) => {
  const always = words('accept accept-language content-type user-agent x-app')
  const ofMessages = words('anthropic-version anthropic-beta anthropic-novel x-stainless-os x-claude-code-session')
  const ofChat = words('openai-novel x-stainless-os')
  const ofAccount =
    words(`idempotency-key anthropic-organization-id anthropic-workspace openai-organization openai-project
    openai-organisation anthropic-billing openai-x-account-id anthropic-tenant openai-customer`)
  const never = words('authorization x-api-key x-provider-key cookie x-other host content-length')
  const sent = [...new Set([...always, ...ofMessages, ...ofChat, ...ofAccount, ...never])]
  const headers = Object.fromEntries(sent.map((name) => [name, 'v']))
  const namesOf = (forwarder: HeaderForwarder, isCallersOwn: boolean) =>
    forwarder
      .forward(headers, { isCallersOwn })
      .filter((_, index) => index % 2 === 0)
      .sort()
  const own = ['accept-encoding', 'idempotency-key']
  const versions = words(
    'anthropic-version anthropic-beta provider-version provider-beta anthropic-novel x-stainless-os x-claude-code-session',
  )
  const messages = new HeaderForwarder(MESSAGES_HEADERS, [])
  const ofAnthropic = ofAccount.filter((name) => name.startsWith('anthropic-'))
  t.deepEqual(namesOf(messages, true), [...always, ...versions, ...ofAnthropic, ...own].sort())
  t.deepEqual(namesOf(messages, false), [...always, ...versions, 'accept-encoding'].sort())
  const chat = new HeaderForwarder(CHAT_HEADERS, [])
  t.deepEqual(namesOf(chat, false), [...always, ...ofChat, 'accept-encoding'].sort())
  t.deepEqual(namesOf(new HeaderForwarder(PLAIN_HEADERS, []), false), [...always, 'accept-encoding'].sort())
  const named = new HeaderForwarder(PLAIN_HEADERS, ['X-Other', 'OpenAI-Project', 'openai-org*', 'cookie'])
  t.deepEqual(namesOf(named, false), [...always, 'accept-encoding', 'x-other', 'openai-project'].sort())
  t.true(namesOf(named, true).includes('openai-organization'), 'a prefix names no header of an account')
  const list = named.forward({ accept: ['a', 'b'], 'accept-encoding': 'gzip' }, { isCallersOwn: false })
  t.deepEqual(list, ['accept', 'a, b', 'accept-encoding', 'identity'])
  t.is(messages.extras(headers), '')
  t.is(new HeaderForwarder(PLAIN_HEADERS, ['x-o*', 'x-app', 'cookie', 'x-svc-pipe']).extras(headers), '["x-other","v"]')
  t.deepEqual(mergeHeaders(['A', '1', 'b', '2'], ['a', '3']), ['a', '3', 'b', '2'])
})

test('reply headers: those of the connection, the site and its proxies stay, all others reach the client', (t) => {
  const kept = words(
    'request-id anthropic-ratelimit-requests-limit retry-after content-type x-novel cache-control openai-version x-permitted',
  )
  const refused =
    words(`connection keep-alive trailer transfer-encoding upgrade te via proxy-authenticate content-length
    content-encoding set-cookie set-cookie2 www-authenticate authentication-info sec-websocket-accept strict-transport-security
    alt-svc clear-site-data content-security-policy content-security-policy-report-only x-frame-options referrer-policy
    permissions-policy cross-origin-opener-policy access-control-allow-origin report-to nel location content-location refresh
    link sourcemap speculation-rules`)
  const headers = Object.fromEntries(
    [...kept, ...refused, 'x-hop'].map((name) => [name, name === 'connection' ? 'X-Hop , close' : 'v']),
  )
  t.deepEqual(Object.keys(relayedHeaders(headers as never)).sort(), kept.sort()) // safe: texts
})

test('failed replies: type, request id and message, from wherever providers put them', (t) => {
  const read = (body: unknown, headers = {}) =>
    readFailedReply({ status: 500, headers, body: Buffer.from(JSON.stringify(body)), secrets: [SECRET] })
  const types: [body: unknown, headers: object, type: string | null][] = [
    [{ error: { type: 'a', status: 'b', code: 'c' }, type: 'd' }, {}, 'a'],
    [{ error: { type: '', status: 'b', code: 'c' } }, {}, 'b'],
    [{ error: { code: 'c' } }, { 'x-amzn-errortype': 'e:http' }, 'c'],
    [{ type: 'd' }, { 'x-amzn-errortype': 'e:http' }, 'e'],
    [{ type: 'd', code: 'f' }, {}, 'd'],
    [{ code: 'f' }, {}, 'f'],
    [[{ error: { status: 'b' } }], {}, 'b'],
    [{ error: { code: 5 } }, {}, null],
  ]
  for (const [body, headers, type] of types) t.is(read(body, headers).type, type, JSON.stringify(body))
  t.notRegex(String(read({ error: { type: `with ${SECRET}` } }).type), /0123/)
  for (const name of ['request-id', 'x-request-id', 'x-amzn-requestid', 'x-goog-request-id'])
    t.is(read({ request_id: 'of the body' }, { [name]: 'r' }).requestId, 'r', name)
  t.is(read({ request_id: 'of the body' }).requestId, 'of the body')
  const message = (body: unknown) => providerMessage(Buffer.from(JSON.stringify(body)), [])
  t.deepEqual(
    [message({ error: { message: 'a' }, message: 'b' }), message({ message: 'b' }), message({})],
    [': a', ': b', ''],
  )
  t.is(message({ message: 'x'.repeat(400) }).length, 302)
  const failed = { status: 503, type: 't', requestId: 'r', retryAfter: '7' }
  t.deepEqual(upstreamErrorParts('p', failed), {
    fields: { provider: { name: 'p', status: 503, type: 't', request_id: 'r' } },
    headers: { 'retry-after': '7' },
  })
  t.like(upstreamErrorParts('p', undefined), { fields: { provider: { name: 'p', status: null } }, headers: {} })
})

test('usage: a provider’s counts are taken unless they are impossible, and name the model that replied', (t) => {
  const tokens = { inputTokens: () => 40 }
  const target = { provider: 'anthropic', model: 'asked' }
  const check = (fields: object, counts: object, shown: object = {}) => {
    const body = JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields })
    const usage = { inputTokens: 5, outputTokens: 3, cacheReadInputTokens: 0, cacheCreationInputTokens: 0, ...counts }
    const text = { leastTokens: 0, likelyTokens: 0 }
    return usageCheckOf(openExchange({ dialect: 'messages', body, targets: [target] }), tokens)(
      usage as never,
      { text, ...shown } as never,
    ) // safe: what is read
  }
  t.like(check({}, {}), { inputTokens: 5, outputTokens: 3, isCounted: undefined })
  t.like(check({}, { inputTokens: 0 }), { inputTokens: 40, isCounted: true })
  t.like(check({}, { inputTokens: 0, cacheReadInputTokens: 1 }), { inputTokens: 0, isCounted: undefined })
  t.like(check({}, { inputTokens: 0, cacheCreationInputTokens: 1 }), { inputTokens: 0, isCounted: undefined })
  const text = { leastTokens: 4, likelyTokens: 9 }
  t.like(check({}, {}, { text }), { outputTokens: 9, isCounted: true })
  t.like(check({}, { outputTokens: 4 }, { text }), { outputTokens: 4, isCounted: undefined })
  t.like(check({}, {}, { text: { leastTokens: 4, likelyTokens: 2 } }), { outputTokens: 3 }, 'never less than reported')
  t.is(
    usageCheckOf(
      openExchange({ dialect: 'messages', body: '{"model":"m","max_tokens":9,"messages":[]}', targets: [target] }),
      tokens,
    )(undefined, {} as never),
    undefined,
  )
})

test('changed fields: those whose bytes differ, that are new or gone, or that a plugin has set', (t) => {
  const exchange = (before: object, after: object, assumed: string[] = [], still: string[] = assumed) =>
    changedFields({
      client: { canonical: document(before), assumed },
      request: document(after),
      assumed: still,
    } as never) // safe: what is read
  t.deepEqual(exchange({ a: 1, b: 1, c: 1 }, { a: 1, b: 2, d: 1 }).sort(), ['b', 'c', 'd'])
  t.deepEqual(exchange({ model: 'a' }, { model: 'b' }), [])
  t.deepEqual(exchange({ max_tokens: 5 }, { max_tokens: 5 }, ['max_tokens'], []), ['max_tokens'])
  t.deepEqual(exchange({ max_tokens: 5 }, { max_tokens: 5 }, ['max_tokens']), [])
})

test('foreign thinking: removed after a refused signature, with messages that have nothing else', (t) => {
  const thinking = (signature: string) => ({ type: 'thinking', thinking: 'x', signature })
  const text = { type: 'text', text: 'x' }
  const contents = [
    'text',
    [thinking('gemini:a'), text, thinking('gemini-text:b'), thinking('')],
    [thinking('openai-reasoning:i:e')],
    [thinking('of Claude'), { type: 'text', signature: '' }],
    [],
  ]
  const droppedFields = new DroppedFields()
  const request = document({ messages: contents.map((content) => ({ role: 'assistant', content })) })
  t.deepEqual(foreignThinking(request, droppedFields), [
    ...[0, 2, 3].map((index) => ({ op: 'remove' as const, path: ['messages', 1, 'content', index] })),
    { op: 'remove', path: ['messages', 2] },
  ])
  t.deepEqual(droppedFields.dropped, ['messages.content.thinking'])
  const reply = (status: number, body: string) => refusesSignature(new BytesReply(status, {}, Buffer.from(body)))
  t.deepEqual([reply(400, 'Invalid `signature`'), reply(401, 'signature'), reply(400, 'x')], [true, false, false])
})

test('JSON without a schema: an instruction after the system, whatever its form', (t) => {
  const format = { format: { type: 'json_object' } }
  const edits = (body: object) => JSON.parse(JSON.stringify(jsonObjectEdits(document(body))))
  t.like(edits({ output_config: format }), [
    { op: 'remove', path: ['output_config'] },
    { op: 'add', path: ['system'] },
  ])
  const [removed, replaced] = edits({ output_config: { ...format, effort: 'low' }, system: 'a' })
  t.deepEqual(removed.path, ['output_config', 'format'])
  t.regex(replaced.value, /^a\n\nAnswer with one JSON object/)
  const [, listed] = edits({ output_config: format, system: [{ type: 'text', text: 'a' }] })
  t.like(listed, { op: 'replace', value: [{ text: 'a' }, { type: 'text' }] })
  t.deepEqual(edits({ output_config: { format: { type: 'json_schema' } } }), [])
})

test('Bedrock errors: exceptions of a stream, and errors of the service', (t) => {
  const typeOf = (name: string) =>
    /"type":"(\w+)","message"/.exec(exceptionEvent(name, Buffer.from('{"message":"m"}')))?.[1]
  const types = { throttlingException: 'rate_limit_error', serviceUnavailableException: 'overloaded_error' }
  for (const [name, type] of Object.entries({
    ...types,
    modelTimeoutException: 'timeout_error',
    validationException: 'invalid_request_error',
    other: 'api_error',
  }))
    t.is(typeOf(name), type, name)
  const message = (body: unknown, headers = {}) =>
    JSON.parse(bedrockError(403, headers, Buffer.from(JSON.stringify(body))).toString()).error.message
  t.is(message({ message: 'a' }), 'a')
  t.is(message({ Message: 'b. The Canonical String for this request should have been\nx' }), 'b.')
  t.is(message({}, { 'x-amzn-errortype': 'Denied:x' }), 'The provider answered 403 (Denied) without a readable error.')
  const own = { type: 'error', error: { type: 'x', message: 'own' } }
  t.is(message(own), 'own')
})

test('Gemini: traits of models, finish reasons, carriers of signatures', (t) => {
  const traits = `
    gemini-2.0-flash       2    false undefined false false
    gemini-2.5-flash       2.5  false 24576     true  false
    gemini-2.5-pro         2.5  false 32768     false false
    gemini-3-pro-preview   3    true  undefined false false
    gemini-3-flash         3    true  undefined false true
    gemini-3.5-pro         3.5  true  undefined false true
    gemini-flash-latest    3    true  undefined false true
    learnlm                0    false undefined false false`
  for (const line of traits.trim().split('\n')) {
    const [model = '', ...expected] = words(line)
    const { generation, hasThinkingLevels, maxThinkingTokens, canStopThinking, hasMediumLevel } = traitsOf(model)
    t.deepEqual(
      [generation, hasThinkingLevels, maxThinkingTokens, canStopThinking, hasMediumLevel].map(String),
      expected,
      model,
    )
  }
  const refusals = words(
    'SAFETY RECITATION LANGUAGE BLOCKLIST PROHIBITED_CONTENT SPII IMAGE_SAFETY IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION MODEL_ARMOR JAILBREAK',
  )
  for (const reason of refusals) t.is(toStopReason(reason, true), 'refusal', reason)
  t.deepEqual(
    [toStopReason('MAX_TOKENS', true), toStopReason('STOP', true), toStopReason('STOP', false)],
    ['max_tokens', 'tool_use', 'end_turn'],
  )
  for (const signed of ['call', 'text'] as const)
    t.deepEqual(fromCarrier(toCarrier('"sig"', signed)), { signed, signature: '"sig"' })
  for (const carrier of [undefined, '"gemini:"', '"of Claude"', '5']) t.is(fromCarrier(carrier), undefined, carrier)
})

test('Gemini: settings, tools and choices of a request', (t) => {
  const translate = (fields: object, assumed: string[] = []) => {
    const request = document({ max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...fields })
    const { bytes, droppedFields } = toGeminiRequest(request, { model: 'gemini-2.5-flash', assumed })
    const { contents: _, ...body } = JSON.parse(bytes.toString())
    return { body, dropped: droppedFields.dropped.join(), refused: droppedFields.refused.join() }
  }
  const config = (fields: object, assumed?: string[]) => translate(fields, assumed).body.generationConfig
  t.deepEqual(config({ temperature: 0.5, top_p: 0.6, top_k: 7, stop_sequences: ['a'] }), {
    ...{ maxOutputTokens: 9, temperature: 0.5, topP: 0.6, topK: 7, stopSequences: ['a'] },
  })
  t.is(config({}, ['max_tokens']), undefined)
  t.deepEqual(config({ temperature: null, stop_sequences: [] }), { maxOutputTokens: 9 })
  t.is(translate({ stop_sequences: ['a', 'b', 'c', 'd', 'e'] }).refused, '')
  t.regex(translate({ stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }).refused, /at most 5 of them, got 6/)
  const schema = { type: 'object' }
  const json = { responseMimeType: 'application/json' }
  t.like(config({ output_config: { format: { type: 'json_schema', schema } } }), {
    ...json,
    responseJsonSchema: schema,
  })
  t.like(config({ output_format: { type: 'json_object' } }), json)
  t.regex(translate({ output_config: { format: { type: 'json_schema' } } }).refused, /^output_config\.format/)
  const tools = [{ name: 'f', description: 'd', input_schema: schema }]
  const declared = [{ functionDeclarations: [{ name: 'f', description: 'd', parametersJsonSchema: schema }] }]
  t.deepEqual(translate({ tools }).body.tools, declared)
  const choices = { auto: 'AUTO', any: 'ANY', none: 'NONE', tool: 'ANY' }
  for (const [type, mode] of Object.entries(choices))
    t.deepEqual(translate({ tools, tool_choice: { type, name: 'f' } }).body.toolConfig.functionCallingConfig, {
      mode,
      ...(type === 'tool' && { allowedFunctionNames: ['f'] }),
    })
  t.is(translate({ tool_choice: { type: 'auto' } }).dropped, 'tool_choice')
  t.regex(translate({ tools, tool_choice: { type: 'x' } }).refused, /^tool_choice/)
  t.regex(translate({ tools: [{ type: 'bash_20250124', name: 'bash' }] }).refused, /^tools\[0\]/)
})

test('web search: removed where the model can do without, kept where it is forced', (t) => {
  const search = { type: 'web_search' }
  const look = { type: 'function', name: 'f', parameters: {} }
  const after = (tools: object[], tool_choice?: unknown) => {
    const body = JSON.stringify({
      model: 'claude-sonnet-4-5',
      input: 'hi',
      tools,
      ...(tool_choice !== undefined && { tool_choice }),
    })
    const droppedFields = new DroppedFields()
    const request = withoutWebSearch(openExchange({ dialect: 'responses', body }), droppedFields)
    const left = request.field('tools') as { name: string }[] | undefined // safe: a list of tools
    return [left?.map(({ name }) => name), request.field('tool_choice') === undefined, droppedFields.dropped.join()]
  }
  t.deepEqual(after([look, search]), [['f'], true, 'tools.web_search'])
  t.deepEqual(after([search], 'auto'), [undefined, true, 'tools.web_search'])
  t.deepEqual(after([search], 'required'), [['web_search'], false, ''])
  t.deepEqual(after([look]), [['f'], true, ''])
})

test('models: lists and single models, and names that stay below their path', (t) => {
  const reply = (body: unknown, status = 200) => new BytesReply(status, {}, Buffer.from(JSON.stringify(body)))
  const list = (data: unknown) => readModelList(reply({ data }), 'p').map(({ fields: _, ...model }) => ({ ...model }))
  const none = { displayName: undefined, createdAtMs: undefined, ownedBy: undefined }
  t.deepEqual(
    list([
      { id: 'a', created: 5, owned_by: 'o' },
      { id: 'b', display_name: 'B', created_at: '1970-01-01T00:00:01Z' },
      { id: '' },
      null,
      5,
    ]),
    [
      { ...none, id: 'a', createdAtMs: 5000, ownedBy: 'o' },
      { ...none, id: 'b', displayName: 'B', createdAtMs: 1000 },
    ],
  )
  for (const wrong of [reply({ data: {} }), reply({ data: [] }, 500), reply('x')])
    t.throws(() => readModelList(wrong, 'p'), { code: 'upstream_error' })
  const idOf = (body: object, status?: number) => readModel(reply(body, status), 'p')?.id
  t.deepEqual(
    [idOf({ id: 'a' }), idOf({ id: 'a', object: 'model' }), idOf({ id: 'a' }, 404), idOf({ id: 'a' }, 400)],
    ['a', 'a', undefined, undefined],
  )
  for (const [body, status] of [
    [{}, 200],
    [{ id: 'a', type: 'error' }, 200],
    [{ id: 'a' }, 405],
    [{ id: 'a' }, 500],
  ] as const)
    t.throws(() => idOf(body, status), { code: 'upstream_error' }, JSON.stringify(body))
  t.is(pathOfModel('a/b c'), '/models/a/b%20c')
  for (const id of ['', 'a//b', '../x', 'a/.', '/a']) t.is(pathOfModel(id), undefined, id)
})

test('keys and presets: all credentials of a section, and models that name their service', (t) => {
  const keys = [{ api_key: 'b', weight: 3 }]
  t.deepEqual(keysOf({ api_key: 'a', keys }), [{ api_key: 'a', weight: 1 }, ...keys])
  t.deepEqual(keysOf({ keys }), keys)
  const models = words(
    'mistral-large ministral-8b magistral-x codestral-x devstral-x pixtral-x open-mistral-7b deepseek-chat grok-4 llama-3',
  )
  const serviceOf = (model: string) => Object.entries(PRESETS).find(([, { models }]) => models?.test(model))?.[0]
  t.deepEqual(models.map(serviceOf), [...Array(7).fill('mistral'), 'deepseek', 'xai', undefined])
})
