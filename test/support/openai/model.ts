import type { JsonObject } from '../json.ts'
import { type ChatRejection, rejection } from './rejection.ts'
import type { Flavour } from './script.ts'

const DEFAULT_MODELS = ['gpt-4o', 'gpt-4o-mini', 'gpt-5', 'o3-mini']
const SNAPSHOT = '-2025-08-07'
const DATED = /-\d{4}-\d{2}-\d{2}$/
const CREATED_AT_SECONDS = 1_715_367_049

/** Returns whether OpenAI runs this model with fixed sampling and hidden reasoning. Its chat variants are ordinary models. */
export function isReasoningModel(model: unknown): boolean {
  return /^(o\d|gpt-5(?!.*-chat))/.test(String(model))
}

/** Returns whether a reasoning model refuses `stop`: o3, o4-mini, and the gpt-5 family before 5.5. */
export function refusesStop(model: unknown): boolean {
  return isReasoningModel(model) && /^(o[34]|gpt-5(\.[0-4])?(-|$))/.test(String(model))
}

/** Returns the model of a reply: OpenAI names the dated snapshot behind an alias, others the requested name. */
export function servedModel(model: unknown, flavour: Flavour): string {
  const name = String(model)
  return flavour === 'compatible' || DATED.test(name) ? name : `${name}${SNAPSHOT}`
}

/** Builds the model list, or the one model of an id that exists. */
export function describeModels(id: string | undefined, models: readonly string[] = DEFAULT_MODELS): JsonObject {
  if (id !== undefined) return toModel(id)
  return { object: 'list', data: models.map(toModel) }
}

/** Refuses a model that does not exist: any not in `models`; without a list, on OpenAI one with a routing prefix. */
export function checkModel(model: unknown, flavour: Flavour, models?: readonly string[]): ChatRejection | undefined {
  const name = String(model)
  const exists = models ? models.includes(name) : flavour === 'compatible' || !name.includes('/')
  if (exists) return undefined
  const message = `The model \`${name}\` does not exist or you do not have access to it.`
  return rejection(404, message, { code: 'model_not_found' })
}

function toModel(id: string): JsonObject {
  return { id, object: 'model', created: CREATED_AT_SECONDS, owned_by: 'system' }
}
