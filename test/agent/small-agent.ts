import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { send } from '../support/http-client.ts'
import type { JsonObject } from '../support/json.ts'
import { runProcess } from '../support/start-process.ts'

const MOST_CALLS = 20
const TOOLS = ['Read', 'Write', 'Edit', 'Bash'].map((name) => ({
  name,
  description: `The tool ${name} of a coding agent.`,
  input_schema: { type: 'object' },
}))

interface Block {
  readonly type: string
  readonly id: string
  readonly name: string
  readonly input: Readonly<Record<string, string>>
}

/** Result of a tool. */
interface Outcome {
  readonly text: string
  readonly isError: boolean
}

/**
 * A coding agent of the least size: sends the conversation, runs the tools that the model calls, until it calls none.
 * Resolves with the errors of its tools.
 */
export async function runSmallAgent(url: string, prompt: string): Promise<string[]> {
  const messages: JsonObject[] = [{ role: 'user', content: prompt }]
  const errors: string[] = []
  for (let call = 0; call < MOST_CALLS; call++) {
    const body = { model: 'claude-sonnet-4-5', max_tokens: 1000, tools: TOOLS, messages }
    const { status, json, text } = await send(url, {
      path: '/v1/messages',
      headers: { authorization: 'Bearer agent' },
      body,
    })
    if (status !== 200) throw new Error(text)
    // Safe: an answer of the stand-in.
    const content = (json as unknown as { content: Block[] }).content
    const uses = content.filter(({ type }) => type === 'tool_use')
    if (uses.length === 0) return errors
    const results: JsonObject[] = []
    for (const { id, name, input } of uses) {
      const { text: result, isError } = await runTool(name, input)
      if (isError) errors.push(`${name}: ${result}`)
      results.push({ type: 'tool_result', tool_use_id: id, content: result, ...(isError && { is_error: true }) })
    }
    messages.push(
      { role: 'assistant', content: content as unknown as JsonObject[] },
      { role: 'user', content: results },
    )
  }
  throw new Error(`Expected an end within ${MOST_CALLS} calls`)
}

async function runTool(name: string, input: Block['input']): Promise<Outcome> {
  const { file_path: file = '', command = '', content = '' } = input
  if (name === 'Bash') return runCommand(command)
  if (name === 'Read') return { text: numbered(readFileSync(file, 'utf8')), isError: false }
  if (name === 'Edit') return editFile(file, input)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, content)
  return { text: `File written: ${file}`, isError: false }
}

async function runCommand(command: string): Promise<Outcome> {
  const settings = { longestMs: 20_000, env: { PATH: process.env.PATH } }
  const { code, stdout, stderr } = await runProcess('bash', ['--norc', '-c', command], settings)
  return { text: `${stdout}${stderr}`, isError: code !== 0 }
}

function editFile(file: string, { old_string: from = '', new_string: to = '' }: Block['input']): Outcome {
  const text = readFileSync(file, 'utf8')
  const parts = text.split(from)
  if (parts.length !== 2) return { text: `old_string was found ${parts.length - 1} times`, isError: true }
  writeFileSync(file, parts.join(to))
  return { text: `File edited: ${file}`, isError: false }
}

function numbered(text: string): string {
  const lines = text.endsWith('\n') ? text.slice(0, -1).split('\n') : text.split('\n')
  return lines.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n')
}
