import { createPicker } from '../fuzz/fuzzer.ts'

/*
 * DESIGN. Model requests that two readers could understand differently: a text payload at every place that can hold
 * one, members twice, names and words with escapes or in another case, parts and tools of unknown types.
 *
 * Guarantees: the same salt gives the same request; every request is JSON.
 */

/** The dialect of a hostile request. */
export type HostileDialect = 'messages' | 'chat'

/** Ingredients of a hostile request. */
export interface HostileOptions {
  readonly dialect: HostileDialect
  readonly model: string
  /** The text that the request carries at one or two places. */
  readonly payload: string
  /** Share of members that are twisted, in percent. 0: none, so that a strict reader accepts the request. Default 10. */
  readonly twisted?: number
}

/** An unfinished value: raw JSON, a list, or an object's members in order. */
type Node = string | readonly Node[] | { readonly members: readonly Member[] }
type Member = readonly [name: string, value: Node]
type Pick = (below: number) => number

const object = (...members: Member[]): Node => ({ members })
const text = (value: string) => JSON.stringify(value)
const typed = (type: string, ...members: Member[]) => object(['type', text(type)], ...members)
const PNG = text(Buffer.from('89504e470d0a1a0a0000000d494844520000050000000280', 'hex').toString('base64').repeat(3))

/** Blocks of Messages, with the payload in each. */
const BLOCKS: readonly ((payload: string) => Node)[] = [
  (payload) => typed('text', ['text', payload]),
  (payload) => typed('text', ['text', '"a"'], ['note', payload]),
  (payload) => typed('text', ['text', '"a"'], [JSON.parse(payload), '1']),
  (payload) => typed('thinking', ['thinking', payload], ['signature', '"c2ln"']),
  (payload) => typed('novel', ['body', payload]),
  (payload) => typed('novel', ['deep', object(['a', [object(['b', payload])]])]),
  (payload) => typed('novel', ['data', payload], ['encrypted_content', payload]),
  (payload) => typed('document', ['source', typed('text', ['media_type', '"text/plain"'], ['data', payload])]),
  (payload) => typed('document', ['source', typed('content', ['content', [typed('text', ['text', payload])]])]),
  (payload) => typed('document', ['source', typed('base64', ['media_type', '"application/pdf"'], ['data', payload])]),
  (payload) => typed('image', ['source', typed('text', ['data', payload])]),
  (payload) => typed('image', ['source', typed('base64', ['data', PNG])], ['alt', payload]),
  (payload) => typed('search_result', ['source', payload], ['title', '"t"'], ['content', []]),
  (payload) => typed('tool_result', ['tool_use_id', '"a"'], ['content', [typed('text', ['text', payload])]]),
  (payload) => typed('tool_result', ['tool_use_id', '"a"'], ['content', payload]),
  (payload) =>
    typed('tool_use', ['id', '"a"'], ['name', '"n"'], ['input', object(['type', '"image"'], ['k', payload])]),
  (payload) => typed('server_tool_use', ['id', payload], ['name', '"n"'], ['input', object()]),
]

const TOOLS: readonly ((payload: string) => Node)[] = [
  (payload) => object(['name', '"a"'], ['description', payload], ['input_schema', object(['type', '"object"'])]),
  (payload) => typed('custom', ['name', '"a"'], ['description', payload], ['input_schema', object()]),
  (payload) => typed('web_search_20250305', ['name', '"web_search"'], ['description', payload]),
  (payload) => typed('novel_20270101', ['name', '"novel"'], ['configs', object(['a', payload])]),
  (payload) => object(['name', '"a"'], ['input_schema', object(['description', payload])], ['defer_loading', 'true']),
]

const FIELDS: readonly ((payload: string) => Member)[] = [
  (payload) => ['system', payload],
  (payload) => ['system', [typed('text', ['text', payload])]],
  (payload) => ['instructions', payload],
  (payload) => [
    'context_management',
    object(['edits', [typed('clear_tool_uses_20250919', ['instructions', payload])]]),
  ],
  (payload) => [
    'output_config',
    object(['format', typed('json_schema', ['schema', object(['description', payload])])]),
  ],
  (payload) => ['container', payload],
]

/** Parts of chat completions, with the payload in each. */
const PARTS: readonly ((payload: string) => Node)[] = [
  (payload) => typed('text', ['text', payload]),
  (payload) => typed('text', ['text', '"a"'], ['note', payload]),
  (payload) => typed('refusal', ['refusal', payload]),
  (payload) => typed('input_audio', ['input_audio', object(['format', '"wav"'], ['transcript', payload])]),
  (payload) => typed('video_url', ['video_url', object(['url', payload])]),
  (payload) => typed('image_url', ['image_url', object(['url', payload])]),
  (payload) =>
    typed('image_url', ['image_url', object(['url', `"data:image/png;base64,${PNG.slice(1)}`], ['alt', payload])]),
  (payload) => typed('file', ['file', object(['file_data', payload], ['filename', '"f"'])]),
  (payload) => typed('novel', ['deep', object(['a', [object(['b', payload])]])]),
]

const CHAT_MESSAGES: readonly ((payload: string) => Node)[] = [
  (payload) => object(['role', '"system"'], ['content', payload]),
  (payload) => object(['role', '"user"'], ['content', '"a"'], ['name', payload]),
  (payload) => object(['role', '"assistant"'], ['content', '"a"'], ['reasoning_content', payload]),
  (payload) => object(['role', '"assistant"'], ['content', '"a"'], ['novel', payload]),
  (payload) =>
    calling(['type', '"function"'], ['function', object(['name', '"f"'], ['arguments', text(`{"a":${payload}}`)])]),
  (payload) => calling(['type', '"custom"'], ['custom', object(['name', '"f"'], ['input', payload])]),
]

const calling = (...call: Member[]): Node =>
  object(['role', '"assistant"'], ['content', 'null'], ['tool_calls', [object(['id', '"c"'], ...call)]])

const CHAT_FIELDS: readonly ((payload: string) => Member)[] = [
  (payload) => ['tools', [typed('function', ['function', object(['name', '"f"'], ['description', payload])])]],
  (payload) => ['tools', [typed('custom', ['custom', object(['name', '"f"'], ['description', payload])])]],
  (payload) => ['tools', [typed('novel', ['novel', object(['a', payload])])]],
  (payload) => ['prediction', typed('content', ['content', payload])],
  (payload) => ['chat_template_kwargs', object(['documents', [payload]])],
  () => ['n', '3'],
  () => ['max_completion_tokens', '20'],
]

/** Decoys by the name of a member: the type that another reader takes the member for. */
const TYPES = ['text', 'thinking', 'image', 'document', 'custom', 'web_search_20250305', 'redacted_thinking']

/** Creates the request of a salt. */
export function createHostileRequest(options: HostileOptions, salt: number): string {
  const pick = createPicker(salt)
  const payload = text(options.payload)
  const body = options.dialect === 'chat' ? chatBody(payload, pick) : messagesBody(payload, pick)
  const fields = body.filter(([name], index) => body.findIndex((other) => other[0] === name) === index)
  const twisted = options.twisted ?? 10
  return `{"model":${text(options.model)},"max_tokens":${64 + pick(200)},${print(object(...fields), { pick, twisted }).slice(1)}`
}

function messagesBody(payload: string, pick: Pick): Member[] {
  const place = pick(10)
  const block = place < 6 ? oneOf(BLOCKS, pick)(payload) : typed('text', ['text', '"hi"'])
  const turns = pick(2) === 0 ? [message('user', [block])] : [message('assistant', [block]), message('user', '"go on"')]
  return [
    ['messages', [message('user', '"hello"'), message('assistant', '"yes"'), ...turns]],
    ...(place === 6 || place === 7 ? [['tools', [oneOf(TOOLS, pick)(payload)]] as const] : []),
    ...(place > 7 ? [oneOf(FIELDS, pick)(payload)] : []),
    ...(pick(4) === 0 ? [['thinking', typed('adaptive')] as const] : []),
  ]
}

function chatBody(payload: string, pick: Pick): Member[] {
  const place = pick(10)
  const part = place < 4 ? oneOf(PARTS, pick)(payload) : typed('text', ['text', '"hi"'])
  const more = place === 4 || place === 5 ? [oneOf(CHAT_MESSAGES, pick)(payload)] : []
  return [
    ['messages', [...more, message(pick(8) === 0 ? 'system' : 'user', [part]), message('user', '"go on"')]],
    ...(place > 5 ? [oneOf(CHAT_FIELDS, pick)(payload)] : []),
    ...(pick(6) === 0 ? [oneOf(CHAT_FIELDS, pick)(payload)] : []),
  ]
}

function message(role: string, content: Node): Node {
  return object(['role', text(role)], ['content', content])
}

function oneOf<Value>(values: readonly Value[], pick: Pick): Value {
  return values[pick(values.length)] as Value // safe: the index is below the length, which is not 0
}

interface Printing {
  readonly pick: Pick
  readonly twisted: number
}

function print(node: Node, printing: Printing): string {
  if (typeof node === 'string') return node
  if ('members' in node) return `{${node.members.map((member) => printMember(member, printing)).join(',')}}`
  return `[${node.map((element) => print(element, printing)).join(',')}]`
}

function printMember([name, value]: Member, printing: Printing): string {
  const { pick, twisted } = printing
  const printed = typeof value === 'string' && name === 'type' ? escapeSome(value, printing) : print(value, printing)
  const written = `${escapeSome(text(name), printing)}:${printed}`
  if (pick(100) >= twisted) return written
  const decoy = name === 'type' ? text(oneOf(TYPES, pick)) : oneOf(['"x"', 'null', '[]', '{}'], pick)
  const other = text(pick(2) === 0 ? name : name.toUpperCase())
  return pick(2) === 0 ? `${other}:${decoy},${written}` : `${other}:${printed},${text(name)}:${decoy}`
}

/** Prints the JSON string, at times with an escaped letter. */
function escapeSome(json: string, { pick, twisted }: Printing): string {
  if (json.length < 4 || json.includes('\\') || pick(100) >= twisted * 2) return json
  const at = 1 + pick(json.length - 2)
  return `${json.slice(0, at)}\\u${json.charCodeAt(at).toString(16).padStart(4, '0')}${json.slice(at + 1)}`
}
