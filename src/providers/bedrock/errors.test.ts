import test from 'ava'
import { exceptionEvent, toMessagesError } from './errors.ts'

const errorOf = (status: number, body: string, name?: string) => {
  const headers = name === undefined ? {} : { 'x-amzn-errortype': name }
  return JSON.parse(toMessagesError(status, headers, Buffer.from(body)).toString()).error
}

test('bedrock errors: a service error keeps its message and gets the type of its status', (t) => {
  t.deepEqual(errorOf(400, '{"message":"Malformed"}'), { type: 'invalid_request_error', message: 'Malformed' })
  t.deepEqual(errorOf(403, '{"Message":"No access"}'), { type: 'permission_error', message: 'No access' })
  t.is(errorOf(429, '{"message":"x"}').type, 'rate_limit_error')
  t.is(errorOf(424, '{"message":"x"}').type, 'api_error')
})

test('bedrock errors: the model’s own error is the same bytes', (t) => {
  const body = Buffer.from('{ "type":"error","error":{"type":"invalid_request_error","message":"invalid beta flag"} }')
  t.is(toMessagesError(400, {}, body), body)
})

test('bedrock errors: a body that is no error is reported by its name', (t) => {
  const named = 'ThrottlingException:http://internal.amazon.com/coral/com.amazon.bedrock/'
  for (const body of ['', '<h1>no</h1>', '{}', 'null', '{"message":""}'])
    t.is(errorOf(429, body, named).message, 'The provider answered 429 (ThrottlingException) without a readable error.')
})

test('bedrock errors: the expected canonical request, which may contain a session token, is left out', (t) => {
  const canonical = "The Canonical String for this request should have been\n'POST\n/\nx-amz-security-token:hush\n'"
  const body = JSON.stringify({ message: `The signature does not match.\n\n${canonical}` })
  t.is(errorOf(403, body).message, 'The signature does not match.')
})

test('bedrock errors: an exception of a stream becomes an error event of a type that clients know', (t) => {
  const typeOf = (name: string) => {
    const [, data = ''] =
      /^event: error\ndata: (.*)\n\n$/.exec(exceptionEvent(name, Buffer.from('{"message":"m"}'))) ?? []
    return JSON.parse(data).error
  }
  t.deepEqual(typeOf('throttlingException'), { type: 'rate_limit_error', message: 'm' })
  t.deepEqual(typeOf('modelStreamErrorException'), { type: 'api_error', message: 'm' })
  t.deepEqual(typeOf('toString'), { type: 'api_error', message: 'm' })
})

test('bedrock errors: an input beyond the window has the token for Claude Code, unless in Anthropic’s own words', (t) => {
  const messageOf = (message: string) =>
    JSON.parse(toMessagesError(400, {}, Buffer.from(JSON.stringify({ message }))).toString()).error.message
  t.is(messageOf('Too many input tokens.'), 'Too many input tokens. (capability_rejected: prompt_too_long)')
  for (const words of [
    'Input is too long.',
    'Input is too long for requested model.',
    'input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000',
  ])
    t.is(messageOf(words), words)
  t.regex(exceptionEvent('validationException', Buffer.from('{"message":"Too many input tokens."}')), /prompt_too_long/)
})
