import test from 'ava'
import { type Circumstances, compileCondition, type Situation } from './condition.ts'
import { ExampleIndex } from './examples.ts'
import { MatchText } from './match-text.ts'
import type { ConditionSource } from './pattern-schema.ts'

const INDEX = new ExampleIndex([
  { owner: 'own', text: 'optimise my postgres query' },
  { owner: 'other', text: 'book a table in a restaurant' },
])
const TEXTS = {
  last_user: 'About SQL, in the Café',
  first_user: 'Good morning',
  any_user: 'Good morning About SQL',
  system: 'You are Acme',
}

interface Given extends Partial<Circumstances> {
  text?: string
  turn?: number
}

/** Returns the score of the condition in a conversation, or with the texts alone. */
function scoreOf(source: ConditionSource, { text, turn = 2, ...known }: Given = {}): number {
  const circumstances = {
    models: ['claude-opus-4-8', 'anthropic/claude-opus-4-8'],
    tools: ['mcp__postgres__query'],
    headers: {},
    metadata: {},
    ...known,
  }
  const situation: Situation = {
    text: (where) => new MatchText(where === 'last_user' ? (text ?? TEXTS.last_user) : TEXTS[where], INDEX),
    turn,
    isFirst: false,
    circumstances,
  }
  return compileCondition(source, { owner: 'own', unknown: 1 })(situation)
}

const cases: [claim: string, holds: boolean, source: ConditionSource, given?: Given][] = [
  ['keywords hold in any case', true, { keywords: ['sql'] }],
  ['keywords hold without their accents', true, { keywords: ['cafe'] }],
  ['one of the keywords is enough', true, { keywords: ['nosuch', 'about sql'] }],
  ['keywords are whole words', false, { keywords: ['sq', 'bout'] }],
  ['keywords of several words match together', false, { keywords: ['about the'] }],
  ['keywords may span a line end', true, { keywords: ['query plan'] }, { text: 'the Query\n plan' }],
  ['keywords may hold symbols', true, { keywords: ['c++'] }, { text: 'in C++?' }],
  ['keywords with symbols are not their letters', false, { keywords: ['c++'] }, { text: 'vitamin c' }],
  ['keywords hold in other scripts', true, { keywords: ['привет'] }, { text: 'Ну, Привет!' }],
  [
    'keywords hold in the middle of a long text',
    true,
    { keywords: ['sql'] },
    { text: `${'x '.repeat(9000)} sql ${'x '.repeat(9000)}` },
  ],
  ['one of the expressions is enough', true, { regex: ['nosuch', 's.l'] }],
  ['all members must hold', false, { regex: ['sql'], keywords: ['nosuch'] }],
  ['one of the branches of any is enough', true, { any: [{ keywords: ['nosuch'] }, { regex: ['sql'] }] }],
  ['any is joined with the rest', false, { any: [{ regex: ['sql'] }], models: ['gpt-*'] }],
  ['first_user looks at the first message', true, { keywords: ['morning'], where: 'first_user' }],
  ['first_user looks at no other', false, { keywords: ['sql'], where: 'first_user' }],
  ['any_user looks at all so far', true, { regex: ['morning.*sql'], where: 'any_user' }],
  ['system looks at the system text', true, { keywords: ['acme'], where: 'system' }],
  ['branches take over where', true, { where: 'system', any: [{ keywords: ['acme'] }] }],
  ['branches may look elsewhere', true, { where: 'system', any: [{ keywords: ['sql'], where: 'last_user' }] }],
  ['models are globs', true, { models: ['gpt-*', 'claude-*'] }],
  ['models may be named with their provider', true, { models: ['anthropic/*-4-8'] }],
  ['globs hold for the whole name', false, { models: ['claude'] }],
  ['tools_any asks for one of the tools', true, { tools_any: ['mcp__postgres__*'] }],
  ['without tools tools_any does not hold', false, { tools_any: ['*'] }, { tools: [] }],
  [
    'headers must all be there',
    false,
    { headers: { 'x-team': ['*'], 'x-other': ['*'] } },
    { headers: { 'x-team': 'a' } },
  ],
  ['metadata holds by its value', true, { metadata: { user_id: ['u-*'] } }, { metadata: { user_id: 'u-1' } }],
  ['metadata that is not there does not hold', false, { metadata: { toString: ['*'] } }],
  ['min_turn counts messages of the user before', true, { min_turn: 2 }],
  ['min_turn does not hold earlier', false, { min_turn: 3 }],
  [
    'examples hold for similar texts',
    true,
    { examples: ['x'] },
    { text: 'can you optimise this postgres query for me' },
  ],
  [
    'examples do not hold for texts nearer to others',
    false,
    { examples: ['x'] },
    { text: 'book me a table in the restaurant' },
  ],
  ['examples do not hold for dissimilar texts', false, { examples: ['x'] }, { text: 'my holiday was nice' }],
  [
    'a higher min_score requires more similarity',
    false,
    { examples: ['x'], min_score: 0.99 },
    { text: 'can you optimise this postgres query for me' },
  ],
  ['a condition without members holds', true, {}],
]
for (const [claim, holds, source, given] of cases) {
  test(`condition: ${claim}`, (t) => t.is(scoreOf(source, given) > 0, holds))
}

test('condition: examples score between 0 and 1, the example itself 1', (t) => {
  const text = 'please optimise my postgres query'
  const score = scoreOf({ examples: ['x'] }, { text })
  t.true(score >= 0.5 && score < 1, String(score))
  t.is(scoreOf({ any: [{ examples: ['x'] }, { keywords: ['postgres'] }] }, { text }), 1)
  t.is(scoreOf({ examples: ['x'], keywords: ['postgres'] }, { text }), score)
})
