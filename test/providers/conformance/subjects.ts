import { call } from '../../support/gemini/script.ts'
import type { Reply, SendOptions } from '../../support/http-client.ts'
import { send } from '../../support/http-client.ts'
import type { SeenRequest } from '../../support/provider/journal.ts'
import type { Script } from '../../support/provider/script.ts'
import { KEYS, MODELS, openProviderFixture, type ProviderName } from '../../support/provider-fixture.ts'
import { startBedrock } from '../../support/stand-in-bedrock.ts'
import { startVertex } from '../../support/stand-in-vertex.ts'

/*
 * DESIGN. The rules for every provider, written once (`suite.test.ts`), and for each kind of provider how its stand-in is made
 * to behave so. A new kind gets a subject here and nothing else.
 */

/** Behaviour of a provider, which each stand-in translates into its own scripts. */
export type Behaviour =
  | { kind: 'text'; text: string }
  | { kind: 'tool'; name: string; input: Readonly<Record<string, string>> }
  | { kind: 'error'; status: number; message: string; headers?: Readonly<Record<string, string>> }
  /** A stream that breaks in the middle. */
  | { kind: 'cut' }
  | { kind: 'hang' }
  /** 200, and a page of HTML. */
  | { kind: 'page' }

/** One test's part of a subject. */
export interface Scenario {
  readonly model: string
  seen(): readonly SeenRequest[]
  send(body: Readonly<Record<string, unknown>>, options?: SendOptions): Promise<Reply>
}

/** A provider under test. */
export interface Subject {
  readonly name: string
  /** Secret that must leave the gateway only towards the provider. */
  readonly secret: string
  /** Returns whether a request to the provider carries its credential. */
  isAuthorised(request: SeenRequest): boolean
  open(behave: (nth: number) => Behaviour | undefined): Scenario
}

const CUT_AFTER_BYTES = 700
const RESPONSE_CUT_AFTER_BYTES = 6000
const PAGE = '<html>Service</html>'
const PAGE_HEADERS = { 'content-type': 'text/html' }
const BEDROCK_KEY = 'operator-bedrock-api-key'
const VERTEX = { token: 'operator-vertex-token', project: 'operators-project', location: 'europe-west1' }

/** Starts a gateway with every kind of provider, and gives the subjects. Default time to the first byte: that of users. */
export async function openSubjects({ firstByte }: { firstByte?: string } = {}) {
  const [bedrock, vertex] = await Promise.all([startBedrock({ apiKey: BEDROCK_KEY }), startVertex(VERTEX)])
  const fixture = await openProviderFixture({
    config: {
      providers: {
        forward_headers: ['x-claude-code-scenario'],
        ...(firstByte !== undefined && { timeouts: { first_byte: firstByte } }),
      },
    },
    env: {
      BEDROCK_BASE_URL: bedrock.url,
      AWS_BEARER_TOKEN_BEDROCK: BEDROCK_KEY,
      VERTEX_BASE_URL: vertex.url,
      VERTEX_PROJECT: VERTEX.project,
      VERTEX_LOCATION: VERTEX.location,
      VERTEX_ACCESS_TOKEN: VERTEX.token,
    },
  })
  const ask = (
    scenario: { model: string; headers?: Readonly<Record<string, string>> },
    seen: Scenario['seen'],
  ): Scenario => ({
    model: scenario.model,
    seen,
    send: (body, options = {}) =>
      send(fixture.gateway.url, {
        ...options,
        headers: { ...scenario.headers, ...options.headers },
        body: { model: scenario.model, ...body },
      }),
  })
  const staged = (name: ProviderName, header: string, prefix = ''): Subject => ({
    name,
    secret: KEYS[name],
    isAuthorised: ({ headers }) => headers[header] === prefix + KEYS[name],
    open(behave) {
      const toScript = (nth: number) => {
        const behaviour = behave(nth)
        return behaviour && SCRIPTS[name](behaviour)
      }
      // Safe: the scripts of a name are of its own kind.
      const scenario = fixture.scenario({ [name]: toScript } as never)
      return ask({ model: MODELS[name], headers: scenario.headers }, () => scenario.seen(name))
    },
  })
  const cloud = (name: string, server: typeof bedrock, secret: string): Subject => {
    let opened = 0
    return {
      name,
      secret,
      isAuthorised: ({ headers }) => headers.authorization === `Bearer ${secret}`,
      open(behave) {
        const model = `claude-scenario-${++opened}-x`
        server.reply(model, (_request, nth) => {
          const behaviour = behave(nth)
          return behaviour && claudeScript(behaviour)
        })
        return ask({ model: `${name}/${model}` }, () => server.seenOf(model))
      },
    }
  }
  return {
    gateway: fixture.gateway,
    subjects: [
      staged('anthropic', 'x-api-key'),
      staged('openai', 'authorization', 'Bearer '),
      staged('gemini', 'x-goog-api-key'),
      staged('house', 'authorization', 'Bearer '),
      staged('responder', 'authorization', 'Bearer '),
      cloud('bedrock', bedrock, BEDROCK_KEY),
      cloud('vertex', vertex, VERTEX.token),
    ],
    async close() {
      await fixture.close()
      await Promise.all([bedrock.close(), vertex.close()])
    },
  }
}

function claudeScript(behaviour: Behaviour): Script {
  switch (behaviour.kind) {
    case 'tool':
      return {
        kind: 'answer',
        content: [{ type: 'tool_use', id: 'toolu_1', name: behaviour.name, input: behaviour.input }],
        stopReason: 'tool_use',
      }
    default:
      return commonScript(behaviour)
  }
}

/** Returns the common part of the scripts of all stand-ins. */
function commonScript(behaviour: Exclude<Behaviour, { kind: 'tool' }>) {
  switch (behaviour.kind) {
    case 'text':
      return { kind: 'answer', text: behaviour.text } as const
    case 'error':
      return behaviour
    case 'cut':
      return { kind: 'answer', text: 'word '.repeat(400), cutAfterBytes: CUT_AFTER_BYTES } as const
    case 'hang':
      return { kind: 'hang', at: 'before-headers' } as const
    case 'page':
      return { kind: 'reply', body: PAGE, headers: PAGE_HEADERS } as const
  }
}

function chatScript(behaviour: Behaviour) {
  if (behaviour.kind !== 'tool') return commonScript(behaviour)
  const { name, input } = behaviour
  return { kind: 'answer', toolCalls: [{ id: 'call_1', name, arguments: JSON.stringify(input) }] } as const
}

function geminiScript(behaviour: Behaviour) {
  if (behaviour.kind !== 'tool') return commonScript(behaviour)
  return { kind: 'answer', parts: [call(behaviour.name, behaviour.input)] } as const
}

function responsesScript(behaviour: Behaviour) {
  // Its first events repeat the request.
  const cut = behaviour.kind === 'cut' ? { cutAfterBytes: RESPONSE_CUT_AFTER_BYTES } : {}
  return { ...chatScript(behaviour), ...cut }
}

const SCRIPTS = {
  anthropic: claudeScript,
  openai: chatScript,
  gemini: geminiScript,
  house: chatScript,
  responder: responsesScript,
}
