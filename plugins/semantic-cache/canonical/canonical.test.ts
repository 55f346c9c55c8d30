import test from 'ava'
import fc from 'fast-check'
import { normaliseText } from '../normalise.ts'
import { canonicalOf } from './canonical.ts'

const formOf = (text: string) => canonicalOf(normaliseText(text))

const OTHERS: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  code: [
    ['What does 2*(3+4) give?', 'What does (2*3)+4 give?'],
    ['What does !user.isAdmin do?', 'What does user.isAdmin do?'],
    ['What does \\d match?', 'What does \\D match?'],
    ['What is n!?', 'What is n?'],
    ['What is 5!?', 'What is 5?'],
    ['What does echo "$x" print?', "What does echo '$x' print?"],
    ["What does len('a  b') give?", "What does len('a b') give?"],
    ['What is `a  b`?', 'What is `a b`?'],
    ['Explain a && b.', 'Explain a || b.'],
    ['How do I call createUser?', 'How do I call createuser?'],
    ['Where is src/App.ts?', 'Where is src/app.ts?'],
    ['What is i?', 'What is I?'],
    ['Is x = 5 right?', 'Is x == 5 right?'],
    ['What is the mean of 100,200?', 'What is the mean of 100200?'],
  ],
  wordings: [
    ['Is colour a valid CSS property?', 'Is color a valid CSS property?'],
    ['What film does a Leica use?', 'What movie does a Leica use?'],
    ['How do I log in Python?', 'How do I sign in Python?'],
    ["How do I grep for can't in a file?", 'How do I grep for cannot in a file?'],
    ['How do I get rid of my car battery?', 'How do I remove my car battery?'],
    ['Delete this file.', 'Delete this file?'],
    ['Should I turn right now?', 'Should I turn now?'],
    ['What is the main cause of inflation?', 'What are the causes of inflation?'],
    ['Is there an easy way to learn Welsh?', 'How do I learn Welsh?'],
    ['Replace colour with color in my stylesheet.', 'Replace color with colour in my stylesheet.'],
    ['Is a photo the same as a photograph here?', 'Is a photograph the same as a photo here?'],
    ['Is the begin keyword needed in Ruby?', 'Is the start keyword needed in Ruby?'],
    ['What does the function select do in Go?', 'What does the function choose do in Go?'],
    ['Where is the grey button of the form?', 'Where is the gray button of the form?'],
  ],
  symbols: [
    ['What is √4?', 'What is √−4?'],
    ['Is 20° cold?', 'Is -20° cold?'],
    ['What is x²?', 'What is x?'],
    ['What is H₂O?', 'What is H₂O₂?'],
    ['What does p mean?', 'What does ¬p mean?'],
    ['What is C♯?', 'What is C?'],
    ['What does 👍 mean?', 'What does 👎 mean?'],
    ['What does → mean?', 'What does ← mean?'],
    ['How much is 50% of 80?', 'How much is 50 of 80?'],
  ],
  roles: [
    ['Who acquired Slack?', 'Who did Slack acquire?'],
    ['Who can fire the CEO?', 'Who can the CEO fire?'],
    ['Do dogs chase foxes?', 'Do foxes chase dogs?'],
    ['How do I pay you?', 'How do you pay me?'],
    ['How do I contact you?', 'How do you contact me?'],
    ['How do you calculate interest?', 'How do I calculate interest?'],
    ['What may I call you?', 'What may you call me?'],
    ['Describe what happened.', 'Describe what happened to me.'],
    ['Explain what she said.', 'Explain what she said to me.'],
    ['Convert 5 miles to kilometers.', 'Convert 5 kilometers to miles.'],
    ['Is Oslo colder than Rome?', 'Is Rome colder than Oslo?'],
    ['What is the price of a photo of Anna?', "What is the price of Anna's photo?"],
    ['Who founded the Bank of Zambia?', 'Who founded the Bank in Zambia?'],
  ],
  modes: [
    ['Can I cancel my order?', 'Should I cancel my order?'],
    ['Can you make bread without yeast?', 'Make bread without yeast.'],
    ['Do I need to sign?', 'Can I sign?'],
    ['How can I dispute a fine?', 'How should I dispute a fine?'],
    ['What a day it was!', 'What a day it was?'],
    ['May I smoke here?', 'Can I smoke here?'],
    ['The shop is open.', 'The shop is open?'],
    ['Order 5 is shipped.', 'Order 5 is shipped?'],
    ['The capital of France is…', 'The capital of France is'],
    ['Tell me when the food is ready.', 'When is the food ready?'],
    ['How do I explain death to a child?', 'Explain death to a child.'],
    ['How do I learn Go?', 'Why do I learn Go?'],
    ['Write a story on a train.', 'Write a story about a train.'],
    ['What are the methods of teaching?', 'How do I teach?'],
    ['Explain the benefits of tea.', 'List the benefits of tea.'],
  ],
  negation: [
    ['Who can open the vault?', 'Who cannot open the vault?'],
    ["Why doesn't it start?", 'Why does it start?'],
    ['Is it never open?', 'Is it open?'],
    ['Is tea safe?', 'Is tea unsafe?'],
  ],
  quantities: [
    ['Are all dogs friendly?', 'Are some dogs friendly?'],
    ['Do few users pay?', 'Do a few users pay?'],
    ['Is there a little milk?', 'Is there little milk?'],
    ['Where do most people live?', 'Where do the most people live?'],
    ['Do the members of parliament vote?', 'Do members of parliament vote?'],
    ['What is big data?', 'What is large data?'],
    ['Are the dogs friendly?', 'Are dogs friendly?'],
    ['Is Paris a capital of France?', 'Is Paris the capital of France?'],
    ['What is the time?', 'What is time?'],
    ['What is the current?', 'What is current?'],
    ['Is it safe to take money and run?', 'Is it safe to take run and money?'],
    ['What is the matter?', 'What is matter?'],
    ['How many users joined?', 'A number of users joined?'],
    ['What happened last week?', 'What happened the last week?'],
    ['Is it at least 5?', 'Is it at most 5?'],
  ],
  tense: [
    ['Who is the president of Chile?', 'Who was the president of Chile?'],
    ["What was Austria's population?", "What is Austria's population?"],
    ['Did it rain in Rome?', 'Does it rain in Rome?'],
    ['How many people live in Rome?', 'How many people lived in Rome?'],
  ],
  names: [
    ['How do I polish wood?', 'How do I Polish wood?'],
    ['Who owns apple trees?', 'Who owns Apple trees?'],
    ['Does it cost us money?', 'Does it cost US money?'],
    ['Where is Georgia, the state?', 'Where is Georgia the state?'],
    ['What is the risk of children?', 'What is the risk for children?'],
    ['Is May warm?', 'Is may warm?'],
    ['Turkey recipes of the north?', 'turkey recipes of the north?'],
  ],
  time: [
    ['What is open on Monday at 9am?', 'What is open on Monday at 9pm?'],
    ['Is it open before 5?', 'Is it open after 5?'],
    ['How long is it?', 'How far is it?'],
  ],
  units: [
    ['Is 5 mW much?', 'Is 5 MW much?'],
    ['Is 5 Mb much?', 'Is 5 MB much?'],
    ['Is 10 km far?', 'Is 10 m far?'],
  ],
  wording: [
    ['How do you spell colour?', 'How do you spell color?'],
    ['How many letters are in movie?', 'How many letters are in film?'],
    ["Translate 'please help me' to French.", "Translate 'help me' to French."],
    ['Translate to French: please help me', 'Translate to French: help me'],
    ['Correct the grammar: what are the news?', 'Correct the grammar: what is the news?'],
    ['Hello, World in Python', 'World in Python'],
    ['What does begin mean?', 'What does start mean?'],
    ['Is “okay” right?', 'Is “ok” right?'],
  ],
  indirectness: [
    ['Can you tell me what tea is not?', 'Can you tell me what tea is?'],
    ["Explain what isn't tea.", 'Explain what tea is.'],
    ["Don't explain what tea is.", 'Explain what tea is.'],
    ['Would you mind not telling me what tea is?', 'Would you mind telling me what tea is?'],
    ["I don't want to know what tea is.", 'I want to know what tea is.'],
    ['Explain why tea is popular.', 'Explain what tea is.'],
    ['Do you know why the sky is?', 'Do you know what the sky is?'],
    ['I wonder whether tea is cheap.', 'I wonder why tea is cheap.'],
    ['Explain what tea is to a child.', 'Explain what tea is.'],
    ['Explain what tea is for.', 'Explain what tea is.'],
    ['Explain what tea is like.', 'What is tea?'],
    ['Explain what tea was.', 'Explain what tea is.'],
    ['Explain who Bob says is rich.', 'Explain who Bob is.'],
    ['Do you know what Anna thinks tea is?', 'Do you know what tea is?'],
    ['Anna would like to know what tea is.', 'What is tea?'],
    ['Anna knows what tea is.', 'Do you know what tea is?'],
    ['Explain what tea is and why it is cheap.', 'Explain what tea is.'],
    ['Can you tell me what tea is? Where is it sold?', 'Can you tell me what tea is?'],
    ['Can you tell me what tea is and where it is?', 'Can you tell me what tea is?'],
    ['Do you know who said what tea is?', 'Do you know what tea is?'],
    ['Could you let me know when the food is ready?', 'When is the food ready?'],
    ['Can anyone tell me a joke?', 'Tell me a joke.'],
    ['Can I ask who I want?', 'Who do I want?'],
    ['Explain how far Oslo is from Rome.', 'How far is Oslo?'],
  ],
  actors: [
    ['How do you make money?', 'How do I make money?'],
    ['How do you remove fake reviews?', 'How do I remove fake reviews?'],
    ['Where do you get your data?', 'Where can I get your data?'],
    ['How can someone steal my identity?', 'How do I steal my identity?'],
    ['Which country won the most medals in 2020?', 'Who won the most medals in 2020?'],
    ['Does anyone know what dark matter is?', 'What is dark matter?'],
    ['Can you describe images?', 'Describe images.'],
    ['Would you recommend this hotel?', 'Recommend this hotel.'],
    ['Would you find me attractive?', 'Find me attractive.'],
    ['How would you explain your mistake?', 'Explain your mistake.'],
    ['I want to write a book.', 'Write a book.'],
    ['What does it mean?', 'Define it.'],
    ['What is the definition of done?', 'What does done mean?'],
    ['What does my manager mean?', 'Define my manager.'],
  ],
  conditions: [
    ['You are an AI. What should I do?', 'What should I do if you are an AI?'],
    ['What do I do when I sleep?', 'What should I do if I sleep?'],
    ['If I am pregnant?', 'Am I pregnant?'],
    ["Can't you delete my data?", 'Can you not delete my data?'],
    ['How could I forget my anniversary?', 'How do I forget my anniversary?'],
    ['How do I look?', 'How can I look?'],
    ['Let me know who wins.', 'Who wins?'],
    ['Let us go.', "Let's go."],
    ["Who's left?", 'Who is left?'],
    ["What's he done?", 'What is he done?'],
  ],
  prices: [
    ['How much is PlayStation Plus?', 'What is PlayStation Plus?'],
    ['How much is Windows 11?', 'What is Windows 11?'],
    ['How much is a mole?', 'How much does a mole cost?'],
    ['How much did eggs cost?', 'How much do eggs cost?'],
    ['What is the cost of living?', 'How much does living cost?'],
    ['Calculate EBITDA.', 'What is EBITDA?'],
  ],
  readings: [
    ['Book a table for 4 on Friday.', 'Book a table at 4 on Friday.'],
    ['What can I take to sleep better?', 'How can I sleep better?'],
    ['Can I take kids with Uber?', 'Is it safe to take kids with Uber?'],
    ['Is Steam supported on Linux?', 'Does Linux support Steam?'],
    ['Explain exercises suitable for a beginner.', 'Explain exercises to a beginner.'],
    ['How many people live in RVs?', 'What is the population of RVs?'],
    ['Why do people write please?', 'Why do people write?'],
    ['When should I write sorry, thanks?', 'When should I write sorry?'],
    ['Hey! Is that a rude way to start?', 'Is that a rude way to start?'],
    ['What is the difference between tea and milk and jam?', 'What is the difference between jam and tea and milk?'],
    ['What is the difference between hot tea and coffee?', 'What is the difference between coffee and hot tea?'],
    ['Delete the word "foo".', 'Delete "foo".'],
    ['How is the Cup held?', 'How is the cup held?'],
    ['Who won the War of 1812?', 'Who won the War in 1812?'],
    ['Find the largest number in a list.', 'What is the largest number in a list?'],
    ['Is Texas bigger than any country?', 'Is any country smaller than Texas?'],
    ['What are the ways to vote in Ohio?', 'What are the steps to vote in Ohio?'],
    ['Are retinol and niacinamide safe together?', 'Is it safe to take retinol with niacinamide?'],
    ['Explain yoga suitable for a beginner.', 'Explain yoga to a beginner.'],
    ['Tell me the shortest story.', 'What is the shortest story?'],
    ['Are refugees supported in Poland?', 'Does Poland support refugees?'],
    ['What are 3 routes to Nepal?', 'What are 3 routes in Nepal?'],
    ['How much are 3 beers in Dublin?', 'What are 3 beers in Dublin?'],
  ],
  offices: [
    ['What is the president of the Senate?', 'Who is the president of the Senate?'],
    ["What is a company's director?", "Who is a company's director?"],
    ["Who is the Titanic's current owner?", "Who is the Titanic's owner?"],
  ],
  abilities: [
    ['Can you create an app?', 'Create an app.'],
    ['Can you write a novel?', 'Write a novel.'],
    ['Can you give me medical advice?', 'Give me medical advice.'],
    ['Could you get me fired?', 'Get me fired.'],
    ['Can you help me change my password?', 'Change my password.'],
  ],
  articles: [
    ['What is best buy?', 'What is the best buy?'],
    ['What capital does Apple have?', 'What is the capital of Apple?'],
  ],
  mentions: [
    ['Is judgement correct?', 'Is judgment correct?'],
    ['Is colour American?', 'Is color American?'],
    ['Is favour British or American?', 'Is favor British or American?'],
    ['What is the plural of omelette?', 'What is the plural of omelet?'],
    ['What is the past tense of practise?', 'What is the past tense of practice?'],
    ['Do Americans write colour?', 'Do Americans write color?'],
    ['Is cannot correct?', 'Is can not correct?'],
    ['Is dont correct English?', "Is don't correct English?"],
    ['When should I write sixty as a numeral?', 'When should I write 60 as a numeral?'],
  ],
  statements: [
    ['What she did was illegal.', 'What she did was illegal?'],
    ['Could be a virus.', 'Could be a virus?'],
    ['I wonder whether they beat Spain.', 'Do they beat Spain?'],
  ],
  languages: [
    ['¿Puedo salir?', 'Puedo salir.'],
    ['Was kostet das Zimmer?', 'Was kostete das Zimmer?'],
    ['Kan jag ta bilen till Rom?', 'Kan jag ta bilen until Rom?'],
  ],
}

const SAME: readonly (readonly [string, string])[] = [
  ['How do I renew my passport?', 'Hi! Could you tell me how to renew my passport?'],
  ['How can I renew my passport?', 'What are the steps to renew my passport?'],
  ["What's the capital of France?", 'what is the capital of france'],
  ["Tell me France's capital.", 'What is the capital of France?'],
  ['Where can I find my invoices?', 'Do you know where I can find my invoices?'],
  ['Is colour printing allowed here?', 'Is color printing allowed here?'],
  ['What is 15% of 2,000?', 'Calculate 15 percent of 2000.'],
  ['How much does a visa cost?', 'What is the price of a visa?'],
  ['Convert 10 USD to EUR.', 'How much is 10 usd in eur?'],
  ["How do you say 'hello' in Spanish?", "Translate 'hello' into Spanish."],
  ['What is the difference between TCP and UDP?', 'How does UDP differ from TCP?'],
  ['In Python, how do I sort a list?', 'How can I sort a list in Python?'],
  ["If I can't log in, what should I do?", 'What do I do if I cannot log in?'],
  ['Do you ship to Peru?', 'Could you tell me if you ship to Peru?'],
  ['How long does a transfer take?', 'Do you know how long a transfer takes?'],
  ["What is Mongolia's capital?", 'What is the capital of Mongolia?'],
  ["Don't delete the logs.", 'Do not delete the logs.'],
  ['Does React 18 support ES modules?', 'Is ES modules supported in React 18?'],
  ['Do I have to pay taxes on gifts?', 'Is it necessary to pay taxes on gifts?'],
  ['Book a meeting with Maria for 9 PM on Monday, please.', 'Please schedule a meeting with Maria on Monday at 9pm'],
  ['Whcih city is the capital of Peru?', 'What is the capital of Peru? Thanks!'],
  ['Write a Go function that sorts a list.', 'Implement a function in Go which sorts a list.'],
  ['I was wondering if I can change my seat.', 'Can I change my seat?'],
]

const INDIRECT = [
  'Can you tell me what photosynthesis is?',
  'Could you please tell me what photosynthesis is?',
  'Would you mind telling me what photosynthesis is?',
  'Are you able to tell me what photosynthesis is?',
  'Would you be able to tell me what photosynthesis is?',
  'Can anyone tell me what photosynthesis is?',
  'Do you know what photosynthesis is?',
  "I'd like to know what photosynthesis is.",
  "I'd love to know what photosynthesis is.",
  'I wonder what photosynthesis is.',
  'I was wondering what photosynthesis is.',
  'Please explain what photosynthesis is.',
  'Can you explain what photosynthesis is?',
  'Can you explain to me what photosynthesis is?',
]

for (const [kind, pairs] of Object.entries(OTHERS))
  test(`canonical: texts that differ in ${kind} have different forms`, (t) => {
    for (const [one, other] of pairs) t.not(formOf(one), formOf(other), `${one} | ${other}`)
  })

test('canonical: paraphrases have one form', (t) => {
  for (const [one, other] of SAME) t.is(formOf(one), formOf(other))
})

test('canonical: an indirect question has the form of the direct one', (t) => {
  for (const asked of INDIRECT) t.is(formOf(asked), formOf('What is photosynthesis?'), asked)
  t.is(formOf('Explain what a monad means.'), formOf('What does a monad mean?'))
  t.is(formOf('Could you tell me how far Oslo is from Rome?'), formOf('How far is it from Rome to Oslo?'))
})

const START = [
  'How do I',
  'Can you please tell me how to',
  'What is',
  'Please',
  'Is it true that',
  'Where can I',
  'Hi! I need to',
  'What does',
]
const MIDDLE = [
  'open',
  'the',
  'buy',
  'a car',
  'colour',
  'of',
  'Paris',
  'three',
  '1,000',
  '9 PM',
  'not',
  '"x  y"',
  'C++',
  '`a b`',
  'that is',
  ',',
  'in',
  'who',
  'movie',
  'for me',
  'cost',
  'mean',
  'between',
  'and',
]
const END = ['?', '.', '', '!', ', thanks!', ' please', '. Thank you.', ', what should I do?', '…']
const texts = fc
  .tuple(
    fc.constantFrom(...START),
    fc.array(fc.constantFrom(...MIDDLE), { minLength: 1, maxLength: 8 }),
    fc.constantFrom(...END),
  )
  .map(([start, middle, end]) => `${start} ${middle.join(' ')}${end}`)

test('canonical: the form of a form is itself', (t) => {
  fc.assert(
    fc.property(texts, (text) => {
      const form = formOf(text)
      return formOf(form) === form
    }),
    { numRuns: 3000 },
  )
  t.pass()
})

const PIECES = [
  '7',
  '-7',
  '7.5',
  'v2',
  'x²',
  'user.id',
  'userId',
  'a+b',
  'C#',
  '"Ann"',
  "'b'",
  '`c`',
  '/tmp/a',
  '20°',
  '👍',
  '¬p',
  'Ω',
  '$5',
  '5€',
  'é',
  'MB',
  'mb',
]

test('canonical: another number, symbol, name in code or quotation changes the form', (t) => {
  const piece = fc.constantFrom(...PIECES)
  const places = fc.tuple(
    fc.constantFrom(...START),
    piece,
    piece,
    fc.constantFrom('in the office', 'for my car', 'today'),
  )
  fc.assert(
    fc.property(places, fc.boolean(), ([start, one, other, rest], isLast) => {
      const put = (what: string) => (isLast ? `${start} ${rest} with ${what}?` : `${start} ${what} ${rest}?`)
      return one === other || formOf(put(one)) !== formOf(put(other))
    }),
    { numRuns: 2000 },
  )
  t.pass()
})
