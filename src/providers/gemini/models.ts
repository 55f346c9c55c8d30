import { z } from 'zod'
import type { ListedModel } from '../../core/ports/provider.ts'
import { fieldsOf } from '../model-list.ts'

const modelList = z.object({
  models: z.array(
    z.looseObject({
      name: z.string(),
      displayName: z.string().optional(),
      supportedGenerationMethods: z.array(z.string()).optional(),
    }),
  ),
})

/** Reads the models of a list that answer messages: not those for embeddings, images or speech. Throws when it is no list. */
export function readGeminiModels(bytes: Buffer): ListedModel[] {
  const { models } = modelList.parse(JSON.parse(bytes.toString()))
  return models
    .filter(({ supportedGenerationMethods: methods }) => methods?.includes('generateContent') ?? true)
    .map(({ name, displayName, ...rest }) => ({
      id: name.replace(/^models\//, ''),
      displayName,
      ownedBy: 'google',
      ...fieldsOf({ max_input_tokens: rest.inputTokenLimit, max_tokens: rest.outputTokenLimit, ...rest }),
    }))
}
