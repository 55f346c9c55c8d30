import test from 'ava'
import { apiOf } from './api-of.ts'

test('api of a path: those of providers with prompts, with queries and methods of their hosts', (t) => {
  const rows: readonly (readonly [path: string, api: string | undefined])[] = [
    ['/v1/messages', 'messages'],
    ['/v1/messages?beta=true', 'messages'],
    ['/v1/messages/count_tokens', undefined],
    ['/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke', 'messages'],
    ['/model/x/invoke-with-response-stream', 'messages'],
    ['/v1/projects/p/locations/global/publishers/anthropic/models/m:streamRawPredict', 'messages'],
    ['/v1/projects/p/locations/global/publishers/anthropic/models/m:rawPredict', 'messages'],
    ['/chat/completions', 'chat'],
    ['/responses?stream=1', 'responses'],
    ['/responses/compact', undefined],
    ['/v1beta/models/gemini-2.5-pro:generateContent', 'gemini'],
    ['/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse', 'gemini'],
    ['/v1beta/models/gemini-2.5-pro:countTokens', undefined],
  ]
  for (const [path, api] of rows) t.is(apiOf(path), api as never, path)
})
