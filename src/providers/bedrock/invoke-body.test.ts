import test from 'ava'
import { RequestDocument } from '../../core/request/request.ts'
import { countableModel, countTokensBody, invokeBody } from './invoke-body.ts'

const invocation = (json: string, betas: string[] = []) =>
  invokeBody(new RequestDocument(Buffer.from(json)), betas).toString()

const counted = (json: string) => {
  const { input } = JSON.parse(countTokensBody(Buffer.from(json), []).toString())
  return JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString())
}

test('bedrock body: the model and the stream flag go, the version comes, every other byte stays', (t) => {
  t.is(
    invocation('{ "model":"m","a" : 1.0,"stream":true , "2":[9007199254740993]}'),
    '{ "a" : 1.0 , "2":[9007199254740993],"anthropic_version":"bedrock-2023-05-31"}',
  )
  t.is(invocation('{"model":"m"}'), '{"anthropic_version":"bedrock-2023-05-31"}')
})

test('bedrock body: the version replaces the client’s', (t) => {
  t.is(invocation('{"anthropic_version":"x","model":"m"}'), '{"anthropic_version":"bedrock-2023-05-31"}')
})

test('bedrock body: betas join those that the client wrote there, each once', (t) => {
  const { anthropic_beta } = JSON.parse(invocation('{"model":"m","anthropic_beta":["a","b"]}', ['b', 'c']))
  t.deepEqual(anthropic_beta, ['a', 'b', 'c'])
})

test('bedrock body: a token count has a maximum of output tokens when the client sends none', (t) => {
  t.is(counted('{"model":"m","messages":[]}').max_tokens, 1)
  t.is(counted('{"model":"m","max_tokens":7}').max_tokens, 7)
  t.is(counted('{"model":"m","thinking":{"type":"enabled","budget_tokens":1024}}').max_tokens, 1025)
  t.is(counted('{"model":"m","thinking":null}').max_tokens, 1)
})

test('bedrock body: tokens are counted for a model, not for a profile of it', (t) => {
  t.is(countableModel('us-gov.anthropic.claude-x-v1:0'), 'anthropic.claude-x-v1:0')
  t.is(countableModel('anthropic.claude-x-v1:0'), 'anthropic.claude-x-v1:0')
  const arn = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x'
  t.is(countableModel(arn), arn)
})
