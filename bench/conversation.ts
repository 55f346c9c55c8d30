// Text of the benchmark's requests: prose with punctuation beyond ASCII, code with quotes, backslashes and newlines,
// numbered file listings and JSON inside strings, since escapes are the cost of scanners and parsers.

/** Question and answer, independent of the dialect. */
export interface Turn {
  question: string
  /** Tool use between the two. */
  call?: ToolUse
  answer: string
}

interface ToolUse {
  /** Unique part of the call's id. */
  id: string
  name: string
  input: object
  /** Text of the assistant before the call. */
  remark: string
  result: string
}

/** Size from which on a request resembles a coding agent's, with tools. */
const LARGE_BYTES = 10_000

/** System prompt of every request. */
export const systemPrompt = 'You are a careful engineer. Answer in short paragraphs, quote code exactly.'
/** User of every request. */
export const user = 'user_5f2c'

/** Tools of large requests. */
export const tools = [
  {
    name: 'read_file',
    description: 'Reads a file and returns it with numbered lines. Use "offset" and "limit" for large files.',
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Path from the root of the repository.' },
        offset: { type: 'integer', minimum: 0 },
        limit: { type: 'integer', minimum: 1, maximum: 2000 },
      },
      required: ['path'],
    },
  },
  {
    name: 'run',
    description: 'Runs a shell command and returns its output.\nQuote arguments that contain "\\" or spaces.',
    schema: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  },
]

const sentences = [
  'The retry loop gives up too early when the upstream answers 503 with a `retry-after` of two seconds.',
  'I think the cause is in how we compute the deadline – it is taken before the queue, not after it.',
  'Could you check whether "max_attempts" counts the first call, or only the ones that follow?',
  'On Windows the path comes out as C:\\builds\\gateway\\dist\\index.js, so the comparison never matches.',
  'The test passes on its own and fails in the suite; café.json is written by two workers at once.',
  'Let me read the file first, then I will propose the smallest change that keeps the public behaviour.',
  "That's fine, but please keep the old name exported: three services still import it.",
  'After the change p99 fell from 41 ms to 17 ms, and memory stayed flat at about 180 MB.',
]

const snippets = [
  'export function escapeLabel(value: string): string {\n\treturn value.replace(/["\\\\\\n]/g, (c) => (c === "\\n" ? "\\\\n" : "\\\\" + c))\n}\n',
  'const deadline = Date.now() + budgetMs\nwhile (attempt < limit && Date.now() < deadline) {\n  const reply = await send(request)\n  if (reply.status < 500) return reply\n  await sleep(Math.random() * 2 ** attempt++ * 250)\n}\n',
  'def load(path):\n    """Reads "key = value" lines."""\n    with open(path, encoding="utf-8") as f:\n        return dict(re.findall(r\'^(\\w+)\\s*=\\s*"([^"\\\\]*)"$\', f.read(), re.M))\n',
  "SELECT id, payload->>'model' AS \"model\", count(*)\nFROM calls\nWHERE created_at > now() - interval '1 day' AND note LIKE '%\\_%' ESCAPE '\\'\nGROUP BY 1, 2;\n",
]

const pick = <Item>(items: readonly Item[], index: number): Item => items[index % items.length] as Item

/** Tests for a request size with tools and calls. */
export function hasTools(bodyBytes: number): boolean {
  return bodyBytes >= LARGE_BYTES
}

/** Creates the `index`th turn of a conversation of `bodyBytes`. */
export function createTurn(index: number, bodyBytes: number): Turn {
  const question = paragraph(index)
  const code = codeBlock(index)
  if (!hasTools(bodyBytes)) return { question, answer: code }
  const call = {
    id: `01${String(index).padStart(22, 'A')}`,
    name: 'read_file',
    input: { path: `src\\part-${index}.ts`, offset: index, limit: 90 },
    remark: paragraph(index + 1),
    result: numberedListing(index, bodyBytes > 100_000 ? 90 : 20),
  }
  return { question, call, answer: `${paragraph(index + 2)}\n\n${code}` }
}

/** Returns the `index`th paragraph of prose, two to four sentences. */
export function paragraph(index: number): string {
  return Array.from({ length: 2 + (index % 3) }, (_, i) => pick(sentences, index * 3 + i)).join(' ')
}

/** Returns the `index`th piece of code, in a Markdown fence. */
function codeBlock(index: number): string {
  return `\`\`\`\n${pick(snippets, index)}\`\`\``
}

/** Returns a file as a coding agent's tool prints it, about `lineCount` numbered lines. */
function numberedListing(index: number, lineCount: number): string {
  const lines = Array.from({ length: lineCount }, (_, i) => pick(snippets, index + i)).flatMap((code) =>
    code.split('\n'),
  )
  return lines
    .slice(0, lineCount)
    .map((line, i) => `${String(i + 1).padStart(6)}→${line}`)
    .join('\n')
}
