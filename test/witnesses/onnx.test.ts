import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import type { Embedder } from '../../plugins/semantic-cache/embedder.ts'
import { createOnnxEmbedder, type OnnxSettings } from '../../plugins/semantic-cache/embedders/onnx/embedder.ts'
import { startStage, stateOf } from '../support/cache-stage.ts'
import { cosineOf } from '../support/cosine.ts'
import { type ModelFolderOptions, writeModelFolder } from '../support/onnx/model-folder.ts'
import { createRecordingLog } from '../support/recording-log.ts'

/** A gateway of a test finds the runtime below it. */
const PACKAGES = path.join(import.meta.dirname, 'node_modules')
const runtimeFile = createRequire(import.meta.url).resolve('onnxruntime-node')
const NEVER = new AbortController().signal
const ROWS = {
  how: [0, 1, 0, 0, 0],
  ship: [3, 4, 0, 0, 0],
  boat: [3, 4, 1, 0, 0],
  tax: [0, 0, 0, 2, 1],
  the: [0, 0, 1, 0, 0],
  '?': [0, 0, 0, 0, 1],
}
const WORDS = Object.keys(ROWS)

function folderOf(t: ExecutionContext, options: Partial<ModelFolderOptions> = {}): string {
  const model = writeModelFolder({ rows: ROWS, ...options })
  t.teardown(model.remove)
  return model.path
}

async function open(t: ExecutionContext, settings: Partial<OnnxSettings> = {}): Promise<Embedder> {
  const defaults = { budgetMs: 60_000, log: createRecordingLog(), runtimeFile }
  const embedder = await createOnnxEmbedder({ ...defaults, folder: settings.folder ?? folderOf(t), ...settings })
  t.teardown(() => embedder.close?.())
  return embedder
}

const vectorOf = async (embedder: Embedder, text: string) => [...(await embedder.embed(text, NEVER))]

test('onnx: runs a real model, and its vector is the mean of the tokens, of length one, padded to a multiple of four', async (t) => {
  const embedder = await open(t)
  t.is(embedder.dimensions, 8)
  t.deepEqual(await vectorOf(embedder, 'Ship'), [76, 102, 0, 0, 0, 0, 0, 0])
  // (3, 4, 0, 2, 1) over √30.
  t.deepEqual(await vectorOf(embedder, 'ship TAX'), [70, 93, 0, 46, 23, 0, 0, 0])
})

test('onnx: texts of like meaning are near, others are far', async (t) => {
  const embedder = await open(t)
  const [ship, boat, tax] = await Promise.all(
    ['the ship', 'the boat', 'the tax'].map((text) => embedder.embed(text, NEVER)),
  )
  if (ship === undefined || boat === undefined || tax === undefined) return t.fail()
  t.true(cosineOf(ship, boat) > 0.95)
  t.true(cosineOf(ship, tax) < 0.2)
})

test('onnx: takes the first token where the folder says so', async (t) => {
  // The first token is [CLS], which points nowhere in this model.
  const error = await t.throwsAsync(open(t, { folder: folderOf(t, { pooling: 'cls' }) }))
  t.regex(error.message, /no direction/)
})

test('onnx: a model of whole texts is taken as it is', async (t) => {
  const folder = folderOf(t, { output: 'token_embeddings', otherInputs: [], modelFile: 'model.onnx' })
  t.deepEqual(await vectorOf(await open(t, { folder }), 'ship'), [76, 102, 0, 0, 0, 0, 0, 0])
})

test('onnx: a text is cut to what the model takes', async (t) => {
  const embedder = await open(t, { folder: folderOf(t, { mostTokens: 4 }) })
  t.deepEqual(await vectorOf(embedder, 'ship ship tax tax tax'), await vectorOf(embedder, 'ship ship'))
})

test('onnx: no neighbours change a vector', async (t) => {
  const folder = folderOf(t)
  const [one, two] = await Promise.all([open(t, { folder }), open(t, { folder })])
  const sentence = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 80 }).map((words) => words.join(' '))
  const seen = new Set<string>()
  const check = fc.asyncProperty(fc.array(sentence, { minLength: 2, maxLength: 8 }), async (texts) => {
    const together = await Promise.all(texts.map((text) => vectorOf(two, text)))
    for (const [i, text] of texts.entries()) {
      const alone = await vectorOf(one, text)
      seen.add(alone.join())
      t.deepEqual(together[i], alone)
    }
  })
  await fc.assert(check, { numRuns: 60 })
  t.true(seen.size > 100, `only ${seen.size} different vectors`)
})

const FAULTS: [what: string, make: (t: ExecutionContext) => string, expected: RegExp][] = [
  ['no folder', () => '/nowhere/at/all', /no folder/],
  [
    'a folder without a model',
    (t) => folderOf(t, { modelFile: 'other.onnx' }),
    /expected one of onnx\/model_quantized\.onnx/,
  ],
  ['an unknown pooling', (t) => folderOf(t, { pooling: 'max' }), /pooling_mode_mean_tokens or pooling_mode_cls_token/],
  ['a model that asks for more', (t) => folderOf(t, { otherInputs: ['pixel_values'] }), /asks for pixel_values/],
  ['a model that gives something else', (t) => folderOf(t, { output: 'logits' }), /gives logits; expected one of/],
  ['a model that is none', (t) => withFile(folderOf(t), 'onnx/model_quantized.onnx', 'no model'), /cannot be run/],
  ['a tokenizer that is none', (t) => withFile(folderOf(t), 'tokenizer.json', '[]'), /cannot be run/],
  ['a configuration that is none', (t) => withFile(folderOf(t), 'config.json', '{'), /config\.json/],
]

for (const [what, make, expected] of FAULTS) {
  test(`onnx: ${what} is an error at the start that says what was expected`, async (t) => {
    const error = await t.throwsAsync(open(t, { folder: make(t) }))
    t.regex(error.message, expected)
  })
}

test('onnx: a model folder serves a gateway', async (t) => {
  const folder = folderOf(t, {
    rows: { how: [0, 0, 0, 1], moor: [3, 0, 0, 0], dinghy: [0, 3, 0, 0], paint: [0, 0, 3, 0], shed: [0, 1, 0, 3] },
  })
  const options = { embedder: 'onnx', onnx: { folder } }
  const plugin = { persist: false, embedder_budget: '4s', ...options }
  const stage = await startStage({ config: { plugins: { 'semantic-cache': plugin } }, env: { NODE_PATH: PACKAGES } })
  t.teardown(stage.close)
  const first = await stage.ask('How do I moor a dinghy?', { pipe: 'semantic-cache?mode=threshold&threshold=0.8' })
  const again = await stage.ask('How do they moor a dinghy?', { pipe: 'semantic-cache?mode=threshold&threshold=0.8' })
  t.is(stateOf(first), 'miss')
  t.is(stateOf(again), 'semantic')
  t.is(again.text, first.text)
  const other = await stage.ask('How do I paint a shed?', { pipe: 'semantic-cache?mode=threshold&threshold=0.8' })
  t.is(stateOf(other), 'miss')
})

function withFile(folder: string, name: string, content: string): string {
  writeFileSync(path.join(folder, name), content)
  return folder
}
