/** English words without information on the subject of a text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are as at be because been before being below between both but by can
  cannot could did do does doing down during each else ever few for from further get got had has have having he her here hers him
  his how i if in into is it its itself just let like me more most my no nor not now of off on once only or other our out over own
  per please same she should so some such than that the their them then there these they this those through to too under until
  up upon us very via was we were what when where which while who whom whose why will with within without would you your yours
  yourself`.split(/\s+/),
)

/** English words that are frequent in requests on any subject. */
export const COMMON_WORDS: ReadonlySet<string> = new Set(
  `able add answer ask available based best better call change check come content create data day describe detail different do end
  example explain file find first follow following format full general generate give good great help important include
  information input know last list long look main make many name need new next note number one open order output part people
  person place point possible problem provide question read really result right run say section see send set short show simple
  start state step sure take tell text thing think time today topic try two type understand use useful using various want way week
  word work write year`.split(/\s+/),
)
