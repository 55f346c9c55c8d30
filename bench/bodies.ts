import { codeBlock, numberedListing, paragraph } from './conversation.ts'

/** A message request of known size with a place for a number that makes it unlike all others. */
export interface RequestTemplate {
  bytes: Buffer
  counterOffset: number
}

const COUNTER_DIGITS = 12
const COUNTER_PLACE = '#'.repeat(COUNTER_DIGITS)

/** From this size on a request looks like a coding agent's. */
const LARGE_BYTES = 10_000

/** Plain letters, one byte each in JSON, so that the size of a request comes out exact. */
const PADDING = ' Keep the answer short, name the file and the line, and say what could break.'

/** A marker in `metadata` that asks the stand-in upstream to leave its stream open. */
export const HOLD_MARK = 'bench-hold-open'

interface Message {
  role: 'user' | 'assistant'
  content: string | object[]
}

/** Builds a Messages request of exactly `bodyBytes` (1 KB or more). Larger ones hold tools and their results. */
export function createTemplate({ bodyBytes, stream }: { bodyBytes: number; stream: boolean }): RequestTemplate {
  const messages: Message[] = []
  const request = {
    model: 'claude-sonnet-4-5',
    max_tokens: 1024,
    ...(stream ? { stream: true } : {}),
    system: 'You are a careful engineer. Answer in short paragraphs, quote code exactly.',
    ...(bodyBytes >= LARGE_BYTES ? { tools: [readTool, runTool] } : {}),
    messages,
    metadata: { user_id: 'user_5f2c' },
  }
  const question: Message = { role: 'user', content: `Ticket ${COUNTER_PLACE}: what would you change first?` }
  const spaceLeft = (turn: Message[]) =>
    bodyBytes - Buffer.byteLength(JSON.stringify({ ...request, messages: [...messages, ...turn, question] }))
  for (let index = 0; ; index++) {
    const turn = createTurn(index, bodyBytes)
    if (spaceLeft(turn) < 0) break
    messages.push(...turn)
  }
  question.content += PADDING.repeat(bodyBytes / PADDING.length).slice(0, spaceLeft([]))
  messages.push(question)
  const bytes = Buffer.from(JSON.stringify(request))
  return { bytes, counterOffset: bytes.indexOf(COUNTER_PLACE) }
}

/** A request whose stream the stand-in upstream leaves open after the first event. */
export function createHoldBody(): Buffer {
  const messages = [{ role: 'user', content: paragraph(0) }]
  const request = { model: 'claude-sonnet-4-5', max_tokens: 1024, stream: true, messages }
  return Buffer.from(JSON.stringify({ ...request, metadata: { user_id: HOLD_MARK } }))
}

/** Writes `counter` into a copy of a template's bytes, in place. */
export function stamp(bytes: Buffer, counterOffset: number, counter: number): void {
  bytes.write(String(counter).padStart(COUNTER_DIGITS, '0'), counterOffset, 'latin1')
}

/** One turn of the conversation: question and answer, and in large requests a tool call with its result between them. */
function createTurn(index: number, bodyBytes: number): Message[] {
  const question: Message = { role: 'user', content: paragraph(index) }
  if (bodyBytes < LARGE_BYTES) return [question, { role: 'assistant', content: codeBlock(index) }]
  const id = `toolu_01${String(index).padStart(22, 'A')}`
  const input = { path: `src\\part-${index}.ts`, offset: index, limit: 90 }
  const listing = numberedListing(index, bodyBytes > 100_000 ? 90 : 20)
  return [
    question,
    {
      role: 'assistant',
      content: [
        { type: 'text', text: paragraph(index + 1) },
        { type: 'tool_use', id, name: 'read_file', input },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: [{ type: 'text', text: listing }] }] },
    { role: 'assistant', content: `${paragraph(index + 2)}\n\n${codeBlock(index)}` },
  ]
}

const readTool = {
  name: 'read_file',
  description: 'Reads a file and returns it with numbered lines. Use "offset" and "limit" for large files.',
  input_schema: {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Path from the root of the repository.' },
      offset: { type: 'integer', minimum: 0 },
      limit: { type: 'integer', minimum: 1, maximum: 2000 },
    },
    required: ['path'],
  },
}

const runTool = {
  name: 'run',
  description: 'Runs a shell command and returns its output.\nQuote arguments that contain "\\" or spaces.',
  input_schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
}
