import test from 'ava'
import { chat, chatWithTools, conversation, user } from '../chat-bodies.ts'
import type { JsonObject } from '../json.ts'
import { assertRefused, type RefusedBody } from './refused.ts'

const reasoning = (extra: JsonObject) => chat('hi', { model: 'o3', ...extra })

const bodies: RefusedBody[] = [
  ['a missing model', { messages: [user('hi')] }, 'you must provide a model parameter'],
  ['missing messages', { model: 'gpt-4o' }, "Missing required parameter: 'messages'"],
  ['an empty conversation', conversation([]), "Invalid 'messages': empty array", 'empty_array'],
  ['an unknown parameter', chat('hi', { top_k: 3 }), 'Unrecognized request argument supplied: top_k'],
  [
    'an unknown parameter of a reasoning model',
    reasoning({ reasoning: {} }),
    "Unknown parameter: 'reasoning'.",
    'reasoning',
  ],
  ['a name of Object.prototype as a parameter', chat('hi', { constructor: 1 }), 'supplied: constructor'],
  ['a parameter of a wrong type', chat('hi', { temperature: 'hot' }), "Invalid type for 'temperature'", 'invalid_type'],
  ['null where it is no value', chatWithTools({ parallel_tool_calls: null }), 'got null', 'parallel_tool_calls'],
  ['a temperature above 2', chat('hi', { temperature: 2.5 }), '<= 2', 'decimal_above_max_value'],
  ['a top_p above 1', chat('hi', { top_p: 1.1 }), "Invalid 'top_p'"],
  ['a token limit of 0', chat('hi', { max_completion_tokens: 0 }), '>= 1', 'integer_below_min_value'],
  ['a fractional token limit', chat('hi', { max_tokens: 1.5 }), 'expected an integer'],
  ['both token limits', chat('hi', { max_tokens: 5, max_completion_tokens: 5 }), 'at the same time'],
  ['n above 128', chat('hi', { n: 129 }), "Invalid 'n'"],
  ['a fifth stop sequence', chat('hi', { stop: ['1', '2', '3', '4', '5'] }), 'maximum length 4', 'stop'],
  ['metadata without store', chat('hi', { metadata: { a: 'b' } }), "only allowed when 'store'"],
  [
    'stream options without a stream',
    chat('hi', { stream_options: { include_usage: true } }),
    "only allowed when 'stream'",
  ],
  ['an unknown stream option', chat('hi', { stream: true, stream_options: { usage: true } }), "'stream_options.usage'"],
  [
    'max_tokens of a reasoning model',
    reasoning({ max_tokens: 5 }),
    "Use 'max_completion_tokens' instead.",
    'unsupported_parameter',
  ],
  [
    'a temperature of a reasoning model',
    reasoning({ temperature: 0 }),
    "'temperature' does not support 0",
    'unsupported_value',
  ],
  ['top_p of gpt-5', chat('hi', { model: 'gpt-5-mini', top_p: 0.5 }), "'top_p' is not supported"],
  ['stop of gpt-5', chat('hi', { model: 'gpt-5', stop: 'x' }), "'stop' is not supported"],
  [
    'parallel_tool_calls of the o-series',
    chatWithTools({ model: 'o4-mini', parallel_tool_calls: false }),
    "'parallel_tool_calls' is not supported",
  ],
  ['an effort of an ordinary model', chat('hi', { reasoning_effort: 'low' }), 'supplied: reasoning_effort'],
  ['an unknown effort', reasoning({ reasoning_effort: 'huge' }), "Invalid value: 'huge'. Supported values are: 'none'"],
]

for (const body of bodies) {
  test(`chat stand-in: rejects ${body[0]}`, (t) => assertRefused(t, body))
}
