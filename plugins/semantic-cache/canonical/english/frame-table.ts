import { PLACEHOLDERS } from '../read.ts'

/**
 * Phrasings with their canonical form: `pattern ⇒ form`, tried in this order. A pattern is a regular expression of the
 * whole text, or of its beginning where it ends in `…`; parts in braces are in `PARTS`. `sorted(…)` puts symmetrical
 * parts in one order, `asked(…)` is `who` or `what`. A frame keeps person, tense, modality and number: `how do you` asks
 * for another answer than `how do i`, `which country won` than `who won`, a statement than a condition.
 */
export const TABLE = String.raw`
  # Contractions part what belongs together.
  how large … ⇒ how big …
  (why (?:can|could|will|would|should|is|are|was|were|has|have|does|did)|^(?:do(?! not you)|does|did|is|are|was|were|has|have)) not (i|you|we|they|he|she|it|(?:my|your|our|his|her|their|the|this|that) {T}) … ⇒ $1 $2 not …
  …\bthat goes from\b… ⇒ from…
  …\bchief executive officer of\b… ⇒ ceo of…
  (how|where|when|why) (i|we) (can|could|should|must|may) … ⇒ $1 $3 $2 …
  how many ({T}) (?:are there|there are) in … ⇒ how many $1 are in …
  (?:check|determine|verify) (?:if|whether) ({N}) is (?:an? )?prime(?: number)? ⇒ is $1 prime
  (?:describe|explain) the behavior of ({P}) ⇒ what does $1 do
  whom (do|does|did|can|could|should|will|may|must) … ⇒ who $1 …
  what ({CHOSEN}) (do|does|can|are|is) … ⇒ which $1 $2 …
  …(?<=\b(?:need|do|bring|provide|pay|take|submit|required|necessary) )in order to\b… ⇒ to…
  # How to do something.
  how does one (?=\S+ \S)… ⇒ how to …
  how (?:do|can) i (?!have\b|be\b|not\b|go about\b|look\b|feel\b|sound\b|smell\b|seem\b|owe\b|compare\b|relate\b|benefit\b|gain\b|contribute\b|affect\b|influence\b|suffer\b|stand\b|measure up\b|stack up\b|manage to\b|rank\b|rate\b|appear\b|come across\b|differ\b|fare\b|score\b|lack\b|deserve\b|keep \w+ing\b|end up\b|(?:still|always|never|ever|even|already|suddenly|often)\b|.*\b(?:so|such)\b|(?:not )?know (?:you|him|her|them|us)\b)… ⇒ how to …
  (?:what|which) (?:is the (?:(?:correct |proper )way|way(?= to [a-z]+ (?:an?|the|my|your|{P})(?![^ ]))|(?:correct |right |proper )?(?:method|procedure|process))|are the (?:correct |right |proper )?(?:steps|instructions))(?: (?:that )?i (?:can|need to)(?: use| take| follow)?)? (?:needed |required |involved )?(?:to|for me to) … ⇒ how to …
  (?:give me |list |show me |provide )?(?:the )?(?:steps|instructions) (?:to|for how to) … ⇒ how to …
  i (?:want|would like|need|am trying|wish) to (.+?) ,? ?(?:but i do not know how|how (?:can|do|should) i(?: do (?:it|that|this|so))?) ⇒ how to $1
  # What something is, means, or does.
  what is the (?:meaning|definition) of ({Q}) ⇒ what does $1 mean
  (?:define|what is meant by) ({MEANT}) ⇒ what does $1 mean
  (?:give(?: me)? (?:an?|the|some) explanation of|provide an explanation of|explain to me) … ⇒ explain …
  how would you explain (?!your\b)(.+) to (an? .+) ⇒ explain $1 to $2
  (?:what are|which are|list|name|give me|give) the ({LISTED}) (of|in|for) … ⇒ what are the $1 $2 …
  (?:what is|what are|explain|describe|tell me|tell me about)? ?(?:the )?differences? between ({NP}) and ({NP}) ⇒ what is the difference between sorted($1 | $2)
  how (?:does|do|is|are) ({NP}) (?:differ|different) from ({NP}) ⇒ what is the difference between sorted($1 | $2)
  (?:what is |tell me |calculate )?(?:the )?distance (?:between|from|) ?({T}) (?:and|to) ({T})((?: in (?:miles|kilometers|km))?) ⇒ how far is sorted($1 | $2)$3
  how far is (?:it )?(?:from )?({T}) (?:from|to) ({T})((?: in (?:miles|kilometers|km))?) ⇒ how far is sorted($1 | $2)$3
  (?:which|what) (?:city|town|place) is (?:the )?capital of … ⇒ what is the capital of …
  (what|who) is ({NP})'s ({ATTRIBUTE}) ⇒ $1 is the $3 of $2
  (?:tell me |name |give me )?({NP})'s ({ATTRIBUTE}) ⇒ asked($2) is the $2 of $1
  which ({MEASURED}) (?:does|do) ({NP}) have ⇒ what is the $1 of $2
  (what|who) is (?!{OFTEN_TITLES} )({ATTRIBUTE}) of … ⇒ $1 is the $2 of …
  (?:name|tell me|give me|state|i (?:need|want|would like) to know) (?:the )?({ATTRIBUTE}) of … ⇒ asked($1) is the $1 of …
  who (?:is|was) the (?:author|writer) of … ⇒ who wrote …
  how many people lived in ({PLACE}) in ({N}) ⇒ what was the population of $1 in $2
  (?:tell me |what was )?({NP})'s population (?:for the year|in the year|in) ({P}) ⇒ what was the population of $1 in $2
  which team or person won (.+) (?:of|in) ({N}) ⇒ who won $1 in $2
  # Sums, units and prices.
  (?:calculate|compute|evaluate|how much is|what does|tell me|work out) ({SUM}(?: {SUM})+)(?: equal)? ⇒ what is $1
  (?:how much|what) is ({N}) (?:({CURRENCY}) in ({T})|({T}) in ({UNIT})) ⇒ convert $1 $2$4 to $3$5
  (?:what is|tell me|give me) the (?:cost|price) of ((?:an?|the|this|your) .+) ⇒ how much does $1 cost
  what does (.+) cost ⇒ how much does $1 cost
  (?:at what|what) time (does|do|is|are) … ⇒ what time $1 …
  if it is (.+?) in ({T}) , what is (?:the )?(?:local )?time in ({T}) ⇒ what time is it in $3 when it is $1 in $2
  # Translations of what is quoted.
  translate ({Q}) into (.+) ⇒ translate $1 to $2
  how (?:do you|to|would you) say ({Q}) in (?!{P})({T}(?: {T})?) ⇒ translate $1 to $2
  give(?: me)? the ({T}(?: {T})?) translation of ({Q}) ⇒ translate $2 to $1
  # Whether.
  (?:is it possible for me to|am i able to|would it be possible for me to) … ⇒ can i …
  (?:must i|is it necessary (?:for me )?to|do i have to) … ⇒ do i need to …
  (is|are) ({NP}) supported (?:by (?=.)|in (?={T} {N}$))(.+) ⇒ does $3 support $2
  is ({ONE}) (smaller|younger|slower|colder) than ({ONE}) ⇒ is $3 opposite($2) than $1
  (is|are) ({N}) (?:an? )?prime(?: numbers?)? ⇒ is $2 prime
  can i take ({T}) together with ({T}) safely ⇒ is it safe to take sorted($1 | $2) together
  is it safe to take ({T}) (?:together )?with ({T})(?: together)? ⇒ is it safe to take sorted($1 | $2) together
  # What if, where, who.
  what do i do if … ⇒ what should i do if …
  (how old|when|where) (?:must i|do i have to) (?!not\b)… ⇒ $1 do i need to …
  if (.+?) , what should i do ⇒ what should i do if $1
  where do i (find|download) … ⇒ where can i $1 …
  who has access to (.+) ⇒ who can access $1
  (?:which|what) users can access (.+) ⇒ who can access $1
  # Tasks.
  (?:i need|i want|i would like) (an?) (essay|poem|summary|speech) (?=(?:of {N} words )?(?:about|on|for)\b)… ⇒ write $1 $2 …
  (?:write|compose|draft) an? (essay|story|article|poem|summary) of ({N}) words (?:about|on) (.+) ⇒ write an $1 on $3 , $2 words long
  (?:compose|draft|write) (an?) (email|letter|essay|poem|story|speech|summary|article|message|report)\b… ⇒ write $1 $2…
  write ({NP}) (an (?:email|)|a letter|a message) (?=\w+ing\b|about\b|that\b|saying\b)… ⇒ write $2 to $1 …
  (?:write|implement|create) an? (function|method|program|script|query|class) in ({T}) (?:that|which) … ⇒ write a $2 $1 that …
  (?:implement|create|write) an? ({T}) (function|method|program|script|query|class) (?:that|which) … ⇒ write a $1 $2 that …
  there is an? (bug|error|problem|typo) in (.+?) (?:,|\.) (?:please )?(?:fix|correct) it ⇒ fix the $1 in $2
  (?:what is|which is|find(?= the (?:cheap|fast|near|easi)est)) (?:the )({SUPERLATIVE}) … ⇒ what is the $1 …
  (?:schedule|book|set up|arrange) (an?) (meeting|call|appointment) (?=(?:with|for|on|at|about|between|tomorrow|today|next|this)\b)… ⇒ schedule $1 $2 …
  …\b(?:for ({TIME})|at ({N})) on (monday|tuesday|wednesday|thursday|friday|saturday|sunday|{P} {N})(?![^ ])… ⇒ on $3 at $1$2…
  # A language or program that is named first.
  in ({P}) , (how (?:do i|can i|to) (?!.*\b(?:in|on|at|from|with|and|or|if|that)\b).+) ⇒ $2 in $1
`

/** Frames of indirect questions: `what time it is` alone is no question, and `how the west was won` is a title. */
export const INDIRECT_TABLE = String.raw`
  (?:¿|explain) (what {NP} (?:is|are|was|were|means?)(?: in {T})?) ⇒ ¿ $1
  ¿ how far ({T}) is from ({T}) ⇒ how far is $1 from $2
  ¿ (how much|how many|what) ({NP}) ({BE})( now)? ⇒ $1 $3 $2$4
  ¿ what (an? {NP}|the {NP}) ({BE})( in {T}) ⇒ what $2 $1$3
  ¿ ({WH}) ({NP}) ({BE})( now| in {T})? ⇒ $1 $3 $2$4
  ¿ (how|where|when|why|what|which {T}) (i|we|you|they) (need|have) to … ⇒ $1 do $2 $3 to …
  ¿ (how|where|when|why|what|which {T}) (i|we|one|(?:my|your|our|the|this) {T}) (can|could|should|do|must|may|will|is|are|was|were|has|have) … ⇒ $1 $3 $2 …
  ¿ (how|where|when|why|what|which {T}) (you|they|he|she|it) (can|could|should|must|may|will|is|are|was|were) … ⇒ $1 $3 $2 …
  ¿ (how long|how much|how|where|when) ({NP}) (take|cost|work|start|end|open|close|last)s( in {T})? ⇒ $1 does $2 $3$4
  ¿ (how|where|when|why) ((?:the|my|your|our) {NP}s) (work|start|end|open|close|last) ⇒ $1 do $2 $3
  (?:¿|check|determine|verify|tell me) (?:if|whether) ({N}) is (?:an? )?prime(?: number)? ⇒ is $1 prime
  ¿ whether ({T}) (is|are) ([^,]+) ⇒ $2 $1 $3
  ¿ whether (i|we|you|it|they|he|she|there) (can|could|should|may|must|is|are|am|will|would) ([^,]+) ⇒ $2 $1 $3
  ¿ whether (i|we|you|they) (?!{SAME_PAST}\b)([^,]+) ⇒ do $1 $2
  (?:¿|explain|describe) what ({T}) does ⇒ what does $1 do
  ¿ what ({NP}) means?( in {T})? ⇒ what does $1 mean$2
`

/** Parts of patterns. */
export const PARTS: Readonly<Record<string, string>> = {
  /** Single word or protected piece. */
  T: '[^\\s,;:?.!]+',
  /** Several of them: a phrase without a verb that a frame knows. */
  NP: '(?:(?!(?:is|are|was|were|do|does|did|can|that|which|who|and|or|if|to)\\b)[^\\s,;:?.!]+)(?: (?!(?:is|are|was|were|do|does|did|can|that|which|who|and|or|if|to)\\b)[^\\s,;:?.!]+){0,5}',
  /** Single thing. */
  ONE: '(?:(?:the|an?|my|your|this) )?[^\\s,;:?.!]+',
  /** Protected piece. */
  P: PLACEHOLDERS.any,
  /** Protected piece that begins with a digit; one with a letter or a colon, as times have. */
  N: PLACEHOLDERS.number,
  TIME: PLACEHOLDERS.mixed,
  /** Quoted text. */
  Q: PLACEHOLDERS.quote,
  SUM: `(?:${PLACEHOLDERS.sum}|of|plus|minus|times|divided by|squared|cubed)`,
  /** Quoted text, or a common word in lower case. */
  MEANT: `(?:${PLACEHOLDERS.quote}|(?!(?:it|this|that|he|she|they|you|we|i|one|everything)$)[a-z-]+)`,
  /** Name of a place in lower case; a plural is none. */
  PLACE: '[a-z]+(?<!s)(?: [a-z]+(?<!s))?',
  /** Verb whose past is its present. */
  SAME_PAST:
    '(?:[a-z]+ly )?(?:read|put|set|cut|let|hit|beat|bet|bid|burst|cast|broadcast|forecast|cost|fit|hurt|knit|quit|rid|shed|shut|slit|spit|split|spread|sweat|thrust|upset|wed|wet)',
  BE: '(?:is|are|was|were)',
  WH: '(?:where|who|when|how old|how tall|how far|how big|how long|how large)',
  ATTRIBUTE:
    '(?:capital|population|currency|area|height|length|weight|size|age|ceo|cfo|cto|president|prime minister|king|queen|mayor|founder|author|director|owner|address|email address|phone number|postcode|price|boiling point|melting point|atomic number|atomic mass|chemical symbol|formula|release date|official language|national anthem|time zone|area code|country code|status|default port|opening hours|purpose|syntax|latest version)',
  /** Attributes that begin titles without `the`: `what is age of empires`. */
  OFTEN_TITLES: '(?:age|king|queen|price|size|length|weight|height|area|purpose)',
  CURRENCY: '(?:eur|usd|gbp|jpy|chf|aud)',
  UNIT: '(?:eur|usd|gbp|jpy|chf|aud|euros|dollars|pounds|yen|rupees|miles|kilometers|meters|centimeters|km|cm|mm|feet|inches|yards|grams|kilograms|kg|ounces|liters|gallons|celsius|fahrenheit|seconds|minutes|hours|days|weeks|months)',
  MEASURED:
    '(?:currency|population|official language|time zone|area code|country code|default port|chemical symbol|atomic number)',
  /** Things of which a list is given to choose from. */
  CHOSEN:
    '(?:documents|languages|countries|currencies|browsers|payment methods|operating systems|file formats|airlines)',
  OFFICE: '(?:ceo|cfo|cto|president|prime minister|king|queen|mayor|founder|author|director|owner|chancellor|inventor)',
  LISTED:
    '(?:benefits|drawbacks|side effects|symptoms|causes|types|kinds|steps|advantages|disadvantages|features|uses|effects|risks|requirements|stages|main features|main causes|pros and cons|ingredients|rules)',
  SUPERLATIVE:
    '(?:most expensive|cheapest|fastest|easiest|nearest|largest|best|shortest|longest|highest|latest|oldest|most popular)',
}
