/**
 * What of the suite the drill leaves out, and why: files by their patterns, tests by their titles, in which `*` is any
 * text.
 */
type Reasons = Readonly<Record<string, string>>

const OPENS_FILES = 'looks into the SQLite files of one data folder'
const OWN_ENGINES = 'starts several gateways on engines of its own'
const ONE_PROCESS = 'is about how one process starts, stops or breaks'
const ONE_BROWSER =
  'local mode shows the bodies, and every mode the live requests, of the process that the browser has reached'

/** Files. */
export const ABOUT_ENGINES: Reasons = {
  'test/accounts/{books,canary}.test.ts': OPENS_FILES,
  'test/accounts/store-down.test.ts': OWN_ENGINES,
  'test/cli/**': 'commands are told of an environment that the drill’s engines are no part of',
  'test/cost-guard/*.test.ts': OPENS_FILES,
  'test/dashboard/{door,live-feed,pages,states}.test.ts': ONE_BROWSER,
  'test/exact-cache/{redis,single-flight}.test.ts': 'is about one process, and about a Redis of its own',
  'test/exact-cache/replay.test.ts': 'wants a hit at once; a reply that has just ended elsewhere is still `attached`',
  'test/faults/{drain,start,log-reader}.test.ts': ONE_PROCESS,
  'test/faults/{kills,matrix}/**': ONE_PROCESS,
  'test/packaging/**': ONE_PROCESS,
  'test/payments/{canary,crashes,deaths,processes,reconcile,automatic,money}.test.ts': OWN_ENGINES,
  'test/plugins/start.test.ts': ONE_PROCESS,
  'test/receipts/{life,store}.test.ts': OPENS_FILES,
  'test/semantic-cache/{faults,instances,lasting,postgres}.test.ts': OWN_ENGINES,
}

/** Tests. */
export const ABOUT_A_PROCESS: Reasons = {
  'dashboard in the cloud: bodies are kept from when *': 'a process learns of the wish within ten seconds',
}
