/**
 * Tests that the drill leaves out, with reasons: files by their patterns, tests by their titles, in which `*` is any
 * text.
 */
type Reasons = Readonly<Record<string, string>>

const OPENS_FILES = 'looks into the SQLite files of one data folder'
const OWN_ENGINES = 'starts several gateways on engines of its own'
const ONE_PROCESS = 'is about how one process starts, stops or breaks'
const ONE_BROWSER =
  'local mode shows the bodies, and every mode the live requests, of the process that the browser has reached'
const AT_ONCE = 'wants a hit at once; a reply that has just ended elsewhere is still `attached`'
const LEARNT = 'wants at once what another process has learnt; `instances.test.ts` waits for it'
const OWN_MEMORY =
  'is about what one process remembers: a key that rests, a list of models, a token, an answer of Stripe'

/** Files. */
export const ABOUT_ENGINES: Reasons = {
  'test/accounts/{books,canary}.test.ts': OPENS_FILES,
  'test/accounts/store-down.test.ts': OWN_ENGINES,
  'test/billing/recharge.test.ts': ONE_PROCESS,
  'test/cli/**': 'commands run in an environment that the drill’s engines are no part of',
  'test/cost-guard/*.test.ts': OPENS_FILES,
  'test/dashboard/{door,live-feed,pages,states}.test.ts': ONE_BROWSER,
  'test/dashboard/processes.test.ts': OWN_ENGINES,
  'test/exact-cache/{redis,single-flight}.test.ts': 'is about one process, and about a Redis of its own',
  'test/exact-cache/{chat,replay,storing}.test.ts': AT_ONCE,
  'test/faults/{drain,start,log-reader}.test.ts': ONE_PROCESS,
  'test/faults/{kills,matrix,stall}/**': ONE_PROCESS,
  'test/packaging/**': ONE_PROCESS,
  'test/payments/{canary,crashes,deaths,processes,reconcile,automatic,money}.test.ts': OWN_ENGINES,
  'test/payments/readiness.test.ts': OWN_MEMORY,
  'test/plugins/start.test.ts': ONE_PROCESS,
  'test/receipts/{ledger,life,store}.test.ts': OPENS_FILES,
  'test/telemetry/prefix-losses.test.ts': 'compares the turns that one process has seen, and sets its clock',
  'test/semantic-cache/{answers,embedders,feedback,scope}.test.ts': LEARNT,
  'test/semantic-cache/{faults,instances,lasting}.test.ts': OWN_ENGINES,
}

/** Tests. */
export const ABOUT_A_PROCESS: Reasons = {
  'canaries: nothing sent, logged or stored holds *': OPENS_FILES,
  'dashboard in the cloud: bodies are kept once *': 'a process learns of the wish within ten seconds',
  'fallback: a substitute*s answer is not stored*': AT_ONCE,
  'keys: after a 401 *': OWN_MEMORY,
  'models: a list that is known *': OWN_MEMORY,
  'models: the list has the models of all*': OWN_MEMORY,
  'patterns: a conversation stays with the patterns that it began with*': 'each process remembers choices that go',
  'patterns: what the header *': 'each process remembers choices that go',
  'reload: a request that runs in the old version *': 'the other processes, in which none runs, close it at once',
  'vertex: a token is asked for *': OWN_MEMORY,
  'webhook: more than 256 KB *': 'the drill’s balancer loses replies that come before their request has ended',
  '*the last use is listed at once by the gateway that had it*': 'others learn it later',
}
