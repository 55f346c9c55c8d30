import test from 'ava'
import type { Channel } from '../../ports/channel.ts'
import { RequestDocument } from '../request.ts'
import type { RequestHeaders } from './client-session.ts'
import { CONVERSATION_ID } from './conversation.ts'
import { Conversations } from './conversations.ts'
import { shareConversations } from './shared.ts'

const SESSION = '0b8a9c1e-5f0e-4d0c-9a53-6f0e6a1c2b3d'
const DAY_MS = 86_400_000

interface Sent {
  readonly body?: object
  readonly headers?: RequestHeaders
  readonly scope?: string
}

/** Opens a gateway's recognition, with a clock of its own. */
function open() {
  const time = { nowMs: 0 }
  const conversations = new Conversations(() => time.nowMs)
  const send = ({ body = {}, headers = {}, scope = 'key:a' }: Sent) =>
    conversations.enter({
      caller: { scope },
      headers,
      document: new RequestDocument(Buffer.from(JSON.stringify(body))),
    })
  const say = (...texts: readonly string[]) => send({ body: { model: 'm', messages: turns(...texts) } })
  return { conversations, send, say, time }
}

/** Messages with these texts, the client's and the model's in turn. */
const turns = (...texts: readonly string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))
const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]

test('conversations: one message list that grows is one conversation, turn by turn', (t) => {
  const { say } = open()
  const first = say('hi')
  t.regex(first.id, CONVERSATION_ID)
  t.like(first, { source: 'prefix', turn: 1, rootId: first.id, parentId: undefined, agent: undefined })
  t.like(say('hi', 'hello', 'do this'), { id: first.id, turn: 2 })
  t.like(say('hi', 'hello', 'do this', 'done', 'and that'), { id: first.id, turn: 3 })
})

test('conversations: two that begin alike separate where they differ', (t) => {
  const { say } = open()
  const first = say('hi')
  t.is(say('hi').id, first.id)
  t.is(say('hi', 'hello', 'a').id, first.id)
  const other = say('hi', 'hello', 'b')
  t.not(other.id, first.id)
  t.is(other.turn, 1)
  t.is(say('hi', 'hello', 'b', 'B', 'more').id, other.id)
  t.is(say('hi', 'hello', 'a', 'A', 'more').id, first.id)
})

test('conversations: long ones differ by their middle, whatever their beginning and their end', (t) => {
  const { say } = open()
  const long = (word: string) => `${'x'.repeat(40_000)} ${word} ${'y'.repeat(40_000)}`
  const first = say(long('hi'))
  t.is(say(long('hi')).id, first.id)
  t.not(say(long('ho')).id, first.id)
  t.is(say(long('hi'), 'hello', long('a')).id, first.id)
  const other = say(long('hi'), 'hello', long('b'))
  t.not(other.id, first.id)
  t.like(say(long('hi'), 'hello', long('b'), 'B', 'more'), { id: other.id, turn: 2 })
  t.is(say(long('hi'), 'hello', long('a'), 'A', 'more').id, first.id)
})

test('conversations: a list is compared with the longest of those that end like its beginning', (t) => {
  const { say } = open()
  for (let asked = 0; asked < 3; asked++) say('hi')
  const answers = ['a', 'b', 'c'].map((answer) => say('hi', answer, 'go on'))
  t.is(new Set(answers.map(({ id }) => id)).size, 3)
  const later = ['a', 'b', 'c'].map((answer) => say('hi', answer, 'go on', 'done', 'go on'))
  t.deepEqual(
    later.map(({ id }) => id),
    answers.map(({ id }) => id),
  )
})

test('conversations: many that begin alike, with answers of one length, keep their ids', (t) => {
  const { say } = open()
  const prompt = 'and now do the next thing that follows from what you have answered, step by step'
  const answers = Array.from({ length: 20 }, (_, i) => `label-${i + 10}`)
  for (const _ of answers) say('classify')
  const second = answers.map((answer) => say('classify', answer, prompt).id)
  t.is(new Set(second).size, answers.length)
  t.deepEqual(
    answers.map((answer) => say('classify', answer, prompt, 'done', prompt).id),
    second,
  )
})

test('conversations: one that begins like a running one separates from it', (t) => {
  const { say } = open()
  const first = say('hi')
  t.is(say('hi', 'hello', 'a').id, first.id)
  t.is(say('hi').id, first.id)
  t.not(say('hi', 'good day', 'b').id, first.id)
  t.is(say('hi', 'hello', 'a', 'A', 'more').id, first.id)
})

test('conversations: an edit of the last turn and a fork from an earlier one stay', (t) => {
  const { say } = open()
  const { id } = say('hi')
  t.is(say('hi', 'hello', 'a').id, id)
  t.is(say('hi', 'hello', 'a, but better').id, id)
  t.is(say('hi', 'hello', 'a, but better', 'A', 'c').id, id)
  t.is(say('hi', 'hello', 'd').id, id)
  t.is(say('hi', 'another answer', 'e').id, id)
})

test('conversations: a request that an SDK retries begins no other conversation', (t) => {
  const { say, send } = open()
  const { id } = say('hi')
  send({ body: { model: 'm', messages: turns('hi') }, headers: { 'x-stainless-retry-count': '1' } })
  t.is(say('hi', 'hello', 'a').id, id)
  t.is(say('hi', 'hello', 'b').id, id)
})

test('conversations: another opening, or another caller, is another conversation', (t) => {
  const { say, send } = open()
  const { id } = say('hi')
  t.not(say('hi!').id, id)
  t.not(send({ body: { messages: turns('hi') }, scope: 'key:b' }).id, id)
})

test('conversations: marks for the prompt cache, which move, and system messages, which change, do not count', (t) => {
  const { send } = open()
  const system = (text: string) => ({ role: 'system', content: text })
  const ask = (...messages: readonly object[]) => send({ body: { model: 'm', messages } }).id
  const id = ask(system('Monday'), { role: 'user', content: marked('hi') })
  const plain = [{ type: 'text', text: 'hi' }]
  const answer = { role: 'assistant', content: 'hello' }
  t.is(ask(system('Tuesday'), { role: 'user', content: plain }, answer, { role: 'user', content: marked('a') }), id)
  t.is(ask(system('Tuesday'), { role: 'user', content: 'hi' }, answer, { content: marked('a'), role: 'user' }), id)
  t.not(ask({ role: 'user', content: [...plain, { type: 'text', text: 'other' }] }), id)
})

test('conversations: two that begin alike separate although their marks move', (t) => {
  const { send } = open()
  /** Blocks of text, the last of which has a mark. */
  const ask = (...texts: readonly string[]) =>
    send({
      body: {
        messages: texts.map((text, index) => ({
          role: index % 2 === 0 ? 'user' : 'assistant',
          content: index === texts.length - 1 ? marked(text) : [{ type: 'text', text }],
        })),
      },
    }).id
  const id = ask('hi')
  t.is(ask('hi'), id)
  t.is(ask('hi', 'hello', 'a'), id)
  const other = ask('hi', 'hello', 'b')
  t.not(other, id)
  t.is(ask('hi', 'hello', 'b', 'B', 'c'), other)
  t.is(ask('hi', 'hello', 'a', 'A', 'c'), id)
})

test('conversations: items of Responses are a list of messages, a text is one', (t) => {
  const { send } = open()
  const ask = (input: unknown) => send({ body: { model: 'm', input } }).id
  const developer = { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] }
  const user = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'list files' }] }
  const call = { type: 'function_call', call_id: 'c1', name: 'ls', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: 'a b' }
  const id = ask([developer, user])
  t.is(ask([developer, user, call, output]), id)
  t.is(ask('list files'), id)
  t.not(ask('list folders'), id)
})

test('conversations: equal requests have equal ids in every process', (t) => {
  const [one, other] = [open(), open()]
  for (const texts of [['hi'], ['hi'], ['hi', 'hello', 'a'], ['hi', 'hello', 'b']])
    t.is(one.say(...texts).id, other.say(...texts).id)
  t.is(open().say('hi', 'hello', 'a').id, one.say('hi').id)
})

test('conversations: after a day without use the turns begin again', (t) => {
  const { say, time } = open()
  const { id } = say('hi')
  time.nowMs = DAY_MS / 2
  t.like(say('hi', 'hello', 'a'), { id, turn: 2 })
  time.nowMs += DAY_MS + 1
  t.like(say('hi', 'hello', 'a', 'A', 'b'), { id, turn: 1 })
})

test('conversations: Claude Code names its session and its sub-agents', (t) => {
  const { send } = open()
  const headers = { 'x-claude-code-session-id': SESSION }
  const main = send({ headers })
  t.like(main, { source: 'client', client: 'claude-code', parentId: undefined, agent: undefined, turn: 1 })
  const child = send({ headers: { ...headers, 'x-claude-code-agent-id': 'explore-1' } })
  t.like(child, { parentId: main.id, rootId: main.id, agent: 'explore-1', turn: 1 })
  const nested = send({
    headers: { ...headers, 'x-claude-code-agent-id': 'grep-1', 'x-claude-code-parent-agent-id': 'explore-1' },
  })
  t.like(nested, { parentId: child.id, rootId: main.id, agent: 'grep-1' })
  t.like(send({ headers }), { id: main.id, turn: 2 })
})

test('conversations: the session in the user id of Claude Code is that of its header', (t) => {
  const { send } = open()
  const { id } = send({ headers: { 'x-claude-code-session-id': SESSION } })
  const withUser = (user: string) => send({ body: { metadata: { user_id: user } } })
  t.like(withUser(`user_${'0f'.repeat(32)}_account__session_${SESSION}`), { id, client: 'claude-code' })
  t.is(withUser(JSON.stringify({ device_id: 'd', account_uuid: '', session_id: SESSION })).id, id)
  t.is(withUser(`customer_session_${SESSION}`).source, 'prefix')
})

test('conversations: threads of Codex hang below the thread that started them', (t) => {
  const { send } = open()
  const main = send({ headers: { 'session-id': SESSION, 'thread-id': SESSION } })
  t.like(main, { client: 'codex', source: 'client', rootId: main.id, parentId: undefined })
  const spawned = { 'session-id': SESSION, 'thread-id': 'thread-2', 'x-openai-subagent': 'collab_spawn' }
  const child = send({ headers: { ...spawned, 'x-codex-parent-thread-id': SESSION } })
  t.like(child, { parentId: main.id, rootId: main.id, agent: 'collab_spawn' })
  t.like(send({ headers: spawned }), { id: child.id, parentId: main.id })
  const metadata = { session_id: SESSION, thread_id: 'thread-2', 'x-openai-subagent': 'collab_spawn' }
  t.like(send({ body: { input: 'go', client_metadata: metadata } }), { id: child.id, parentId: main.id })
  t.is(send({ body: { input: 'go', prompt_cache_key: SESSION } }).id, main.id)
})

test('conversations: sessions of opencode and interactions of Copilot', (t) => {
  const { send } = open()
  const main = send({ headers: { 'x-session-id': 'ses_1', 'x-session-affinity': 'ses_1' } })
  t.like(main, { client: 'opencode', source: 'client' })
  const child = send({ headers: { 'x-session-affinity': 'ses_2', 'x-parent-session-id': 'ses_1' } })
  t.like(child, { parentId: main.id, rootId: main.id, agent: 'subagent' })
  const nested = send({ headers: { 'x-session-id': 'ses_3', 'x-parent-session-id': 'ses_2' } })
  t.like(nested, { parentId: child.id, rootId: main.id })
  t.like(send({ headers: { 'x-interaction-id': 'ses_1' } }), { client: 'copilot' })
  t.not(send({ headers: { 'x-interaction-id': 'ses_1' } }).id, main.id)
})

test('conversations: a conversation that the provider stores is named by its id', (t) => {
  const { send } = open()
  const { id, source } = send({ body: { input: 'a', conversation: 'conv_of_provider' } })
  t.is(source, 'client')
  t.is(send({ body: { input: 'b', conversation: { id: 'conv_of_provider' } } }).id, id)
})

test('conversations: a shared key of the prompt cache names no conversation', (t) => {
  const { send } = open()
  const ask = (text: string) => send({ body: { messages: turns(text), prompt_cache_key: 'my-app' } })
  t.is(ask('hi').source, 'prefix')
  t.not(ask('hi').id, ask('hello').id)
})

test('conversations: the same session of two callers is two conversations', (t) => {
  const { send } = open()
  const headers = { 'x-claude-code-session-id': SESSION }
  t.not(send({ headers, scope: 'key:a' }).id, send({ headers, scope: 'key:b' }).id)
})

test('conversations: ids never contain a name, and a name that is too long or not printable is none', (t) => {
  const { send } = open()
  t.false(JSON.stringify(send({ headers: { 'x-session-id': 'secret' } })).includes('secret'))
  for (const name of ['x'.repeat(201), 'two words', 'ü', ''])
    t.is(send({ headers: { 'x-session-id': name } }).source, 'prefix', name)
  const headers = { 'x-claude-code-session-id': SESSION, 'x-claude-code-agent-id': 'a'.repeat(200) }
  t.is(send({ headers }).agent, 'a'.repeat(64))
})

test('conversations: processes on one channel agree on turns, and on conversations that began alike', async (t) => {
  const listeners: ((text: string) => void)[] = []
  let published = Promise.withResolvers<void>()
  const channel: Channel = {
    async publish(_topic, text) {
      for (const listener of listeners) listener(text)
      published.resolve()
      published = Promise.withResolvers()
      return listeners.length
    },
    subscribe: (_topic, listener) => void listeners.push(listener),
    close: async () => {},
  }
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const [one, other] = [open(), open()]
  for (const { conversations } of [one, other]) shareConversations(conversations, channel)
  /** Sends to one process, and waits until the other knows. */
  const shared = async <Result>(act: () => Result): Promise<Result> => {
    const result = act()
    await published.promise
    return result
  }
  const headers = { 'x-session-id': 'ses_1' }
  t.is((await shared(() => one.send({ headers }))).turn, 1)
  t.is((await shared(() => other.send({ headers }))).turn, 2)
  t.is((await shared(() => one.send({ headers }))).turn, 3)
  const { id } = await shared(() => one.say('hi'))
  t.is((await shared(() => other.say('hi'))).id, id)
  t.is((await shared(() => one.say('hi', 'hello', 'a'))).id, id)
  const second = await shared(() => other.say('hi', 'hello', 'b'))
  t.not(second.id, id)
  t.is((await shared(() => one.say('hi', 'hello', 'b', 'B', 'c'))).id, second.id)
  t.is((await shared(() => other.say('hi', 'hello', 'a', 'A', 'c'))).id, id)
})
