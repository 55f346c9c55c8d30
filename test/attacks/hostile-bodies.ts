/*
 * Bodies that are made to cost more than they weigh: everything invalid, everything tiny, everything duplicate. Each is
 * made in any size; all have the same beginning, which every route of models takes.
 */

const HEAD = '"model":"claude-sonnet-4-5","max_tokens":9'
const HI = '"messages":[{"role":"user","content":"hi"}]'

/** `unit` so often that it has about `bytes` bytes; a function is given how many there were before. */
function repeated(unit: string | ((index: number) => string), bytes: number, separator = ','): string {
  if (typeof unit === 'string')
    return Array(Math.ceil(bytes / (unit.length + separator.length)))
      .fill(unit)
      .join(separator)
  const units: string[] = []
  for (let length = 0; length < bytes; ) {
    const next = unit(units.length)
    units.push(next)
    length += next.length + separator.length
  }
  return units.join(separator)
}

const filled = (unit: string, bytes: number) => unit.repeat(Math.ceil(bytes / unit.length))
const members = (more: string) => `{${HEAD},${HI},${more}}`
const messages = (list: string) => `{${HEAD},"messages":[${list}]}`
const content = (value: string) => messages(`{"role":"user","content":${value}}`)
const blocks = (list: string) => content(`[${list}]`)
const tools = (list: string) => members(`"tools":[${list}]`)
const text = (inside: string) => content(`"${inside}"`)
const toolResult = (value: string) =>
  messages(
    `{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"Bash","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":${value}}]}`,
  )

const DESCRIBED = repeated((i) => `"p${i}":{"description":"x"}`, 900 * 26)

/** Makes a body of about this many bytes. */
export type HostileBody = (bytes: number) => string | Buffer

/** The shapes, by name. */
export const HOSTILE_BODIES: Readonly<Record<string, HostileBody>> = {
  'messages: zeros': (bytes) => messages(repeated('0', bytes)),
  'messages: empty objects': (bytes) => messages(repeated('{}', bytes)),
  'messages: small and valid': (bytes) =>
    messages(repeated((i) => `{"role":"${i % 2 ? 'assistant' : 'user'}","content":"a"}`, bytes)),
  'messages: unknown roles': (bytes) => messages(repeated('{"role":"x","content":"a"}', bytes)),
  'messages: the member again and again': (bytes) => `{${HEAD},${repeated(HI, bytes)}}`,
  'content: zeros': (bytes) => blocks(repeated('0', bytes)),
  'content: nulls': (bytes) => blocks(repeated('null', bytes)),
  'content: empty objects': (bytes) => blocks(repeated('{}', bytes)),
  'content: unknown types': (bytes) => blocks(repeated('{"type":"x"}', bytes)),
  'content: small and valid': (bytes) => blocks(repeated('{"type":"text","text":"a"}', bytes)),
  'content: the member again and again': (bytes) => messages(`{"role":"user",${repeated('"content":"a"', bytes)}}`),
  'content: tool results without calls': (bytes) =>
    blocks(repeated((i) => `{"type":"tool_result","tool_use_id":"t${i}","content":"a"}`, bytes)),
  'content: marks of a cache': (bytes) =>
    blocks(repeated('{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}', bytes)),
  'content: an image of megabytes': (bytes) =>
    blocks(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"${filled('iVBO', bytes)}"}}`),
  'system: empty objects': (bytes) => members(`"system":[${repeated('{}', bytes)}]`),
  'tools: zeros': (bytes) => tools(repeated('0', bytes)),
  'tools: empty objects': (bytes) => tools(repeated('{}', bytes)),
  'tools: small and valid': (bytes) =>
    tools(repeated((i) => `{"name":"t${i}","input_schema":{"type":"object"}}`, bytes)),
  'tools: all of one name': (bytes) => tools(repeated('{"name":"t","input_schema":{"type":"object"}}', bytes)),
  'tools: a schema of many properties': (bytes) =>
    tools(`{"name":"t","input_schema":{"type":"object","properties":{${repeated((i) => `"p${i}":{}`, bytes)}}}}`),
  'tools: many schemas of many described properties': (bytes) =>
    tools(repeated((i) => `{"name":"t${i}","input_schema":{"type":"object","properties":{${DESCRIBED}}}}`, bytes)),
  'tools: a schema of many alternatives': (bytes) =>
    tools(`{"name":"t","input_schema":{"type":"object","anyOf":[${repeated('{"type":"string"}', bytes)}]}}`),
  'stop sequences: zeros': (bytes) => members(`"stop_sequences":[${repeated('0', bytes)}]`),
  'metadata: many members': (bytes) => members(`"metadata":{${repeated((i) => `"m${i}":0`, bytes)}}`),
  'members: many': (bytes) => members(repeated((i) => `"a${i}":0`, bytes)),
  'members: one again and again': (bytes) => members(repeated('"a":0', bytes)),
  'members: names with escapes': (bytes) => members(repeated((i) => `"\\u0061${i}":0`, bytes)),
  'members: a name of megabytes': (bytes) => members(`"${filled('k', bytes)}":0`),
  'depth: lists': (bytes) => members(`"x":${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`),
  'depth: objects': (bytes) => members(`"x":${'{"a":'.repeat(bytes / 6)}0${'}'.repeat(bytes / 6)}`),
  'depth: lists without an end': (bytes) => '['.repeat(bytes),
  'numbers: one of megabytes': (bytes) => members(`"x":${filled('9', bytes)}`),
  'numbers: beyond all bounds': (bytes) => members(`"x":[${repeated('1e999', bytes)}]`),
  'text: without an end': (bytes) => `{"model":"${filled('a', bytes)}`,
  'text: short escapes': (bytes) => text(filled('\\n', bytes)),
  'text: long escapes': (bytes) => text(filled('\\u0061', bytes)),
  'text: lone surrogates': (bytes) => text(filled('\\ud800', bytes)),
  'text: emoji': (bytes) => Buffer.from(text(filled('😀', bytes / 2))),
  'text: bytes that are no UTF-8': (bytes) =>
    Buffer.concat([
      Buffer.from(`{${HEAD},"messages":[{"role":"user","content":"`),
      Buffer.alloc(bytes, 0xff),
      Buffer.from('"}]}'),
    ]),
  'text: pins': (bytes) => text(filled('<keep>a</keep>', bytes)),
  'text: pins without an end': (bytes) => text(filled('<keep>', bytes)),
  'text: one letter': (bytes) => text(filled('a', bytes)),
  'text: short lines': (bytes) => toolResult(`"${filled('a\\n', bytes)}"`),
  'text: JSON in a tool’s result': (bytes) => toolResult(`"[${filled('{\\"a\\":1},', bytes)}0]"`),
  'text: a log in a tool’s result': (bytes) =>
    toolResult(`"${filled('12:00:00.001 ERROR at file.ts:12 [src/a.ts]\\n', bytes)}"`),
  'white space': (bytes) => ' '.repeat(bytes),
  'zero bytes': (bytes) => Buffer.alloc(bytes),
}
