import { MODELS } from '../../support/provider-stage.ts'
import { eachCell, openCells } from './cells.ts'
import { says } from './said.ts'

const cells = await openCells()

const TEXT = 'Grüße aus Köln: 漢字, 😀 and "quotes".\n\n  Two lines.'
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PICTURE = 'https://example.com/pictures/cat.png'

eachCell('a text is asked and answered', async (t, cell) => {
  const scene = cells.open(cell, says(cell.provider, [{ text: TEXT }, { text: 'Bye.' }]))
  const talk = scene.converse({ model: MODELS[cell.provider], mode: 'whole', system: 'Be brief.' })
  const answer = await talk.say({ kind: 'text', text: 'Say ä "x" \\ 漢' })
  t.is(answer.text, TEXT)
  t.true((answer.usage.input ?? 0) > 0 && (answer.usage.output ?? 0) > 0)
  t.is((await talk.say({ kind: 'text', text: 'And now?' })).text, 'Bye.')
  t.like(scene.heard(1), { system: 'Be brief.', texts: ['Say ä "x" \\ 漢', 'And now?'] })
})

eachCell('a text streams in pieces that make it whole', async (t, cell) => {
  const scene = cells.open(cell, says(cell.provider, [{ text: TEXT }]))
  let streamed = ''
  const talk = scene.converse({
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
  t.true((answer.usage.input ?? 0) > 0 && (answer.usage.output ?? 0) > 0)
})

eachCell('an image in the request arrives byte for byte', async (t, cell) => {
  const scene = cells.open(cell, says(cell.provider, [{ text: 'A pixel.' }]))
  const talk = scene.converse({ model: MODELS[cell.provider], mode: 'whole' })
  const image = { kind: 'image', mediaType: 'image/png', base64: PNG } as const
  t.is((await talk.say({ kind: 'text', text: 'What is it?' }, image)).text, 'A pixel.')
  t.like(scene.heard(), { texts: ['What is it?'], images: [{ mediaType: 'image/png', base64: PNG }] })
})

eachCell('an image at an address arrives as that address', async (t, cell) => {
  const scene = cells.open(cell, says(cell.provider, [{ text: 'A cat.' }]))
  const talk = scene.converse({ model: MODELS[cell.provider], mode: 'stream' })
  t.is((await talk.say({ kind: 'image-url', url: PICTURE }, { kind: 'text', text: 'Who?' })).text, 'A cat.')
  t.deepEqual(scene.heard().images, [{ url: PICTURE }])
})
