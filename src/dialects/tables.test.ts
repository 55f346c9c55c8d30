import test from 'ava'
import { GatewayError } from '../core/errors.ts'
import type { JsonObject } from '../core/json/json-value.ts'
import { BytesReply } from '../core/reply/reply.ts'
import { DroppedFields } from '../core/request/dropped-fields.ts'
import { chatErrorBody } from './chat/error-body.ts'
import { CHAT_REPLIES } from './chat/replies.ts'
import { createChatEnd } from './chat/reply/chat-end.ts'
import { withDroppedContent } from './chat/reply/dropped-content.ts'
import { messagesErrorOf, toChatError, toMessagesError } from './chat/reply/errors.ts'
import { reasoningOf as saidReasoning, textOf } from './chat/reply/said.ts'
import { claudeTraitsOf } from './chat/request/claude-traits.ts'
import { documentSourceOf } from './chat/request/document-of-file.ts'
import { isBlank, isNothing } from './chat/request/json-value.ts'
import { partsOfDocument } from './chat/request/parts-of-document.ts'
import { errorTypeOf } from './messages/error-type.ts'
import { renderProviderError, toResponsesError } from './responses/limit-error.ts'
import { RESPONSES_REPLIES } from './responses/replies.ts'
import { breakEvent } from './responses/reply/break-event.ts'
import { incompleteReasonOf, streamErrorOf } from './responses/reply/endings.ts'
import { readResponsesUsage, toResponsesUsage } from './responses/reply/usage.ts'
import { toOutputFormat, toReasoning } from './responses/request/fields-of-responses.ts'
import { toWebSearch } from './responses/request/web-search.ts'
import {
  openSealed,
  reasoningOf,
  sealRedacted,
  sealSignature,
  signatureOf,
  thinkingOf,
} from './responses/sealed-thinking.ts'

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
const parse = (value: Buffer) => JSON.parse(value.toString())

/** Rows of two words and more, one line each. */
const rowsOf = (text: string) =>
  text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/) as [string, string, ...string[]]) // safe: the tables below have them

test('errors: the type of each status', (t) => {
  const rows = rowsOf(`
    400 invalid_request_error
    401 authentication_error
    402 billing_error
    403 permission_error
    404 not_found_error
    408 timeout_error
    413 request_too_large
    424 api_error
    429 rate_limit_error
    499 invalid_request_error
    500 api_error
    503 overloaded_error
    504 timeout_error
    529 overloaded_error
    399 api_error`)
  for (const [status, type] of rows) t.is(errorTypeOf(Number(status)), type, status)
})

test('errors: in a chat stream each code and type is an error of its status', (t) => {
  const rows = rowsOf(`
    authentication_error authentication_error
    invalid_api_key authentication_error
    permission_error permission_error
    not_found_error not_found_error
    model_not_found not_found_error
    invalid_request_error invalid_request_error
    context_length_exceeded invalid_request_error
    insufficient_quota rate_limit_error
    rate_limit_error rate_limit_error
    rate_limit_exceeded rate_limit_error
    service_unavailable_error overloaded_error
    overloaded_error overloaded_error
    timeout_error timeout_error
    novel api_error`)
  const typeOf = (error: object) => messagesErrorOf(undefined, { error }).error.type
  for (const [word, type] of rows) {
    t.is(typeOf({ code: word }), type, `code ${word}`)
    t.is(typeOf({ type: word }), type, `type ${word}`)
  }
  t.is(typeOf({ code: 'model_not_found', type: 'invalid_request_error' }), 'not_found_error', 'the code is more exact')
  t.deepEqual([typeOf({ code: 400 }), typeOf({ code: 399 })], ['invalid_request_error', 'api_error'])
})

test('errors: the message is found wherever servers put it', (t) => {
  const rows: [body: unknown, message: string][] = [
    [{ error: { message: 'a', code: 'b' } }, 'a'],
    [{ error: { message: '', code: 'b', type: 'c' } }, 'b'],
    [{ error: { type: 'c' } }, 'c'],
    [{ error: 'd', message: 'e' }, 'd'],
    [{ message: 'e', detail: 'f' }, 'e'],
    [{ detail: 'f' }, 'f'],
    [{ detail: [{ msg: 'g' }, { msg: 'h' }, {}] }, 'g; h'],
    [{}, 'The provider answered with status 500.'],
    ['plain text ', 'plain text'],
    [' <html>', 'The provider answered with status 500.'],
    ['a < b', 'a < b'],
    ['x'.repeat(501), 'x'.repeat(500)],
  ]
  for (const [body, message] of rows) t.is(parse(toMessagesError(500, bytes(body))).error.message, message, message)
  t.is(messagesErrorOf(undefined, {}).error.message, 'The provider reported an error.')
  t.is(parse(toMessagesError(500, bytes({ request_id: 'r' }))).request_id, 'r')
  t.false('request_id' in parse(toMessagesError(500, bytes({ request_id: 5 }))))
  t.deepEqual(parse(toChatError(503, bytes({}))).error, {
    ...{ code: null, param: null, type: 'overloaded_error', message: 'The provider answered with status 503.' },
  })
})

test('errors of chat clients name the field at fault', (t) => {
  const paramOf = (code: 'invalid_request' | 'not_found', message: string) =>
    (chatErrorBody(new GatewayError(code, message), 'req_1') as { error: JsonObject }).error.param // safe: its shape
  t.is(paramOf('invalid_request', 'messages[0].content: expected a string'), 'messages[0].content')
  t.is(paramOf('invalid_request', 'max_tokens: expected a number'), 'max_tokens')
  t.is(paramOf('invalid_request', 'Expected: a body'), null)
  t.is(paramOf('not_found', 'model: unknown'), null)
})

test('errors of Responses clients: limits end the turn, and a body that is too large asks for compaction', (t) => {
  const at = '1970-01-01T00:01:00.500Z'
  const convert = (code: ConstructorParameters<typeof GatewayError>[0], fields = {}) => {
    const error = toResponsesError(new GatewayError(code, 'm', { fields, headers: { a: 'b' } }), 30_000)
    return { status: error.status, ...error.fields, advice: error.headers['x-codex-promo-message'], a: error.headers.a }
  }
  const limit = { status: 429, type: 'usage_limit_reached', a: 'b' }
  t.like(convert('cost_limit_per_day', { limit: 5, resets_at: at }), { ...limit, resets_at: 61, resets_in_seconds: 31 })
  t.is(convert('cost_limit_per_day', { limit: 5, resets_at: at }).advice, "Raise the gateway's cap of $5 a day")
  t.regex(String(convert('cost_limit_per_month', { limit: 5 }).advice), /\$5 a month$/)
  t.regex(String(convert('cost_limit_per_day', { limit: 5, cap: 'team' }).advice), /\$5 a day for this team$/)
  t.regex(
    String(convert('cost_limit_per_month', { limit: 5, cap: 'tag', tag: 'a' }).advice),
    /\$5 a month for the tag a$/,
  )
  t.regex(String(convert('cost_limit_per_month', { limit: 5, cap: 'key' }).advice), /\$5 a month$/)
  t.like(convert('cost_limit_per_request', { limit: 5, resets_at: at }), { ...limit, resets_at: null })
  t.like(convert('plan_calls_used', { resets_at: '1970-01-01T00:00:00Z' }), { ...limit, resets_in_seconds: 0 })
  t.like(convert('payment_required'), { ...limit, resets_at: null })
  t.like(convert('request_too_large'), { status: 400, type: 'invalid_request_error', code: 'context_length_exceeded' })
  t.like(convert('rate_limit_error'), { status: 429, type: undefined, advice: undefined })
  const render = (status: number, error: object) => {
    const reply = renderProviderError(new BytesReply(status, { 'x-a': 'b' }, bytes({ error })))
    return { ...parse(reply.bytes).error, status: reply.status, advice: reply.headers['x-codex-promo-message'] }
  }
  t.like(render(413, { type: 'request_too_large' }), {
    status: 400,
    code: 'context_length_exceeded',
    advice: undefined,
  })
  t.like(render(402, { type: 'billing_error' }), {
    status: 429,
    type: 'usage_limit_reached',
    code: 'insufficient_quota',
  })
  t.regex(render(402, { type: 'billing_error' }).advice, /Add credit/)
  t.like(render(429, { type: 'rate_limit_error' }), { status: 429, code: 'rate_limit_exceeded' })
  t.like(render(400, { type: 'invalid_request_error', code: 'own' }), { code: 'own' })
  t.is(render(500, { type: 'api_error' }).code, null)
})

test('Responses: reasons, codes and errors of a stream', (t) => {
  const rows = rowsOf(`
    max_tokens max_output_tokens
    model_context_window_exceeded max_output_tokens
    pause_turn max_output_tokens
    refusal content_filter
    end_turn undefined
    tool_use undefined`)
  for (const [reason, expected] of rows) t.is(String(incompleteReasonOf(reason)), expected, reason)
  const codeOf = (type?: string, message?: string) => streamErrorOf({ error: { type, message } }).code
  t.is(codeOf('rate_limit_error'), 'rate_limit_exceeded')
  t.is(codeOf('overloaded_error'), 'server_is_overloaded')
  t.is(codeOf('billing_error'), 'insufficient_quota')
  t.is(codeOf('invalid_request_error'), 'invalid_prompt')
  t.is(codeOf(), 'server_error')
  for (const words of [
    'Prompt is too long',
    'input is too long',
    'the context length',
    'context window',
    'maximum context',
    'input token count',
    'Too many input tokens',
  ])
    t.is(codeOf('invalid_request_error', words), 'context_length_exceeded', words)
  t.deepEqual(streamErrorOf({}), {
    type: 'api_error',
    code: 'server_error',
    message: 'The provider reported an error.',
  })
})

test('Responses: a stream that breaks off continues its numbers and its response', (t) => {
  const event = (value: object) => bytes(`data: ${JSON.stringify(value)}\n\n`)
  const numbersOf = (first?: Buffer, last?: Buffer) =>
    [...breakEvent('m', { first, last }).matchAll(/^data: (\{.*)$/gm)].map(([, json]) => JSON.parse(json ?? ''))
  const [error, failed] = numbersOf(
    event({ response: { id: 'resp', status: 'in_progress' } }),
    event({ sequence_number: 7 }),
  )
  t.like(error, { type: 'error', sequence_number: 8, code: 'server_error', message: 'm' })
  t.like(failed, { type: 'response.failed', sequence_number: 9, response: { id: 'resp', status: 'failed' } })
  t.is(numbersOf()[0].sequence_number, 0)
  const afterFirst = numbersOf(event({ response: { id: 'resp' } }), event({ sequence_number: 0 }))
  t.deepEqual(
    afterFirst.map(({ type, sequence_number }) => `${type} ${sequence_number}`),
    ['response.in_progress 1', 'error 2', 'response.failed 3'],
  )
  t.true(breakEvent('m', { first: undefined, last: undefined }).endsWith('data: [DONE]\n\n'))
})

test('usage of Responses: cached tokens are part of the input there, and apart here', (t) => {
  const raw = {
    ...{ input_tokens: 100, output_tokens: 20, input_tokens_details: { cached_tokens: 30, cache_write_tokens: 10 } },
    output_tokens_details: { reasoning_tokens: 5 },
  }
  const usage = readResponsesUsage(raw)
  t.like(usage, { inputTokens: 60, cacheReadInputTokens: 30, cacheCreationInputTokens: 10, outputTokens: 20 })
  t.deepEqual(toResponsesUsage(usage), { ...raw, total_tokens: 120 })
  t.like(readResponsesUsage({ input_tokens: 5, input_tokens_details: { cached_tokens: 9 } }), { inputTokens: 0 })
  t.like(readResponsesUsage({ output_tokens: 5 }), { inputTokens: 0, outputTokens: 5 })
  for (const none of [{}, null, { input_tokens: -1 }, { input_tokens: 1.5 }]) t.is(readResponsesUsage(none), undefined)
  t.like(toResponsesUsage(undefined), { input_tokens: 0, output_tokens: 0, total_tokens: 0 })
})

test('chat replies: what each chunk is about, lookalikes in texts apart', (t) => {
  const read = (data: unknown) => {
    const sign = CHAT_REPLIES.readEvent('message', typeof data === 'string' ? data : JSON.stringify(data))
    return sign && [sign.kind, sign.usage?.outputTokens ?? null].join(' ').trim()
  }
  const usage = { completion_tokens: 5 }
  const rows: [data: unknown, expected: string | undefined][] = [
    ['[DONE]', 'stop'],
    [{ choices: [{ delta: { content: 'x' }, finish_reason: null }] }, undefined],
    [{ choices: [{ delta: {}, finish_reason: 'stop' }] }, 'finish'],
    [{ choices: [], usage }, 'usage 5'],
    [{ choices: [{ finish_reason: 'stop' }], usage }, 'finish 5'],
    [{ choices: [{ delta: {} }], usage: null }, undefined],
    [{ error: { message: 'x' } }, 'error'],
    [{ error: 'x' }, 'error'],
    [{ error: {}, choices: [] }, 'usage'],
    [{ choices: [{ delta: { content: '"error": {' } }] }, undefined],
  ]
  for (const [data, expected] of rows) t.is(read(data), expected, JSON.stringify(data))
  const kindOf = (name: string) => RESPONSES_REPLIES.readEvent(name, '{}')?.kind
  t.deepEqual(
    ['response.completed', 'response.incomplete', 'response.failed', 'error', 'response.created'].map(kindOf),
    ['stop', 'stop', 'error', 'error', undefined],
  )
  const completed = JSON.stringify({ response: { usage: { output_tokens: 3 } } })
  t.is(RESPONSES_REPLIES.readEvent('response.completed', completed)?.usage?.outputTokens, 3)
})

test('chat replies: a stream that is cut at a limit ends like the provider’s, with counts if requested', (t) => {
  const cut = (includeUsage: boolean) => {
    const end = createChatEnd({ includeUsage })
    for (const id of ['first', 'second']) {
      const data = bytes(JSON.stringify({ id, created: 5, model: 'm' }))
      end.see('message', data, 0, data.length)
    }
    return end
      .atLimit({ input_tokens: 2, output_tokens: 3 })
      .split('\n\n')
      .filter(Boolean)
      .map((line) => line.slice('data: '.length))
  }
  const [last = '', usage = '', done] = cut(true)
  const head = { id: 'first', object: 'chat.completion.chunk', created: 5, model: 'm' }
  t.deepEqual(JSON.parse(last), { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'length' }] })
  t.like(JSON.parse(usage), { ...head, choices: [], usage: { prompt_tokens: 2, completion_tokens: 3 } })
  t.is(done, '[DONE]')
  t.is(cut(false).length, 2)
})

test('chat replies: content that a completion cannot represent is reported, each once', (t) => {
  const droppedOf = (content: unknown, carried?: ReadonlySet<unknown>, before?: string) =>
    withDroppedContent(
      before === undefined ? {} : { 'x-svc-dropped': before },
      bytes({ type: 'message', content }),
      carried,
    )['x-svc-dropped']
  const search = { type: 'server_tool_use' }
  const cited = { type: 'text', text: 'x', citations: [{}] }
  t.is(droppedOf([{ type: 'text' }, { type: 'thinking' }, { type: 'tool_use' }]), undefined)
  t.is(droppedOf([search, search, cited]), 'content.server_tool_use, content.text.citations')
  t.is(droppedOf([search, cited], new Set(['server_tool_use'])), 'content.text.citations')
  t.is(droppedOf([{ ...cited, citations: [] }]), undefined)
  t.is(droppedOf([search], undefined, 'top_k'), 'top_k, content.server_tool_use')
})

test('chat replies: text and reasoning, in every form that servers have', (t) => {
  const thinking = [
    { type: 'thinking', thinking: [{ text: 'a' }, 'b'] },
    { type: 'text', text: 'c' },
  ]
  const rows: [said: JsonObject, reasoning: string, text: string][] = [
    [{ content: 'x', reasoning_content: 'r', reasoning: 's' }, 'r', 'x'],
    [{ content: null, reasoning_content: '', reasoning: 's' }, 's', ''],
    [{ content: thinking }, 'ab', 'c'],
    [{ content: [{ type: 'thinking', thinking: 'd' }, 'e'] }, 'd', 'e'],
    [{ reasoning: { effort: 'x' } }, '', ''],
  ]
  for (const [said, reasoning, text] of rows)
    t.deepEqual([saidReasoning(said), textOf(said)], [reasoning, text], JSON.stringify(said))
})

test('Claude models: the traits of each generation', (t) => {
  const rows = rowsOf(`
    claude-3-5-sonnet-20241022  none      false false true  false
    claude-3-haiku-20240307     none      false false false false
    claude-3-7-sonnet-20250219  budget    true  false true  false
    claude-sonnet-4-20250514    budget    true  false true  false
    claude-opus-4.5             budget    true  false true  false
    claude-opus-4-6             adaptive  true  false true  false
    claude-opus-4-7             adaptive  true  true  true  true
    claude-opus-5-4             adaptive  true  true  true  true
    claude-opus-5-5             adaptive  false true  true  true
    Claude-Fable-5              adaptive  false true  true  true
    claude-mythos-4-7           adaptive  false true  true  true
    claude-opus-latest          adaptive  false true  true  true`)
  for (const [model, ...expected] of rows)
    t.deepEqual(Object.values(claudeTraitsOf(model) ?? {}).map(String), expected, model)
  t.is(claudeTraitsOf('gpt-5'), undefined)
})

test('documents: sources of data URIs, and parts of blocks', (t) => {
  const pdf = { type: 'base64', media_type: 'application/pdf', data: 'QQ==' }
  t.deepEqual(documentSourceOf('data:Application/PDF;name=a;base64,QQ=='), pdf)
  t.deepEqual(documentSourceOf('data:text/plain;base64,QQ=='), { type: 'text', media_type: 'text/plain', data: 'A' })
  for (const uri of [
    'data:image/png;base64,QQ==',
    'data:application/pdf,QQ==',
    'QQ==',
    'x data:application/pdf;base64,Q',
  ])
    t.is(documentSourceOf(uri), undefined, uri)
  const partsOf = (block: JsonObject) => {
    const droppedFields = new DroppedFields()
    return [...partsOfDocument(block, 'p', droppedFields), ...droppedFields.refused]
  }
  const text = (text: string) => ({ type: 'text', text })
  const file = (filename: string) => ({
    type: 'file',
    file: { filename, file_data: 'data:application/pdf;base64,QQ==' },
  })
  const given = { title: 't', context: 'c' }
  t.deepEqual(partsOf({ ...given, source: { type: 'text', data: 'd' } }), [text('t\nc\nd')])
  t.deepEqual(partsOf({ ...given, source: pdf }), [text('c'), file('t')])
  t.deepEqual(partsOf({ source: pdf }), [file('document.pdf')])
  t.deepEqual(partsOf({ ...given, source: { type: 'content', content: 'd' } }), [text('t\nc'), text('d')])
  t.deepEqual(partsOf({ source: { type: 'content', content: [{ text: 'd' }] } }), [text('d')])
  t.regex(String(partsOf({ source: { type: 'content', content: [{ type: 'image' }] } })[0]), /^p\.source\.content\[0\]/)
  t.regex(String(partsOf({ source: { type: 'url', url: 'x' } })[0]), /^p: /)
  t.regex(String(partsOf({ source: { ...pdf, media_type: 'image/png' } })[0]), /^p: /)
})

test('Responses requests: effort, format and web search', (t) => {
  const translate = (run: (dropped: DroppedFields) => unknown) => {
    const dropped = new DroppedFields()
    return [run(dropped), dropped.dropped.join()]
  }
  const reasoning = (value: unknown) => translate((dropped) => toReasoning(value, dropped))
  t.deepEqual(reasoning({ effort: 'low', summary: 'auto' }), [{ reasoning: { effort: 'low' } }, ''])
  t.deepEqual(reasoning({ effort: 'ultra', novel: 1 }), [{ reasoning: { effort: 'max' } }, 'reasoning.novel'])
  t.deepEqual(reasoning({}), [{}, ''])
  const format = (format: unknown) => translate((dropped) => toOutputFormat({ format }, dropped))
  const schema = { type: 'object' }
  t.deepEqual(format({ type: 'json_schema', schema, strict: true }), [{ type: 'json_schema', schema }, ''])
  t.deepEqual(format({ type: 'json_schema', schema, strict: false }), [
    { type: 'json_schema', schema },
    'text.format.strict',
  ])
  t.deepEqual(format({ type: 'json_object' }), [{ type: 'json_object' }, ''])
  t.deepEqual(
    [format({ type: 'text' }), format(null)],
    [
      [undefined, ''],
      [undefined, ''],
    ],
  )
  t.throws(() => format({ type: 'novel' }))
  const search = (tool: JsonObject, searches = 3) =>
    translate((dropped) => toWebSearch(tool, { path: 'tools[0]', searches }, dropped))
  const plain = { type: 'web_search_20250305', name: 'web_search', max_uses: 3 }
  t.deepEqual(search({ type: 'web_search' }), [[plain], ''])
  const filters = { allowed_domains: ['a'], blocked_domains: [], novel: 1 }
  const user_location = { type: 'x', city: 'c', region: null, country: 'd' }
  t.deepEqual(search({ filters, user_location, search_context_size: 'low' }), [
    [{ ...plain, allowed_domains: ['a'], user_location: { type: 'approximate', city: 'c', country: 'd' } }],
    'tools.search_context_size,tools.filters.novel',
  ])
  for (const off of [search({}, 0), search({ external_web_access: false })]) t.deepEqual(off, [[], 'tools.web_search'])
  t.throws(() => search({ filters: { blocked_domains: [5] } }))
})

test('Responses: thinking there and back keeps its signature, and of another provider none is sent', (t) => {
  const summary = [{ type: 'summary_text', text: 'a' }, { text: 'b' }]
  const rows: [item: JsonObject, block: JsonObject | undefined][] = [
    [
      { summary, encrypted_content: sealSignature('s:1') },
      { type: 'thinking', thinking: 'a\n\nb', signature: 's:1' },
    ],
    [{ encrypted_content: sealSignature('') }, { type: 'thinking', thinking: '', signature: '' }],
    [
      { summary, encrypted_content: sealRedacted('d') },
      { type: 'redacted_thinking', data: 'd' },
    ],
    [{ content: [{ text: 'c' }] }, { type: 'thinking', thinking: 'c', signature: '' }],
    [{ summary: [] }, undefined],
    [{ summary, encrypted_content: 'of another' }, undefined],
  ]
  for (const [item, block] of rows) t.deepEqual(thinkingOf(item), block, JSON.stringify(item))
  const own = { id: 'rs_1', encrypted_content: 'e:f\ng' }
  const thinking = { thinking: 'a', signature: signatureOf(own) }
  t.deepEqual(reasoningOf(thinking), { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }], ...own })
  t.deepEqual(reasoningOf({ signature: signatureOf({ encrypted_content: 'e' }) }), {
    type: 'reasoning',
    summary: [],
    encrypted_content: 'e',
  })
  t.is(signatureOf({ id: 'rs_1' }), '')
  t.is(reasoningOf({ thinking: 'a', signature: 'of Claude' }), undefined)
  const opened = openSealed({ encrypted_content: sealSignature(signatureOf(own)) })
  t.like(opened, own)
  t.is(openSealed({ encrypted_content: sealSignature('of Claude') }), undefined)
  const plain = { encrypted_content: 'e' }
  t.is(openSealed(plain), plain)
})

test('values that count as absent', (t) => {
  for (const value of [undefined, null, '', []]) t.true(isNothing(value))
  for (const value of [0, false, {}, ' ', [0]]) t.false(isNothing(value))
  t.deepEqual(['', ' \n\t', ' a '].map(isBlank), [true, true, false])
})
