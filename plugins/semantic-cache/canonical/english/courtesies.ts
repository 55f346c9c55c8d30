import { PLACEHOLDERS } from '../read.ts'

/** Phrases around a question that carry no request. Texts are in lower case, with separate punctuation. */

const GREETING =
  '^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|dear (?:team|support|all|assistant|sir|madam|sir or madam))(?: there| all| everyone| team| assistant| bot| claude| chatgpt)?'
/** Matches the text behind a greeting; `hello, world` is none. */
const STARTS =
  'what|where|when|why|who|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|may|am|has|have|i|my|we|our|please|quick|just|there|the|if|in|on|for|any|sorry|so|it|this|here|let|tell|explain|show|give|write|list|describe|translate|convert|find|help|compare|calculate|compute|summarize|name|create|make|draft|compose|book|schedule|fix|refund|delete|remove|set|return|run|check|define|implement|revert|roll|remind|suggest|recommend|generate|update|cancel|change|solve|prevent|order'

/** Matches a pronoun that may refer to the greeting: `Hey! Is that rude?` */
const REFERS =
  '(?!.*\\b(?:is|are|was|does|did|do i|about|of|to) (?:(?:that|this|these|those)\\b(?: (?:an?|the|in|mean)\\b|(?: [.,?!])*$)|it(?: [.,?!])*$))'
const ASKS = '(?=(?:what|how|where|when|why|who|whom|whose|which|whether)\\b)'

const OPENINGS: readonly RegExp[] = [
  new RegExp(`${GREETING}(?: [,.!])+ ${REFERS}(?=(?:${STARTS})\\b|${PLACEHOLDERS.any})`),
  new RegExp(
    `^(?:hi|hello|hey)(?: there)? ${REFERS}(?=(?:what|how|where|when|why|who|which|can|could|do|does|is|are|please|i)\\b)`,
  ),
  /^(?:excuse me|sorry to bother you|sorry|okay|so|well) (?:, |! |\. )+/,
  /^(?:(?:i (?:have|got)|i have got|just|here is) )?(?:a |one |another )?(?:quick |short |small |simple )?question (?:[,.:-] )+/,
  /^please help(?: me)?(?: with this)? (?:[,.:!] )+/,
  /^(?:please|kindly) (?:, )?/,
  /^(?:can|could|would|will) you (?:please|kindly) (?=[a-z]+\b)/,
  /^(?:can|could) you (?:possibly )?(?=(?:(?:tell|show) me|(?:give|get|find|send|write|remind) me (?:an?|the|some|my)|(?:suggest|recommend) (?:an?|some)|(?:explain|describe|translate|summarize|define|provide|list|write|create|draft) (?:the|this|to me|what|how|why|when|where|who|which))\b)/,
  new RegExp(
    `^(?:are you able to|would you be able to|(?:can|could) (?:anyone|anybody|someone|somebody)) (?=tell me ${ASKS})`,
  ),
  new RegExp(`^would you mind telling me ${ASKS}`),
  /^(?:can|could) you (?=help me\b)/,
  /^i (?:want|would like|need|would love) you to (?=(?:tell|explain|show|list|describe|write|summarize|translate)\b)/,
  new RegExp(`^i(?: would|'d)? (?:want|like|need|love) to (?:know|find out|ask)(?: you)? (?:, )?${ASKS}`),
  new RegExp(
    `^i (?:am|was|have been) (?:just )?(?:wondering|curious|curious to know|trying to (?:find out|figure out)) (?:, )?${ASKS}`,
  ),
  new RegExp(`^i wonder (?:, )?${ASKS}`),
  new RegExp(
    `^do you (?:happen to )?know (?!how to\\b|(?:who|what|where|why) i (?!can|could|should|must|need))${ASKS}`,
  ),
  new RegExp(`^(?:any idea|any ideas|do you have any idea) ${ASKS}`),
  new RegExp(`^(?:tell me|explain to me)(?: please)? (?:, )?(?!when\\b)${ASKS}`),
  /^(?:explain|show me) (?=how to\b)/,
]
const CLOSINGS: readonly RegExp[] = [
  / [.?!](?: please)? (?:many thanks|thanks|thank you|cheers|thx)(?: (?:a lot|a million|so much|very much|in advance|again|for your help|you))*(?: for your help)?(?: [,.!])*$/,
  / ,(?: please)? (?:many thanks|thanks|thank you|thx)(?: (?:a lot|so much|very much|in advance|for your help))*(?: [.!])*$/,
  / , please(?: [.!])*(?= \?$|$)/,
  /(?<=^(?:can|could|may|will|would|[a-z]+ me)\b.*) please(?: [.!])*(?= \?$|$)/,
]
/** Matches an indirect question with `if`, which elsewhere begins a condition. */
const INDIRECT_IF =
  /^((?:can|could) you (?:please )?tell me|do you (?:happen to )?know|i (?:am|was) (?:just )?wondering|i wonder|i(?: would|'d) like to know) if\b/
const MOST_ROUNDS = 8
/** Fewest words that must remain. */
const FEWEST_WORDS = 2

/** Strips courtesies from both ends, repeatedly. */
export function withoutCourtesies(text: string): string {
  let bare = text.replace(INDIRECT_IF, '$1 whether')
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = bare
    for (const pattern of [...OPENINGS, ...CLOSINGS]) {
      const next = bare.replace(pattern, '').trim()
      if (next.split(' ').length >= FEWEST_WORDS) bare = next
    }
    if (bare === before) break
  }
  return bare
}
