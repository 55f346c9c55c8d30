/** Provider names that differ in the catalogue. */
const CATALOGUE_PROVIDERS: ReadonlyMap<string, string> = new Map([
  ['gemini', 'google'],
  ['vertex', 'google'],
  ['bedrock', 'aws'],
  ['xai', 'x-ai'],
  ['moonshot', 'moonshotai'],
])

const RESOURCE_NAME = /^arn:[^/]*\//
const RESOURCE_PATH = /^(?:projects\/.*\/)?(?:publishers\/[^/]+\/)?(?:models\/|google\/)/
const VERTEX_VERSION = /@[\w.-]+$/
const INFERENCE_PROFILE = /^(?:us|us-gov|eu|apac|jp|au|ca|in|global)\./
const BEDROCK_VERSION = /-v\d+(?::\d+)*(?::\d+k)?$/

/** Returns the catalogue's name of a provider; the catalogue may not have one of this name. */
export function catalogueProvider(provider: string): string {
  return CATALOGUE_PROVIDERS.get(provider) ?? provider
}

/**
 * Returns the names under which the catalogue may have a provider's model, the most specific first: a regional profile
 * has another price on Bedrock than a global one (Amazon Bedrock, "Inference profiles"; Vertex AI, "Claude model versions").
 */
export function catalogueNames(provider: string, model: string): string[] {
  switch (provider) {
    case 'bedrock':
      return bedrockNames(model)
    case 'gemini':
    case 'vertex':
      return googleNames(model)
    default:
      return [model]
  }
}

function bedrockNames(model: string): string[] {
  const name = model.replace(RESOURCE_NAME, '')
  const plain = name.replace(INFERENCE_PROFILE, '')
  return [...new Set([name, plain, plain.replace(BEDROCK_VERSION, '')])]
}

function googleNames(model: string): string[] {
  const name = model.replace(RESOURCE_PATH, '')
  return [...new Set([name, name.replace(VERTEX_VERSION, '')])]
}
