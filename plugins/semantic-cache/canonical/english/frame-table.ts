import { PLACEHOLDERS } from '../read.ts'

/**
 * Ways to ask, and the one that stands for each: `pattern ⇒ form`, tried in this order. A pattern is a regular expression
 * of the whole text, or of its beginning where it ends in `…`; parts in braces are in `PARTS`. `sorted(…)` puts what is
 * symmetrical in one order, `base(…)` makes `cancel` of `canceling`, `asked(…)` is `who` or `what`.
 */
export const TABLE = String.raw`
  # Contractions part what belongs together.
  …\b(do|does|did|is|are|was|were|can|could|will|would|should|has|have) not (i|you|we|they|he|she|it|(?:my|your|our|his|her|their|the|this|that) {T}) … ⇒ $1 $2 not …
  # Indirect questions.
  what time it is\b… ⇒ what time is it…
  ({WH}) ({NP}) ({BE})( now)? ⇒ $1 $3 $2$4
  (how|where|when|why|what|which {T}) (i|we|one) (can|could|should|do|must|may|need to|have to) … ⇒ $1 $3 $2 …
  (how|where|when|why|what|which {T}) (need to|have to) i … ⇒ $1 do i $2 …
  (how|where|when|why) i (?=(?:get|go|change|reset|cancel|use|make)\b)… ⇒ $1 do i …
  (?:(?:tell me|check|determine|verify) )?(?:if|whether) ({N}) (is) ([^,]+) ⇒ $2 $1 $3
  whether ({T}) (is|are|was|were) ([^,]+) ⇒ $2 $1 $3
  (?:if|whether) (i|we|you|it|they|he|she|there) (can|could|should|may|must|is|are|am|will|would) ([^,]+) ⇒ $2 $1 $3
  (?:if|whether) (i|we|you|they) (need|have) to ([^,]+) ⇒ do $1 $2 to $3
  (?:explain|describe) what ({T}) does ⇒ what does $1 do
  (?:describe|explain) the behavior of ({P}) ⇒ what does $1 do
  what ({T}) does ⇒ what does $1 do
  what ({NP}) (?:means?|meant) ⇒ what does $1 mean
  # How to do something.
  how does one … ⇒ how to …
  how (?:do|can|could|would|should|may|might|shall) (?:i|one|someone|somebody|a person)(?: actually| best| possibly| go ahead and)? (?!have\b|be\b|go about\b)… ⇒ how to …
  how (?:do|would) you (?=(?:make|cook|bake|boil|fry|tie|solve|pronounce|build|draw|install|uninstall|sharpen|fold|plant|grow|knit|clean|convert|remove|reset|renew|fix|replace|wash|paint|peel|cut|bleed|brew|prune|trim|roast|grill|poach|steam|whisk|melt|thaw|carve|sew|iron|crochet|solder|weld|braid|tune|pickle|descale|unclog|defrost|sand|varnish|season|compost|germinate|propagate|repot)\b)(?!.*\b(?:i|me|my|we|us|our|your|yours|yourself)\b)… ⇒ how to …
  how (?:do|can|could|would|should) (?:i|one) go about ({T}ing)\b… ⇒ how to base($1)…
  (?:what|which) (?:is|are) (?:the |a |some )?(?:possible |various |different |correct |right |proper )?(?:ways?|methods?|steps|procedures?|process|instructions)(?: (?:that )?i (?:can|should|need to|must)(?: use| take| follow)?)? (?:needed |required |involved )?(?:to|for me to) … ⇒ how to …
  (?:what|which) (?:is|are) (?:the |a |some )?(?:possible |various |different |correct |right |proper )?(?:(?:ways?|methods?) (?:of|for)|(?:steps|procedures?|process) for) ({T}ing)\b… ⇒ how to base($1)…
  what (?:steps )?(?:do i|should i|must i|can i) (?:need to |have to )?(?:do|take|follow)(?: in order)? to … ⇒ how to …
  (?:is there|are there) (?:a|any|some)(?: good| easy)? (?:ways?|methods?) (?:to|for me to|of|that i can|i can) … ⇒ how to …
  (?:show|teach|tell) me how (?:to|i can|i could|i should) … ⇒ how to …
  (?:explain|describe|steps|instructions on|guide on|instructions for|the steps)(?: on)? how to … ⇒ how to …
  (?:give me |list |show me |provide )?(?:the )?(?:steps|instructions) (?:to|for how to) … ⇒ how to …
  i (?:want|would like|need|am trying|wish) to (.+?) ,? ?(?:but i do not know how|how(?: (?:can|do|should) i(?: do (?:it|that|this|so))?)?) ⇒ how to $1
  (?:what is|which is) (?:the )?(?:best|ideal|optimal|best possible) (?:way|method|approach) (?:to|for me to) … ⇒ best way to …
  (?:how to best|how best to|what would be the best way to|best method to|the best way to) … ⇒ best way to …
  (?:what is|which is) (?:the )?(easiest|fastest|cheapest|safest) (?:way|method) (?:to|for me to) … ⇒ $1 way to …
  # What something is, means, or does.
  (?:(?:what is|explain|tell me|give me|what are) (?:the )?(?:meaning|definition)s? of|define|what is meant by|(?:the )?(?:meaning|definition) of) (.+) ⇒ what does $1 mean
  what do you mean by (.+) ⇒ what does $1 mean
  what does (.+) stand for ⇒ what does $1 stand for
  (?:give(?: me)? (?:an?|the|some) explanation of|provide an explanation of|explain to me|how would you explain) … ⇒ explain …
  explain (.+) (?:suitable|appropriate) for (an? .+) ⇒ explain $1 to $2
  (?:give(?: me)?|show(?: me)?|make|create|provide(?: me)?(?: with)?|get me) (?:a |the )?list of (?:the )?… ⇒ list …
  enumerate … ⇒ list …
  (?:what are|which are|list|name|give me|give) the ({LISTED}) (of|in|for) … ⇒ what are the $1 $2 …
  (?:what is|what are|explain|describe|tell me|tell me about)? ?(?:the )?differences? between ({NP}) and ({NP}) ⇒ what is the difference between sorted($1 | $2)
  how (?:does|do|is|are) ({NP}) (?:differ|different) from ({NP}) ⇒ what is the difference between sorted($1 | $2)
  ({T}) vs ({T}) ,? ?(?:what is the )?difference ⇒ what is the difference between sorted($1 | $2)
  (?:what is |tell me |calculate )?(?:the )?distance (?:between|from|) ?({T}) (?:and|to) ({T})((?: in (?:miles|kilometers|km))?) ⇒ how far is sorted($1 | $2)$3
  how far is (?:it )?(?:from )?({T}) (?:from|to) ({T})((?: in (?:miles|kilometers|km))?) ⇒ how far is sorted($1 | $2)$3
  (?:which|what) (?:city|town|place) is (?:the )?capital of … ⇒ what is the capital of …
  (?:what is |who is |tell me |name |give me )?({NP})'s (?:current )?({ATTRIBUTE}) ⇒ asked($2) is the $2 of $1
  (?:name|tell me|give me|state|find|what is|who is|i (?:need|want|would like) to know)(?: the)?(?: current)? ({OFFICE}) of … ⇒ who is the $1 of …
  (?:name|tell me|give me|state|what is|i (?:need|want|would like) to know) (?:the )?({ATTRIBUTE}) of … ⇒ asked($1) is the $1 of …
  (?:which|what) ({ATTRIBUTE}) (?:does|do) ({NP}) have ⇒ what is the $1 of $2
  ({NP})'s current ({OFFICE}) is who ⇒ who is the $2 of $1
  who (?:is|was) the (?:author|writer) of … ⇒ who wrote …
  who (?:is|was) the inventor of … ⇒ who invented …
  who (?:is|was) the founder of … ⇒ who founded …
  who (?:is|was) the discoverer of … ⇒ who discovered …
  how many people live in (.+) ⇒ what is the population of $1
  how many people lived in (.+) ⇒ what was the population of $1
  (?:tell me |what was )?({NP})'s population (?:for the year|in the year|in) ({P}) ⇒ what was the population of $1 in $2
  who won (.+) (?:in the year|of|in) ({N}) ⇒ who won $1 in $2
  which (?:team or person|team|player|country|person) won (.+) ({N}) ⇒ who won $1 $2
  (?:who was |who is )?(?:the )?winner of (.+) (?:in|of) ({N}) ⇒ who won the $1 in $2
  ({NP}) ({N}) winner ⇒ who won the $1 in $2
  # Sums, units and prices.
  (?:calculate|compute|evaluate|how much is|what does|tell me|work out) ({SUM}(?: {SUM})*)(?: equal)? ⇒ what is $1
  ({N}) ({T}) = \? ({T}) ⇒ convert $1 $2 to $3
  (?:how (?:much|many)|what) (?:is|are) ({N}) ({T}) (?:in|to|into) ({T}) ⇒ convert $1 $2 to $3
  convert ({N}) ({T}) (?:into|in) ({T}) ⇒ convert $1 $2 to $3
  ({N}) ({T}) (?:to|into) ({T}) ⇒ convert $1 $2 to $3
  how many ({T}) (?:is|are)(?: there)?(?: in)? ({N}) ({T}) ⇒ convert $2 $3 to $1
  (?:what is|tell me|give me) (?:the )?(?:price|cost) of (.+) ⇒ how much does $1 cost
  what does (.+) cost ⇒ how much does $1 cost
  how much (?:do|did) (.+) cost ⇒ how much do $1 cost
  how much is (an? {NP}|th[e] {NP}) ⇒ how much does $1 cost
  how much time (does|did|will) it take… ⇒ how long $1 it take…
  how long will it take… ⇒ how long does it take…
  (?:at what|what) time (does|do|is|are) … ⇒ what time $1 …
  (?:what is the|tell me the) (?:current |local |present )?time(?: now)? in (.+?)( now)? ⇒ what time is it in $1
  what time is it (?:now )?in (.+?) now ⇒ what time is it in $1
  if it is (.+?) in ({T}) , what is (?:the )?(?:local )?time in ({T}) ⇒ what time is it in $3 when it is $1 in $2
  # Translations of what is quoted.
  (?:translate|how (?:do you|to|would you) say|what is|give(?: me)? the translation of) ({Q}) (?:in|to|into) ({T}(?: {T})?) ⇒ translate $1 to $2
  (?:give(?: me)?|what is) (?:the )?({T}(?: {T})?) translation of ({Q}) ⇒ translate $2 to $1
  # Whether.
  (?:is it possible (?:for me )?to|am i able to|is there a possibility to|would it be possible (?:for me )?to|could i) … ⇒ can i …
  is it (?:okay|all right|alright|fine) (?:for me )?(?:to|if i) … ⇒ is it okay to …
  (?:is it (?:a good idea|wise|advisable) (?:for me )?to|would it be (?:a good idea|wise) to|ought i to) … ⇒ should i …
  (?:must i|is it (?:necessary|mandatory|compulsory|required) (?:for me )?to|am i required to|do i have to|do i really need to|am i obliged to) … ⇒ do i need to …
  (is|are) ({NP}) supported (?:in|by|on) (.+) ⇒ does $3 support $2
  (?:does|do|can) (.+) (?:offer support for|have support for|provide support for) (.+) ⇒ does $1 support $2
  (?:would you say|do you think|is it true that|is it correct that)(?: that)? ({NP}) is (.+) ⇒ is $1 $2
  is ({NP}) (smaller|younger|lighter|slower|shorter|cheaper|colder|weaker) than ({NP}) ⇒ is $3 opposite($2) than $1
  which is ({T}er) ,? ?({T}) or ({T}) ⇒ which is $1 of sorted($2 | $3)
  (is|are) ({N}) (?:an? )?prime(?: numbers?)? ⇒ is $2 prime
  (?:can i|is it safe to) take ({T}) (?:together )?(?:with|and) ({T})(?: safely| together)? ⇒ is it safe to take sorted($1 | $2) together
  are ({T}) and ({T}) safe (?:in combination|together) ⇒ is it safe to take sorted($1 | $2) together
  # Why, what if, where, who.
  (?:why is it that|what is the reason that|for what reason|how come) (.+) ⇒ how come $1
  (?:what is the (?:main )?reason (?:why|for which)) (.+) ⇒ how come $1
  (?:what (?:is|are) the (?:main )?(?:cause|causes|reason|reasons) (?:of|for)|what (?:is|are) causing) (.+) ⇒ what causes $1
  what (?:will happen|is going to happen|happens) (?:if|when|should) (.+) ⇒ what happens if $1
  (?:what (?:should|can|do) i do|what to do) (?:if|when|in case) (.+) ⇒ what should i do if $1
  (?:if |when )?(.+?) [,.] (?:what (?:should|can|do) i do(?: now)?|what now|what to do(?: now)?) ⇒ what should i do if $1
  where (?:can|could|do|would|might) (?:i|one|you) (find|get|see|buy|download) … ⇒ where can i $1 …
  where (is|are) ({NP}) (?:located|situated) ⇒ where $1 $2
  (?:what is|tell me) the (?:exact )?location of (.+) ⇒ where is $1
  who has access to (.+) ⇒ who can access $1
  (?:which|what) users can access (.+) ⇒ who can access $1
  # Tasks.
  (?:i need|i want|i would like) (an?) (essay|story|article|poem|summary|letter|speech) … ⇒ write $1 $2 …
  (?:write|compose|draft) an? (essay|story|article|poem|summary) of ({N}) words (?:about|on) (.+) ⇒ write an $1 on $3 , $2 words long
  (?:compose|draft|write) (an?) (email|letter|essay|poem|story|speech|summary|article|message|report)\b… ⇒ write $1 $2…
  write ({NP}) (an (?:email|)|a letter|a message) (?=\w+ing\b|about\b|that\b|saying\b)… ⇒ write $2 to $1 …
  (write|draft|compose) (an? (?:essay|poem|story|article|speech|summary)) about … ⇒ write $2 on …
  (?:write|implement|create) an? (function|method|program|script|query|class) in ({T}) (?:that|which) … ⇒ write a $2 $1 that …
  (?:implement|create|write) an? ({T}) (function|method|program|script|query|class) (?:that|which) … ⇒ write a $1 $2 that …
  there is an? (bug|error|problem|typo) in (.+?) (?:,|\.) (?:please )?(?:fix|correct) it ⇒ fix the $1 in $2
  fix the (bug|error|problem) (?:that is|which is) in … ⇒ fix the $1 in …
  (?:what is|which is|find|find me|show|show me|give me|tell me|list) (?:the )?({SUPERLATIVE}) … ⇒ what is the $1 …
  (?:schedule|book|set up|arrange) (an?) (meeting|call|appointment) … ⇒ schedule $1 $2 …
  …\b(?:at|for) ({N}) on (monday|tuesday|wednesday|thursday|friday|saturday|sunday)\b… ⇒ on $2 at $1…
  …\b(monday|tuesday|wednesday|thursday|friday|saturday|sunday) , (?:at )?({N}) ⇒ on $1 at $2
  # What is said first, and means the same at the end.
  ((?:in|on|with|using|for|at|during|after|before|with regard to) (?:{T} ){0,5}{T}) , ((?:how|what|which|where|when|why|who|can|could|should|is|are|do|does|did|compare|explain|list|find|write) (?!{CLAUSE}).+?)(?: \?)? ⇒ $2 $1
`

/** Parts of patterns. */
export const PARTS: Readonly<Record<string, string>> = {
  /** One word or protected piece. */
  T: '[^\\s,;:?.!]+',
  /** A few of them: a phrase without a verb that a frame knows. */
  NP: '(?:(?!(?:is|are|was|were|do|does|did|can|that|which|who|and|or|if|to)\\b)[^\\s,;:?.!]+)(?: (?!(?:is|are|was|were|do|does|did|can|that|which|who|if|to)\\b)[^\\s,;:?.!]+){0,5}',
  /** A protected piece. */
  P: PLACEHOLDERS.any,
  /** One that begins with a digit. */
  N: PLACEHOLDERS.number,
  /** Quoted text. */
  Q: PLACEHOLDERS.quote,
  SUM: `(?:${PLACEHOLDERS.any}|of|plus|minus|times|divided by|squared|cubed)`,
  BE: '(?:is|are|was|were)',
  WH: '(?:what|where|who|when|how old|how tall|how far|how big|how long|how large|how much|how many)',
  ATTRIBUTE:
    '(?:capital|population|currency|area|height|length|weight|size|age|ceo|cfo|cto|president|prime minister|king|queen|mayor|founder|author|director|owner|address|email address|phone number|postcode|price|boiling point|melting point|atomic number|atomic mass|chemical symbol|formula|release date|official language|national anthem|time zone|area code|country code|status|default port|opening hours|purpose|syntax|latest version)',
  OFFICE: '(?:ceo|cfo|cto|president|prime minister|king|queen|mayor|founder|author|director|owner|chancellor|inventor)',
  LISTED:
    '(?:benefits|drawbacks|side effects|symptoms|causes|types|kinds|steps|advantages|disadvantages|features|uses|effects|risks|requirements|stages|main features|main causes|pros and cons|ingredients|rules)',
  SUPERLATIVE:
    '(?:most expensive|cheapest|fastest|easiest|nearest|largest|best|shortest|longest|highest|latest|oldest|most popular)',
  /** Where there are two clauses, a phrase says another thing in another place. */
  CLAUSE:
    '.*\\b(?:that|which|who|whose|if|when|because|while|although|say|says|said|tell|told|think|thinks|thought|believe|know|knew|claim|claims|claimed|not|only|and|or|but|even)\\b',
}
