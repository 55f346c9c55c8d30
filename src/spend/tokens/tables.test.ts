import test from 'ava'
import type { DialectName } from '../../core/reply/reply-dialect.ts'
import { RequestDocument } from '../../core/request/request.ts'
import { audioTokens, imageTokens, isPdf, pdfTokens } from './attachments.ts'
import { familyOf } from './families.ts'
import { providerToolTokens } from './hidden-prompts.ts'
import { partsOf, type RequestParts } from './request-parts.ts'
import { unitsOfText } from './text-units.ts'
import { TokenEstimator } from './token-estimator.ts'

const document = (body: object) => new RequestDocument(Buffer.from(JSON.stringify(body)))
const parts = (body: object, dialect: DialectName) => partsOf(document(body), dialect)
const WORDS = 'The keeper of the road counts each carriage. '.repeat(30)
const MARK_BYTES = 128
const SETTING_BYTES = 512

/** A place of a body: members by their rule, and the body around them. */
interface Place {
  readonly dialect: DialectName
  readonly body: (members: object) => object
  readonly text?: readonly string[]
  readonly mark?: readonly string[]
  readonly setting?: readonly string[]
  readonly free?: readonly string[]
}

const content = (type: string) => (members: object) => ({
  messages: [{ role: 'user', content: [{ type, ...members }] }],
})
const inMessage = (members: object) => ({ messages: [{ role: 'user', ...members }] })
const inItem = (members: object) => ({ input: [{ type: 'message', ...members }] })

const PLACES: Readonly<Record<string, Place>> = {
  'fields of messages': {
    dialect: 'messages',
    body: (members) => members,
    setting: [
      ...['model', 'max_tokens', 'stream', 'temperature', 'top_p', 'top_k', 'service_tier', 'inference_geo', 'speed'],
      ...['thinking', 'tool_choice', 'container', 'cache_control'],
    ],
    text: ['system', 'messages', 'tools'],
    free: ['metadata', 'stop_sequences'],
  },
  'messages of messages': { dialect: 'messages', body: inMessage, mark: ['role'], text: ['content'] },
  'blocks of messages': {
    dialect: 'messages',
    body: content('text'),
    mark: ['type', 'id', 'tool_use_id', 'cache_control', 'is_error', 'caller'],
    text: [
      ...[
        'text',
        'thinking',
        'input',
        'name',
        'content',
        'source',
        'title',
        'context',
        'url',
        'page_age',
        'server_name',
      ],
      ...['stdout', 'stderr', 'return_code', 'file_id', 'retrieved_at', 'error_code', 'tool_name', 'signature', 'data'],
    ],
    free: ['citations'],
  },
  'sources of documents': {
    dialect: 'messages',
    body: (source) => content('document')({ source }),
    mark: ['type', 'media_type'],
    text: ['data', 'content', 'url', 'file_id'],
  },
  'output of messages': {
    dialect: 'messages',
    body: (output_config) => ({ output_config }),
    mark: ['effort', 'task_budget'],
    text: ['format'],
  },
  'tools of messages': {
    dialect: 'messages',
    body: (tool) => ({ tools: [tool] }),
    mark: ['cache_control', 'defer_loading'],
    text: [
      'name',
      'description',
      'input_schema',
      'strict',
      'input_examples',
      'allowed_callers',
      'eager_input_streaming',
    ],
  },
  'fields of chat': {
    dialect: 'chat',
    body: (members) => members,
    setting: [
      ...['model', 'max_tokens', 'max_completion_tokens', 'n', 'stream', 'stream_options', 'seed', 'user', 'store'],
      ...['temperature', 'top_p', 'top_k', 'min_p', 'presence_penalty', 'frequency_penalty', 'repetition_penalty'],
      ...['logprobs', 'top_logprobs', 'parallel_tool_calls', 'tool_choice', 'function_call', 'reasoning_effort'],
      ...['reasoning', 'thinking', 'verbosity', 'modalities', 'audio', 'service_tier', 'safety_identifier'],
      ...['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'web_search_options', 'cache_control'],
    ],
    text: ['messages', 'tools', 'functions', 'response_format'],
    free: ['metadata', 'stop', 'logit_bias'],
  },
  'messages of chat': {
    dialect: 'chat',
    body: inMessage,
    mark: ['role', 'tool_call_id', 'cache_control'],
    text: [
      'content',
      'name',
      'refusal',
      'reasoning_content',
      'reasoning',
      'reasoning_details',
      'tool_calls',
      'function_call',
    ],
  },
  'calls of chat': {
    dialect: 'chat',
    body: (call) => inMessage({ tool_calls: [call] }),
    mark: ['id', 'type', 'index'],
    text: ['function'],
  },
  'functions of calls': {
    dialect: 'chat',
    body: (called) => inMessage({ tool_calls: [{ function: called }] }),
    text: ['name', 'arguments'],
  },
  'parts of chat': {
    dialect: 'chat',
    body: content('text'),
    mark: ['type', 'cache_control'],
    text: ['text', 'refusal', 'image_url', 'file', 'input_audio'],
  },
  'files of chat': {
    dialect: 'chat',
    body: (file) => content('file')({ file }),
    mark: ['detail', 'format'],
    text: ['url', 'filename', 'file_data', 'data'],
  },
  'tools of chat': {
    dialect: 'chat',
    body: (tool) => ({ tools: [tool] }),
    mark: ['cache_control'],
    text: ['function', 'custom'],
  },
  'definitions of chat': {
    dialect: 'chat',
    body: (definition) => ({ tools: [{ type: 'function', function: definition }] }),
    mark: ['cache_control'],
    text: ['name', 'description', 'parameters', 'strict', 'format'],
  },
  'formats of chat': {
    dialect: 'chat',
    body: (response_format) => ({ response_format }),
    mark: ['type'],
    text: ['json_schema'],
  },
  'fields of responses': {
    dialect: 'responses',
    body: (members) => members,
    setting: [
      ...['model', 'max_output_tokens', 'max_tool_calls', 'stream', 'stream_options', 'store', 'include', 'background'],
      ...['temperature', 'top_p', 'top_logprobs', 'parallel_tool_calls', 'tool_choice', 'reasoning', 'service_tier'],
      ...[
        'user',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'prompt_cache_options',
        'truncation',
      ],
    ],
    text: ['input', 'instructions', 'tools', 'text'],
    free: ['metadata', 'client_metadata'],
  },
  'items of responses': {
    dialect: 'responses',
    body: inItem,
    mark: ['type', 'role', 'id', 'call_id', 'status', 'phase'],
    text: ['name', 'namespace', 'arguments', 'input', 'content', 'output', 'summary'],
  },
  'parts of responses': {
    dialect: 'responses',
    body: (part) => inItem({ content: [part] }),
    mark: ['type', 'detail', 'cache_control', 'prompt_cache_breakpoint'],
    text: ['text', 'refusal', 'image_url', 'file_data', 'file_url', 'file_id', 'filename', 'annotations', 'logprobs'],
  },
  'tools of responses': {
    dialect: 'responses',
    body: (tool) => ({ tools: [{ type: 'custom', ...tool }] }),
    mark: ['cache_control', 'strict', 'defer_loading'],
    text: ['name', 'description', 'parameters', 'format'],
  },
  'formats of responses': {
    dialect: 'responses',
    body: (text) => ({ text }),
    mark: ['verbosity'],
    text: ['format'],
  },
}

for (const [where, { dialect, body, text = [], mark = [], setting = [], free = [] }] of Object.entries(PLACES))
  test(`token parts: ${where}: text counts, marks count when they are long, others with their names`, (t) => {
    /** The units that a value adds to an empty one. */
    const added = (name: string, value: string) => {
      const [{ units, isPlain }, empty] = [value, ''].map((each) => parts(body({ [name]: each }), dialect)) as [
        RequestParts,
        RequestParts,
      ] // safe: two in, two out
      return { units: units - empty.units, isPlain }
    }
    const weight = (value: string) => unitsOfText(Buffer.from(value))
    for (const name of text) t.deepEqual(added(name, WORDS), { units: weight(WORDS), isPlain: true }, name)
    const marks = [
      ...mark.map((name) => [name, MARK_BYTES] as const),
      ...setting.map((name) => [name, SETTING_BYTES] as const),
    ]
    for (const [name, mostBytes] of marks) {
      const longest = 'x'.repeat(mostBytes - 2)
      t.is(added(name, longest).units, 0, `${name} of ${mostBytes} bytes is free`)
      t.is(added(name, `${longest}x`).units, weight(`${longest}x`), `a longer ${name} counts`)
    }
    for (const name of free) t.deepEqual(added(name, WORDS), { units: 0, isPlain: true }, name)
    t.deepEqual(added('novel', WORDS), { units: weight(WORDS), isPlain: false })
    const beside = parts(body({ novel: '', [text[0] ?? '']: '' }), dialect).units
    t.is(beside, parts(body({ [text[0] ?? '']: '' }), dialect).units + weight('novel'), 'the name counts too')
  })

const PICTURE = Buffer.concat([
  Buffer.from('89504e470d0a1a0a0000000d494844520000050000000002', 'hex'),
  Buffer.alloc(200),
]).toString('base64')
const PDF = Buffer.from('%PDF << /Type /Page >> << /Type /Page >>').toString('base64')
const SEARCH = { type: 'web_search_20250305', name: 'web_search' }

test('token parts: frames, hidden prompts, images and documents', (t) => {
  const image = (source: object) => content('image')({ source })
  const file = (source: object) => content('document')({ source })
  const rows: [dialect: DialectName, body: object, expected: object, why: string][] = [
    ['messages', inMessage({ content: 'a' }), { frameTokens: 7, hiddenTokens: 0, isPlain: true }, 'a message'],
    ['messages', content('tool_use')({}), { frameTokens: 35 }, 'a call'],
    ['messages', content('server_tool_use')({}), { frameTokens: 35 }, 'a call of the provider'],
    ['messages', content('mcp_tool_result')({}), { frameTokens: 35 }, 'a result'],
    ['messages', { tools: [{ name: 'a' }] }, { frameTokens: 13, hiddenTokens: 346, isPlain: true }, 'a tool'],
    ['messages', { tools: [{ name: 'a' }], tool_choice: { type: 'any' } }, { hiddenTokens: 313 }, 'a forced tool'],
    ['messages', { tools: [{ name: 'a' }], tool_choice: { type: 'tool' } }, { hiddenTokens: 313 }, 'a forced tool'],
    ['messages', { tools: [{ name: 'a' }], tool_choice: { type: 'auto' } }, { hiddenTokens: 346 }, 'a free choice'],
    ['messages', { tools: [SEARCH] }, { frameTokens: 3, hiddenTokens: 1046, isPlain: false }, 'a search'],
    [
      'messages',
      { tools: [{ name: 'a', defer_loading: true }] },
      { frameTokens: 3, hiddenTokens: 0 },
      'a deferred tool',
    ],
    ['messages', { tools: [] }, { hiddenTokens: 0 }, 'no tools'],
    ['messages', { thinking: { type: 'enabled' } }, { hiddenTokens: 28 }, 'thinking'],
    ['messages', { thinking: { type: 'adaptive' } }, { hiddenTokens: 17 }, 'adaptive thinking'],
    ['messages', { thinking: { type: 'disabled' } }, { hiddenTokens: 0 }, 'no thinking'],
    ['messages', { output_config: { format: {}, task_budget: {} } }, { hiddenTokens: 214 }, 'format and budget'],
    ['messages', { mcp_servers: [{ name: 'a' }, { name: 'b' }] }, { hiddenTokens: 1200, isPlain: false }, 'servers'],
    ['messages', { context_management: {} }, { isPlain: false }, 'context edits'],
    [
      'messages',
      image({ type: 'base64', data: PICTURE }),
      { images: [{ width: 1280, height: 2 }], isPlain: false },
      'image',
    ],
    ['messages', image({ type: 'url', url: 'https://a' }), { images: [undefined], documentTokens: 0 }, 'an address'],
    ['messages', image({ type: 'file', file_id: 'f' }), { images: [undefined] }, 'a file'],
    ['messages', file({ type: 'base64', data: PDF }), { documentTokens: 6000, images: [], isPlain: false }, 'a PDF'],
    ['messages', file({ type: 'url', url: 'https://a' }), { documentTokens: 3000, images: [] }, 'one page at least'],
    [
      'messages',
      file({ type: 'content', content: [{ type: 'image', source: { type: 'url', url: 'x' } }] }),
      { images: [undefined] },
      'inside',
    ],
    ['chat', inMessage({ content: 'a' }), { frameTokens: 7, isPlain: true }, 'a message'],
    ['chat', inMessage({ tool_calls: [{}, {}] }), { frameTokens: 63 }, 'two calls'],
    ['chat', inMessage({ function_call: {} }), { frameTokens: 35 }, 'a call of the older kind'],
    ['chat', inMessage({ audio: { id: 'a' } }), { documentTokens: 3000, isPlain: false }, 'audio of an earlier answer'],
    ['chat', { tools: [{ type: 'function' }] }, { frameTokens: 13, hiddenTokens: 346, isPlain: true }, 'a tool'],
    ['chat', { tools: [{ type: 'custom' }] }, { frameTokens: 13, isPlain: true }, 'a custom tool'],
    ['chat', { tools: [{ type: 'novel' }] }, { frameTokens: 513, isPlain: false }, 'an unknown tool'],
    ['chat', { functions: [{ name: 'a' }] }, { frameTokens: 13, hiddenTokens: 346 }, 'a function of the older kind'],
    ['chat', { response_format: {} }, { hiddenTokens: 180 }, 'a format'],
    ['chat', { reasoning: {} }, { hiddenTokens: 28 }, 'reasoning'],
    ['chat', { reasoning_effort: 'low' }, { hiddenTokens: 28 }, 'reasoning'],
    ['chat', { prediction: WORDS }, { units: 4 * unitsOfText(Buffer.from(WORDS)), isPlain: false }, 'billed as output'],
    [
      'chat',
      content('image_url')({ image_url: { url: `data:image/png;base64,${PICTURE}` } }),
      { images: [{ width: 1280, height: 2 }] },
      'an image',
    ],
    [
      'chat',
      content('image_url')({ image_url: `data:image/png;a=b;base64,${PICTURE}` }),
      { images: [{ width: 1280, height: 2 }] },
      'without an object',
    ],
    ['chat', content('image_url')({ image_url: { url: 'HTTPS://a' } }), { images: [undefined] }, 'an address'],
    [
      'chat',
      content('file')({ file: { file_data: `data:application/pdf;base64,${PDF}` } }),
      { documentTokens: 6000 },
      'a PDF',
    ],
    ['chat', content('file')({ file: { file_id: 'f' } }), { documentTokens: 3000 }, 'a file'],
    ['chat', content('text')({ file: { file_id: 'f' } }), { documentTokens: 0 }, 'of another type'],
    [
      'chat',
      content('input_audio')({ input_audio: { data: 'A'.repeat(8000) } }),
      { documentTokens: 1536 },
      'audio of 3 s',
    ],
    ['responses', { input: [{}, {}] }, { frameTokens: 11, hiddenTokens: 0, isPlain: true }, 'items'],
    ['responses', { input: [{ call_id: 'c' }] }, { frameTokens: 35 }, 'a call'],
    ['responses', { tools: [{ type: 'function' }] }, { frameTokens: 13, hiddenTokens: 346, isPlain: true }, 'a tool'],
    ['responses', { tools: [{ type: 'web_search' }] }, { frameTokens: 513, isPlain: false }, 'a tool of the provider'],
    ['responses', { tools: [{ type: 'namespace', tools: [{ type: 'custom' }] }] }, { frameTokens: 23 }, 'a namespace'],
    [
      'responses',
      { input: [{ tools: [{ type: 'custom' }] }] },
      { frameTokens: 17, hiddenTokens: 346 },
      'tools of an item',
    ],
    ['responses', { text: {} }, { hiddenTokens: 180 }, 'a format'],
    ['responses', { reasoning: {} }, { hiddenTokens: 28 }, 'reasoning'],
    [
      'responses',
      inItem({ content: [{ type: 'input_image', image_url: 'https://a' }] }),
      { images: [undefined] },
      'an image',
    ],
    ['responses', inItem({ content: [{ type: 'input_image', file_id: 'f' }] }), { images: [undefined] }, 'an image'],
    [
      'responses',
      inItem({ content: [{ type: 'input_file', file_data: `data:application/pdf;base64,${PDF}` }] }),
      { documentTokens: 6000 },
      'a PDF',
    ],
    [
      'responses',
      inItem({ content: [{ type: 'input_file', file_url: 'https://a' }] }),
      { documentTokens: 3000 },
      'a file',
    ],
    ['responses', inItem({ content: [{ type: 'input_file', file_id: 'f' }] }), { documentTokens: 3000 }, 'a file'],
    [
      'responses',
      inItem({ output: [{ type: 'input_image', image_url: 'https://a' }] }),
      { images: [undefined] },
      'in a result',
    ],
  ]
  for (const [dialect, body, expected, why] of rows)
    t.like(parts(body, dialect), expected, `${dialect}: ${why} ${JSON.stringify(body).slice(0, 100)}`)
})

test('token parts: text in a data URI counts decoded; a broken one as written; encrypted text by its length', (t) => {
  const units = (body: object, dialect: DialectName = 'chat') => parts(body, dialect).units
  const inFile = (file_data: string) => units(content('file')({ file: { file_data } }))
  const base64 = Buffer.from(WORDS).toString('base64')
  t.is(inFile(`data:text/plain;charset=utf-8;base64,${base64}`), unitsOfText(Buffer.from(WORDS)))
  const broken = `data:text/plain;base64,${'%'.repeat(300)}`
  t.true(inFile(broken) >= unitsOfText(Buffer.from('%'.repeat(300))))
  const encrypted = (type: string, name: string) => units(content(type)({ [name]: 'x'.repeat(498) }), 'messages')
  for (const [type, name] of [
    ['redacted_thinking', 'data'],
    ['web_search_result', 'encrypted_content'],
    ['encrypted_code_execution_result', 'encrypted_stdout'],
  ] as const)
    t.is(encrypted(type, name), 100 * 100, type)
  t.not(encrypted('text', 'data'), 100 * 100, 'of another type')
})

test('token parts: deferred tools beyond the five largest count where they are not deferred', (t) => {
  const tools = Array.from({ length: 7 }, (_, n) => ({ name: 'a'.repeat(1 + n * 50), defer_loading: true }))
  const { units, deferredUnits } = parts({ tools }, 'messages')
  const each = tools.map(({ name }) => unitsOfText(Buffer.from(name)) + 1000)
  const sum = (list: number[]) => list.reduce((total, one) => total + one, 0)
  t.deepEqual([units, deferredUnits], [sum(each.slice(2)), sum(each.slice(0, 2))])
})

test('token parts: thinking before the user’s last words is apart, unless context edits may keep it', (t) => {
  const thought = { role: 'assistant', content: [{ type: 'thinking', thinking: WORDS }] }
  const messages = (last: unknown) => [{ role: 'user', content: 'a' }, thought, { role: 'user', content: last }]
  const earlier = (last: unknown, more: object = {}) =>
    parts({ messages: messages(last), ...more }, 'messages').earlierThinkingUnits
  const weight = unitsOfText(Buffer.from(WORDS))
  t.is(earlier('b'), weight)
  t.is(earlier([{ type: 'text', text: 'b' }]), weight)
  t.is(earlier([{ type: 'tool_result', content: 'b' }]), 0)
  t.is(earlier([{ type: 'tool_result' }, { type: 'text', text: 'b' }]), weight)
  t.is(earlier('b', { context_management: {} }), 0)
  t.is(parts({ messages: messages('b').slice(0, 2) }, 'messages').earlierThinkingUnits, 0)
})

test('hidden prompts: tools of the provider by the beginning of their type', (t) => {
  const tokens = {
    bash_20250124: 245,
    text_editor_20250728: 700,
    computer_20250124: 735,
    memory_20250818: 1220,
    code_execution_20250825: 1900,
    web_fetch_20250910: 500,
    web_search_20250305: 700,
    tool_search_tool_regex: 340,
    novel: 500,
    my_bash_: 500,
  }
  for (const [type, expected] of Object.entries(tokens)) t.is(providerToolTokens(type), expected, type)
})

test('attachments: images within a model’s limits, pages by their marks or bytes, audio by its length', (t) => {
  const limits = { longEdge: 1568, tokens: 1568 }
  const images: [width: number, height: number, tokens: number][] = [
    [1, 1, 1],
    [28, 28, 1],
    [29, 28, 2],
    [280, 560, 200],
    [1568, 28, 56],
    [3136, 56, 56],
    [1568, 1568, 1568],
  ]
  for (const [width, height, tokens] of images)
    t.is(imageTokens({ width, height }, limits), tokens, `${width} × ${height}`)
  t.is(imageTokens(undefined, limits), 1568)
  const base64 = (text: string) => Buffer.from(Buffer.from(text, 'latin1').toString('base64'))
  t.true(isPdf(base64(`${'x'.repeat(1000)}%PDF`)))
  t.false(isPdf(base64(`${'x'.repeat(1100)}%PDF`)))
  const pages: [text: string, pages: number][] = [
    ['%PDF', 1],
    ['%PDF /Type /Page /Type/Page /Type /Pages', 2],
    [`%PDF${'x'.repeat(150_000)}`, 3],
    [`/Type /Page${'x'.repeat(2 * 256 * 1024 - 11)}`, 2],
    ['/Type /Page '.repeat(700), 600],
  ]
  for (const [text, expected] of pages) t.is(pdfTokens(base64(text)) / 3000, expected, text.slice(0, 20))
  const wav = Buffer.alloc(88_200)
  wav.write('RIFF')
  wav.writeUInt32LE(44_100, 28)
  t.is(audioTokens(Buffer.from(wav.toString('base64'))), 2 * 32 * 16)
  wav.write('OggS')
  t.is(audioTokens(Buffer.from(wav.toString('base64'))), Math.ceil(44.1 * 32 * 16))
})

test('families: what each leaves out, and how a learned factor begins', (t) => {
  const traits = (model: string) => {
    const { name, startFactor, hasHiddenPrompts, dropsEarlierThinking, defersTools, image } = familyOf(model)
    return [name, startFactor, hasHiddenPrompts, dropsEarlierThinking, defersTools, image(undefined)]
  }
  t.deepEqual(traits('claude-sonnet-4-5'), ['claude', 1.2, true, true, true, 1568])
  t.deepEqual(traits('claude-opus-4-5'), ['claude', 1.2, true, false, true, 1568])
  t.deepEqual(traits('claude-sonnet-4-6'), ['claude', 1.2, true, false, true, 1568])
  t.deepEqual(traits('claude-opus-4-7'), ['claude-4.7', 1.5, true, false, true, 4784])
  t.deepEqual(traits('anthropic/claude-sonnet-4-5'), ['claude', 1.2, true, false, false, 1568])
  t.deepEqual(traits('gpt-4o').slice(0, 5), ['o200k', 1, false, false, false])
  t.deepEqual(traits('llama').slice(0, 5), ['other', 1.05, false, false, false])
  t.deepEqual(new TokenEstimator().learned, { claude: 1.2, 'claude-4.7': 1.5, o200k: 1, other: 1.05 })
})

test('token estimate: lessons of a thousand tokens and more, and 1,024 above the bytes at most', (t) => {
  const ask = (words: number) => document({ messages: [{ role: 'user', content: 'word '.repeat(words) }] })
  const learned = (request: RequestDocument, counted: number) => {
    const estimator = new TokenEstimator()
    estimator.learn(request, 'gpt-4o', counted)
    return estimator.learned.o200k !== 1
  }
  t.true(learned(ask(2000), 1000))
  t.false(learned(ask(2000), 999))
  t.false(learned(ask(500), 5000), 'a short request')
  const request = ask(10)
  t.is(new TokenEstimator().mostInputTokens(request), request.bytes.length + 1024)
  const fields = [
    ...['max_tokens', 'system', 'tools', 'tool_choice', 'stream', 'metadata', 'thinking', 'temperature', 'top_p'],
    ...['top_k', 'stop_sequences', 'service_tier', 'output_config', 'context_management', 'cache_control', 'n', 'stop'],
    ...[
      'max_completion_tokens',
      'stream_options',
      'user',
      'seed',
      'presence_penalty',
      'frequency_penalty',
      'verbosity',
    ],
    ...['parallel_tool_calls', 'reasoning_effort', 'response_format', 'safety_identifier', 'prompt_cache_key', 'store'],
  ]
  const bounded = document({ model: 'm', messages: [], ...Object.fromEntries(fields.map((name) => [name, null])) })
  t.not(new TokenEstimator().mostInputTokens(bounded), undefined)
  t.is(new TokenEstimator().mostInputTokens(document({ messages: [], novel: null })), undefined)
})
