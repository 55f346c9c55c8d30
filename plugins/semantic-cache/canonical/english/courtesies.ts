import { PLACEHOLDERS } from '../read.ts'

/** Phrases around a question that carry no request. Texts are in lower case, with separate punctuation. */

const GREETING =
  '^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings|dear (?:team|support|all|assistant|sir|madam|sir or madam))(?: there| all| everyone| team| assistant| bot| claude| chatgpt)?'
/** Matches the text behind a greeting; `hello, world` is none. */
const STARTS =
  'what|where|when|why|who|which|whose|how|is|are|was|were|do|does|did|can|could|should|would|will|may|am|has|have|i|my|we|our|please|quick|just|there|the|if|in|on|for|any|sorry|so|it|this|here|let|tell|explain|show|give|write|list|describe|translate|convert|find|help|compare|calculate|compute|summarize|name|create|make|draft|compose|book|schedule|fix|refund|delete|remove|set|return|run|check|define|implement|revert|roll|remind|suggest|recommend|generate|update|cancel|change|solve|prevent|order'

const OPENINGS: readonly RegExp[] = [
  new RegExp(`${GREETING}(?: [,.!])+ (?=(?:${STARTS})\\b|${PLACEHOLDERS.any})`),
  /^(?:hi|hello|hey)(?: there)? (?=(?:what|how|where|when|why|who|which|can|could|do|does|is|are|please|i)\b)/,
  /^(?:excuse me|sorry to bother you|sorry|okay|so|well) (?:, |! |\. )+/,
  /^(?:i (?:have|got)|i have got|just|here is) (?:a|one|another) (?:quick |short |small |simple )?question (?:[,.:-] )+/,
  /^(?:a )?(?:quick|short|small|simple) question (?:[,.:-] )+/,
  /^please help(?: me)?(?: with this)? (?:[,.:!] )+/,
  /^(?:please|kindly) (?:, )?/,
  /^(?:can|could|would|will) you (?:please|kindly) (?=[a-z]+\b)/,
  /^(?:can|could|would|will) you (?:possibly )?(?=(?:(?:tell|show|give|get|find|send|write|remind) me|let me know|explain|describe|translate|summarize|define|suggest|recommend|provide|list|write (?:a|an|the|some)|create (?:a|an)|draft (?:a|an))\b)/,
  /^(?:are you able|would you be able|(?:can|could) (?:anyone|anybody|someone|somebody)) (?:to |please )?(?=tell me (?:what|how|where|why|who|whom|whose|which|whether)\b)/,
  /^would you mind (?:telling me|letting me know) (?=(?:what|how|where|why|who|whom|whose|which|whether)\b)/,
  /^(?:can|could) you (?:please )?help me (?:to )?(?=(?:find|understand|fix|write|convert|calculate|solve|book|change)\b)/,
  /^i (?:want|would like|need|would love) (?:you )?to (?=(?:tell|explain|show|list|describe|write|summarize|translate)\b)/,
  /^i (?:would )?(?:want|like|need|love) to (?:know|find out|ask)(?: you)? (?:, )?(?=(?:what|how|where|when|why|who|whom|whose|which|if|whether)\b)/,
  /^i (?:am|was|have been) (?:just )?(?:wondering|curious|curious to know|trying to (?:find out|figure out)) (?:, )?(?=(?:what|how|where|when|why|who|whom|whose|which|if|whether)\b)/,
  /^i wonder (?:, )?(?=(?:what|how|where|when|why|who|whom|whose|which|if|whether)\b)/,
  /^(?:do|does|would) (?:you|anyone|anybody|someone|somebody) (?:happen to )?know (?=(?:what|how(?! to\b)|where|when|why|who|whom|whose|which|if|whether)\b)/,
  /^(?:any idea|any ideas|do you have any idea) (?=(?:what|how|where|when|why|who|which)\b)/,
  /^(?:tell me|let me know|show me|remind me|explain to me)(?: please)? (?:, )?(?=(?:what|how|where|why|who|whom|whose|which|whether)\b)/,
  /^explain (?=how to\b)/,
]
const CLOSINGS: readonly RegExp[] = [
  / [,.?!](?: please)? (?:many thanks|thanks|cheers|thx)(?: (?:a lot|a million|so much|very much|in advance|again|for your help|you))*(?: for your help)?(?: [,.!])*$/,
  / (?:, )?please(?: [.!])*(?= \?$|$)/,
  / (?:, )?(?:do you know|can you help|could you help(?: me)?|can you help me|any ideas?)(?= \?$)/,
]
const FOR_ME =
  /^((?:write|draft|compose|create|list|find|calculate|summarize|translate|convert|generate|book|compute)\b(?!.*\b(?:what|that|which|who|how|if|good|best|right|safe|enough|works?|made|meant|is|are|was|were)\b).*) for me$/
const TO_ME =
  /^(explain (?!.*\b(?:what|that|which|who|how|why|was|were|is|are|happen\w*|\w+ed|gift|letter|message|owe\w*)\b).*) to me$/
const GIVEN_TO_ME =
  /^(write|draft|compose|create|find|give|show|make|list|recommend|suggest|provide|get|book) me (?=(?:a|an|the|some|all|any|your|my|two|[\ue000-\uf7ff])\b|[\ue000-\uf7ff]|list\b)/
const MOST_ROUNDS = 8
/** Fewest words that must remain. */
const FEWEST_WORDS = 2

/** Strips courtesies from both ends, repeatedly. */
export function withoutCourtesies(text: string): string {
  let bare = text
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const before = bare
    for (const pattern of [...OPENINGS, ...CLOSINGS]) {
      const next = bare.replace(pattern, '').trim()
      if (next.split(' ').length >= FEWEST_WORDS) bare = next
    }
    bare = bare.replace(FOR_ME, '$1').replace(TO_ME, '$1').replace(GIVEN_TO_ME, '$1 ')
    if (bare === before) break
  }
  return bare
}
