/**
 * DESIGN: tokens of an image by its size, per maker of models.
 *
 * - OpenAI ("Images and vision", calculating costs): scaled down to fit 2,048 × 2,048 and then to a short edge of 768, a
 *   base and a price for each tile of 512 × 512, 20 times and more as many for `gpt-4o-mini` as for `gpt-4o`. Smaller
 *   models since then: a token for each square of 32 pixels, of which there are at most 1,536, times a factor; GPT-5.4
 *   and later: at most 10,000 squares.
 * - Others: Gemini ("Token counting") has 258 tokens for a small image or for each tile, and up to 1,120 for an image since
 *   Gemini 3; open models about one for each square of 28 pixels. The highest of these counts.
 *
 * Guarantee: no image is cheap because it is small, thin, or of unknown size.
 */
import { type ImageLimits, imageTokens } from './attachments.ts'
import type { ImageSize } from './image-size.ts'

/** Returns the tokens of an image, as text tokens; `undefined` is an unknown size. */
export type ImageRule = (size: ImageSize | undefined) => number

const BOX = 2048
const SHORT_EDGE = 768
const TILE = 512
const MOST_TILES = 8
const SQUARE = 32
const SMALL_SQUARES = 1536
const LARGE_SQUARES = 10_000

const GEMINI_TILE_TOKENS = 258
const GEMINI_IMAGE_TOKENS = 1120
const LEAST_CROP = 256
const OPEN_LIMITS: ImageLimits = { longEdge: Number.MAX_SAFE_INTEGER, tokens: 16_384 }
/** A photograph of 3,072 × 3,072 pixels, to which Gemini scales down. */
const UNKNOWN_TOKENS = 16 * GEMINI_TILE_TOKENS

/** Returns the rule of Anthropic's models. */
export function anthropicRule(limits: ImageLimits): ImageRule {
  return (size) => imageTokens(size, limits)
}

/** Returns the rule of an OpenAI model, by its name. */
export function openAiRule(model: string): ImageRule {
  if (model.includes('gpt-4o-mini')) return tiles(2833, 5667)
  if (/gpt-(?:4\.1|5)-nano/.test(model)) return squares(SMALL_SQUARES, 2.46)
  if (/gpt-(?:4\.1|5)-mini|o4-mini/.test(model)) return squares(SMALL_SQUARES, 1.72)
  const usual = tiles(85, 170)
  if (!/gpt-(?:5\.|[6-9])/.test(model)) return usual
  const newest = squares(LARGE_SQUARES, model.includes('nano') ? 2.46 : model.includes('mini') ? 1.72 : 1)
  return (size) => Math.max(usual(size), newest(size))
}

/** The rule of models of any other maker. */
export const otherRule: ImageRule = (size) => {
  if (size === undefined) return UNKNOWN_TOKENS
  const { width, height } = size
  const crop = Math.min(SHORT_EDGE, Math.max(LEAST_CROP, Math.floor(Math.min(width, height) / 1.5)))
  const tiled = GEMINI_TILE_TOKENS * Math.ceil(width / crop) * Math.ceil(height / crop)
  return Math.max(GEMINI_IMAGE_TOKENS, Math.min(tiled, UNKNOWN_TOKENS), imageTokens(size, OPEN_LIMITS))
}

function tiles(base: number, tile: number): ImageRule {
  return (size) => {
    if (size === undefined) return base + MOST_TILES * tile
    const fit = Math.min(1, BOX / Math.max(size.width, size.height))
    const short = Math.min(1, SHORT_EDGE / (fit * Math.min(size.width, size.height)))
    const along = (edge: number) => Math.ceil((edge * fit * short) / TILE)
    return base + tile * Math.min(MOST_TILES, along(size.width) * along(size.height))
  }
}

function squares(most: number, factor: number): ImageRule {
  return (size) => {
    const count = size === undefined ? most : Math.ceil(size.width / SQUARE) * Math.ceil(size.height / SQUARE)
    return Math.ceil(Math.min(most, count) * factor)
  }
}
