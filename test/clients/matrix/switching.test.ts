import { sampled } from '../../support/drill.ts'
import { MODELS, PROVIDERS, type ProviderName } from '../../support/provider-fixture.ts'
import { eachCell, openCells } from './cells.ts'
import { says } from './said.ts'

const cells = await openCells()

/** Models that think, and sign their thoughts where a provider does. */
const THINKERS: Readonly<Record<ProviderName, string>> = {
  ...MODELS,
  openai: 'openai/gpt-5',
  gemini: 'gemini/gemini-3-pro-preview',
}
const tools = [{ name: 'look', description: 'Looks.', schema: { type: 'object', properties: {} } as const }]
const LOOK = { name: 'look', input: { at: 'Köln' } }
const NOD = { name: 'look', input: {} }
/** Thoughts that may come back to each provider: those that it has signed or sent itself, or none. */
const OWN_THOUGHTS: Readonly<Record<ProviderName, RegExp>> = {
  anthropic: /^c2lnbmVk$/,
  openai: /^never$/,
  gemini: /^(dGhvdWdodC1zaWduYXR1cmU|skip_thought_signature_validator)/,
  house: /^Hm\.$/,
  responder: /^sealed-rs_\d+$/,
}

const MODES = ['whole', 'stream'] as const

for (const [nth, next] of [...PROVIDERS, 'responder' as const].entries()) {
  for (const mode of sampled(MODES, nth % MODES.length)) {
    eachCell(`${next} goes on in the middle of a loop of tools (${mode})`, async (t, cell) => {
      const { provider } = cell
      const reasoning = (name: ProviderName) => (name === 'openai' ? {} : { reasoning: 'Hm.' })
      const begun = { ...reasoning(provider), text: 'I look.', calls: [LOOK, NOD] }
      const continued = [{ ...reasoning(next), calls: [NOD] }, { ...reasoning(next), text: 'Rain.' }, { text: 'Bye.' }]
      const scripts =
        next === provider ? says(next, [begun, ...continued]) : { ...says(provider, [begun]), ...says(next, continued) }
      const scenario = cells.open(cell, scripts)
      const talk = scenario.converse({ model: THINKERS[provider], mode, tools, reasons: true })
      const first = await talk.say({ kind: 'text', text: 'Look!' })
      talk.turnTo(THINKERS[next])
      const second = await talk.giveResults(first.calls.map((call, index) => ({ call, text: `seen ${index}` })))
      t.is(second.calls.length, 1)
      const third = await talk.giveResults(second.calls.map((call) => ({ call, text: 'seen again' })))
      t.is(third.text, 'Rain.')
      t.is((await talk.say({ kind: 'text', text: 'Thanks.' })).text, 'Bye.')
      // It takes no thoughts in the middle of a turn that began without them, and chat completions carry no signature.
      if (next === 'anthropic' && cell.client.dialect === 'chat') t.is(scenario.heard(-2, next).reasoning, undefined)
      const heard = scenario.heard(-1, next)
      t.deepEqual(heard.texts, ['Look!', 'Thanks.'])
      t.deepEqual(heard.calls, [LOOK, NOD, NOD])
      t.deepEqual(
        heard.results.map(({ text }) => text),
        ['seen 0', 'seen 1', 'seen again'],
      )
      t.true(
        heard.thoughts.every((thought) => OWN_THOUGHTS[next].test(String(thought))),
        String(heard.thoughts),
      )
    })
  }
}
