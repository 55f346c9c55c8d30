/**
 * What kind of answer a prompt asks for. Questions of different kinds have different answers, whatever they are about.
 * `what` is also asked by `tell me …`, `list …`, `explain …`; `task` is everything else that is said to be done; `bare` is
 * a question mark without a verb that asks, which may be either.
 */
export type FrameKind =
  | 'how' | 'why' | 'who' | 'whose' | 'when' | 'where' | 'count' | 'amount' | 'degree' | 'what' | 'yes-no' | 'task' | 'bare' // biome-ignore format: one line is enough

/** The frame of a prompt. */
export interface Frame {
  readonly kind: FrameKind
  /** Tells frames of one kind apart: how far or how old, may or should. Empty when there is no more to tell. */
  readonly sense: string
  readonly tense: Tense
  /** The frame's own words, as they stand in the text: of two equal ones even the small words agree. */
  readonly opening: string
  /** What is left of the text when courtesies and the frame's own words are taken off. */
  readonly rest: string
}

/** When what is asked about happens, as far as auxiliaries tell; `unsaid` where a wish or a command has none. */
export type Tense = 'past' | 'future' | 'present' | 'unsaid'

const OPENING =
  /^(?:(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening))(?: there| all| everyone| team)?\s*[,!.:–—-]+|(?:thanks|thank you)(?: in advance)?\s*[,!.:–—-]+|(?:quick |a |one )*question\s*[:,–—-]+|(?:i have|i've got) a (?:quick )?question\s*[:,.–—-]+|(?:please |pls |plz )?help(?: me)?(?: out)?(?: with (?:this|that))?\s*[:,.–—-]+|(?:ok|okay|so|well|now|also|and|btw|excuse me|sorry)\s*[,:–—-]+|in your opinion\s*,?|according to you\s*,?|please\b,?|pls\b,?|plz\b,?|kindly\b)\s*/i
const CLOSING =
  /[\s,;.!?–—-]*(?:(?:,|\band\b|\?|\.)\s*(?:and )?(?:why|how)(?: is (?:that|it)(?: so)?| so| or why not)?|\b(?:thanks(?: a lot| so much| very much| in advance)?|thank you(?: so much| very much| in advance)?|thx|cheers|please|pls|plz|in your opinion|according to you|any (?:suggestions?|ideas?|tips|advice|recommendations?))\b|[?.!;,:]+)\s*$/i
/** `for me` is a courtesy at the end of what one asks to be done; in a question it may be what is asked. */
const FOR_ME =
  /^(?!(?:what|which|who|how|why|when|where|is|are|was|do|does|did|has|have|should)\b)(.*\S) for me[\s?.!]*$/i
const ASKING_VERBS =
  'tell|explain|show|give|describe|provide|suggest|recommend|list|name|find|write|make|create|check|translate|summari[sz]e|convert|fix|repair|compute|calculate|define|draft|compose|book|schedule|generate|implement|revert|refund|delete|remove|add|update|send|clarify|help'
const INDIRECT = new RegExp(
  `^(?:(?:can|could|would|will) (?:you|u|someone|somebody|anyone|anybody)(?: all| guys)?(?: please| kindly| possibly)*(?: be able to)? (?=(?:${ASKING_VERBS})\\b)|(?:i would like|i'd like|i want|i need) (?:you|someone) to |(?:i would like|i'd like|i want|i need)(?: to (?:know|find out|understand|learn|see|have|get)\\b| help with\\b)? ?(?:about )?(?=(?:what|why|how|when|where|who|which|whether|if|an?|the|some)\\b)|do you know |does (?:anyone|anybody|someone) know |(?:any idea|i wonder|i was wondering|i am wondering|i'm wondering|wondering),? |help me (?:to )?(?=(?:${ASKING_VERBS}|understand)\\b)|(?:would|do) you say (?:that )?(?=\\w))`,
  'i',
)
const TELL =
  /^(?:please )?(?:tell me|let me know|explain(?: to me)?|describe|clarify|show me|find out|say|understand)\s+(?:about )?(?=(?:what|why|how|when|where|who|whose|which|whether|if)\b)/i
const WISH_THEN_HOW =
  /^(?:i (?:want|need|would like|wish|am trying|'m trying|was trying|'d like) to|i'm trying to|i am looking to)\s+(?<rest>.+?)[\s,.;:–—-]+how(?: (?:can|do|should|could) i(?: do (?:it|that|this|so))?)?$/i
const DIFFERENT =
  /^how (?:(?:is|are|was|were) (?<one>.+?) (?:any )?different (?:from|than|to)|(?:do|does|did) (?<two>.+?) differ from) (?<other>.+)$/i
/** Praise that asks for the best there is, where something is asked for at all: `some good books` are the best books. */
const PRAISE = /^(?:good|great|top|nice|decent)\b(?! (?:about|at|for|in|to|with)\b)/i
const COST = /^it costs?\b|\bcosts?$/i
/** Question mark, and no verb that asks: `Types of rock?` */
const BARE_QUESTION =
  /^(?!.*\b(?:i|you|we|is|are|am|was|were|do|does|did|has|have|had|can|could|should|would|will|please|how|why)\b).{3,80}\?\s*$/i
const DO_YOU_THINK =
  /^((?:what|which|who|why|how|when|where)\b[^,]{0,40}?) do (?:you|u) (?:think|believe|feel|reckon)(?: that)?(?= \w+)(?! about| of)/i
/** `which bank is best for …` is `which is the best bank for …`. */
const BEST_LAST =
  /^(?:what|which) (?<thing>(?!is|are|was|were|do|does)[^,?]{2,40}?) (?<be>is|are) (?:the )?(?<best>best|most \w+|(?!test|rest|west|guest|forest|interest)\w{2,}est)\b/i
const TRAILING_HOW =
  /^(?<rest>.+?)\s*(?:[–—,;:]|\s-\s)\s*how(?: (?:can|do|should|could) (?:i|you|we|one)(?: do (?:it|that|this|so))?| to)?$/i

interface Pattern {
  readonly kind: FrameKind
  readonly pattern: RegExp
  /** What the match means besides its kind; taken from a group of this name otherwise. */
  readonly sense?: string
}

/** Before these somebody was left out: `how do make red paint`. */
const DEEDS = 'make|find|get|become|create|earn|learn|ask|start|write|build|improve|solve|buy|use|choose|remove'
const BE = '(?:is|are|was|were|am|will be|would be|has been|have been|be)'
const ASKER = '(?:i|you|we|one|u|someone|somebody|a person|people)'

/** In the order in which they are tried. */
const PATTERNS: readonly Pattern[] = [
  {
    kind: 'what',
    pattern: new RegExp(`^how (?:would|do|can|could|should|will|to) ?${ASKER}? (?:explain|describe|define)\\b`, 'i'),
  },
  {
    kind: 'what',
    pattern:
      /^(?:give|provide|offer|write)(?: me| us)?(?: an?| the| some)? (?:brief |short |simple )?(?:explanation|description|definition|overview) (?:of|for)\b/i,
  },
  {
    kind: 'count',
    pattern: /^(?:how many|(?:what(?: is|'s|s| are| was)|tell me|give me) the (?:total )?number of)\b/i,
  },
  { kind: 'what', pattern: /^how much is (?=[-\d$€£¥])/i },
  {
    kind: 'amount',
    sense: 'cost',
    pattern:
      /^(?:(?:what(?: is|'s| are)|tell me|give me) (?:the )?(?:cost|price)s? (?:of|for|to)|how much (?:(?:does|do|did|will|would) (?=.*\bcosts?\b)|(?:is|are)\b))(?: (?:the|an?)\b)?/i,
  },
  { kind: 'amount', pattern: /^how much (?:is|are|was|were|does|do|did)?\b/i },
  {
    kind: 'degree',
    pattern:
      /^how (?<sense>far|long|old|often|tall|big|fast|deep|high|soon|well|good|bad|likely|safe|hard|easy|difficult|accurate|reliable|effective|important|large|small|strong|wide|heavy|hot|cold|late|early|close|expensive|common|dangerous|possible)\b/i,
  },
  {
    kind: 'degree',
    sense: 'being',
    pattern:
      /^(?:what|how)(?: is| was| does| did| do| would)?(?: it)?(?: is| was| be| feels?)?(?: it)? like (?:to be|to|being)\b/i,
  },
  { kind: 'degree', sense: 'like', pattern: new RegExp(`^(?:what|how) ${BE} (?=.*\\blike$)`, 'i') },
  {
    kind: 'how',
    pattern: new RegExp(
      `^how(?: (?:do|does|did|can|could|should|would|might|may|will|must|shall))? ${ASKER}(?: (?:go about|best|actually|possibly|manage to))?\\b`,
      'i',
    ),
  },
  {
    kind: 'how',
    pattern: /^(?:show me|teach me|tell me|explain|describe|instructions on|guide on|guide me on|steps)?\s*how to\b/i,
  },
  {
    kind: 'how',
    pattern: new RegExp(
      `^(?:(?:what|which)(?: ${BE}|'s|s)?|tell me|give me|list|show me)?(?: the| some| a| any| few| of| all| your)* ?(?:possible |various |different |certain |correct |right |proper |simple )*(?:ways?|methods?|steps|procedures?|process|technique|techniques|instructions)(?: (?:that |which )?${ASKER} (?:can|could|should|need to|must)(?: use| take| follow)?)? (?:to|of|for|on|in which ${ASKER} can)\\b`,
      'i',
    ),
  },
  {
    kind: 'how',
    pattern: new RegExp(
      `^(?:(?:what|which)(?: ${BE}|'s|s)?|tell me|give me|list|show me)?(?: the| some| a| your)* ?(?:very )?(?:best|good|better|great|ideal|effective|most effective|(?<sense>easiest|simplest|fastest|quickest|cheapest|safest|most efficient)) (?:possible )?(?:ways?|methods?|steps|procedures?|process|techniques?)(?: (?:that |which )?${ASKER} (?:can|could|should))? (?:to|of|for)\\b`,
      'i',
    ),
  },
  {
    kind: 'how',
    pattern:
      /^is there (?:an?|any|some) (?:good )?(?:ways?|methods?) (?:(?:that |for )?(?:i|me|you|we|us|one) (?:can|could|to)|to|of|for)\b/i,
  },
  { kind: 'how', pattern: /^(?:show me|give me) (?:an? )?(?:usage )?examples? of (?:how to use|using)\b/i },
  {
    kind: 'how',
    pattern: new RegExp(
      `^what (?:(?:should|can|do|must|could) ${ASKER}(?: have to| need to)? do|(?:should|can|must|could) be done) (?:to|in order to)\\b`,
      'i',
    ),
  },
  { kind: 'how', pattern: new RegExp(`^how (?:do|can|should) (?=(?:${DEEDS})\\b)`, 'i') },
  { kind: 'how', sense: 'do', pattern: /^what (?:should|can|do|must|could) (?:i|you|we|one) do\b/i },
  {
    kind: 'how',
    pattern: /^how(?: (?:do|does|did|can|could|should|would|might|may|will|is|are|was|were|has|have))?\b/i,
    sense: 'works',
  },
  {
    kind: 'why',
    pattern: new RegExp(
      `^(?:why(?: is it that| (?:is|are|was|were|do|does|did|has|have|can|would|will))?|how come|for what reasons?|what (?:makes|made)|(?:what|which)(?: ${BE}|'s|s)? the (?:main )?reasons? (?:for|why|that|behind))\\b`,
      'i',
    ),
  },
  { kind: 'whose', pattern: /^whose\b/i },
  {
    kind: 'who',
    pattern: new RegExp(
      `^(?:who|whom|(?:which|what) (?:person|people|users?|team or person)(?: ${BE})?)(?: ${BE}|'s)?\\b`,
      'i',
    ),
  },
  {
    kind: 'when',
    pattern: new RegExp(
      `^(?:when|(?:what|which|in what|in which|on what|on which|at what) (?:date|day|year|time))(?: ${BE}|'s| do| does| did| will| can| should)?\\b`,
      'i',
    ),
  },
  {
    kind: 'where',
    pattern: new RegExp(
      `^(?:where|(?:what|which|in what|in which) (?:place|places|location))(?: ${BE}|'s| do| does| did| will| can| should)?\\b`,
      'i',
    ),
  },
  {
    kind: 'what',
    sense: 'do',
    pattern: /^(?:what|which) (?:(?:does|do|did|can|could) (?=.*\bdo$)|(?=.*\b(?:does|did)$))/i,
  },
  { kind: 'what', pattern: /^(?:(?:what|which) (?:does|do|did) (?=.*\b(?:mean|stand for)$))/i },
  {
    kind: 'what',
    pattern:
      /^what (?:is meant by|(?:do|does|did) (?:you|we|one|i|people) mean by|(?:is|are) the meanings? of the (?:word|term|phrase|expression))\b(?: (?:the|a|an|some)\b)*/i,
  },
  {
    kind: 'what',
    pattern: new RegExp(
      `^(?:what|which|whats)(?: (?:${BE.slice(3, -1)}|do|does|did|would|can|could|will|should|might|may|has|have|had)|'s|'re)?(?: (?:the|a|an|some|some of)\\b)*(?= |$)`,
      'i',
    ),
  },
  {
    kind: 'what',
    pattern:
      /^(?:tell me(?: about)?|give me|show me|list|name|state|define|explain|describe|provide(?: me(?: with)?)?|find(?: me)?|return|get me|enumerate)\b(?: (?:the|a|an|some|all|any|list|of)\b)*/i,
  },
  { kind: 'what', pattern: /^(?:compute|calculate|evaluate|work out)\b/i },
  { kind: 'yes-no', pattern: /^(?:tell me|check|verify|determine|see|find out)?\s*(?:if|whether)\b/i },
  {
    kind: 'yes-no',
    sense: 'should',
    pattern:
      /^(?:should (?:i|we|you|one)|is it (?:a good idea|wise|advisable|worth it|worth) (?:to|for (?:me|us) to)?)\b/i,
  },
  {
    kind: 'yes-no',
    sense: 'can',
    pattern:
      /^(?:(?:can|could|may)|is it possible (?:to|for|that)|is there (?:a|any|some) possibility (?:to|of|for|that)|(?:am|are) (?:i|you|we) (?:able|allowed) to)\b(?: (?:i|you|we|one)\b)?/i,
  },
  { kind: 'yes-no', pattern: /^do (?:you|u) (?:think|believe)(?: that)? (?!about|of|in\b)/i },
  { kind: 'yes-no', sense: 'should', pattern: /^(?:should|must|ought)\b/i },
  {
    kind: 'yes-no',
    pattern:
      /^(?:is|are|was|were|do|does|did|has|have|had|will|would|am|shall)(?: (?:it (?:true|correct|right) that|there))?\b/i,
  },
]

const TENSES: readonly (readonly [Tense, RegExp])[] = [
  ['future', /\b(?:will|gonna|going to)\b/i],
  ['past', /\b(?:did|was|were|had|(?:has|have) (?:been|\w+ed|\w+en)|used to)\b/i],
  ['present', /\b(?:is|are|am|do|does|shall|can|could|should|would|may|might|must|has|have)\b/i],
]
const CONDITION = /\bif\b/i
const MOST_COURTESIES = 6

/** Takes courtesies off a text and finds its frame. `text` has plain quotes, contractions taken apart and single spaces. */
export function frameOf(text: string): Frame {
  const bare = withoutCourtesies(text)
  const how = WISH_THEN_HOW.exec(bare) ?? TRAILING_HOW.exec(bare)
  if (how?.groups?.rest !== undefined)
    return { kind: 'how', sense: '', tense: tenseOf(bare), opening: 'how', rest: how.groups.rest }
  for (const { kind, pattern, sense } of PATTERNS) {
    const match = pattern.exec(bare)
    if (match === null) continue
    return {
      kind,
      sense: match.groups?.sense?.toLowerCase() ?? sense ?? '',
      tense: tenseOf(bare),
      opening: match[0].trim().toLowerCase(),
      rest: plainRest(kind, bare.slice(match[0].length).trim()),
    }
  }
  const kind = BARE_QUESTION.test(text) ? 'bare' : 'task'
  return { kind, sense: '', tense: tenseOf(bare), opening: '', rest: plainRest(kind, bare) }
}

function plainRest(kind: FrameKind, rest: string): string {
  if (kind === 'what' || kind === 'bare') return rest.replace(PRAISE, 'best')
  return kind === 'amount' ? rest.replace(COST, '').trim() : rest
}

/** The first auxiliary tells. What will happen if is what would: no future in either. */
function tenseOf(text: string): Tense {
  const head = text.slice(0, 120)
  const found = TENSES.flatMap(([tense, pattern]) => {
    const at = head.search(pattern)
    return at === -1 ? [] : [{ tense, at }]
  })
  const { tense } = found.toSorted((one, other) => one.at - other.at)[0] ?? { tense: 'unsaid' as const }
  return tense === 'future' && CONDITION.test(head) ? 'present' : tense
}

function withoutCourtesies(text: string): string {
  let bare = text
  for (let i = 0; i < MOST_COURTESIES; i++) {
    const next = bare
      .replace(OPENING, '')
      .replace(CLOSING, '')
      .replace(INDIRECT, '')
      .replace(TELL, '')
      .replace(FOR_ME, '$1')
      .trim()
    if (next === bare || next === '') break
    bare = next
  }
  return bare
    .replace(DIFFERENT, 'what is the difference between $<one>$<two> and $<other>')
    .replace(DO_YOU_THINK, '$1')
    .replace(BEST_LAST, (_, thing: string, be: string, best: string) => `which ${be} the ${best} ${thing}`)
}
