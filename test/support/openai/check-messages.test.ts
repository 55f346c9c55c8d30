import test from 'ava'
import {
  chatWithFile,
  chatWithReasoning,
  chatWithReasoningHistory,
  conversation,
  toolAnswer,
  toolCall,
  user,
} from '../chat-bodies.ts'
import type { JsonObject } from '../json.ts'
import { assertRefused, type RefusedBody } from './refused.ts'

const part = (value: JsonObject) => conversation([user([value])])
const image = (url: string) => part({ type: 'image_url', image_url: { url } })
const file = (members: JsonObject) => part({ type: 'file', file: members })
const askWithCall = (...after: JsonObject[]) =>
  conversation([
    user('go'),
    { role: 'assistant', tool_calls: [toolCall('a', 'look', '{}'), toolCall('b', 'look', '{}')] },
    ...after,
  ])
const called = (call: JsonObject) =>
  conversation([user('go'), { role: 'assistant', tool_calls: [call] }, toolAnswer(String(call.id), 'seen')])

const bodies: RefusedBody[] = [
  [
    'an unknown member within a part',
    part({ type: 'image_url', image_url: { url: 'https://a.example/x.png', size: 1 } }),
    "'messages[0].content[0].image_url.size'",
  ],
  ['an unknown role', conversation([{ role: 'bot', content: 'x' }]), "Invalid value: 'bot'", 'messages[0].role'],
  [
    'a message without content',
    conversation([{ role: 'user' }]),
    'expected a string, got null',
    'messages.[0].content',
  ],
  ['an assistant message without content', conversation([user('x'), { role: 'assistant', content: null }]), 'got null'],
  [
    'an unknown member of a message',
    chatWithReasoningHistory({ model: 'gpt-4o' }),
    "Unknown parameter: 'messages[1].reasoning_content'",
  ],
  [
    'an unknown member of a part',
    part({ type: 'text', text: 'x', cache_control: {} }),
    "'messages[0].content[0].cache_control'",
  ],
  [
    'an unknown type of part',
    part({ type: 'image', source: {} }),
    "Invalid value: 'image'",
    'messages[0].content[0].type',
  ],
  [
    'an image in a system message',
    conversation([{ role: 'system', content: [{ type: 'image_url' }] }]),
    "Invalid value: 'image_url'",
  ],
  [
    'an image in a tool message',
    askWithCall(toolAnswer('a', [{ type: 'image_url', image_url: {} }])),
    "Invalid value: 'image_url'",
  ],
  ['an image address of another scheme', image('file:///x.png'), 'Invalid image URL'],
  ['an image of an unknown format', image('data:image/tiff;base64,AA=='), 'unsupported image'],
  ['a file that is no PDF', file({ filename: 'a', file_data: 'data:text/plain;base64,AA==' }), 'application/pdf'],
  ['a file without its name', file({ file_data: 'data:application/pdf;base64,AA==' }), 'file.filename'],
  [
    'audio of an unknown format',
    part({ type: 'input_audio', input_audio: { data: 'AA==', format: 'ogg' } }),
    "Invalid value: 'ogg'",
  ],
  [
    'arguments that are no string',
    called({ id: 'a', type: 'function', function: { name: 'x', arguments: {} } }),
    "Invalid type for 'messages[1].tool_calls[0].function.arguments'",
  ],
  [
    'a call of a name with a dot',
    called(toolCall('a', 'x.y', '{}')),
    'does not match pattern',
    'messages[1].tool_calls[0].function.name',
  ],
  ['a call id over 40 characters', called(toolCall('x'.repeat(41), 'look', '{}')), 'maximum length 40'],
  ['an index in a call', called({ index: 0, ...toolCall('a', 'look', '{}') }), "'messages[1].tool_calls[0].index'"],
  [
    'an empty list of calls',
    conversation([user('x'), { role: 'assistant', content: 'y', tool_calls: [] }]),
    'empty array',
  ],
  [
    'a call without its answer',
    askWithCall(toolAnswer('a', '1')),
    'did not have response messages: b',
    'messages.[3].role',
  ],
  [
    'an answer after another message',
    askWithCall(toolAnswer('a', '1'), user('wait'), toolAnswer('b', '2')),
    'did not have response messages: b',
  ],
  [
    'an answer without a call',
    conversation([user('go'), toolAnswer('a', '1')]),
    "messages with role 'tool' must be a response to a preceeding message",
    'messages.[1].role',
  ],
  ['an answer to a call that was not made', askWithCall(toolAnswer('c', '1')), "'tool_call_id' of 'c' not found"],
  ['an answer without a call id', askWithCall({ role: 'tool', content: '1' }), 'messages[2].tool_call_id'],
]

const compatibleBodies: RefusedBody[] = [
  ['a file on a compatible server', chatWithFile(), "Invalid value: 'file'"],
  ['a developer message on a compatible server', chatWithReasoning(), "Invalid value: 'developer'"],
  ['an unanswered call on a compatible server', askWithCall(), 'did not have response messages: a, b'],
]

for (const body of bodies) {
  test(`chat stand-in: rejects ${body[0]}`, (t) => assertRefused(t, body))
}

for (const body of compatibleBodies) {
  test(`chat stand-in: rejects ${body[0]}`, (t) => assertRefused(t, body, { flavour: 'compatible' }))
}
