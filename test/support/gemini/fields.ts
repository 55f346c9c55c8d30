/** The shape of a field that is checked as a whole. */
export type Scalar = 'string' | 'bytes' | 'number' | 'integer' | 'boolean' | 'struct' | 'any'

/** The shape of a field in a request: the JSON that it accepts. */
export type Shape =
  | Scalar
  | { readonly list: Shape }
  | { readonly enum: readonly string[]; readonly name: string }
  | { readonly fields: Readonly<Record<string, Shape>> }

const blob: Shape = { fields: { mimeType: 'string', data: 'bytes', displayName: 'string' } }
const file: Shape = { fields: { mimeType: 'string', fileUri: 'string', displayName: 'string' } }

const part: Shape = {
  fields: {
    text: 'string',
    thought: 'boolean',
    thoughtSignature: 'bytes',
    inlineData: blob,
    fileData: file,
    functionCall: { fields: { id: 'string', name: 'string', args: 'struct' } },
    functionResponse: {
      fields: {
        id: 'string',
        name: 'string',
        response: 'struct',
        parts: { list: { fields: { inlineData: blob } } },
        willContinue: 'boolean',
        scheduling: 'string',
      },
    },
    videoMetadata: 'any',
    mediaResolution: 'any',
    partMetadata: 'struct',
  },
}

const content: Shape = { fields: { role: 'string', parts: { list: part } } }

const generationConfig: Shape = {
  fields: {
    maxOutputTokens: 'integer',
    temperature: 'number',
    topP: 'number',
    topK: 'integer',
    candidateCount: 'integer',
    seed: 'integer',
    stopSequences: { list: 'string' },
    presencePenalty: 'number',
    frequencyPenalty: 'number',
    responseMimeType: 'string',
    responseSchema: 'any',
    responseJsonSchema: 'any',
    responseModalities: { list: 'string' },
    responseLogprobs: 'boolean',
    logprobs: 'integer',
    mediaResolution: 'string',
    speechConfig: 'any',
    imageConfig: 'any',
    thinkingConfig: {
      fields: {
        includeThoughts: 'boolean',
        thinkingBudget: 'integer',
        thinkingLevel: { enum: ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'], name: 'ThinkingConfig.ThinkingLevel' },
      },
    },
  },
}

const declaration: Shape = {
  fields: {
    name: 'string',
    description: 'string',
    parameters: 'any',
    parametersJsonSchema: 'any',
    response: 'any',
    responseJsonSchema: 'any',
    behavior: 'string',
  },
}

const tool: Shape = {
  fields: {
    functionDeclarations: { list: declaration },
    googleSearch: 'any',
    codeExecution: 'any',
    urlContext: 'any',
    computerUse: 'any',
    fileSearch: 'any',
    googleMaps: 'any',
  },
}

const toolConfig: Shape = {
  fields: {
    functionCallingConfig: {
      fields: {
        mode: { enum: ['AUTO', 'ANY', 'NONE', 'VALIDATED'], name: 'FunctionCallingConfig.Mode' },
        allowedFunctionNames: { list: 'string' },
      },
    },
    retrievalConfig: 'any',
    includeServerSideToolInvocations: 'boolean',
  },
}

const generateContent = {
  fields: {
    model: 'string',
    contents: { list: content },
    systemInstruction: content,
    tools: { list: tool },
    toolConfig,
    generationConfig,
    safetySettings: 'any',
    cachedContent: 'string',
    serviceTier: 'string',
    store: 'boolean',
  },
} as const satisfies Shape

/** All bodies (Gemini API v1beta, GenerateContentRequest and CountTokensRequest). */
export const bodies: Readonly<Record<'generate' | 'count-tokens', Shape>> = {
  generate: generateContent,
  'count-tokens': { fields: { contents: { list: content }, generateContentRequest: generateContent } },
}
