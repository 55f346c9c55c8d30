/**
 * `npm run test:compliance -- <checkout of github.com/openresponses/openresponses>`: runs the Open Responses compliance suite
 * against the gateway, once for each kind of provider, and compares the result with the published one (`not-passed.ts`, and
 * docs/dialects.md). Exits with 1 where they differ. Not a part of `npm test`: the suite is not published as a package.
 */

import { answers, type Said } from '../clients/matrix/said.ts'
import { isJsonObject, valueAt } from '../support/json.ts'
import type { SeenRequest } from '../support/provider/journal.ts'
import { MODELS, openProviderFixture, PROVIDERS, type ProviderName } from '../support/provider-fixture.ts'
import { NOT_PASSED } from './not-passed.ts'
import { importSuite, type SuiteResult } from './suite.ts'

const KINDS: readonly ProviderName[] = ['responder', ...PROVIDERS]

const [checkout] = process.argv.slice(2)
if (checkout === undefined) {
  console.error('Expected a folder: a checkout of https://github.com/openresponses/openresponses.')
  process.exit(1)
}
const suite = await importSuite(checkout)
await using fixture = await openProviderFixture({
  scripts: Object.fromEntries(KINDS.map((kind) => [kind, answers(kind, callsItsTools)])),
})
let surprises = 0
for (const kind of KINDS) {
  const results = await suite.runAllTests(configOf(MODELS[kind]), () => {})
  for (const result of results) surprises += report(kind, result)
}
process.exitCode = surprises === 0 ? 0 : 1

function configOf(model: string) {
  return {
    baseUrl: `${fixture.gateway.url}/v1`,
    apiKey: 'any-string',
    authHeaderName: 'Authorization',
    useBearerPrefix: true,
    model,
    runtime: 'server',
  } as const
}

/** A model that calls the tool that it is offered, and otherwise answers. */
function callsItsTools({ json }: SeenRequest): Said {
  const isOffered = Array.isArray(json?.tools) && json.tools.some(isJsonObject)
  return isOffered ? { calls: [{ name: 'get_weather', input: { location: 'San Francisco, CA' } }] } : { text: 'Four.' }
}

/** Prints a result; returns 1 where the published one is another. */
function report(kind: ProviderName, { id, status, errors = [], response }: SuiteResult): number {
  const reason = valueAt(NOT_PASSED, id)
  const isExpected = (status === 'passed') === (reason === undefined)
  const mark = status === 'passed' ? 'passed' : `${status}${isExpected ? ' as published' : ''}`
  console.log(`${kind}: ${id}: ${mark}`)
  if (!isExpected) for (const error of errors) console.log(`  ${error}: ${JSON.stringify(response)}`)
  return isExpected ? 0 : 1
}
