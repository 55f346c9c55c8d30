import OpenAI from 'openai'
import { zodTextFormat } from 'openai/helpers/zod'
import { z } from 'zod'
import { MODELS } from '../../support/provider-fixture.ts'
import { eachCell, openCells } from './cells.ts'
import { claimOf, impossibilityOf } from './impossible.ts'
import { says } from './said.ts'

const cells = await openCells()

const TEXT = 'Grüße aus Köln: 漢字, 😀 and "quotes".\n\n  Two lines.'
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\n').toString('base64')
const CITY = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    size: { type: 'object', properties: { km2: { type: 'number' } }, required: ['km2'], additionalProperties: false },
  },
  required: ['city', 'size'],
  additionalProperties: false,
} as const
const PICTURE = 'https://example.com/pictures/cat.png'

eachCell('a text is asked and answered', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: TEXT }, { text: 'Bye.' }]))
  const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'whole', system: 'Be brief.' })
  const answer = await talk.say({ kind: 'text', text: 'Say ä "x" \\ 漢' })
  t.is(answer.text, TEXT)
  t.true(answer.usage.input > 0 && answer.usage.output > 0)
  t.is((await talk.say({ kind: 'text', text: 'And now?' })).text, 'Bye.')
  t.like(scenario.heard(1), { system: 'Be brief.', texts: ['Say ä "x" \\ 漢', 'And now?'] })
})

eachCell('a text streams in pieces that make it whole', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: TEXT }]))
  let streamed = ''
  const talk = scenario.converse({
    model: MODELS[cell.provider],
    mode: 'stream',
    onText: (piece) => {
      streamed += piece
    },
  })
  const answer = await talk.say({ kind: 'text', text: 'Say it slowly.' })
  t.is(answer.text, TEXT)
  t.is(streamed, TEXT)
  t.true(answer.pieces > 1, `${answer.pieces} pieces`)
  t.true(answer.usage.input > 0 && answer.usage.output > 0)
})

eachCell('an image in the request arrives byte for byte', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: 'A pixel.' }]))
  const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'whole' })
  const image = { kind: 'image', mediaType: 'image/png', base64: PNG } as const
  t.is((await talk.say({ kind: 'text', text: 'What is it?' }, image)).text, 'A pixel.')
  t.like(scenario.heard(), { texts: ['What is it?'], media: [{ mediaType: 'image/png', base64: PNG }] })
})

eachCell('an image at an address arrives as that address', async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: 'A cat.' }]))
  const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'stream' })
  t.is((await talk.say({ kind: 'image-url', url: PICTURE }, { kind: 'text', text: 'Who?' })).text, 'A cat.')
  t.deepEqual(scenario.heard().media, [{ url: PICTURE }])
})

eachCell(claimOf('document', 'a document arrives byte for byte', 'a document is refused'), async (t, cell) => {
  const scenario = cells.open(cell, says(cell.provider, [{ text: 'A letter.' }]))
  const talk = scenario.converse({ model: MODELS[cell.provider], mode: 'whole' })
  const asked = talk.say({ kind: 'pdf', base64: PDF, name: 'letter.pdf' }, { kind: 'text', text: 'What is it?' })
  if (impossibilityOf(cell, 'document') === undefined) t.is((await asked).text, 'A letter.')
  else t.like(cell.client.readFailure(await t.throwsAsync(asked)), { kind: cell.client.errorOf(400), status: 400 })
  t.deepEqual(scenario.heard().media, [{ mediaType: 'application/pdf', base64: PDF }])
})

for (const mode of ['whole', 'stream'] as const) {
  eachCell(`a reply that reaches its limit reports it (${mode})`, async (t, cell) => {
    const scenario = cells.open(cell, says(cell.provider, [{ text: 'One two', isCut: true }]))
    const talk = scenario.converse({ model: MODELS[cell.provider], mode, maxTokens: 77 })
    const answer = await talk.say({ kind: 'text', text: 'Count.' })
    t.is(answer.text, 'One two')
    t.regex(String(answer.stopReason), /^(max_tokens|length|max_output_tokens)$/)
    t.is(scenario.heard().maxTokens, 77)
  })

  eachCell(`an answer follows a schema (${mode})`, async (t, cell) => {
    const json = '{"city":"Köln","size":{"km2":405.02}}'
    const scenario = cells.open(cell, says(cell.provider, [{ text: json }]))
    const talk = scenario.converse({ model: MODELS[cell.provider], mode, answerSchema: CITY })
    t.is((await talk.say({ kind: 'text', text: 'Which city?' })).text, json)
    t.like(scenario.heard().answerSchema, CITY)
  })
}

eachCell(
  'the SDK parses an answer by its zod schema, whole and streamed',
  async (t, cell) => {
    const city = { city: 'Köln', size: { km2: 405.02 } }
    const said = { text: JSON.stringify(city) }
    const { headers, heard } = cells.open(cell, says(cell.provider, [said, said]))
    const baseURL = `${cells.fixture.gateway.url}/v1`
    const { responses } = new OpenAI({ apiKey: 'any-string', baseURL, maxRetries: 0, defaultHeaders: headers })
    const schema = z.object({ city: z.string(), size: z.object({ km2: z.number() }) })
    const asked = {
      model: MODELS[cell.provider],
      input: 'Which city?',
      text: { format: zodTextFormat(schema, 'place') },
    }
    t.deepEqual((await responses.parse(asked)).output_parsed, city)
    t.deepEqual((await responses.stream(asked).finalResponse()).output_parsed, city)
    t.like(heard().answerSchema, CITY)
  },
  ({ client }) => client.name === 'openai-responses',
)

for (const mode of ['whole', 'stream'] as const) {
  eachCell(`tokens are counted as the provider counts them (${mode})`, async (t, cell) => {
    const usage = { input: 1200, cached: 900, output: 34 }
    const scenario = cells.open(cell, says(cell.provider, [{ text: 'One two.', usage }]))
    const talk = scenario.converse({ model: MODELS[cell.provider], mode })
    t.deepEqual((await talk.say({ kind: 'text', text: 'Count.' })).usage, usage)
  })
}
