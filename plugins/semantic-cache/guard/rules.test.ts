import test from 'ava'
import { cosineOf } from '../cosine.ts'
import { lexicalEmbedder } from '../embedders/lexical.ts'
import { refusalOf, type Strictness } from './guard.ts'
import { pairUp } from './pair.ts'
import { readPrompt } from './reading.ts'

function refusal(one: string, other: string, strictness: Strictness = 'strict'): string | undefined {
  return refusalOf(pairUp(readPrompt(one), readPrompt(other)), strictness)
}

/** By rule: pairs that it refuses. */
const REFUSED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  numbers: [
    ['Where is parcel 7731?', 'Where is parcel 7713?'],
    ['Give me three recipes with leeks', 'Give me five recipes with leeks'],
    ['What is 30% of 90?', 'What is 35% of 90?'],
  ],
  code: [
    ['What does `tar -x` do?', 'What does `tar -c` do?'],
    ['What does Map.groupBy do?', 'What does Map.get do?'],
    ['Fix the test in lib/cart/total.ts', 'Fix the test in lib/cart/tax.ts'],
    ['Does the plan cover GPT-4?', 'Does the plan cover GPT-5?'],
  ],
  quotes: [["Translate 'good night' to Danish", "Translate 'good day' to Danish"]],
  operators: [
    ['What is 9 + 4?', 'What is 9 * 4?'],
    ['List rows with a score above 5', 'List rows with a score of at least 5'],
  ],
  negation: [
    ['Why does the pump start?', "Why doesn't the pump start?"],
    ['Who can open the vault?', 'Who cannot open the vault?'],
  ],
  antonyms: [
    ['How do I enable the alarm?', 'How do I disable the alarm?'],
    ['Sort the rows in ascending order', 'Sort the rows in descending order'],
  ],
  limits: [
    ['Delete drafts made before May', 'Delete drafts made in May'],
    ['What is the dose for adults?', 'What is the maximum dose for adults?'],
  ],
  entities: [
    ['Who governs Norway?', 'Who governs Finland?'],
    ['Book a room with Ines for Friday', 'Book a room with Jonas for Friday'],
  ],
  directions: [
    ['Mail from the bank', 'Mail to the bank'],
    ['What is the fare from Oslo to Bergen?', 'What is the fare from Bergen to Oslo?'],
  ],
  order: [
    ['Do dogs chase foxes?', 'Do foxes chase dogs?'],
    ['Is it fine to have colds and not be ill?', 'Is it fine to not have colds and be ill?'],
    ['Is she just loud or really brave?', 'Is she really loud or just brave?'],
    ['Which tool is helpful for optional work?', 'Which tool is optional for helpful work?'],
    ['Convert litres to pints', 'Convert pints to litres'],
    ['Will you copy the crowd or think first?', 'Will you think the crowd or copy first?'],
  ],
  question: [
    ['Why does the kettle whistle?', 'When does the kettle whistle?'],
    ['How far is the harbour?', 'How old is the harbour?'],
    ['Can I return the boots?', 'Should I return the boots?'],
    ['How do birds make nests?', 'How do I make nests?'],
  ],
  length: [
    [
      'Summarise the report',
      'Summarise the report with all of the people, all of the things, and every one of the various particular things in it',
    ],
  ],
  substitution: [['How do I clean suede shoes?', 'How do I clean suede jackets?']],
  addition: [
    ['How do I cook rice?', 'How do I cook brown rice?'],
    ['When does the race start?', 'When is the race?'],
    ['How do I get started when I get my parcel?', 'How do I get my parcel?'],
  ],
  tense: [
    ['Did the board approve the merger?', 'Will the board approve the merger?'],
    ['How will I get my parcel?', 'How do I get my parcel?'],
  ],
  persons: [
    ['How do I reset my garage password?', 'How do I reset their garage password?'],
    ['What is your definition of wealth gap?', 'What is the definition of wealth gap?'],
    ['What name should I call you?', 'What name do you call me?'],
    ['Why do you keep bees?', 'Why should I keep bees?'],
    ['What is a good lake?', 'What is a good lake for me?'],
  ],
  pointing: [
    ['What is the meaning of sign?', 'What is the meaning of these signs?'],
    ['What is wrong with my kettle?', 'What is wrong with this kettle?'],
  ],
  means: [
    ['Top up with my card', 'Top up my card'],
    ['How do I sort the label?', 'How do I sort by label?'],
  ],
  short: [['What is wire?', 'What is the wire about?']],
}

/** Pairs that differ in one sign. */
const SIGNS: readonly (readonly [string, string])[] = [
  ['What is √4?', 'What is √−4?'],
  ['What is √4?', 'What is √-4?'],
  ['Is 20° cold?', 'Is −20° cold?'],
  ['Is 20 cold?', 'Is –20 cold?'],
  ['Is 20 degrees cold?', 'Is 20 degrees° cold?'],
  ['What is the root of x?', 'What is the root of x²?'],
  ['What is x²?', 'What is x³?'],
  ['Is H₂O safe?', 'Is H₂O₂ safe?'],
  ['Is H₂O safe?', 'Is HO safe?'],
  ['Is x ∈ A?', 'Is x ∉ A?'],
  ['Is p true?', 'Is ¬p true?'],
  ['Is C hard to learn?', 'Is C♯ hard to learn?'],
  ['What does 👍 mean?', 'What does 👎 mean?'],
  ['What does 👍 mean?', 'What does 👍🏽 mean?'],
  ['What does → mean?', 'What does ← mean?'],
  ['What does a ⊂ b mean?', 'What does a ⊃ b mean?'],
  ['Solve x=5 for me', 'Solve x=-5 for me'],
  ['Is .5 enough?', 'Is 5 enough?'],
  ['Play step ① now', 'Play step ② now'],
  ['Who was Louis Ⅳ?', 'Who was Louis Ⅵ?'],
  ['Is ٣ odd?', 'Is ٤ odd?'],
  ['Is f ∘ g linear?', 'Is f g linear?'],
  ['Pay 5 ₩', 'Pay 5 ₫'],
  ['Does x̄ differ?', 'Does x differ?'],
]

for (const [one, other] of SIGNS) {
  test(`guard: a sign makes another question: “${one}”, “${other}”`, (t) => {
    t.truthy(refusal(one, other))
    t.truthy(refusal(other, one))
  })
}

for (const [code, pairs] of Object.entries(REFUSED)) {
  for (const [one, other] of pairs) {
    test(`guard: ${code} refuses “${one}” for “${other}”`, (t) => {
      t.is(refusal(one, other), code)
      t.is(refusal(other, one), code)
    })
  }
}

const ACCEPTED: readonly (readonly [string, string])[] = [
  ['How do I renew my passport?', 'how can I renew my passport'],
  ['How do I renew my passport?', 'Hi! Could you tell me how to renew my passport? Thanks!'],
  ['What are the steps to renew my passport?', 'How do I renew my passport?'],
  ['What are the benefits of rowing?', 'List the advantages of rowing.'],
  ['Where is parcel 7731?', 'where is pacrel 7731'],
  ['Is 1,000 m a mile?', 'Is 1000 m a mile?'],
  ['What is the difference between felt and wool?', 'What is the difference between wool and felt?'],
  ['How is felt different from wool?', 'What is the difference between felt and wool?'],
  ['How do I sharpen a chisel?', 'What is the best way to sharpen a chisel?'],
  ['How do I sharpen a chisel?', 'Is there a way to sharpen a chisel?'],
  ['How do you clean your flute?', 'How do I clean my flute?'],
  ['Which tent is best for storms?', 'What is the best tent for storms?'],
  ['Which movies won prizes?', 'Which movie won prizes?'],
  ['How do I organise a harbour tour?', 'How do I organize a harbor tour?'],
  ['What are good accomodations in Bergen?', 'What are the best accommodations in Bergen?'],
  ['How do I find an intership?', 'How do I find an internship?'],
  ['Which books are there to learn Danish?', 'Which books are there for learning Danish?'],
  ['What does Map.groupBy do?', 'Explain what Map.groupBy does.'],
  ['What is the price of a lathe?', 'How much does a lathe cost?'],
  ['Fold the sails.', 'Fold the sails ?'],
  ['Types of rock?', 'What are the types of rock?'],
  ["Tell me Oslo's rainfall for the year 2011.", 'What was the rainfall of Oslo in 2011?'],
  ['What is meant by torque?', 'What is torque?'],
  ['Refund invoice 88 for Ines Boe', 'Please refund Ines Boe for invoice number 88.'],
  ["What is Norway's coastline?", 'What is the coastline of Norway?'],
  ['How do I lower the humidity in my cellar?', 'how do i lower the humidity in my cellar?'],
  ['What is the worst storm you have sailed through?', 'What is the worst storm you sailed through?'],
  ['How do I become a better cook?', 'How can I be a better cook?'],
  ['How do I start growing leeks?', 'How do I grow leeks?'],
  ['How do make a candle?', 'How do I make a candle?'],
  ['What should be done to calm a horse?', 'How do I calm a horse?'],
  ['What do I have to do to calm a horse?', 'How do I calm a horse?'],
  ['How can I tell if milk is sour?', 'How do I know if milk is sour?'],
  ['What are the goal(s) of the club?', 'What are the goals of the club?'],
  ['How do I avoid rust?', 'How can I prevent rust?'],
  ['What do I do if the pump leaks?', 'What do I do when the pump leaks?'],
]

for (const [one, other] of ACCEPTED) {
  test(`guard: accepts “${one}” for “${other}”`, (t) => {
    t.is(refusal(one, other), undefined)
    t.is(refusal(other, one), undefined)
  })
}

test('guard: typed vetoes leave alone what only strict refuses', (t) => {
  t.is(refusal('How do I cook rice?', 'How do I cook brown rice?', 'typed'), undefined)
  t.is(refusal('Where is parcel 7731?', 'Where is parcel 7713?', 'typed'), 'numbers')
})

test('guard: refuses strings that share letters with a question and say nothing', (t) => {
  const question = 'How do I reset my router password?'
  for (const crafted of [
    'how router do passwd xq reset my I zz',
    'rou ter pass word re set how do i my',
    'reset router password reset router password',
    'router password my reset do how I',
  ])
    t.truthy(refusal(crafted, question), crafted)
})

const LETTERS = 'abcdefghijklmnopqrstuvwxyz'
const ROUNDS = 24
const TRIES = 500
const LONGEST_WORD = 5
/** What the climbed strings must reach for the test to say anything: above what proposes a neighbour. */
const NEAR = 0.5

/** Nonsense whose vector is near that of `question`: of many random words the one that brings it nearest is added. */
function climb(question: string, seed: number): { text: string; cosine: number } {
  let state = seed
  const draw = (below: number) => {
    state = (state * 48271) % 2147483647
    return state % below
  }
  const target = lexicalEmbedder.embed(question)
  let best = { text: '', cosine: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    const start = best.text
    for (let i = 0; i < TRIES; i++) {
      const word = Array.from({ length: 1 + draw(LONGEST_WORD) }, () => LETTERS.charAt(draw(LETTERS.length))).join('')
      const text = `${start} ${word}`.trim()
      const cosine = cosineOf(target, lexicalEmbedder.embed(text))
      if (cosine > best.cosine) best = { text, cosine }
    }
  }
  return best
}

test('guard: refuses nonsense that was made to be near a question', (t) => {
  for (const [i, question] of [
    'How do I reset my router password?',
    'Where is parcel 7731?',
    'Who governs Norway?',
  ].entries()) {
    const { text, cosine } = climb(question, 1000 + i)
    t.true(cosine > NEAR, `${text}: ${cosine}`)
    t.truthy(refusal(text, question), text)
  }
})
