import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { explain, z } from 'turnpike/plugin'
import type { ModelFiles, Pooling } from './protocol.ts'

/** In the order of preference. */
const MODEL_FILES = ['onnx/model_quantized.onnx', 'model_quantized.onnx', 'onnx/model.onnx', 'model.onnx']
/** Attention takes time by the square of the length, and what models were trained on is shorter than this. */
const MOST_TOKENS = 512

const configSchema = z.looseObject({ max_position_embeddings: z.int().min(3).optional() })
const poolingSchema = z.looseObject({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
})

/** Reads what there is in a folder of a model. Throws with what was expected where something is missing or strange. */
export function readModelFolder(folder: string): ModelFiles {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`no folder \`${folder}\``)
  const config = readJson(folder, 'config.json', configSchema)
  const tokenizerFile = fileIn(folder, 'tokenizer.json')
  const modelFile = MODEL_FILES.map((name) => path.join(folder, name)).find((file) => existsSync(file))
  if (modelFile === undefined) throw new Error(`expected one of ${MODEL_FILES.join(', ')} in \`${folder}\``)
  const configFile = path.join(folder, 'tokenizer_config.json')
  return {
    modelFile: path.resolve(modelFile),
    tokenizerFile,
    tokenizerConfigFile: existsSync(configFile) ? path.resolve(configFile) : undefined,
    pooling: poolingOf(folder),
    mostTokens: Math.min(MOST_TOKENS, config.max_position_embeddings ?? MOST_TOKENS),
  }
}

function poolingOf(folder: string): Pooling {
  const name = '1_Pooling/config.json'
  if (!existsSync(path.join(folder, name))) return 'mean'
  const pooling = readJson(folder, name, poolingSchema)
  if (pooling.pooling_mode_mean_tokens === pooling.pooling_mode_cls_token) {
    throw new Error(
      `\`${name}\`: expected either pooling_mode_mean_tokens or pooling_mode_cls_token; no other pooling is known`,
    )
  }
  return pooling.pooling_mode_cls_token ? 'cls' : 'mean'
}

function fileIn(folder: string, name: string): string {
  const file = path.resolve(folder, name)
  if (!existsSync(file)) throw new Error(`expected \`${name}\` in \`${folder}\``)
  return file
}

function readJson<Schema extends z.ZodType>(folder: string, name: string, schema: Schema): z.output<Schema> {
  const text = readFileSync(fileIn(folder, name), 'utf8')
  const parsed = schema.safeParse(jsonOf(text))
  if (!parsed.success) throw new Error(`\`${name}\` in \`${folder}\`: ${explain(parsed.error)}`)
  return parsed.data
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
