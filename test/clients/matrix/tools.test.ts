import { MODELS } from '../../support/provider-fixture.ts'
import { eachCell, openCells } from './cells.ts'
import type { ToolSpec } from './client.ts'
import { OWN_LOOPS } from './own-loops.ts'
import { says, saysRaw } from './said.ts'

const cells = await openCells()

const ANY = { type: 'object', properties: {} } as const
const WEATHER_TOOL: ToolSpec = {
  name: 'weather',
  description: 'Weather of a city.',
  schema: {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'array', items: { type: 'object' } } },
    required: ['city'],
  },
}
const tools = [WEATHER_TOOL, { name: 'now', description: 'The time.', schema: ANY }]
const WEATHER = {
  name: 'weather',
  input: {
    city: 'Köln "漢" \\ 😀',
    days: [{ at: [1, 2.5, -3e-7], deep: { er: [[], {}, null, true, ''] } }],
    note: 'a\nb',
  },
}
/** A text that a parser and a printer would change. */
const EXACT = '{"n":1.0,"big":9007199254740993,"10":{"b":-0},"2":"\\u00e9"}'
const NOW = { name: 'now', input: {} }
const named = ({ name, input }: { name: string; input: unknown }) => ({ name, input })

for (const mode of ['whole', 'stream'] as const) {
  eachCell(`a tool is called and its result given back (${mode})`, async (t, cell) => {
    const scenario = cells.open(
      cell,
      says(cell.provider, [{ text: 'Let me look.', calls: [WEATHER] }, { text: 'Rain.' }]),
    )
    const talk = scenario.converse({ model: MODELS[cell.provider], mode, tools })
    const first = await talk.say({ kind: 'text', text: 'What is the weather?' })
    t.is(first.text, 'Let me look.')
    t.deepEqual(first.calls.map(named), [WEATHER])
    t.regex(String(first.stopReason), /tool/)
    const second = await talk.giveResults(first.calls.map((call) => ({ call, text: 'It rains: 漢 "x"' })))
    t.is(second.text, 'Rain.')
    t.notRegex(String(second.stopReason), /tool/)
    t.deepEqual(scenario.heard().tools, ['weather', 'now'])
    t.like(scenario.heard(1), { calls: [WEATHER], results: [{ name: 'weather', text: 'It rains: 漢 "x"' }] })
  })

  eachCell(`two tools are called at once, one without arguments (${mode})`, async (t, cell) => {
    const scenario = cells.open(
      cell,
      says(cell.provider, [{ calls: [WEATHER, NOW, WEATHER], isInterleaved: true }, { text: 'Done.' }]),
    )
    const talk = scenario.converse({ model: MODELS[cell.provider], mode, tools })
    const { calls } = await talk.say({ kind: 'text', text: 'Do it all.' })
    t.deepEqual(calls.map(named), [WEATHER, NOW, WEATHER])
    t.is(new Set(calls.map(({ id }) => id)).size, 3)
    const answer = await talk.giveResults(calls.map((call, index) => ({ call, text: `result ${index}` })))
    t.is(answer.text, 'Done.')
    t.deepEqual(scenario.heard(1).calls, [WEATHER, NOW, WEATHER])
    t.deepEqual(scenario.heard(1).results, [
      { name: 'weather', text: 'result 0' },
      { name: 'now', text: 'result 1' },
      { name: 'weather', text: 'result 2' },
    ])
  })
}

eachCell('the SDK runs the loop of tools itself', async (t, cell) => {
  const turns = [{ text: 'First.', calls: [WEATHER] }, { calls: [WEATHER, WEATHER] }, { text: 'Rain everywhere.' }]
  const scenario = cells.open(cell, says(cell.provider, turns))
  const inputs: unknown[] = []
  const answer = await OWN_LOOPS[cell.client.name]({
    url: cells.fixture.gateway.url,
    headers: scenario.headers,
    model: MODELS[cell.provider],
    question: 'What is the weather?',
    spec: WEATHER_TOOL,
    run: (input) => `rain ${inputs.push(input)}`,
  })
  t.is(answer, 'Rain everywhere.')
  t.deepEqual(inputs, [WEATHER.input, WEATHER.input, WEATHER.input])
  t.deepEqual(
    scenario.heard(-1).results.map(({ text }) => text),
    ['rain 1', 'rain 2', 'rain 3'],
  )
})

eachCell(
  'an image that a tool gives back arrives',
  async (t, cell) => {
    const scenario = cells.open(cell, says(cell.provider, [{ calls: [NOW] }, { text: 'A pixel.' }]))
    const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'stream', tools })
    const { calls } = await talk.say({ kind: 'text', text: 'Show me.' })
    const answer = await talk.giveResults(calls.map((call) => ({ call, text: 'Here:', png: 'iVBORw0KGgo=' })))
    t.is(answer.text, 'A pixel.')
    t.like(scenario.heard(1).results[0], { name: 'now', text: 'Here:' })
    t.deepEqual(scenario.heard(1).media, [{ mediaType: 'image/png', base64: 'iVBORw0KGgo=' }])
  },
  // A tool's result is text in chat completions.
  ({ client }) => client.dialect !== 'chat',
)

eachCell(
  'arguments go to the client and back as the very text that the model wrote',
  async (t, cell) => {
    const scenario = cells.open(cell, saysRaw(cell.provider, { name: 'now', input: EXACT }))
    const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'whole', tools })
    const { calls } = await talk.say({ kind: 'text', text: 'Now?' })
    await talk.giveResults(calls.map((call) => ({ call, text: 'now' })))
    const sent = scenario.seen(cell.provider)[1]?.raw.toString() ?? ''
    t.true(sent.includes(EXACT) || sent.includes(JSON.stringify(EXACT)), sent)
  },
  // The other SDKs parse arguments and print them again.
  ({ client }) => client.name === 'openai-sdk' || client.name === 'openai-responses',
)
