import { PLACEHOLDERS } from '../read.ts'

/* Phrases around a question that carry no request. Texts are in lower case, with separate punctuation. */

const GREETING =
  '^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|dear (?:team|support|all|assistant|sir|madam|sir or madam))(?: there| all| everyone| team| assistant| bot| claude| chatgpt)?'
/** Matches the text behind a greeting; `hello, world` is none. */
const STARTS =
  'what|where|when|why|who|whom|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|may|am|has|have|i|my|we|our|please|quick|just|there|the|if|in|on|for|any|sorry|so|it|this|here|let|tell|explain|show|give|write|list|describe|translate|convert|find|help|compare|calculate|compute|summarize|name|create|make|draft|compose|book|schedule|fix|refund|delete|remove|set|return|run|check|define|implement|revert|roll|remind|suggest|recommend|generate|update|cancel|change|solve|prevent|order|work out'
/** Further first words of requests behind `please`; `please like me` is a title. */
const TASKS =
  'do not|send|get|add|open|close|reset|turn|issue|give|put|pick|choose|use|keep|stop|start|call|move|rename|sort|merge|edit|shorten|improve|correct|review|analyze|provide|outline|state|continue|confirm|verify|install|debug|test|design|rate|answer|reply|print|download|replace|report|renew|pay|buy|reserve|arrange|set up'

/** Matches a request of works, whose titles begin like requests: `please tell rosie chords`. */
const TITLED = '.*\\b(?:lyrics|chords|cast|trailer|soundtrack|singer|song|album|movie|film|episode)\\b'

/** Matches a pronoun that may refer to the greeting: `Hey! Is that rude?` */
const REFERS =
  '(?!.*\\b(?:is|are|was|does|did|do i|about|of|to) (?:(?:that|this|these|those)\\b(?: (?:an?|the|in|mean)\\b|(?: [.,?!])*$)|it(?: (?:mean|sound|come|translate|originate)\\b|(?: [.,?!])*$)))'
const ASKS = '(?=(?:what|how|where|when|why|who|whom|whose|which|whether)\\b)'
/** Replaces the opening of an indirect question, whose words are in another order: no text has this token. */
export const INDIRECT = '¿ '

const OPENINGS: readonly RegExp[] = [
  new RegExp(`${GREETING}(?: [,.!])+ ${REFERS}(?=(?:${STARTS})\\b|${PLACEHOLDERS.any})`),
  new RegExp(
    `^(?:hi|hello|hey)(?: there)? ${REFERS}(?=(?:what|how|where|when|why|who|which|can|could|do|does|is|are|please|i)\\b)`,
  ),
  new RegExp(`^(?:excuse me|sorry to bother you|sorry|okay|so|well) (?:, |! |\\. )+(?:but )?${REFERS}`),
  /^(?:(?:i (?:have|got)|i have got|just|here is) )?(?:a |one |another )?(?:quick |short |small |simple )?question (?:[,.:-] )+/,
  /^please help(?: me)?(?: with this)? (?:[,.:!] )+/,
  new RegExp(`^(?:please|kindly) (?:, )?(?!${TITLED})(?=(?:${STARTS}|${TASKS})\\b)`),
  /^(?:can|could|would|will) you (?:please|kindly) (?=[a-z]+\b)/,
  /^(?:can|could) you (?:possibly )?(?=(?:(?:tell|show) me|(?:give|get|find|send|write|remind) me (?:an?|the|some|my)|(?:suggest|recommend) (?:an?|some)|(?:explain|describe|translate|summarize|define|provide|list|write|create|draft) (?:the|this|to me|what|how|why|when|where|who|which))\b)/,
  new RegExp(
    `^(?:are you able to|would you be able to|(?:can|could) (?:anyone|anybody|someone|somebody)) (?=tell me ${ASKS})`,
  ),
  /^(?:can|could) you (?=help me\b)/,
  /^i (?:want|would like|need|would love) you to (?=(?:tell|explain|show|list|describe|write|summarize|translate)\b)/,
  /^(?:explain|show me) (?=how to\b)/,
]
const INDIRECT_OPENINGS: readonly RegExp[] = [
  new RegExp(`^would you mind telling me ${ASKS}`),
  new RegExp(`^i(?: would)? (?:want|like|need|love) to (?:know|find out|ask)(?: you)? (?:, )?${ASKS}`),
  new RegExp(
    `^i (?:am|was|have been) (?:just )?(?:wondering|curious|curious to know|trying to (?:find out|figure out)) (?:, )?${ASKS}`,
  ),
  new RegExp(`^i wonder (?:, )?${ASKS}`),
  new RegExp(
    `^do you (?:happen to )?know (?!how to\\b|(?:who|what|where|why) i (?!can|could|should|must|need))${ASKS}`,
  ),
  new RegExp(`^(?:any idea|any ideas|do you have any idea) ${ASKS}`),
  new RegExp(`^(?:tell me|explain to me)(?: please)? (?:, )?(?!when\\b)${ASKS}`),
]
const CLOSINGS: readonly RegExp[] = [
  /(?<= [.?!])(?: please)? (?:many thanks|thanks|thank you|cheers|thx)(?: (?:a lot|a million|so much|very much|in advance|again|for your help|you))*(?: for your help)?(?: [,.!])*$/,
  / ,(?: please)? (?:many thanks|thanks|thank you|thx)(?: (?:a lot|so much|very much|in advance|for your help))*(?: [.!])*$/,
  / , please(?: [.!])*(?= \?$|$)/,
  / please(?: [.!])*(?= \?$|$)(?<=^(?:can|could|may|will|would|[a-z]+ me)\b.*)/,
]
/** Matches an indirect question with `if`, which elsewhere begins a condition. */
const INDIRECT_IF =
  /^((?:can|could) you (?:please )?tell me|do you (?:happen to )?know|i (?:am|was) (?:just )?wondering|i wonder|i would like to know) if\b/
const MOST_ROUNDS = 8
/** Fewest words that must remain. */
const FEWEST_WORDS = 2

/** Strips courtesies from both ends, repeatedly; `INDIRECT` replaces the opening of an indirect question. */
export function withoutCourtesies(text: string): string {
  let bare = text.replace(INDIRECT_IF, '$1 whether')
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = bare
    for (const pattern of [...OPENINGS, ...CLOSINGS]) bare = replaced(bare, pattern, '')
    for (const pattern of INDIRECT_OPENINGS) bare = replaced(bare, pattern, INDIRECT)
    if (bare === before) break
  }
  return bare
}

function replaced(text: string, pattern: RegExp, by: string): string {
  const next = text.replace(pattern, by).trim()
  return next.split(' ').length >= FEWEST_WORDS + (by === '' ? 0 : 1) ? next : text
}
