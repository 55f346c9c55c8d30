import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type GraphOptions, gatherModel } from './graph.ts'

/** What a folder of a model is made from. */
export interface ModelFolderOptions extends GraphOptions {
  /** Numbers of each word; those of special tokens are `SPECIAL_ROW`. */
  readonly rows: Readonly<Record<string, readonly number[]>>
  readonly pooling?: 'mean' | 'cls' | 'max'
  readonly modelFile?: string
  readonly mostTokens?: number
}

/** A folder, and how to be rid of it. */
export interface WrittenModel {
  readonly path: string
  remove(): void
}

const SPECIALS = ['[PAD]', '[UNK]', '[CLS]', '[SEP]']
/** Special tokens point nowhere, so that vectors in tests are those of their words. */
const SPECIAL_ROW = 0

/** Writes a real model folder in the layout of Hugging Face: lower-cased whole words, `[CLS] … [SEP]`. */
export function writeModelFolder(options: ModelFolderOptions): WrittenModel {
  const { rows, pooling = 'mean', modelFile = 'onnx/model_quantized.onnx', mostTokens = 64 } = options
  const folder = mkdtempSync(path.join(tmpdir(), 'turnpike-model-'))
  const write = (name: string, content: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true })
    writeFileSync(path.join(folder, name), content)
  }
  const words = Object.keys(rows)
  const dimensions = Object.values(rows)[0]?.length ?? 0
  const table = [...SPECIALS.map(() => new Array<number>(dimensions).fill(SPECIAL_ROW)), ...Object.values(rows)]
  write(
    'config.json',
    JSON.stringify({ model_type: 'bert', hidden_size: dimensions, max_position_embeddings: mostTokens }),
  )
  write('tokenizer.json', JSON.stringify(tokenizerOf(words)))
  write('tokenizer_config.json', JSON.stringify({ tokenizer_class: 'BertTokenizer', unk_token: '[UNK]' }))
  write('1_Pooling/config.json', JSON.stringify(poolingOf(pooling, dimensions)))
  write(modelFile, gatherModel(table, options))
  return { path: folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

function tokenizerOf(words: readonly string[]): object {
  const tokens = [...SPECIALS, ...words]
  const special = (id: number) => ({ id: SPECIALS[id], ids: [id], tokens: [SPECIALS[id]] })
  return {
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: SPECIALS.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: true,
      strip_accents: null,
      lowercase: true,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [
        { SpecialToken: { id: '[CLS]', type_id: 0 } },
        { Sequence: { id: 'A', type_id: 0 } },
        { SpecialToken: { id: '[SEP]', type_id: 0 } },
      ],
      pair: [],
      special_tokens: { '[CLS]': special(2), '[SEP]': special(3) },
    },
    decoder: null,
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  }
}

function poolingOf(pooling: 'mean' | 'cls' | 'max', dimensions: number): object {
  return {
    word_embedding_dimension: dimensions,
    pooling_mode_cls_token: pooling === 'cls',
    pooling_mode_mean_tokens: pooling === 'mean',
    pooling_mode_max_tokens: pooling === 'max',
  }
}
