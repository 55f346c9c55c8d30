import test from 'ava'
import fc from 'fast-check'
import { chatWithImages } from '../chat-bodies.ts'
import { countPromptTokens, toWords } from './tokens.ts'

test('chat stand-in: the words of any text join to the text, and none is empty', (t) => {
  const texts = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: fc.constantFrom('a', ' ', '\n', '🙂') }))
  fc.assert(fc.property(texts, (text) => toWords(text).join('') === text && !toWords(text).includes('')))
  t.pass()
})

test('chat stand-in: an image by its data counts 85 tokens, whatever its size', (t) => {
  // user, text, What differs?, image_url, the image, low, image_url, the address
  t.is(countPromptTokens(chatWithImages()), 8 + 85)
})
