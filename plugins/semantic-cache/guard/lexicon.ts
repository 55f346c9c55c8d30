/**
 * The guard's word lists, English. They are about how people ask, not about what: no list knows a domain's names.
 * A pair of words belongs among the synonyms only if exchanging them in a prompt cannot change the answer.
 */

/** Words that say nothing of their own once the frame of the question is known. */
export const STOP_WORDS = words(`
  a an the is are am was were be been being do does did done have has had having will would shall
  i me my mine myself we us our ours you your yours yourself it its they them their theirs
  that which who whom whose this these there here to of as so such
  and or if then than but
  can could may might should doing
  please kindly just also really actually basically simply exactly currently truly
  mean means
`)

/** Adverbs and nouns that may stand on one side only. */
export const LIGHT_WORDS = words(`
  following given specific particular certain various different several some any ever own
  all every each possible possibly today's quickly properly correctly successfully
  very even available easily effectively efficiently
  highly usually normally mostly specifically exact real when whenever
  thing people person someone somebody one
`)

/** Words that frames are recognised by, of four letters and more. None is another one, or any word, with two letters exchanged. */
export const FRAME_WORDS =
  'what which where does should would could please tell give show explain describe many much there possible difference best'.split(
    ' ',
  )

/** Prepositions that may stand for each other where nothing moves. */
export const WEAK_PREPOSITIONS = words('in on at for with about by of regarding concerning around')

/** Prepositions that say the same as another one. */
export const SAME_PREPOSITIONS: ReadonlyMap<string, string> = new Map(
  'into to|onto to|toward to|towards to|within in|upon on|via through'
    .split('|')
    .map((pair) => pair.split(' ') as [string, string]), // two words each, as written above
)

/** Prepositions that tell directions, sides and times apart. */
export const STRONG_PREPOSITIONS = words(`
  from to until till since during between through across behind beyond per
`)

export const NEGATIONS = words('not never no none nothing nobody neither nor without cannot hardly barely')

/** Words of amount, time and place that reverse or limit what is asked. */
export const CRITICAL_WORDS = words(`
  before after until since except besides only most least more less fewer first last next previous
  again still already yet other another both either same always sometimes often maximum minimum max min
  above below over under without against instead rather must need allowed
`)

/** Words of which each group counts as one. The first is the one that is kept. */
export const SYNONYMS: readonly (readonly string[])[] = `
  every all each|big large huge|biggest largest|bigger larger|small little tiny|smaller littler|smallest littlest
  fast quick rapid quickly fastly rapidly|fastest quickest|slow slowly|safe safely
  remove delete erase|fix repair|create make|build construct|buy purchase|begin start commence|end finish
  benefit advantage pro upside|drawback disadvantage con downside|difference distinction|explain describe
  movie film|picture photo photograph image pic|car automobile|kid child|doctor physician|lawyer attorney
  job employment|company firm|error fault|answer reply|reply respond|happen occur
  get obtain acquire|repo repository|app application|info information|doc documentation|config configuration
  auth authentication|admin administrator|db database|env environment|maximum max|minimum min|average avg
  behavior behaviour|color colour|favorite favourite|center centre|organize organise|optimize optimise
  analyze analyse|summarize summarise|license licence|program programme|traveling travelling|gray grey
  revert undo|book schedule|cancel annul|alter change modify switch|show display|use utilize utilise employ
  cause reason|effect impact affect|effects impacts|symptom sign|method way technique|step procedure
  percent %|usa us america|uk britain|tv television|phone telephone smartphone mobile cellphone|email mail|laptop notebook
  vacation holiday|apartment flat|stock share|salary pay wage|trip journey|store shop
  university college|teacher instructor|mom mother|dad father|ill sick|glad happy|sad unhappy|smart intelligent clever
  hard difficult tough|easy simple|rich wealthy|wrong incorrect|safe secure|dangerous unsafe
  strange weird odd|famous renowned popular|important significant|beautiful pretty attractive|funny hilarious|scary frightening
  whole entire|enough sufficient|maybe perhaps|almost nearly|often frequently
  ask inquire|help assist|need require|permit allow|choose pick select|try attempt|gather collect|speak talk
  shut close|lessen reduce decrease|enhance improve|think believe|select choose|utilise use
  identify recognize|achieve accomplish|tackle address|aircraft airplane aeroplane|baby infant|belly tummy abdomen
  raise boost increase|comprehend understand|cv resume|delicious tasty yummy|definition meaning|hate dislike|everyone everybody
  hardest toughest|easiest simplest|incredible amazing terrific|inspirational motivational|online internet|man guy|bike bicycle
  meaningless pointless|normal regular|stance position|recover retrieve|redesign revamp|rotate spin|stupid idiotic|teen teenager adolescent
  suggestion recommendation tip|live reside|prevent avoid|issue problem|math maths mathematics|opinion view|pc computer|website site|top best greatest|female woman|greater more|fewer less|forbid prohibit ban|postpone delay|hire recruit|fire dismiss|verify confirm
  compute calculate evaluate determine|list enumerate|translate translation|write compose draft implement
`
  .trim()
  .split(/[|\n]/)
  .map((group) => group.trim().split(/\s+/))

/** Several words that are one, and what they are. Keys and values are in the form that `stem` gives. */
export const PHRASES: readonly (readonly [phrase: string, word: string])[] = `
  chief executive officer=ceo; chief financial officer=cfo; chief technology officer=cto; two factor authentication=2fa
  two factor auth=2fa; two factor=2fa; multi factor authentication=mfa; money back=refund; roll back=revert
  get rid of=remove; carry out=do; set up=setup; log in=login; sign in=login; log on=login; log out=logout; sign out=logout
  work out=compute; find out=find; as well as=and; in order to=; at the moment=; right now=; at present=; these days=
  united states of america=usa; united states=usa; united kingdom=uk; artificial intelligence=ai; machine learning=ml
  greater than=>; more than=>; larger than=>; less than=<; fewer than=<; smaller than=<; at least=>=; at most=<=
  no more than=<=; no less than=>=; not equal to=!=; earlier than=before; later than=after; prior to=before
  because of=due; due to=due; good idea=should; each other=mutually; a lot of=many; lots of=many; number of=number
  as well=; make money=earn; earn money=earn; lose weight=slim; look like=resemble; side effect=sideeffect
  capital city=capital; prime number=prime; city capital=capital; take place=happen; turn on=enable; switch on=enable
  turn off=disable; switch off=disable; shut down=stop; give up=quit; instead of=instead; such as=like
  on the internet=online; over the internet=online; using the internet=online; via the internet=online
  in an effective way=; start learning=learn; start to learn=learn; begin learning=learn; in the world=; become more=become; learn how to=learn; learn more about=learn; know how to=know
  mobile phone=phone; cell phone=phone; smart phone=phone; tell if=know; tell whether=know; tell when=know
  get started=begin; that goes=; which goes=; out of=from; in front of=before; next to=beside; apart from=except; other than=except; aside from=except
`
  .trim()
  .split(/[;\n]/)
  .map((entry) => entry.trim())
  .filter((entry) => entry !== '')
  .map((entry) => {
    const cut = entry.indexOf('=')
    return [entry.slice(0, cut), entry.slice(cut + 1)] as const
  })

/** Opposites: one on each side makes another question. */
export const ANTONYMS: readonly (readonly [string, string])[] = `
  increase decrease|increase reduce|raise lower|rise fall|high low|higher lower|highest lowest|big small|bigger smaller
  biggest smallest|long short|longer shorter|longest shortest|old new|older newer|oldest newest|old young|older younger
  oldest youngest|early late|earlier later|earliest latest|fast slow|faster slower|fastest slowest|hot cold|warm cool
  cheap expensive|cheaper costlier|cheapest expensive|best worst|better worse|good bad|benefit drawback|advantage drawback
  enable disable|start stop|begin end|open close|lock unlock|install uninstall|add remove|insert remove|allow forbid
  permit forbid|allow block|accept reject|accept decline|approve reject|approve deny|grant revoke|grant deny|include exclude
  import export|upload download|encrypt decrypt|encode decode|compress decompress|serialize deserialize|push pull
  send receive|buy sell|lend borrow|give take|win lose|pass fail|gain lose|save waste|love hate|like dislike
  ascending descending|minimum maximum|least most|less more|fewer more|before after|above below|over under|up down
  left right|front back|inside outside|input output|internal external|public private|local remote|static dynamic
  safe dangerous|legal illegal|possible impossible|true false|same different|first last|next previous|always never
  with without|for against|on off|in out|here there|yes no|male female|man woman|husband wife|buy rent|arrive depart
  arrival departure|hire fire|connect disconnect|attach detach|mount unmount|subscribe unsubscribe|follow unfollow
  create delete|show hide|expand collapse|maximize minimize|encourage discourage|agree disagree|appear disappear
  forward back|forward backward|rich poor|strong weak|hard easy|hard soft|full empty|wet dry|dark light|day night
  morning evening|import export|import deport|merge split|debit credit|asset liability|profit loss|surplus deficit
  sync async|synchronous asynchronous|server client|parent child|ancestor descendant|prefix suffix|upper lower
  uppercase lowercase|top bottom|start end|weekday weekend|healthy unhealthy|positive negative|plus minus
`
  .trim()
  .split(/[|\n]/)
  .map((pair) => {
    const [one = '', other = ''] = pair.trim().split(' ')
    return [one, other] as const
  })

/** Words that differ by two letters exchanged, one doubled or one left out, and are no slips of the pen. */
export const NO_SLIPS = words(`
  form from trial trail angel angle diary dairy quiet quite united untied casual causal sacred scared bread beard broad
  board calm clam martial marital silver sliver tired tried bolt blot carve crave coral carol filed field gild glid
  crate caret goal gaol lion loin salt slat sign sing snig nails snail stain satin unite untie untied united parse spare
  pears spear reigned resigned brain brian barn bran curse cruse burn brun clot colt dial laid bear bare board
  dessert desert bellow below conservation conversation infection inflection reminder remainder interment internment
  tortuous torturous ordinance ordnance corporal corporeal causality casualty thorough through reaction redaction
  inflation inflammation attention attenuation continence continuance prosecution persecution installation instillation
  emigration immigration sulphates sulphides nitrates nitrites revolution revelation resolution
  contraction contradiction interstate intrastate internet intranet presence pretence
`)

export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  `won win|lost lose|sent send|paid pay|built build|bought buy|made make|got get|gotten get|ran run|went go|gone go
  wrote write|written write|took take|taken take|gave give|given give|sold sell|held hold|kept keep|left leave
  met meet|said say|told tell|thought think|found find|began begin|begun begin|broke break|broken break|chose choose
  chosen choose|came come|became become|drew draw|drove drive|ate eat|eaten eat|fell fall|fallen fall|felt feel|flew fly|forgot forget
  forgotten forget|grew grow|grown grow|knew know|known know|led lead|lent lend|meant mean|rose rise|risen rise|saw see
  seen see|shot shoot|slept sleep|spent spend|spoke speak|spoken speak|stood stand|stole steal|stolen steal|taught teach
  threw throw|thrown throw|understood understand|wore wear|worn wear|children child|men man|women woman|feet foot
  teeth tooth|mice mouse|geese goose|indices index|indexes index|matrices matrix|criteria criterion|phenomena phenomenon
  lives life|wives wife|knives knife|leaves leaf|died die|dying die|lying lie|tying tie|does do|goes go`
    .trim()
    .split(/[|\n]/)
    .map((pair) => pair.trim().split(' ') as [string, string]), // two words each, as written above
)

/** Numbers that are written as words. `one` is more often a pronoun. */
export const NUMBER_WORDS: ReadonlyMap<string, string> = new Map(
  `two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
  nineteen twenty`
    .split(/\s+/)
    .map((word, index) => [word, String(index + 2)]),
)

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
