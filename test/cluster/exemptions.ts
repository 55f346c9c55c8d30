import { globSync, readFileSync } from 'node:fs'
import { ownFiles } from '../../scripts/own-files.ts'

/** Patterns that the drill leaves out, by reason. */
type Reasons = Readonly<Record<string, readonly string[]>>

const OWN_MEMORY = 'is about what one process remembers'

/** Files, by their patterns. */
export const LEFT_FILES: Reasons = {
  'looks into the files of one data folder': [
    'test/accounts/{books,canary}.test.ts',
    'test/cost-guard/*.test.ts',
    'test/dashboard/{conversations,six-tasks}.test.ts',
    'test/receipts/{ledger,life,store}.test.ts',
  ],
  'starts several gateways on databases that the test creates': [
    'test/accounts/store-down.test.ts',
    'test/dashboard/{first-run,processes,settings}.test.ts',
    'test/payments/{canary,crashes,deaths,processes,reconcile,automatic,money}.test.ts',
    'test/semantic-cache/{faults,instances,lasting}.test.ts',
  ],
  'is about how one process starts, stops or breaks': [
    'test/billing/recharge.test.ts',
    'test/faults/{drain,places,start,log-reader}.test.ts',
    'test/faults/{kills,matrix,stall}/**',
    'test/packaging/**',
    'test/payments/sandbox.test.ts',
    'test/plugins/{start,stray-exception}.test.ts',
  ],
  'is about a bound on what one process holds: connections, bodies, sockets': [
    'test/attacks/unpaid-bodies.test.ts',
    'test/faults/stalled-readers.test.ts',
    'test/responses/socket-bounds.test.ts',
  ],
  'local mode shows the bodies, and every mode the live requests, of the process that the browser has reached': [
    'test/dashboard/{door,live-feed,pages,states}.test.ts',
  ],
  'measures the event loop of one process': ['test/attacks/expressions.test.ts'],
  'is about one process, and about a Redis that the test stops': ['test/exact-cache/{redis,single-flight}.test.ts'],
  'wants a hit at once; a reply that has just ended elsewhere is still `attached`': [
    'test/exact-cache/{chat,leaders-own,replay,storing}.test.ts',
    'test/responses/shared-answers.test.ts',
  ],
  [OWN_MEMORY]: [
    'test/payments/{default-pipeline,late,readiness}.test.ts',
    'test/prompt-cache/{pipelines,requests}.test.ts',
    'test/relay/memory-after-requests.test.ts',
  ],
  'compares the turns that one process has seen': ['test/conversations/day.test.ts', 'test/dashboard/losses.test.ts'],
  'wants at once what another process has learnt; `instances.test.ts` waits for it': [
    'test/semantic-cache/{answers,embedders,feedback,no-graph,scope}.test.ts',
  ],
  'runs commands, in an environment that the drill’s engines are no part of': [
    'test/accounts/people-commands.test.ts',
    'test/cli/**',
  ],
}

/** Tests, by their titles, in which `*` is any text. */
export const LEFT_TESTS: Reasons = {
  'looks into the files of one data folder': [
    'canaries: nothing sent, logged or stored holds *',
    'redact: nothing that the gateway has written holds an original',
  ],
  'a process learns of the wish within ten seconds': ['dashboard in the cloud: bodies are kept once *'],
  'wants a hit at once; a reply that has just ended elsewhere is still `attached`': [
    'conversations: a stored reply costs nothing, and is a turn',
    'fallback: a substitute*s answer is not stored*',
    'responses: a repeated request is a hit *',
    'responses: requests that differ in * have answers of their own',
    'state: a cache distinguishes what a request continues',
    'rewriting: a cache in front stores what was rewritten*',
    'tags: no provider receives them, and requests with different tags share a cached reply',
    'x-svc-pipe: overrides the pipeline for one request only',
  ],
  [`${OWN_MEMORY}: a key that rests, a list of models, a token, counts`]: [
    'alerts: a provider that fails is reported, and its recovery',
    'keys: after a 401 *',
    'models: a list is kept for those who send *',
    'models: a list that is known *',
    'models: the list has the models of all*',
    'redact: in observe mode requests pass unchanged, and a report sums *',
    'refused: callers without a known key share a bounded number of rows*',
    'socket: too many sockets, too large messages *',
    'tags: metrics count each of the first 200 *',
    'vertex: a token is asked for *',
  ],
  'each process remembers choices that go': [
    'patterns: a conversation stays with the patterns that it began with*',
    'patterns: what the header *',
  ],
  'the other processes, in which none runs, close it at once': [
    'reload: a plugin whose stream runs in the old version *',
    'reload: a request that runs in the old version *',
  ],
  'the drill’s balancer loses replies that come before their request has ended': ['webhook: more than 256 KB *'],
  'others learn it later': [
    '*the last use is listed at once by the gateway that had it*',
    'stored context: a response in the background can be read *',
  ],
  'the drill’s gateways have a public address': ['billing: without a key the balance is shown *'],
  'runs commands, in an environment that the drill’s engines are no part of': [
    'alerts: a key that its owner revokes is reported*',
    'sign-in: a lost group takes role and team at the next sign-in*',
  ],
}

/** Calls by which tests start a gateway. */
const STARTS_GATEWAYS = /\b(start(Cloud)?(Gateway|Process)|startGatewayProcess|(open\w*Fixture|startFixture)(With)?)\(/
/** Such tests run with several gateways on PostgreSQL in any case. */
const HAS_FLEETS = /\bfleets\(/
/** Folders whose tests start no gateway, are of the drill itself, or need packages of their own. */
const LEFT_FOLDERS = 'test/{cluster,support,stores,telemetry,metrics,tracing,witnesses}/**'

/** Lists the tests that the drill runs, of all or of these. */
export function filesOfDrill(patterns: readonly string[] = ['test/*/**/*.test.ts']): string[] {
  const left = new Set(Object.values(LEFT_FILES).flatMap((files) => globSync(files)))
  const files = ownFiles(patterns, '.', [LEFT_FOLDERS])
  return files.filter((file) => {
    const text = readFileSync(file, 'utf8')
    return !left.has(file) && STARTS_GATEWAYS.test(text) && !HAS_FLEETS.test(text)
  })
}
