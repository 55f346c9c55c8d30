import { MODELS, type ProviderName } from '../../support/provider-fixture.ts'
import { type Cell, eachCell, openCells } from './cells.ts'
import { claimOf, impossibilityOf } from './impossible.ts'
import { says } from './said.ts'

const cells = await openCells()

/** Models with reasoning, which only some of OpenAI's have. */
const REASONING_MODELS: Readonly<Record<ProviderName, string>> = { ...MODELS, openai: 'openai/gpt-5' }
const THOUGHT = 'Let me think: 漢 first, then "x".'

/** The field that requests a medium effort of each provider, or a budget where there is a place for a number. */
const WISHES: Readonly<Record<ProviderName, (cell: Cell) => unknown>> = {
  anthropic: ({ isNative }) => ({ type: 'enabled', budget_tokens: isNative ? 2048 : 8192 }),
  openai: ({ client }) => (client.dialect === 'messages' ? 'low' : 'medium'),
  gemini: ({ client }) => ({ includeThoughts: true, thinkingBudget: client.dialect === 'messages' ? 2048 : 8192 }),
  house: ({ client }) => (client.dialect === 'messages' ? 'low' : 'medium'),
  responder: ({ client }) =>
    client.dialect === 'responses'
      ? { effort: 'medium', summary: 'auto' }
      : { effort: client.dialect === 'messages' ? 'low' : 'medium' },
}

for (const mode of ['whole', 'stream'] as const) {
  eachCell(
    claimOf('reasoning', `reasoning is asked for and shown (${mode})`, `reasoning is not shown (${mode})`),
    async (t, cell) => {
      const { provider } = cell
      const reasoning = provider === 'openai' ? {} : { reasoning: THOUGHT }
      const scenario = cells.open(cell, says(provider, [{ ...reasoning, text: 'Four.' }, { text: 'Sure.' }]))
      const talk = scenario.converse({ model: REASONING_MODELS[provider], mode, reasons: true })
      const answer = await talk.say({ kind: 'text', text: 'Two and two?' })
      const isShown = impossibilityOf(cell, 'reasoning') === undefined
      t.is(answer.reasoning, isShown ? THOUGHT : '')
      t.is(answer.text, 'Four.')
      t.deepEqual(scenario.heard().reasoning, WISHES[provider](cell))
      // The model's thoughts go back to it as far as the SDK keeps them, and do no harm.
      t.is((await talk.say({ kind: 'text', text: 'Sure?' })).text, 'Sure.')
      t.like(scenario.heard(1), { texts: ['Two and two?', 'Sure?'] })
    },
  )
}
