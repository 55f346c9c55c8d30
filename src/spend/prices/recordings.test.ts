import test from 'ava'
import { isJsonObject, type JsonObject, parseJson, valueAt } from '../../../test/support/json.ts'
import { bookOf, NOVEMBER_MS } from '../../../test/support/price-usage.ts'
import { loadRecordings, type RecordedResponse } from '../../../test/support/recordings.ts'
import { mergeUsage, readUsage, type Usage } from '../../core/reply/usage.ts'

/** Nano-USD per token: input, output, read, written for 5 minutes, for an hour. */
const NANO: readonly (readonly [RegExp, readonly [number, number, number, number, number]])[] = [
  [/sonnet-4/, [3000, 15_000, 300, 3750, 6000]],
  [/sonnet-5/, [2000, 10_000, 200, 2500, 4000]],
  [/haiku-4-5/, [1000, 5000, 100, 1250, 2000]],
  [/opus-4-[5678]/, [5000, 25_000, 500, 6250, 10_000]],
  [/fable-5/, [10_000, 50_000, 1000, 12_500, 20_000]],
  [/3-opus/, [15_000, 75_000, 1500, 18_750, 30_000]],
]
const SEARCH = 10_000_000

/** Returns the raw usage objects of a reply, and its model. */
function usagesOf({ bytes, isStream }: RecordedResponse): { model: unknown; raws: JsonObject[] } {
  const text = bytes.toString()
  const events = isStream
    ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => parseJson(data))
    : [{ message: parseJson(text) }]
  const raws = events
    .flatMap((event) => [valueAt(event, 'message.usage'), valueAt(event, 'usage')])
    .filter(isJsonObject)
  return { model: events.map((event) => valueAt(event, 'message.model')).find((model) => model !== undefined), raws }
}

function count(raw: unknown, path: string): number {
  return Number(valueAt(raw, path) ?? 0)
}

/** Computes the price from the reported counts: the last of each in a stream. */
function expectedNanoUsd(model: string, raws: readonly JsonObject[]): number {
  const [, [input, output, read, written5m, written1h] = [0, 0, 0, 0, 0]] =
    NANO.find(([name]) => name.test(model)) ?? []
  const last = Object.assign(
    {},
    ...raws.map((raw) => Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null))),
  )
  const long = count(last, 'cache_creation.ephemeral_1h_input_tokens')
  return (
    count(last, 'input_tokens') * input +
    count(last, 'output_tokens') * output +
    count(last, 'cache_read_input_tokens') * read +
    (count(last, 'cache_creation_input_tokens') - long) * written5m +
    long * written1h +
    count(last, 'server_tool_use.web_search_requests') * SEARCH
  )
}

test('prices: every recorded reply costs its counts at list prices', async (t) => {
  const { items, absent } = loadRecordings()
  if (absent !== undefined) {
    t.log(absent)
    return t.pass()
  }
  const book = bookOf()
  let priced = 0
  for (const { name, response } of items) {
    const { model, raws } = usagesOf(response)
    const usage = raws.reduce<Usage | undefined>((sum, raw) => mergeUsage(sum, readUsage(raw)), undefined)
    if (usage === undefined || typeof model !== 'string') continue
    const { costNanoUsd, source } = book.price({ provider: 'anthropic', model }, usage, NOVEMBER_MS)
    // In one reply the provider replaced the requested model by another.
    const answering = valueAt(usage.raw, 'iterations.1.model') ?? model
    t.is(costNanoUsd, expectedNanoUsd(String(answering), raws), name)
    t.is(source, 'catalogue', name)
    t.true(costNanoUsd > 0, name)
    priced++
  }
  t.true(priced >= 25, `${priced} replies were priced`)
})
