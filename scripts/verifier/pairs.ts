/**
 * DESIGN — generated pairs
 *
 * The verifier judges pairs that no rule has refused, so it must learn what rules cannot see: what small words, endings
 * and other openings mean where little else is left. Questions are put together from parts that were written for this;
 * nothing is taken from a data set. A pair that has one answer asks the same in another frame, number or courtesy; a pair
 * that has two differs by a small word that turns it: `pay the card`, `pay by card`. Parts are dealt to training and
 * checking by their place, so that no phrase is in both.
 */

/** Two questions, and whether one answer fits both. */
export interface LabelledPair {
  readonly a: string
  readonly b: string
  readonly isSame: boolean
}

/** Which half of the parts is used. */
export type Half = 'training' | 'checking'

const DEEDS = `
  renew a library card|paint a wooden fence|descale a kettle|sharpen kitchen knives|tune an acoustic guitar
  merge two branches|mount a network drive|prune an apple tree|store fresh basil|clean a leather sofa
  export a spreadsheet|rotate a log file|patch a bicycle tube|bake sourdough bread|train a puppy
  register a domain|trace a slow query|knit a winter scarf|freeze cooked rice|sketch a portrait
  compress a large folder|borrow an audiobook|water tomato seedlings|archive old messages|calibrate a monitor
  repot an orchid|mute a noisy thread|pickle red onions|index a product table|fold a fitted sheet`
const THINGS = `
  benefits of daily stretching|rules of table tennis|ingredients of a pesto sauce|causes of tidal waves
  parts of a steam engine|symptoms of iron deficiency|features of a good contract|types of volcanic rock
  advantages of column storage|stages of grain fermentation|examples of passive income|uses of potassium nitrate
  signs of battery wear|tools for carving wood|books about naval history|exercises for stiff shoulders
  steps of the water cycle|properties of rare metals|duties of a harbour pilot|limits of the session quota
  meanings of the warning lamps|sources of river pollution|models of shared memory|laws about rented flats`
/** A thing, and the same with another preposition that says no more. */
const VARIANTS = `
  the fees of the course=the fees for the course|the news about the strike=the news on the strike
  the colours of a sunset=the colours in a sunset|the rules of the pool=the rules at the pool
  the risks of skiing=the risks in skiing|the guide on fermenting=the guide to fermenting|the demand of steel=the demand for steel
  the laws on fishing=the laws about fishing|the jobs in the theatre=the jobs at the theatre|the remedies of a cold=the remedies for a cold
  the fashions of the decade=the fashions in the decade|the parts of the engine=the parts in the engine
  the reasons of the delay=the reasons for the delay|the prices of the tickets=the prices for the tickets
  the trends of gardening=the trends in gardening|the questions about the exam=the questions on the exam`
const CLAIMS = `
  cats need grass|copper turns green|the harbour freezes|glass is a liquid|bees can see red|a lease covers repairs
  the index is rebuilt nightly|tea stains teeth|the tide follows the moon|owls hunt by day|the meter counts twice
  a tunnel needs ventilation|plants sleep at night|the archive keeps drafts|salt lowers the melting point|lamps flicker`
/** A word, and small words around it that make something else of it. */
const TURNS = `
  pay the deposit=pay by deposit|top up my account=top up by account|travel the coast=travel by coast
  write the committee=write for the committee|search the archive=search for the archive|speak the assembly=speak for the assembly
  shop the market=shop at the market|judge the panel=judge by the panel|file my claim=file by claim|sort the label=sort by label
  call the operator=call for the operator|wait the train=wait on the train|hunt the falcon=hunt with the falcon
  trade the broker=trade with the broker|print the stencil=print with a stencil|look the window=look at the window
  lead the example=lead by example|send the courier=send by courier|pay the app=pay with the app|rule the decree=rule by decree`
/** A word, and one of the same stem that is something else. */
const TWINS = `
  the meaning of custom|the meaning of customs;the use of glass|the use of glasses;the value of a good|the value of goods
  the origin of arm|the origin of arms;the law of work|the law of works;the history of minute|the history of minutes
  the price of coding|the price of a code;the art of building|the art of a build;the theory of setting|the theory of sets
  the idea of bearing|the idea of a bear;the role of painting|the role of paint;the end of meeting|the end of meets
  the rule of standing|the rule of stands;the cost of spirit|the cost of spirits;the law of saving|the law of saves
  the study of manner|the study of manners;the loss of heading|the loss of a head;the force of filing|the force of files`

const DEED_FRAMES = [
  'How do I {}?', 'How can I {}?', 'how to {}', 'What is the way to {}?', 'Please tell me how to {}.', 'How should I {}?',
  'What are the steps to {}?', 'Could you explain how to {}?', 'How can we {}?', 'Hi! How do you {}? Thanks!',
] // biome-ignore format: a list of frames
const THING_FRAMES = [
  'What are the {}?', 'List the {}.', 'Tell me the {}', 'Which are the {}?', 'what are {}?', 'What are some {}?',
  'Please name the {}.', 'Can you tell me what the {} are?', 'Describe the {}.',
] // biome-ignore format: a list of frames
const CLAIM_FRAMES = [
  'Is it true that {}?',
  'is it true that {}',
  'Is it right that {}?',
  'Please tell me whether {}.',
  'Tell me if {}',
]
const NOUN_FRAMES = ['What is {}?', 'Explain {}.', 'Tell me about {}.', "What's {}?", 'what is {}']

/** All pairs of one half. The same on every run. */
export function generatePairs(half: Half): LabelledPair[] {
  const part = (list: string, separator = '|') => halfOf(listOf(list, separator), half)
  return [
    ...part(DEEDS).flatMap((deed) => samePairs(DEED_FRAMES, [deed, pluralOf(deed)])),
    ...part(THINGS).flatMap((thing) => samePairs(THING_FRAMES, [thing])),
    ...part(VARIANTS).flatMap((variant) => samePairs(THING_FRAMES, variant.split('=').map(withoutArticle))),
    ...part(CLAIMS).flatMap((claim) => samePairs(CLAIM_FRAMES, [claim])),
    ...part(TURNS).flatMap((turn) => otherPairs(DEED_FRAMES, turn.split('='))),
    ...part(TWINS, ';').flatMap((twins) => otherPairs(NOUN_FRAMES, twins.split('|'))),
    ...part(THINGS).flatMap((thing) => otherPairs(NOUN_FRAMES, [thing, `${thing} about`])),
    ...part(THINGS).flatMap((thing) => otherPairs(NOUN_FRAMES, [thing, `${thing} for you`])),
  ]
}

function listOf(list: string, separator: string): string[] {
  const joined = separator === '|' ? list.trim().replaceAll(/\n\s*/g, '|') : list.trim().replaceAll(/\n\s*/g, ';')
  return joined.split(separator).map((entry) => entry.trim())
}

function halfOf(list: readonly string[], half: Half): string[] {
  return list.filter((_, i) => (i % 2 === 0) === (half === 'training'))
}

function pluralOf(deed: string): string {
  return deed.replace(/\ban? (.*\b)(\w+[^s])$/, '$1$2s')
}

function withoutArticle(thing: string): string {
  return thing.replace(/^the /, '')
}

/** Every two frames that differ, each around every two of the phrasings. */
function samePairs(frames: readonly string[], phrasings: readonly string[]): LabelledPair[] {
  return pairsOf(frames).flatMap(([one, other]) =>
    phrasings.map((phrasing) => ({ a: fill(one, phrasings[0] ?? ''), b: fill(other, phrasing), isSame: true })),
  )
}

/** The two phrasings in one frame, and in every two. */
function otherPairs(frames: readonly string[], [one = '', other = '']: readonly string[]): LabelledPair[] {
  const alike = frames.map((frame) => ({ a: fill(frame, one), b: fill(frame, other), isSame: false }))
  const mixed = pairsOf(frames).map(([a, b]) => ({ a: fill(a, one), b: fill(b, other), isSame: false }))
  return [...alike, ...mixed]
}

function pairsOf(list: readonly string[]): [string, string][] {
  return list.flatMap((one, i) => list.slice(i + 1).map((other): [string, string] => [one, other]))
}

function fill(frame: string, phrasing: string): string {
  return frame.replace('{}', phrasing)
}
