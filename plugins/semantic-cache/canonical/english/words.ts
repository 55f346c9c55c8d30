/*
 * English word lists of the canonical form. A word belongs here only if replacing it cannot change the question:
 * unknown differences make another question.
 */

/** Expanded contractions. `'s` only where it is unambiguous. */
export const CONTRACTIONS = table(`
  can't=can not; cannot=can not; won't=will not; don't=do not; doesn't=does not; didn't=did not; isn't=is not
  aren't=are not; wasn't=was not; weren't=were not; haven't=have not; hasn't=has not; hadn't=had not
  wouldn't=would not; couldn't=could not; shouldn't=should not; mustn't=must not; needn't=need not
  i'm=i am; you're=you are; we're=we are; they're=they are; i've=i have; you've=you have; we've=we have
  they've=they have; i'll=i will; you'll=you will; he'll=he will; she'll=she will; we'll=we will; they'll=they will
  what's=what is; where's=where is; who's=who is; how's=how is; when's=when is; why's=why is; that's=that is
  there's=there is; here's=here is; it's=it is; whats=what is; dont=do not; doesnt=does not
  what're=what are; how're=how are; where're=where are; who're=who are`)

/**
 * Canonical spellings, in addition to `-ise` and `-our`. None that names another thing in one country (`defence`,
 * `offence`, `licence`, `labour`), and none that is another word (`grey`, `calibre`).
 */
export const SPELLINGS = table(`
  coloured=colored; favourite=favorite; favourites=favorites; neighbourhood=neighborhood; centre=center
  centres=centers; kilometre=kilometer; kilometres=kilometers; centimetre=centimeter
  centimetres=centimeters; millimetre=millimeter; litre=liter; litres=liters; theatre=theater; theatres=theaters
  fibre=fiber; analyse=analyze; analysed=analyzed; analysing=analyzing; paralyse=paralyze
  catalogue=catalog; cancelled=canceled; cancelling=canceling; travelling=traveling
  travelled=traveled; labelled=labeled; labelling=labeling
  modelling=modeling; modelled=modeled; jewellery=jewelry; tyres=tires; aluminium=aluminum; mould=mold
  plough=plow; enrol=enroll; fulfil=fulfill; skilful=skillful
  instalment=installment; instalments=installments; 
  practise=practice; pyjamas=pajamas; sceptical=skeptical; whilst=while; amongst=among; towards=toward
  afterwards=afterward; ageing=aging; judgement=judgment
  acknowledgement=acknowledgment; manoeuvre=maneuver; diarrhoea=diarrhea; anaemia=anemia; oestrogen=estrogen
  paediatric=pediatric; paediatrician=pediatrician; anaesthesia=anesthesia; e-mail=email; e-mails=emails
  e-mailed=emailed; on-line=online; off-line=offline; t-shirt=tshirt
  co-operate=cooperate; co-operation=cooperation; co-ordinate=coordinate; till=until; ok=okay; aeroplane=airplane
  aeroplanes=airplanes;
  pre-order=preorder; log-in=login;
 
  doughnut=donut; doughnuts=donuts
  yoghurt=yogurt; omelette=omelet; cosy=cozy; sulphur=sulfur; axe=ax; artefact=artifact
  artefacts=artifacts; marvellous=marvelous; counsellor=counselor
  archaeology=archeology; foetus=fetus; haemoglobin=hemoglobin; leukaemia=leukemia; orthopaedic=orthopedic; gaol=jail
  sceptic=skeptic; snowplough=snowplow; favourable=favorable; colourful=colorful; honourable=honorable
  flavoured=flavored; behavioural=behavioral;
  wifi=wi-fi`)

/**
 * Nouns of things that are named by a word's exact form, and terms of language that suggest a mentioned word: where one
 * occurs, words keep their form.
 */
export const NAMED_KINDS =
  /^(?:css|html|keyword|command|subcommand|function|method|statement|operator|flag|option|switch|clause|tag|attribute|property|parameter|argument|field|column|variable|class|module|package|library|event|hook|directive|selector|label|button|menu|tab|key|hashtag|prefix|suffix|literal|integer|float|locale|verb|noun|adjective|adverb|spelling|numeral|digit|plural|singular|tense|abbreviation|term|dictionary|english|british|briton|brit|american|canadian|australian|correct|wrong|valid|scrabble|wordle|crossword)s?$/i

/** Acronyms that mean the same in lower case. */
export const ACRONYMS = words(`
  SQL JSON HTML CSS XML YAML HTTP HTTPS URL URI API SDK PDF CSV FAQ CEO CFO CTO FIFA NATO NASA UNESCO UEFA NBA NFL GBP EUR
  USD JPY CHF AUD USA UK DNS SSH VPN CPU GPU USB SSL TLS JWT OAUTH AWS GCP IBM BMW HIV DNA RNA IBAN
  PHP NPM TCP UDP FTP SMTP IDE KPI PNG JPEG SVG`)

/** Names of mixed case that mean the same in lower case. */
export const BRANDS = words(`
  GitHub GitLab PostgreSQL MySQL JavaScript TypeScript YouTube PayPal LinkedIn WhatsApp MongoDB WordPress iPhone iPad MacBook
  macOS GraphQL NumPy TensorFlow PyTorch SQLite`)

/** Names that are no other words in lower case. Others keep their case. */
export const NAMES = words(`
  France Germany Spain Italy Portugal England Scotland Ireland Wales Britain Austria Australia Switzerland Belgium Netherlands
  Denmark Sweden Norway Finland Iceland Poland Slovakia Slovenia Hungary Romania Bulgaria Greece Croatia Serbia Ukraine
  Russia Canada Mexico Brazil Argentina Peru Colombia Venezuela Japan Korea India Pakistan Bangladesh Thailand Vietnam
  Indonesia Malaysia Singapore Egypt Morocco Nigeria Kenya Ethiopia Israel Iran Iraq Syria Lebanon Europe Africa Asia America
  Antarctica California Florida Texas London Paris Berlin Madrid Rome Vienna Venice Lisbon Dublin Amsterdam Brussels
  Copenhagen Stockholm Oslo Helsinki Warsaw Prague Budapest Athens Moscow Tokyo Kyoto Beijing Shanghai Delhi Mumbai
  Sydney Melbourne Toronto Chicago Boston Seattle Munich Hamburg Lyon Zurich Geneva Barcelona Milan
  French German Spanish Italian Portuguese English Scottish Irish Welsh British Dutch Swedish Norwegian
  Russian Japanese Chinese Korean Arabic Hindi Greek Latin Brazilian Mexican American Canadian Australian European Indian
  Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February April June July September October November
  December Christmas Easter Halloween Jupiter Saturn Neptune Uranus Einstein Shakespeare Mozart Beethoven Darwin Napoleon
  Google Facebook Youtube Github Gmail Netflix Spotify Paypal Microsoft Wikipedia Whatsapp Instagram Linkedin Samsung
  Toyota Ikea Javascript Typescript Postgres Postgresql Mysql Mongodb Redis Kubernetes Linux Debian Django
  Haskell Kotlin Wordpress Bitcoin Ethereum Internet Nobel Olympics Olympic
  Powerpoint Photoshop Firefox`)

/** Numbers as words. `one` is more often a pronoun, `second` a time, `third` a part. */
export const NUMBER_WORDS = table(
  `${'two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'
    .split(' ')
    .map((word, i) => `${word}=${i + 2}`)
    .join(
      '; ',
    )}; fourth=4th; fifth=5th; sixth=6th; seventh=7th; eighth=8th; ninth=9th; tenth=10th; eleventh=11th; twelfth=12th; thirteenth=13th; fourteenth=14th; fifteenth=15th; sixteenth=16th; seventeenth=17th; eighteenth=18th; nineteenth=19th; twentieth=20th; thirty=30; forty=40; fifty=50; sixty=60; seventy=70; eighty=80; ninety=90`,
)

/** Words of which two letters may be transposed without yielding another word. */
const OFTEN_TYPED = words(`
  what which where should would could please translate convert explain describe compute calculate capital population
  difference meaning schedule meeting fastest cheapest benefits delete remove reset password account cancel refund write
  function email address summarize number atomic change update create download install delivery payment customer order
  subscription invoice support business question answer problem between because before after about people without
  deployment distance`)

/** Typing errors of those words. */
export const SLIPS: ReadonlyMap<string, string> = new Map(
  [...OFTEN_TYPED].flatMap((word) =>
    Array.from({ length: word.length - 1 }, (_, i) => word.slice(0, i) + word[i + 1] + word[i] + word.slice(i + 2))
      .filter((slip) => slip !== word)
      .map((slip) => [slip, word] as const),
  ),
)

/** Matches texts that may be about their own letters, words or tone: only the identical text matches them. */
export const ABOUT_WORDING =
  /\b(?:spell(?:s|ed|ing)?|spelt|misspell\w*|pronoun\w*|rhym\w+|(?:how many|count|first|last|number of) (?:the )?(?:letters?|characters?|words?|vowels?|consonants?|syllables?|spaces|commas?)|capital(?:s| letters?|ized?|ised?|ize|ise|ization)|upper-?case|lower-?case|punctuation|apostrophes?|hyphen\w*|gramm\w+|typos?|sentences?|phras\w+|paraphras\w+|rephras\w+|wording|reword\w*|rewrit\w+|proofread\w*|anagrams?|palindromes?|synonyms?|antonyms?|nouns?|verbs?|adjectives?|adverbs?|contractions?|word|regex\w*|regular expressions?|glob|wildcards?|whitespaces?|indent\w*|polite\w*|formal\w*|informal\w*|idioms?|etymology|transcribe|repeat|echo|quote|literally|verbatim)\b/i
/** Matches likewise, except for text in quotation marks, which is unchanged. */
export const ABOUT_UNQUOTED = /\b(?:say|says|said|saying|translat\w+|called)\b/i
function table(list: string): ReadonlyMap<string, string> {
  return new Map(
    list
      .split(/[;\n]/)
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '')
      .map((entry) => {
        const cut = entry.indexOf('=')
        return [entry.slice(0, cut), entry.slice(cut + 1)] as const
      }),
  )
}

function words(list: string): ReadonlySet<string> {
  return new Set(list.trim().split(/\s+/))
}
