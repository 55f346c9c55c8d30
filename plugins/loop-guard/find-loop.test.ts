import test from 'ava'
import { RequestDocument } from 'turnpike/plugin'
import { type LoopStep, messagesOf, SAME } from '../../test/support/looping.ts'
import { findLoop, type Loop } from './find-loop.ts'

function loopIn(messages: readonly object[], after = 3): Loop | undefined {
  const body = JSON.stringify({ model: 'm', max_tokens: 1, messages })
  return findLoop(new RequestDocument(Buffer.from(body)), after)
}

/** Bytes of messages in an array, without its brackets. */
const bytesOf = (messages: readonly object[]) => Buffer.byteLength(JSON.stringify(messages)) - 2
const inSteps = (steps: readonly LoopStep[], after?: number) => loopIn(messagesOf(steps), after)
const times = (count: number, step: (index: number) => LoopStep) => Array.from({ length: count }, (_, i) => step(i))
const OTHER: LoopStep = { name: 'Read', input: { file_path: 'a.ts' }, result: 'export const value = 41 // the value' }
const report = (more: string) => `> app@1.0.0 test\n${'✔ a test that passes\n'.repeat(10)}${more}`

test('loop: the same call with the same result is one at its third time, not before', (t) => {
  t.is(inSteps([OTHER, SAME, SAME]), undefined)
  const loop = inSteps([OTHER, SAME, SAME, SAME])
  t.like(loop, { kind: 'call', times: 3, states: 1, tools: ['Bash'] })
  t.is(loop?.repeatedBytes, 2 * bytesOf(messagesOf([SAME]).slice(1)))
})

test('loop: `after` is the number of times', (t) => {
  t.like(inSteps([SAME, SAME], 2), { times: 2 })
  t.is(
    inSteps(
      times(4, () => SAME),
      5,
    ),
    undefined,
  )
  t.like(
    inSteps(
      times(9, () => SAME),
      5,
    ),
    { times: 9 },
  )
})

test('loop: times, durations, ids and temporary paths do not make results differ', (t) => {
  const runs = [
    'at 2026-11-23T10:00:01Z in 0.41s, pid 4711, /tmp/run-a81b/out, req_a8b7c6d5e4f3',
    'at 2026-11-23T10:07:31Z in 0.39s, pid 4923, /tmp/run-77c0/out, req_0011223344aa',
    'at 2026-11-23T10:09:02Z in 0.44s, pid 5002, /tmp/run-e3e3/out, req_ffeeddccbbaa',
  ]
  t.like(inSteps(runs.map((line) => ({ ...SAME, result: report(line) }))), { kind: 'call' })
})

test('loop: a list of ids or of times is data', (t) => {
  const ids = (seed: number) => Array.from({ length: 12 }, (_, i) => `a${seed}${i}b4711c0ffee${i}`).join('\n')
  t.is(inSteps(times(4, (i) => ({ ...SAME, result: ids(i) }))), undefined)
  t.is(inSteps(times(4, (i) => ({ ...SAME, result: `2026-11-23T10:0${i}:00Z` }))), undefined)
})

test('loop: an elapsed time that grows is progress', (t) => {
  const waiting = (seconds: number) => ({ ...SAME, result: report(`compiling, ${seconds}s`) })
  t.is(inSteps([30, 60, 90, 120].map(waiting)), undefined)
  t.like(inSteps([30, 31, 29].map(waiting)), { kind: 'call' })
})

test('loop: other results, or other calls in between, are none', (t) => {
  t.is(inSteps(times(6, (i) => ({ ...SAME, result: report(`✖ ${9 - i} tests failed`) }))), undefined)
  const edit = (i: number): LoopStep => ({
    name: 'Edit',
    input: { file_path: 'a', new_string: `${i}` },
    result: `ok ${i}`,
  })
  t.is(inSteps(times(8, (i) => (i % 2 === 0 ? SAME : edit(i)))), undefined)
})

test('loop: one other step in between costs one more repetition', (t) => {
  t.is(inSteps([SAME, SAME, OTHER, SAME]), undefined)
  t.like(inSteps([SAME, SAME, OTHER, SAME, SAME]), { kind: 'call', times: 4 })
})

test('loop: two to four steps that alternate, in any order', (t) => {
  const third: LoopStep = { name: 'Grep', input: { pattern: 'queue' }, result: 'src/queue.ts:41: export class Queue' }
  t.is(inSteps([SAME, OTHER, SAME, OTHER, SAME]), undefined)
  t.like(inSteps([SAME, OTHER, SAME, OTHER, SAME, OTHER]), { kind: 'alternation', times: 3, states: 2 })
  const unordered = [SAME, OTHER, third, OTHER, SAME, third, SAME, third, OTHER]
  t.like(inSteps(unordered), { kind: 'alternation', times: 3, states: 3, tools: ['Read', 'Grep', 'Bash'] })
})

test('loop: different calls that fail alike', (t) => {
  const failing = (i: number): LoopStep => ({
    name: 'Edit',
    input: { file_path: 'src/queue.ts', old_string: `line of ${'abcdef'[i]}` },
    result: `String to replace not found in file.\nString: line of ${'abcdef'[i]}`,
    isError: true,
  })
  t.is(inSteps(times(2, failing)), undefined)
  t.like(inSteps(times(3, failing)), { kind: 'error', times: 3 })
})

test('loop: guessing several paths, or searching without a result, is none at three times, but at six', (t) => {
  const guess = (i: number): LoopStep => ({
    name: 'Read',
    input: { path: `/etc/${'abcdef'[i]}` },
    result: 'Error: no such file',
  })
  t.is(inSteps(times(5, guess)), undefined)
  t.like(inSteps(times(6, guess)), { kind: 'error' })
  const exitCode = (i: number): LoopStep => ({ input: { cmd: `rg ${'abcdef'[i]}` }, result: 'Exit code: 1\nOutput:\n' })
  t.is(inSteps(times(6, exitCode)), undefined)
})

test('loop: different calls with one long result, not with one confirmation', (t) => {
  const search = (result: string) => (i: number) => ({ name: 'search', input: { query: 'abc'[i] ?? '' }, result })
  t.like(inSteps(times(3, search(report('')))), { kind: 'results', times: 3 })
  t.is(inSteps(times(3, search('{"ok":true}'))), undefined)
})

test('loop: calls that differ in a counter or a time only', (t) => {
  const page = (i: number) => ({
    name: 'list',
    input: { page: i + 4, at: `2026-11-23T10:00:0${i}Z` },
    result: report(''),
  })
  t.like(inSteps(times(3, page)), { kind: 'arguments', times: 3 })
  const attempt = (i: number) => ({
    name: 'fetch',
    input: { url: 'https://example.com/a', attempt: i },
    result: '{"state":"none"}',
  })
  t.like(inSteps(times(3, attempt)), { kind: 'call', times: 3 })
})

test('loop: waiting and pressing keys may last five times as long', (t) => {
  for (const [step, most] of [
    [{ input: { command: 'sleep 30; gh run view 7' }, result: 'the run has two jobs left' }, 14],
    [{ name: 'job_status', input: { job: 7 }, result: '{"status":"in_progress"}' }, 14],
    [{ name: 'browser_press_key', input: { key: 'Tab' }, result: 'ok' }, 14],
    [{ name: 'note', input: { a: 1 }, result: 'ok' }, 5],
  ] as const) {
    t.is(inSteps(times(most, () => step)), undefined, step.result)
    t.like(inSteps(times(most + 1, () => step)), { kind: 'call' }, step.result)
  }
})

test('loop: a runner that prints that it runs tests does not wait', (t) => {
  const failing = { input: { cmd: 'cargo test' }, result: 'running 1 test\ntest queue::order ... FAILED' }
  t.like(inSteps(times(3, () => failing)), { kind: 'call', times: 3 })
})

test('loop: the same text to the same answer, not to a person who goes on talking', (t) => {
  const talk = (answers: readonly string[]) => [
    { role: 'user', content: 'Repair it.' },
    ...answers.flatMap((content) => [
      { role: 'assistant', content: 'I have completed the task as you wanted.' },
      { role: 'user', content },
    ]),
  ]
  t.like(loopIn(talk(['Use a tool.', 'Use a tool.', 'Use a tool.'])), { kind: 'text', times: 3, tools: [] })
  t.like(loopIn(talk(['Retry 1 of 9: use a tool.', 'Retry 2 of 9: use a tool.', 'Retry 3 of 9: use a tool.'])), {
    times: 3,
  })
  t.is(loopIn(talk(['Really?', 'And the tests?', 'All of them?'])), undefined)
  t.is(loopIn(talk(['Use a tool.', 'Use a tool.', 'Use a tool.', 'Stop.'])), undefined)
})

test('loop: a new message of the user ends it, and what was before counts no more', (t) => {
  const looping = messagesOf([SAME, SAME, SAME])
  const steer = { role: 'user', content: 'Look into the lock file.' }
  t.is(loopIn([...looping, steer]), undefined)
  const again = messagesOf([SAME, SAME]).slice(1)
  t.is(loopIn([...looping, steer, ...again]), undefined)
  t.like(loopIn([...looping, steer, ...messagesOf([SAME, SAME, SAME]).slice(1)]), { times: 3 })
})

test('loop: what clients add to results and messages is no message of the user', (t) => {
  const looping = messagesOf(
    times(3, (i) => ({ ...SAME, result: `${SAME.result}<system-reminder>${i}</system-reminder>` })),
  )
  const added = looping.map((message, i) => {
    if (i === 0 || message.role !== 'user') return message
    const text = `<environment_details>${i * 100} tokens used</environment_details>`
    return { ...message, content: [...(message.content as object[]), { type: 'text', text }] }
  })
  t.like(loopIn(added), { kind: 'call', times: 3 })
})

test('loop: parallel calls count as one step, in any order', (t) => {
  const parallel = (ids: readonly [string, string], steps: readonly [LoopStep, LoopStep]) => [
    { role: 'assistant', content: steps.map(({ name, input }, i) => ({ type: 'tool_use', id: ids[i], name, input })) },
    {
      role: 'user',
      content: steps.map(({ result }, i) => ({ type: 'tool_result', tool_use_id: ids[i], content: result })),
    },
  ]
  const rounds = [
    ...parallel(['a', 'b'], [SAME, OTHER]),
    ...parallel(['c', 'd'], [OTHER, SAME]),
    ...parallel(['e', 'f'], [SAME, OTHER]),
  ]
  t.like(loopIn([{ role: 'user', content: 'Go.' }, ...rounds]), { kind: 'call', times: 3, states: 1 })
  t.is(loopIn([{ role: 'user', content: 'Go.' }, ...parallel(['a', 'b'], [SAME, SAME])]), undefined)
})

test('loop: pictures that differ are other results', (t) => {
  const screens = (data: readonly string[]) => [
    { role: 'user', content: 'Go.' },
    ...data.flatMap((one, i) => [
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: `t${i}`, name: 'screenshot', input: { window: 'main window' } }],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${i}`,
            content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: one } }],
          },
        ],
      },
    ]),
  ]
  t.is(loopIn(screens(['AAAA', 'BBBB', 'CCCC', 'DDDD'])), undefined)
  t.like(loopIn(screens(['AAAA', 'AAAA', 'AAAA'])), { kind: 'call' })
})

test('loop: only the last steps are read: an ordinary session of a hundred is parsed at its end alone', (t) => {
  const steps = times(100, (i) => ({ ...OTHER, input: { file_path: `${i}.ts` }, result: `line ${i}` }))
  const request = new RequestDocument(
    Buffer.from(JSON.stringify({ model: 'm', max_tokens: 1, messages: messagesOf(steps) })),
  )
  const read: number[] = []
  const message = request.message.bind(request)
  request.message = (index) => {
    read.push(index)
    return message(index)
  }
  t.is(findLoop(request, 3), undefined)
  t.true(Math.min(...read) > 180, `${Math.min(...read)}`)
})
