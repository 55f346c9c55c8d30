import test, { type ExecutionContext } from 'ava'
import { startGateway } from '../support/gateway.ts'
import { ask, send } from '../support/http-client.ts'
import { parseJson, valueAt } from '../support/json.ts'
import { startProvider } from '../support/stand-in-provider.ts'

/*
 * What follows a reply waits for that of other requests, but is done for its next reader (decision 0122). Each figure is read by
 * the first request after the reply, since each reading does the work that waits.
 */
const provider = await startProvider()
const gateway = await startGateway({ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'key' })
test.after.always(() => Promise.all([gateway.stop(), provider.close()]))

const get = async (path: string) => (await send(gateway.url, { method: 'GET', path })).text

/** Asks the gateway, and returns the receipt's id. */
async function askFor(t: ExecutionContext, text: string, stream: boolean): Promise<string> {
  const { status, headers } = await send(gateway.url, { body: { ...ask(text), stream } })
  t.is(status, 200)
  return String(headers['x-svc-receipt'])
}

const countedIn = (metrics: string) =>
  [...metrics.matchAll(/^turnpike_model_requests_total\{.*\} (\d+)$/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  )

for (const stream of [false, true]) {
  const kind = stream ? 'stream' : 'JSON'
  test.serial(`at once: metrics count the ${kind} reply just before`, async (t) => {
    for (let i = 1; i <= 5; i++) {
      const before = countedIn(await get('/metrics'))
      await askFor(t, `counted ${kind} ${i}`, stream)
      t.is(countedIn(await get('/metrics')), before + 1)
    }
  })

  test.serial(`at once: the list has the row of the ${kind} reply just before`, async (t) => {
    for (let i = 1; i <= 5; i++) {
      const id = await askFor(t, `listed ${kind} ${i}`, stream)
      t.true((await get('/dashboard/api/requests')).includes(id))
    }
  })

  test.serial(`at once: its page has the bodies of the ${kind} reply just before`, async (t) => {
    for (let i = 1; i <= 5; i++) {
      const detail = parseJson(await get(`/dashboard/api/requests/${await askFor(t, `shown ${kind} ${i}`, stream)}`))
      t.true(String(valueAt(detail, 'capture.request.text')).includes(`shown ${kind} ${i}`))
    }
  })
}
