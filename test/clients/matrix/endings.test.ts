import { MODELS, type ProviderName } from '../../support/provider-fixture.ts'
import { eachCell, openCells } from './cells.ts'
import { refuses, says } from './said.ts'

const cells = await openCells()

const LONG = Array.from({ length: 400 }, (_, index) => `word${index}`).join(' ')

for (const status of [400, 401, 403, 404, 429]) {
  for (const mode of ['whole', 'stream'] as const) {
    eachCell(`a ${status} of the provider is the SDK's own error for it (${mode})`, async (t, cell) => {
      const message = `The model returns ${status}, "no" 漢`
      const headers = { 'retry-after': '60' }
      const scenario = cells.open(cell, refuses(cell.provider, { status, message, headers }))
      const talk = scenario.converse({ model: MODELS[cell.provider], mode })
      const failure = cell.client.readFailure(await t.throwsAsync(talk.say({ kind: 'text', text: 'Well?' })))
      t.like(failure, { kind: cell.client.errorOf(status), status, retryAfter: '60' })
      t.true(failure.message.includes(message) || failure.message.includes(JSON.stringify(message)), failure.message)
      t.is(scenario.seen(cell.provider).length, 1)
    })
  }
}

/** The field of each dialect that has no equivalent in another. */
const OWN_FIELDS = { messages: 'tools', chat: 'logprobs', responses: 'top_logprobs' } as const

/** Status of each provider when it is overloaded. */
const OVERLOADED: Readonly<Record<ProviderName, number>> = {
  anthropic: 529,
  openai: 503,
  gemini: 503,
  house: 503,
  responder: 503,
}

eachCell('a provider that stays overloaded is an error of a server that names it', async (t, cell) => {
  const status = OVERLOADED[cell.provider]
  const scenario = cells.open(
    cell,
    refuses(cell.provider, { status, message: 'Overloaded', headers: { 'retry-after': '0' } }),
  )
  const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'whole' })
  const failure = cell.client.readFailure(await t.throwsAsync(talk.say({ kind: 'text', text: 'Well?' })))
  t.like(failure, { kind: cell.client.errorOf(502), status: 502 })
  t.regex(failure.message, new RegExp(`${cell.provider} failed after 3 tries: answered ${status}: Overloaded`))
  t.is(scenario.seen(cell.provider).length, 3)
})

eachCell(
  ({ isNative }) =>
    isNative ? 'what only its dialect has is carried' : 'what only its dialect has is refused by the name of the field',
  async (t, cell) => {
    const { client, provider, isNative } = cell
    const scenario = cells.open(cell, says(provider, [{ text: 'Found.' }]))
    const talk = scenario.converse({ model: MODELS[provider], mode: 'whole', asksOwn: true })
    const field = OWN_FIELDS[client.dialect]
    if (isNative) {
      t.is((await talk.say({ kind: 'text', text: 'Search.' })).text, 'Found.')
      t.truthy(scenario.seen(provider)[0]?.json?.[field])
      return
    }
    const failure = client.readFailure(await t.throwsAsync(talk.say({ kind: 'text', text: 'Search.' })))
    t.like(failure, { kind: client.errorOf(400), status: 400 })
    t.regex(failure.message, new RegExp(`\\b${field}\\b`))
    t.is(scenario.seen(provider).length, 0)
  },
  // It has no options beyond those of every provider.
  ({ client }) => client.name !== 'ai-sdk-open-responses',
)

eachCell('a client that leaves ends the call of the provider', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: LONG, isStuck: true }]))
  const leaving = new AbortController()
  const talk = scenario.converse({
    model: MODELS[cell.provider],
    mode: 'stream',
    signal: leaving.signal,
    onText: () => leaving.abort(),
  })
  const error = await t.throwsAsync(talk.say({ kind: 'text', text: 'Tell a story.' }), { any: true })
  t.true(cell.client.isAbort(error), String(error))
  t.is(await scenario.seen(cell.provider)[0]?.closed, 'client-left')
})

eachCell('a provider that breaks off is an error, not a short answer', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: LONG, isBroken: true }]))
  let streamed = ''
  const talk = scenario.converse({
    model: MODELS[cell.provider],
    mode: 'stream',
    onText: (piece) => {
      streamed += piece
    },
  })
  const error = await t.throwsAsync(talk.say({ kind: 'text', text: 'Tell a story.' }), { message: /broke off/ })
  t.false(cell.client.isAbort(error))
  t.true(streamed.length > 0 && LONG.startsWith(streamed))
})
