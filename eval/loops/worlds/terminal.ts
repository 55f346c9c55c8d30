import type { Random } from '../random.ts'
import type { World } from '../world.ts'

const COMMANDS = ['rg -n lease src', 'sed -n 1,80p src/main.rs', 'ls -la crates', 'cat Cargo.toml', 'git log -5 --stat']
const NAMES = ['ledger', 'pool', 'writer', 'reader', 'codec', 'frame', 'index', 'cache']

const wrapped = (output: string, code = 0, seconds = '0.1') =>
  `Exit code: ${code}\nWall time: ${seconds} seconds\nOutput:\n${output}`
const seconds = (random: Random) => `${random.int(0, 2)}.${random.int(1, 9)}`
const lines = (random: Random, count: number) =>
  Array.from(
    { length: count },
    () => `src/${random.pick(NAMES)}.rs:${random.int(1, 900)}: fn ${random.pick(NAMES)}_${random.int(1, 99)}()`,
  ).join('\n')

/** A coding agent with one shell tool and no marks of errors, in English. */
export const terminal: World = {
  name: 'shell agent (English, errors unmarked)',
  remarks: ['', 'Checking again.', 'Trying this.'],
  texts: [['Would you like me to go on with the next change?', 'Please continue until the task is done.']],
  observation(random) {
    const output = lines(random, random.int(2, 60))
    return { name: 'exec_command', input: { cmd: random.pick(COMMANDS) }, result: wrapped(output, 0, seconds(random)) }
  },
  attempts(random) {
    const crate = random.pick(NAMES)
    const error = `error: could not compile \`${crate}\` (lib) due to 2 previous errors`
    return (index) => ({
      name: 'exec_command',
      input: {
        cmd: `cargo build -p ${crate} ${['--release', '--all-features', '--locked', '-v', '--offline'][index % 5]} -j${index}`,
      },
      result: wrapped(error, 101, seconds(random)),
    })
  },
  searches(random) {
    const output = lines(random, random.int(8, 20))
    return (index) => ({
      name: 'exec_command',
      input: { cmd: `rg ${random.pick(NAMES)} ${'../'.repeat(index)}src` },
      result: wrapped(output, 0, seconds(random)),
    })
  },
  numbered(random) {
    const host = random.pick(NAMES)
    return (index) => ({
      name: 'exec_command',
      input: { cmd: `echo "attempt ${index + 1}" && ssh build@${host}-01 uptime` },
      result: wrapped(
        `attempt ${index + 1}\nssh: connect to host ${host}-01 port 22: Connection refused`,
        255,
        seconds(random),
      ),
    })
  },
  work(random) {
    return (index) => ({
      name: random.chance(0.8) ? 'exec_command' : 'apply_patch',
      input: { cmd: `${random.pick(COMMANDS)} | tail -n +${index * 11 + random.int(1, 9)}` },
      result: wrapped(lines(random, random.int(1, 30)), 0, seconds(random)),
    })
  },
  pages(random) {
    return (index) => ({
      name: 'exec_command',
      input: { cmd: `sed -n '${index * 100 + 1},${index * 100 + 100}p' src/main.rs` },
      result: wrapped(lines(random, 40)),
    })
  },
  status: () => ({
    name: 'exec_command',
    input: { cmd: 'git status --short' },
    result: wrapped(' M src/pool.rs\n M src/codec.rs'),
  }),
  runs(random) {
    return (index) => ({
      name: 'exec_command',
      input: { cmd: 'cargo test' },
      result: wrapped(
        `test result: FAILED. ${80 + index} passed; ${9 - index} failed; finished in ${seconds(random)}s`,
        101,
      ),
    })
  },
  poll() {
    return (index) => ({
      name: 'write_stdin',
      input: { session_id: 4, chars: '' },
      result: `   Compiling crate ${index * 3 + 1} of 310`,
    })
  },
  changes(random) {
    return (index) => ({
      name: 'update_plan',
      input: { plan: [{ step: `${random.pick(NAMES)} ${index}`, status: 'in_progress' }] },
      result: 'Plan updated',
    })
  },
  misses(random) {
    return (index) => ({
      name: 'exec_command',
      input: { cmd: `rg '${random.pick(NAMES)}_${index}' src` },
      result: wrapped('', 1, seconds(random)),
    })
  },
}
