import { MODELS } from '../../support/provider-fixture.ts'
import { eachCell, openCells } from './cells.ts'
import { says } from './said.ts'

const cells = await openCells('exact-cache')

const tools = [{ name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } as const }]
const usage = { input: 1200, cached: 900, output: 34 }
const SAID = { text: 'I look: 漢 "x".', calls: [{ name: 'look', input: { at: ['Köln', 1.5, {}] } }], usage }

for (const mode of ['whole', 'stream'] as const) {
  eachCell(`a reply is stored and replayed unchanged (${mode})`, async (t, cell) => {
    const { client, provider } = cell
    const scenario = cells.open(cell, says(provider, [SAID, { text: 'This is another answer.' }]))
    const ask = () => {
      const talk = scenario.converse({ model: MODELS[provider], mode, tools })
      return talk.say({ kind: 'text', text: `${client.name} asks ${provider} (${mode})` })
    }
    const told = await ask()
    t.like(told, { text: SAID.text, usage })
    t.is(told.pieces > 0, mode === 'stream')
    t.deepEqual(await ask(), told)
    t.is(scenario.seen(provider).length, 1)
  })
}
