import { isJsonObject, type JsonObject, valueAt } from '../json.ts'
import { type GeminiRejection, invalid } from './rejection.ts'

const MOST_STOP_SEQUENCES = 5
const NAME = /^[A-Za-z_][\w.:-]{0,127}$/

/** Returns the model's generation, from its name: 2.5, 3 and so on; 0 for others. */
export function generationOf(model: string): number {
  return Number(/^gemini-(\d+(\.\d+)?)/.exec(model)?.[1] ?? 0)
}

/** Returns the first rule that a body breaks outside its `contents`. */
export function checkSettings(body: JsonObject, model: string): GeminiRejection | undefined {
  const config = isJsonObject(body.generationConfig) ? body.generationConfig : {}
  return checkConfig(config) ?? checkThinking(config.thinkingConfig, model) ?? checkTools(body)
}

function checkConfig(config: JsonObject): GeminiRejection | undefined {
  const { maxOutputTokens, temperature, topP, topK, stopSequences } = config
  if (isBelow(maxOutputTokens, 1)) return invalid('max_output_tokens must be positive.')
  if (isBelow(temperature, 0) || isBelow(-Number(temperature ?? 0), -2)) {
    return invalid(
      '* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].',
    )
  }
  if (isBelow(topP, 0) || Number(topP ?? 0) > 1) return invalid('top_p must be in the range [0.0, 1.0].')
  if (isBelow(topK, 1)) return invalid('top_k must be positive.')
  if (Array.isArray(stopSequences) && stopSequences.length > MOST_STOP_SEQUENCES) {
    return invalid('The number of stop sequences must be at most 5.')
  }
  if (config.responseJsonSchema !== undefined && config.responseMimeType !== 'application/json') {
    return invalid('response_json_schema needs the response_mime_type application/json')
  }
  return undefined
}

function isBelow(value: unknown, least: number): boolean {
  return typeof value === 'number' && value < least
}

function checkThinking(config: unknown, model: string): GeminiRejection | undefined {
  if (!isJsonObject(config)) return undefined
  const generation = generationOf(model)
  const { thinkingBudget: budget, thinkingLevel: level } = config
  if (generation < 2.5) return invalid('Thinking is not enabled for this model.')
  if (budget !== undefined && level !== undefined) {
    return invalid('You can only set only one of thinking budget and thinking level.')
  }
  if (level !== undefined && generation < 3) return invalid('Thinking level is not supported for this model.')
  const isPro = model.includes('pro')
  if (isPro && (level === 'MINIMAL' || (level === 'MEDIUM' && generation === 3))) {
    return invalid(`Thinking level ${level} is not supported for this model.`)
  }
  const most = isPro ? 32_768 : 24_576
  if (budget === 0 && isPro) return invalid('Budget 0 is invalid. This model only works in thinking mode.')
  if (Number(budget ?? 0) > most) return invalid(`The thinking budget ${budget} is invalid. The most is ${most}.`)
  return undefined
}

function checkTools({ tools, toolConfig }: JsonObject): GeminiRejection | undefined {
  const declarations = (Array.isArray(tools) ? tools : []).flatMap(
    (tool) => valueAt(tool, 'functionDeclarations') ?? [],
  )
  const names = declarations.map((declaration) => String(valueAt(declaration, 'name')))
  const wrong = names.find((name) => !NAME.test(name))
  if (wrong !== undefined) return invalid(`Invalid function name ${wrong}. Must start with a letter or an underscore.`)
  if (new Set(names).size < names.length) return invalid('Duplicate function declaration found.')
  if (declarations.some((one) => valueAt(one, 'parameters') && valueAt(one, 'parametersJsonSchema'))) {
    return invalid('parameters and parameters_json_schema are mutually exclusive.')
  }
  const choice = valueAt(toolConfig, 'functionCallingConfig')
  if (choice !== undefined && names.length === 0) {
    return invalid('Function calling config is set without function_declarations.')
  }
  const allowed = valueAt(choice, 'allowedFunctionNames')
  if (!Array.isArray(allowed)) return undefined
  if (valueAt(choice, 'mode') !== 'ANY') return invalid('allowed_function_names needs the mode ANY.')
  const unknown = allowed.find((name) => !names.includes(name))
  return unknown && invalid(`allowed_function_names has ${unknown}, which is not declared.`)
}
