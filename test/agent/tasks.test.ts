import test from 'ava'
import { sampled } from '../support/drill.ts'
import { startGateway } from '../support/gateway.ts'
import { FULL_PIPELINE } from '../support/pipelines.ts'
import { startProvider } from '../support/stand-in-provider.ts'
import { createFolder } from './folders.ts'
import { play, promptFor } from './player.ts'
import { SECRET_TASKS } from './secret-tasks.ts'
import { runSmallAgent } from './small-agent.ts'
import { TASKS } from './tasks.ts'

const POINTER = /\[(?:lines [\d–]+|\d+ lines) as [^“]*“/

const provider = await startProvider({ script: play })
const [plain, full] = await Promise.all(
  ['none', FULL_PIPELINE].map((pipeline) =>
    startGateway({ ANTHROPIC_BASE_URL: provider.url, ANTHROPIC_API_KEY: 'provider-key', SVC_PIPELINE: pipeline }),
  ),
)
test.after.always(() => Promise.all([plain?.stop(), full?.stop(), provider.close()]))

test('agent: there are twenty tasks', (t) => {
  t.is(new Set(TASKS.map(({ name }) => name)).size, 20)
})

for (const task of sampled(TASKS, 0, 4, 8, 12, 16)) {
  test(`agent: ${task.name} leaves the same files through the full pipeline as through none`, async (t) => {
    const outcomes = []
    for (const gateway of [plain, full]) {
      using folder = createFolder(task)
      const before = folder.files()
      t.deepEqual(await runSmallAgent(gateway?.url ?? '', promptFor(task.name, folder.path)), [])
      t.notDeepEqual(folder.files(), before)
      outcomes.push(folder.files())
    }
    t.deepEqual(outcomes[1], outcomes[0])
  })
}

test('agent: there are ten tasks on files with secrets', (t) => {
  t.is(new Set(SECRET_TASKS.map(({ name }) => name)).size, 10)
})

for (const task of sampled(SECRET_TASKS, 0, 2, 4, 6, 8))
  test(`agent: ${task.name} leaves the same files, and no secret reaches the provider through the full pipeline`, async (t) => {
    const outcomes = []
    for (const gateway of [plain, full]) {
      using folder = createFolder(task)
      t.deepEqual(await runSmallAgent(gateway?.url ?? '', promptFor(task.name, folder.path)), [])
      outcomes.push(folder.files())
      const sent = provider.seen.map(({ raw }) => raw.toString()).filter((body) => body.includes(folder.path))
      t.true(sent.length > task.steps.length)
      for (const secret of task.secrets) {
        const isSent = sent.some((body) => body.includes(secret))
        t.is(isSent, gateway === plain, secret)
      }
    }
    t.deepEqual(outcomes[1], outcomes[0])
  })

test.after('agent: some of the requests were shortened', () => {
  const shortened = provider.seen.filter(({ raw }) => POINTER.test(raw.toString()))
  if (shortened.length < 5) throw new Error(`Expected pointers in requests, got ${shortened.length}`)
})
