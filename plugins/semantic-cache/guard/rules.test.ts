import test from 'ava'
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
  ],
  question: [
    ['Why does the kettle whistle?', 'When does the kettle whistle?'],
    ['How far is the harbour?', 'How old is the harbour?'],
    ['Can I return the boots?', 'Should I return the boots?'],
  ],
  length: [
    [
      'Summarise the report',
      'Summarise the report with all of the people, all of the things, and every one of the various particular things in it',
    ],
  ],
  substitution: [['How do I clean suede shoes?', 'How do I clean suede jackets?']],
  addition: [['How do I cook rice?', 'How do I cook brown rice?']],
  tense: [['Did the board approve the merger?', 'Will the board approve the merger?']],
  persons: [
    ['How do I reset my garage password?', 'How do I reset their garage password?'],
    ['What is your definition of wealth gap?', 'What is the definition of wealth gap?'],
  ],
  short: [['What is wire?', 'What is the wire about?']],
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
  ['Refund invoice 88 for Ines Boe', 'Please refund Ines Boe for invoice number 88.'],
  ["What is Norway's coastline?", 'What is the coastline of Norway?'],
  ['How do I lower the humidity in my cellar?', 'how do i lower the humidity in my cellar?'],
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
