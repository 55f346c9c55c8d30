import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const FILES = ['src/server.ts', 'lib/response.js', 'src/parser/lexer.rs', 'app/models/user.py', 'pkg/queue/queue.go']
const WORDS = ['retry', 'token', 'header', 'cursor', 'lease', 'budget', 'socket', 'mutex', 'batch', 'route']

function listing(random: Random, lines: number): string {
  const line = (index: number) =>
    `${String(index + 1).padStart(6)}→  const ${random.pick(WORDS)}${random.int(1, 999)} = ${random.pick(WORDS)}(${random.int(1, 9999)})`
  return Array.from({ length: lines }, (_, index) => line(index)).join('\n')
}

/** A coding agent whose dialect marks errors, in English. */
export const coding: World = {
  name: 'coding agent (English, marked errors)',
  remarks: ['Let me check.', 'I will look at this again.', 'Let me try once more.', 'Now the next step.', ''],
  texts: [
    [
      'I have completed the task. All tests pass now.',
      'You did not use a tool. Use one, or finish with the tool `done`.',
    ],
    ['I will now fix the failing test in the parser module.', 'Continue.'],
  ],
  observation(random) {
    const file = random.pick(FILES)
    if (random.chance(0.5))
      return { name: 'Read', input: { file_path: file }, result: listing(random, random.int(3, 80)) }
    const failed = random.int(1, 9)
    const result = `> app@1.0.0 test\n\n✖ ${failed} tests failed\n✔ ${random.int(10, 300)} passed (1.${random.int(10, 99)}s)\n  at ${file}:${random.int(1, 500)}`
    return { name: 'Bash', input: { command: `npm test -- ${file}`, description: 'Run the tests' }, result }
  },
  attempts(random) {
    const file = random.pick(FILES)
    const error = random.pick([
      '<tool_use_error>String to replace not found in file.</tool_use_error>',
      `Error: Exit code 2\n${file}(12,5): error TS2304: Cannot find name '${random.pick(WORDS)}'.`,
      'Error: EACCES: permission denied, open the file for writing',
    ])
    return (index) => ({
      name: 'Edit',
      input: {
        file_path: file,
        old_string: `const a${index} = ${random.int(1, 99999)}`,
        new_string: `const b = ${index}`,
      },
      result: error,
      isError: true,
    })
  },
  searches(random) {
    const result = listing(random, random.int(6, 30))
    const word = random.pick(WORDS)
    return (index) => ({
      name: 'Grep',
      input: { pattern: `${word}${'.*'.repeat(index % 5)}${random.pick(WORDS)}`, path: 'src' },
      result,
    })
  },
  numbered(random) {
    const result = `HTTP/1.1 503 Service Unavailable\nserver: nginx\ncontent-type: text/html\n\n<h1>Service Unavailable</h1> shard ${random.int(1, 9)} is down`
    return (index) => ({
      name: 'Bash',
      input: { command: `curl -si localhost:8080/health?t=${1790000000 + index * 7}` },
      result,
    })
  },
  work(random) {
    return (index) => {
      const file = `${random.pick(FILES)}.${index}`
      if (random.chance(0.3))
        return {
          name: 'Edit',
          input: { file_path: file, old_string: `a${index}`, new_string: `b${random.int(1, 999)}` },
          result: `The file ${file} has been updated.`,
        }
      return {
        name: random.pick(['Read', 'Grep']),
        input: { file_path: file },
        result: listing(random, random.int(1, 40)),
      }
    }
  },
  pages(random) {
    const file = random.pick(FILES)
    return (index) => ({
      name: 'Read',
      input: { file_path: file, offset: index * 200, limit: 200 },
      result: listing(random, 60),
    })
  },
  status: () => ({
    name: 'Bash',
    input: { command: 'git status' },
    result: 'On branch main\nnothing to commit, working tree clean',
  }),
  runs(random) {
    return (index) => ({
      name: 'Bash',
      input: { command: 'npm test' },
      result: `✖ ${40 - index} tests failed\n✔ ${100 + index} passed (2.${random.int(10, 99)}s)`,
      isError: true,
    })
  },
  poll(random) {
    const start = random.int(1, 20)
    if (random.chance(0.5))
      return (index) => ({
        name: 'BashOutput',
        input: { bash_id: 'bash_1' },
        result: `[${start + index}/90] Building CXX object src/part.o`,
      })
    return (index) => ({
      name: 'Bash',
      input: { command: 'gh run view 7' },
      result: `Deployment is not finished after ${start + index * 30}s`,
    })
  },
  changes(random) {
    if (random.chance(0.5))
      return (index) => ({
        name: 'TodoWrite',
        input: {
          todos: Array.from({ length: 4 }, (_, at) => ({
            content: `Step ${at + index} of the plan`,
            status: at < index ? 'completed' : 'pending',
          })),
        },
        result:
          'Todos have been modified successfully. Ensure that you continue to use the todo list to track your progress. Please proceed with the current tasks if applicable',
      })
    return (index) => ({ name: 'Bash', input: { command: `mkdir -p packages/part-${index}/src` }, result: '' })
  },
  misses(random) {
    return (index) => ({
      name: 'Grep',
      input: { pattern: `${random.pick(WORDS)}${index}`, path: 'src' },
      result: 'No matches found',
    })
  },
}
