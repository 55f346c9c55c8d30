import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Gateway, startGateway } from '../support/gateway.ts'
import { ask, type Reply, send } from '../support/http-client.ts'
import { isJsonObject, type JsonObject, valueAt } from '../support/json.ts'
import type { Script } from '../support/provider/script.ts'
import { assertOwn, isGiven, isMarked, MARKED, nextCaller } from '../support/second-caller.ts'
import { type Provider, startProvider } from '../support/stand-in-provider.ts'

/** The model that the stand-in plays the judge as. */
const JUDGE_MODEL = 'claude-haiku-4-5'

/** Case that the judge decides. */
export interface ShownCase {
  new_question: string
  old_question: string
}

/** How the judge decides: yes, no, or something that is no verdict. */
export type Judging = (shown: ShownCase, words: { yes: string; no: string }) => boolean | Script

/** Caller, pipeline, the provider's answer and further headers of a request. */
export interface JudgeAskOptions {
  pipe?: string
  as?: string
  answer?: string
  headers?: Readonly<Record<string, string>>
}

/** A gateway with the semantic cache in front of a stand-in that answers questions and judges. */
export interface JudgeFixture extends AsyncDisposable {
  gateway: Gateway
  provider: Provider
  /** All that the judge was shown, oldest first. */
  cases: readonly ShownCase[]
  /** Lets the judge decide so from now on. */
  judge(judging: Judging): void
  /** How many requests with this prompt have reached the provider. */
  calls(prompt: string): number
  ask(prompt: string, options?: JudgeAskOptions): Promise<Reply>
  feedback(body: unknown, as?: string): Promise<Reply>
  close(): Promise<void>
}

/**
 * Starts one, with entries in memory; `options` are those of the module, `dataFolder` one that survives it, `env` is laid
 * over the environment.
 */
export async function startJudgeFixture(
  options: JsonObject = {},
  dataFolder?: string,
  env: Readonly<Record<string, string>> = {},
): Promise<JudgeFixture> {
  const cases: ShownCase[] = []
  const counts = new Map<string, number>()
  const answers = new Map<string, string>()
  let judging: Judging = () => false
  const provider = await startProvider({
    script: ({ json }) => {
      if (json?.model === JUDGE_MODEL) {
        return play(json, (shown, words) => {
          cases.push(shown)
          return judging(shown, words)
        })
      }
      if (isMarked(json)) return undefined
      const prompt = promptOf(json)
      counts.set(prompt, (counts.get(prompt) ?? 0) + 1)
      const text = answers.get(prompt)
      return text === undefined ? undefined : { kind: 'answer', text }
    },
  })
  const folder = await mkdtemp(path.join(tmpdir(), 'turnpike-judge-'))
  const file = path.join(folder, 'turnpike.yaml')
  const own = { judge_model: JUDGE_MODEL, persist: false, ...options }
  await writeFile(file, JSON.stringify({ plugins: { watch: false, 'semantic-cache': own } }))
  const gateway = await startGateway({
    ANTHROPIC_BASE_URL: provider.url,
    ANTHROPIC_API_KEY: 'sk-operator',
    SVC_CONFIG: file,
    ...(dataFolder !== undefined && { SVC_DATA_DIR: dataFolder }),
    ...env,
  })
  const close = async () => {
    await gateway.stop()
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  }
  const askAs: JudgeFixture['ask'] = async (prompt, options = {}) => {
    const { pipe = 'semantic-cache?mode=judged', as = 'caller-1', answer } = options
    if (answer !== undefined) answers.set(prompt, answer)
    const headers = { authorization: `Bearer ${as}`, 'x-svc-pipe': pipe, ...options.headers }
    const reply = await send(gateway.url, { headers, body: ask(prompt) })
    if (isGiven(reply) && !pipe.includes('scope=shared')) {
      const second = { ...headers, authorization: `Bearer ${nextCaller()}` }
      assertOwn(prompt, await send(gateway.url, { headers: second, body: ask(prompt, MARKED) }))
    }
    return reply
  }
  return {
    gateway,
    provider,
    cases,
    judge: (next) => {
      judging = next
    },
    calls: (prompt) => counts.get(prompt) ?? 0,
    ask: askAs,
    feedback: (body, as = 'caller-1') =>
      send(gateway.url, {
        path: '/v1/cache/feedback',
        headers: { authorization: `Bearer ${as}` },
        // Also what is no valid body.
        body: body as JsonObject,
      }),
    close,
    [Symbol.asyncDispose]: close,
  }
}

const FENCE = /between <(data-[0-9a-f]{24})> and/
const YES = /the single word ([A-Z]{5}) if/
const NO = /the single word ([A-Z]{5}) in every other case/

/** Reads the question as a strict judge does: by the fence and the words that the system text names, and nothing else. */
function play(json: JsonObject, judging: Judging): Script {
  const system = String(json.system)
  const [fence, yes, no] = [FENCE, YES, NO].map((pattern) => pattern.exec(system)?.[1])
  if (!fence || !yes || !no || yes === no) throw new Error(`not a question for a judge: ${system}`)
  const user = promptOf(json)
  const [open, close] = [`<${fence}>\n`, `\n</${fence}>`]
  const inside = user.slice(open.length, -close.length)
  if (!user.startsWith(open) || !user.endsWith(close) || inside.includes('<')) throw new Error(`not fenced: ${user}`)
  const shown: ShownCase = JSON.parse(inside)
  const said = judging(shown, { yes, no })
  return typeof said === 'boolean' ? { kind: 'answer', text: said ? yes : no } : said
}

function promptOf(json: JsonObject | undefined): string {
  const messages = Array.isArray(json?.messages) ? json.messages.filter(isJsonObject) : []
  return String(valueAt(messages.at(-1), 'content'))
}
