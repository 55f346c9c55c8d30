import { stem } from './stem.ts'

/**
 * DESIGN: words that requests imply. A tour near the station next Monday needs the date and coordinates, and names
 * neither. Each line: words of a request, and words of the tools that serve it. General vocabulary, specific to no
 * server; an ill-fitting line costs little, since its words weigh a fifth of the request's own.
 */
const NEEDS: readonly (readonly [said: string, meant: string])[] = [
  [
    'today tomorrow yesterday tonight now current currently next week weekend monday tuesday wednesday thursday friday saturday sunday deadline schedule upcoming recent',
    'current date time',
  ],
  [
    'near nearby around distance route directions trip travel tour itinerary visit restaurant hotel park parking address city neighborhood landmark walk drive commute',
    'geocode address location coordinates route places map',
  ],
  [
    'calculate total sum average mean percent percentage ratio bmi estimate budget worth value convert difference interest profit tax tip area volume',
    'calculate math expression arithmetic',
  ],
  ['save saved write report summary markdown export store record note notes log document', 'write file create'],
  ['read open load inside content contents data file files folder', 'read file directory list'],
  ['word docx document essay letter resume contract', 'document paragraph heading'],
  ['slide slides presentation deck powerpoint pptx', 'presentation slide'],
  ['excel spreadsheet xlsx workbook sheet csv', 'workbook sheet cell write read'],
  ['chart graph plot visualize visualization diagram trend', 'chart plot diagram'],
  ['flowchart mindmap sequence architecture', 'mermaid diagram mindmap'],
  ['news headlines breaking events latest trending hot popular topics viral', 'news trending rank headlines'],
  [
    'company stock stocks shares market investment invest investor financial finance earnings ticker',
    'stock price financial ticker company news',
  ],
  ['bitcoin crypto cryptocurrency ethereum coin token', 'crypto price market'],
  ['gold silver metal exchange rate currency dollar euro yuan', 'price exchange rate currency'],
  [
    'overview introduction background history who biography explain foundational concept research investigate information deep',
    'search wikipedia article web research',
  ],
  [
    'paper papers study studies academic scientific literature publication arxiv journal',
    'paper search research arxiv',
  ],
  ['website page webpage site link url online scrape crawl browse', 'fetch url web page navigate browser'],
  [
    'buy purchase cheap deal deals recommend product shopping goods electronics discount',
    'product price deal shopping',
  ],
  ['weather forecast temperature rain snow wind sunny', 'weather forecast'],
  ['train rail railway ticket tickets station', 'train ticket station'],
  ['flight fly airport airline plane', 'flight airport'],
  ['book reserve reservation booking', 'book reservation'],
  ['stay accommodation lodging apartment rental airbnb house room', 'listing hotel property search'],
  ['cook dish dishes meal dinner lunch recipe ingredients potluck food eat', 'recipe food menu'],
  ['song songs music audio track melody album artist sound', 'music audio track'],
  ['video youtube clip film movie show', 'video transcript movie'],
  ['image picture photo photograph draw paint drawing logo icon', 'image picture icon'],
  ['game gaming player champion character hero weapon team build rank', 'game character stats player'],
  ['card deck effect', 'card search'],
  ['chess opening', 'chess game'],
  ['repository repo github code commit branch issue bug pull', 'repository github code issue'],
  ['package library dependency npm version versions release', 'package version dependency'],
  ['docker container deploy kubernetes server', 'container docker'],
  ['script python program code app application component ui interface frontend', 'code component write file execute'],
  ['run execute command terminal process', 'execute command process'],
  ['random pick choose dice flip lottery luck', 'random number'],
  ['remember memory recall knowledge', 'memory note search knowledge'],
  ['plan task tasks todo step steps project manage', 'task plan'],
  ['email mail message send notify contact friend colleague', 'send message email'],
  ['post tweet share social comment', 'post tweet social'],
  [
    'drug medicine disease patient clinical trial gene cancer medical health symptom ill sick hospital doctor',
    'clinical medical medicine patient prescription doctor article health',
  ],
  ['money earn income revenue profit expense cost accounting', 'invoice payment account profit report'],
  ['art painting museum artwork exhibit', 'museum art object'],
  ['domain registration owner', 'whois domain'],
  ['dataset government open statistics', 'dataset search'],
  ['pdf ebook', 'pdf read convert'],
  ['translate translation language chinese english', 'translate language'],
  ['course learn learning study tutorial teach lesson education', 'course tutorial education'],
  ['job career hiring employment salary vacancy', 'job search'],
  ['gift present birthday surprise', 'gift'],
  ['law legal lawyer attorney', 'law legal'],
  ['insurance policy claim coverage', 'insurance'],
  ['pay payment invoice bill charge refund', 'payment invoice'],
  ['login log password account user profile', 'user account login profile'],
  ['car vehicle engine fuel tire drive', 'vehicle car engine'],
  ['horoscope astrology birth fortune zodiac', 'astrology birth chart'],
  ['exercise fitness workout gym run', 'fitness exercise'],
  ['home house property real estate rent', 'property real estate'],
]
const stems = (words: string) => words.split(' ').map(stem)
const MEANT = NEEDS.map(([, meant]) => stems(meant))
const SAID = new Map<string, number[]>()
for (const [row, [said]] of NEEDS.entries())
  for (const word of stems(said)) SAID.set(word, [...(SAID.get(word) ?? []), row])

/** Returns the implied stems of a request with these stems, excluding its own. */
export function unsaid(said: ReadonlyMap<string, number>): Set<string> {
  const rows = new Set([...said.keys()].flatMap((word) => SAID.get(word) ?? []))
  return new Set([...rows].flatMap((row) => MEANT[row] ?? []).filter((word) => !said.has(word)))
}
