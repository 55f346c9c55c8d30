/**
 * DESIGN — language detection
 *
 * Function words decide: a text counts as English when it has English ones, and not as many of another language. Words
 * that several languages share (`in`, `die`, `an`, `on`) are in no list. A text without function words has no language,
 * nor has one in another script.
 */
const ENGLISH = setOf(`
  the what how is are of to for with and do does did can could please my your you which who where when why write give show
  tell list explain find from this that it should would will was were has have i we they name call please thanks draft
  compute calculate convert translate summarize summarise create make fix run at by about before after than between all
  every there delete remove order roll compose return use set get change cancel start stop play open turn check book
  schedule need want like draft give refund revert am be been being has had may might must shall not any some no yes
  into over under only also if because while until per an more most less least much many long old far`)
const OTHERS = setOf(`
  der das und ist nicht ein eine wie ich sie mit für von zu auf den dem wir bitte kann warum welche
  le la les des est une pour dans que qui avec sur je vous nous pas quel quelle comment pourquoi du et
  el los las una por para como qué cómo está puedo cuál del y es mi su
  il lo gli che di non sono come posso perché qual della nel
  o os uma não com como qual você meu para dos
  het een van voor niet hoe ik mijn kan wat waarom zijn
  och att det som är hur jag inte på för
  er og ikke jeg hvad hvor hvordan hvorfor af til
  czy jest nie się na jak co gdzie kto dlaczego ten ta te tego
  je se není kde kdo jsem proč ali li što gdje kako
  ei mitä missä miten onko ja care este ce unde nu și cum pe cu
  bir ve için nasıl mi bu dan apa ini itu yang tidak ada bagaimana`)
/** Further first words of greetings, sentences and tasks. */
const STARTERS = setOf(`
  hi hello hey good greetings dear thanks thank excuse sorry okay so well just quick short question kindly here let us
  cheers many someone somebody anyone anybody any suppose after in on with using during as whom whose were tell explain
  show describe suggest recommend provide find build implement define generate enumerate compare count sort return run
  print update add open close send call play draw solve prove answer help teach name state issue revert prevent
  evaluate work works steps instructions walk guide outline identify select choose insert connect install configure
  refactor debug test deploy optimize optimise remind translate paint fill put buy sell pay book review rate rank
  can't don't what's how's who's where's it's i'm i'd i've they're we're that's there's isn't aren't doesn't didn't won't
  couldn't wouldn't shouldn't let's when's why's whats`)
const WORD = /\p{L}+/gu
const ACRONYM = /^\p{Lu}{2,}$/u
const FOREIGN_LETTER = /[\p{L}--[\p{Script=Latin}]]/v
/** Largest share of foreign words: a text may quote one or two. */
const MOST_OTHERS_SHARE = 0.5

/** Tests for an English text, by its function words. */
export function isEnglish(text: string): boolean {
  if (FOREIGN_LETTER.test(text)) return false
  const words = (text.match(WORD) ?? []).filter((word) => !ACRONYM.test(word)).map((word) => word.toLowerCase())
  const english = words.filter((word) => ENGLISH.has(word)).length
  const others = words.filter((word) => OTHERS.has(word)).length
  return english > 0 && others <= english * MOST_OTHERS_SHARE
}

function setOf(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}

/** Tests for a lower-case word that begins sentences, and so is no name there. */
export function isStarter(word: string): boolean {
  return ENGLISH.has(word) || STARTERS.has(word)
}
